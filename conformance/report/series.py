"""A series of reports, such as one of each release: which version fails a clause first, and which repairs it.

The order is that of the reports as given. Whether a version repaired a clause, or broke one that held before, is
decided by comparing two reports (:func:`conformance.report.differences.compare`), so that a clause that could not be
judged in between is neither.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import cache

from conformance.records import Level
from conformance.report.differences import FAILS, ChangeKind, compare
from conformance.report.document import Report
from conformance.report.summary import level_of

__all__ = ["Series", "Span", "series_of"]


@dataclasses.dataclass(frozen=True, slots=True)
class Span:
    """A clause that fails from the version ``first`` on, and in ``repaired`` no longer, if any version repaired it.

    ``passed`` is the last version before in which it passed, or empty if none of the series did. ``optional`` says that
    the failure is that of a MAY clause.
    """

    clause: str
    level: Level
    first: str
    repaired: str = ""
    passed: str = ""
    optional: bool = False

    @property
    def regression(self) -> bool:
        """True if the clause passed in an earlier version and no later version repaired it, unless it is optional."""
        return bool(self.passed) and not self.repaired and not self.optional


@dataclasses.dataclass(frozen=True, slots=True)
class Series:
    """The versions in their order, and each failure of a clause; a clause that fails again has a second span."""

    versions: tuple[str, ...]
    spans: tuple[Span, ...]

    @property
    def fails(self) -> bool:
        """True if a clause that passed in an earlier version fails and was never repaired; a MAY clause may."""
        return any(span.regression for span in self.spans)


def series_of(reports: Sequence[Report]) -> Series:
    """The series of ``reports``, named by their targets; a name that occurs twice gets a number."""
    names = _names(reports)

    @cache
    def changes(old: int, new: int) -> dict[str, ChangeKind]:
        return {item.clause: item.change for item in compare(reports[old], reports[new]).clauses}

    failing = [_failing(report) for report in reports]
    clauses = dict.fromkeys(clause for report in reports for clause in (*report.run.clauses, *report.worst))
    spans = [
        span for clause in clauses for span in _spans(clause, names, [some.get(clause) for some in failing], changes)
    ]
    return Series(names, tuple(spans))


def _failing(report: Report) -> dict[str, bool]:
    """The clauses that fail in a report, each with whether all of its failures are optional."""
    found: dict[str, bool] = {}
    for item in report.deviations:
        for clause in item.clauses if item.outcome in FAILS else ():
            found[clause] = found.get(clause, True) and item.optional
    return found


def _names(reports: Sequence[Report]) -> tuple[str, ...]:
    targets = [report.run.target for report in reports]
    counts, seen = Counter(targets), Counter[str]()
    names = []
    for target in targets:
        seen[target] += 1
        names.append(target if counts[target] == 1 else f"{target} ({seen[target]})")
    return tuple(names)


def _spans(
    clause: str,
    names: Sequence[str],
    failing: Sequence[bool | None],
    changes: Callable[[int, int], dict[str, ChangeKind]],
) -> Iterator[Span]:
    """The spans of one clause; between two failures there is a repair, or they are one span.

    ``failing`` has None for each version in which the clause does not fail, else whether its failures are optional.
    """
    begin = last = -1
    for at, optional in enumerate(failing):
        if optional is not None:
            begin, last = (at if begin < 0 else begin), at
        elif begin >= 0 and changes(last, at).get(clause) is ChangeKind.REPAIR:
            yield _span(clause, names, (begin, last), failing, changes, repaired=names[at])
            begin = -1
    if begin >= 0:
        yield _span(clause, names, (begin, last), failing, changes)


def _span(
    clause: str,
    names: Sequence[str],
    ends: tuple[int, int],
    failing: Sequence[bool | None],
    changes: Callable[[int, int], dict[str, ChangeKind]],
    *,
    repaired: str = "",
) -> Span:
    """The span whose first and last failures are at these ``ends``."""
    first, last = ends
    optional = all(one is not False for one in failing[first : last + 1])
    return Span(clause, level_of(clause), names[first], repaired, _passed(clause, names, first, changes), optional)


def _passed(clause: str, names: Sequence[str], begin: int, changes: Callable[[int, int], dict[str, ChangeKind]]) -> str:
    """The last version before ``begin`` in which the clause passed, so that ``begin`` fails where that passed."""
    lost = (ChangeKind.REGRESSION, ChangeKind.NO_LONGER_MET)
    earlier = (at for at in reversed(range(begin)) if changes(at, begin).get(clause) in lost)
    at = next(earlier, None)
    return "" if at is None else names[at]
