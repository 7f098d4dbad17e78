"""Clauses on how a call ends, as rows: it is served, or it is refused.

What the clauses of the chapters differ in is which calls they are about, and what they say of the request.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from typing import Any, Final

from conformance.contract.clause import Selector, Violation, clause
from conformance.contract.subjects import refused, served
from conformance.contract.view import CallView, ReadView
from conformance.records import Level

__all__ = ["beyond_its_end", "refuses", "serves"]


@dataclasses.dataclass(frozen=True, slots=True)
class Ending:
    """One way in which calls have to end; calling it registers a clause that they do."""

    check: Callable[[CallView, str], Iterator[Violation]]

    def __call__(
        self,
        clause_id: str,
        over: Selector[Any],
        source: str,
        request: str | Callable[[Any], str],
        says: str,
        *,
        breaks: str = "",
        level: Level = Level.MUST,
    ) -> None:
        """Register a clause: what a finding calls the request is a text, or made of the call; ``says`` explains."""

        def check(call: CallView) -> Iterator[Violation]:
            return self.check(call, request if isinstance(request, str) else request(call))

        clause(clause_id, over=over, source=source, level=level, breaks=breaks, says=says)(check)


serves: Final = Ending(served)
"""Calls end in OK."""
refuses: Final = Ending(refused)
"""Calls do not end in OK."""


def beyond_its_end(read: ReadView) -> Iterator[Violation]:
    """The violation of a read from beyond the end of a stream that was refused with another code than the service's."""
    if read.raw.status != "FAILED_PRECONDITION":
        yield Violation("FAILED_PRECONDITION", read.raw.status, field="offset")
