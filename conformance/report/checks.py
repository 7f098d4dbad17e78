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
from typing import TYPE_CHECKING, Final

from conformance.engine.result import NOT_JUDGED, Result
from conformance.records import RecordError

if TYPE_CHECKING:
    from conformance.report.document import Report

__all__ = ["Checks", "ClauseNotRun", "NotRun", "checks_of", "no_longer_run"]

_RANGES: Final = re.compile(r"(\d{1,7}(-\d{1,7})?(,|$))+")


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


@dataclasses.dataclass(frozen=True, slots=True)
class ClauseNotRun:
    """A clause, and the cases on which it was judged before and is not judged now."""

    clause: str
    cases: tuple[str, ...]


@dataclasses.dataclass(frozen=True, slots=True)
class NotRun:
    """The checks of an older report that a newer one lacks.

    ``cases`` are those on which nothing was judged any more; ``clauses`` are lost on other cases. ``unknown`` names the
    reports that do not say which checks ran; then nothing is compared.
    """

    cases: tuple[str, ...] = ()
    clauses: tuple[ClauseNotRun, ...] = ()
    unknown: tuple[str, ...] = ()


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


def _unpacked(ranges: str, cases: Sequence[str]) -> Iterator[str]:
    for span in ranges.split(","):
        first, _, last = span.partition("-")
        yield from cases[int(first) : int(last or first) + 1]


def no_longer_run(old: Report, new: Report) -> NotRun:
    """The checks that ``old`` has and ``new`` lacks, in the order of ``old``."""
    if unknown := tuple(name for name, report in (("old", old), ("new", new)) if not report.checks):
        return NotRun(unknown=unknown)
    before, after = _by_clause(old), _by_clause(new)
    still = {case for cases in after.values() for case in cases}
    gone = [case for case in old.run.cases if case not in still and any(case in some for some in before.values())]
    lost = (
        ClauseNotRun(clause, tuple(case for case in cases if case in still and case not in after.get(clause, {})))
        for clause, cases in before.items()
    )
    return NotRun(tuple(gone), tuple(item for item in lost if item.cases))


def _by_clause(report: Report) -> Mapping[str, Mapping[str, None]]:
    """For each clause the cases on which it was judged, in their order."""
    return {clause: dict.fromkeys(cases) for clause, cases in _pairs(report.checks, report.run.cases)}


def _pairs(checks: Iterable[Checks], cases: Sequence[str]) -> Iterator[tuple[str, tuple[str, ...]]]:
    for item in checks:
        members = tuple(_unpacked(item.cases, cases))
        yield from ((clause, members) for clause in item.clauses)
