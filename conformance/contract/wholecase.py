"""What a verdict on a case as a whole means: the text, the requirement and the sources that reports give with it.

No clause reports everything that may end a case: a library dies while it writes, or a legal call that no clause is
about is refused. The failure is booked on the case then. A reader of the report needs the same about it as about a
clause: what was required, by which text, and what it means.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Final

from conformance.contract.clause import CLAUSES, PROFILES, Clause, Subject, Violation, evidence_for
from conformance.contract.sources import GRPC
from conformance.protocol import protocol_names, source_of
from conformance.records import Level, Outcome

__all__ = ["EXPLAINED", "ON_THE_CASE", "WHOLE_CASE", "required_of"]

WHOLE_CASE: Final = "case"
"""The clause id of a verdict about a case as a whole: an error of the suite, or a failure that no clause reported."""

_REQUIRED: Final[Mapping[Outcome, str]] = MappingProxyType(
    {
        Outcome.CRASH: "an answer, from a process that lives on",
        Outcome.HANG: "an answer within the limits of time and size",
        Outcome.REFUSED: "an answer in OK, for the request is legal",
    }
)


def required_of(outcome: Outcome) -> str:
    """What was required where a failure has no finding that says it; empty for an outcome that is no failure.

    >>> required_of(Outcome.HANG)
    'an answer within the limits of time and size'
    """
    return _REQUIRED.get(outcome, "")


def _nothing(_subject: Subject) -> Iterator[Violation]:
    return iter(())


_SOURCES: Final = (GRPC, *map(source_of, protocol_names()))

ON_THE_CASE: Final = Clause(
    WHOLE_CASE,
    Level.MUST,
    """A case ends with answers: to each of its calls, or from the library that reads or writes for it.

No check belongs to this id. A report names it where a case failed and no clause says why:

crash: the process died, or hung up.
hang: no end came within the limits of time, memory or size.
refused: a call that is legal ended in another status than OK, and no clause is about that call.
error: the suite itself broke on the case. This says nothing about the target; please report it.

The other outcomes say why nothing was judged on the case: its table could not be made (untestable), or the target does
not have what the case needs (unsupported).""",
    _SOURCES[0],
    "",
    PROFILES,
    over=lambda _view: (),
    check=_nothing,
    also=_SOURCES[1:],
    evidence=evidence_for(_SOURCES, ""),
)
"""The text of a verdict on a case as a whole; it is in no register, because nothing judges it."""

EXPLAINED: Final[Mapping[str, Clause]] = MappingProxyType(ChainMap({WHOLE_CASE: ON_THE_CASE}, CLAUSES))  # type: ignore[arg-type]
"""All that a verdict can be about, by id: every clause, and a case as a whole."""
