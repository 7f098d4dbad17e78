"""Clauses on how a call ends, as rows: the target serves it, or refuses it.

The clauses differ in the calls that they are about, and in how a finding describes the request.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from typing import Any, Final

from conformance.contract.clause import Selector, Violation, clause
from conformance.contract.sources import Sources
from conformance.protocols.storage_read.contract.subjects import refused, served
from conformance.protocols.storage_read.contract.view import ReadView, StorageCall
from conformance.records import Level

__all__ = ["beyond_its_end", "refuses", "serves"]


@dataclasses.dataclass(frozen=True, slots=True)
class Ending:
    """One way in which calls have to end; calling it registers a clause that requires this end."""

    check: Callable[[StorageCall, str], Iterator[Violation]]

    def __call__(
        self,
        clause_id: str,
        over: Selector[Any],
        source: Sources,
        request: str | Callable[[Any], str],
        says: str,
        *,
        breaks: str = "",
        level: Level = Level.MUST,
    ) -> None:
        """Register a clause that calls selected by ``over`` end so.

        ``request`` is the description of the request in a finding, or a function that makes it from the call;
        ``says`` is the explanation of the clause.
        """

        def check(call: StorageCall) -> Iterator[Violation]:
            return self.check(call, request if isinstance(request, str) else request(call))

        clause(clause_id, over=over, source=source, level=level, breaks=breaks, says=says)(check)


serves: Final = Ending(served)
"""Calls end in OK."""
refuses: Final = Ending(refused)
"""Calls do not end in OK."""


def beyond_its_end(read: ReadView) -> Iterator[Violation]:
    """Yield a violation if a read from beyond the end of a stream was refused with another code than the service's."""
    if read.raw.status != "FAILED_PRECONDITION":
        yield Violation("FAILED_PRECONDITION", read.raw.status, field="offset")
