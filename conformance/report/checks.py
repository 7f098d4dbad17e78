"""Which checks a run made: for each clause, the cases of the corpus on which it was judged, whatever the outcome.

Two reports with the same outcomes can rest on different checks: a case that the target refuses to seed, or an answer
that became too short, takes clauses out of the run without a failure of theirs. Comparing the checks shows that.
Generated cases are left out, because another seed makes others.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Final

from conformance.engine.result import NOT_JUDGED, Result
from conformance.records import RecordError

__all__ = ["Checks", "checks_of", "judged_on"]

_RANGES: Final = re.compile(r"[0-9]{1,7}(-[0-9]{1,7})?(,[0-9]{1,7}(-[0-9]{1,7})?)*")


@dataclasses.dataclass(frozen=True, slots=True)
class Checks:
    """Clauses that were judged on the same cases of the corpus.

    ``cases`` are positions in ``run.cases``, from 0, as ranges: ``0-4,7`` are the first five cases and the eighth.
    """

    clauses: tuple[str, ...]
    cases: str

    def __post_init__(self) -> None:
        if _RANGES.fullmatch(self.cases) is None:
            raise RecordError("checks.cases", "ranges of positions, as in 0-4,7", self.cases)


def checks_of(result: Result) -> tuple[Checks, ...]:
    """The checks of a run, clauses with the same cases together, in the order of the contract."""
    places = {case: place for place, case in enumerate(result.start.cases)}
    judged: dict[str, set[int]] = {clause: set() for clause in result.by_clause}
    for verdict in result.verdicts:
        if verdict.outcome not in NOT_JUDGED and (place := places.get(verdict.case_id)) is not None:
            judged[verdict.clause].add(place)
    together: dict[str, list[str]] = {}
    for clause, members in judged.items():
        if members:
            together.setdefault(_packed(sorted(members)), []).append(clause)
    return tuple(Checks(tuple(clauses), cases) for cases, clauses in together.items())


def _packed(places: Sequence[int]) -> str:
    runs = groupby(enumerate(places), lambda pair: pair[1] - pair[0])
    spans = ([place for _, place in members] for _, members in runs)
    return ",".join(str(span[0]) if len(span) == 1 else f"{span[0]}-{span[-1]}" for span in spans)


def judged_on(checks: Iterable[Checks], cases: Sequence[str]) -> Mapping[str, Mapping[str, None]]:
    """For each clause the cases on which it was judged, in their order; ``cases`` are those of the run."""
    return {clause: dict.fromkeys(_unpacked(item.cases, cases)) for item in checks for clause in item.clauses}


def _unpacked(ranges: str, cases: Sequence[str]) -> Iterator[str]:
    for span in ranges.split(","):
        first, _, last = span.partition("-")
        yield from cases[int(first) : int(last or first) + 1]
