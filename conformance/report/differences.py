"""The improvements and regressions between two reports, separated from changes that cannot be compared.

A clause that passed on a case and fails on it now is a regression, unless something else that failed on that case is
repaired: then the failure has come to light, and nobody knows whether it is new. These are not regressions either: a
MAY clause, which nothing promises, a clause that the older suite did not have, one that it could not judge, and one
that fails only on cases that it did not have. An expected failure counts as a failure here, because the targets are
compared and not their lists of expected failures.
"""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Collection, Iterator, Mapping
from typing import Final

from conformance.contract.closed import Question
from conformance.engine.outcomes import WHOLE_CASE
from conformance.engine.result import cases_of
from conformance.engine.standing import FAILING, Standing
from conformance.records import Level, Outcome
from conformance.report.checks import judged_on
from conformance.report.document import DeviationResult, Report
from conformance.report.reading import chosen_or_left_out
from conformance.report.summary import level_of, question_of, section_of, section_place

__all__ = ["FAILS", "ChangeKind", "ClauseChange", "DeviationChange", "ReportDifference", "compare"]

_HOLDS: Final = frozenset({Standing.HELD, Standing.HELD_WHERE_JUDGED})
FAILS: Final = frozenset({Outcome.FAIL, Outcome.CRASH, Outcome.HANG, Outcome.REFUSED, Outcome.EXPECTED_FAIL})
"""The outcomes of a clause that failed, expected or not."""
_SAMPLES: Final = 5
"""Cases named for a change: enough to replay one, few enough to read."""


class ChangeKind(enum.StrEnum):
    """The kinds of change of a clause between two reports."""

    REGRESSION = "regression"
    """It passed before and fails now on the same case, on which nothing else was repaired."""
    NO_LONGER_MET = "no-longer-met"
    """So does a MAY clause: a change, but no regression."""
    REPAIR = "repair"
    """It failed before and passes now wherever it is judged."""
    NEWLY_JUDGED = "newly-judged"
    """It was not judged before, or it fails only on cases on which it was not judged, or behind another failure."""
    NO_LONGER_JUDGED = "no-longer-judged"
    """It was judged before and is not judged now."""
    NEW_CLAUSE = "new-clause"
    """The older suite did not have it."""
    GONE_CLAUSE = "gone-clause"
    """The newer suite does not have it."""


@dataclasses.dataclass(frozen=True, slots=True)
class ClauseChange:
    """One clause that changed: its standing before and after (None if the suite did not have it), and cases that show
    it. ``question`` is the question about a reader that the clause answers.
    """

    change: ChangeKind
    clause: str
    level: Level
    before: Standing | None
    after: Standing | None
    text: str = ""
    cases: tuple[str, ...] = ()
    replay: str = ""
    question: Question | None = None


@dataclasses.dataclass(frozen=True, slots=True)
class DeviationChange:
    """One distinct deviation that only one of the reports has."""

    clause: str
    reason: str
    text: str
    cases: tuple[str, ...]
    replay: str


@dataclasses.dataclass(frozen=True, slots=True)
class ReportDifference:
    """The comparison of two reports; ``old`` and ``new`` name the target and the version of the suite."""

    old: str
    new: str
    clauses: tuple[ClauseChange, ...]
    new_deviations: tuple[DeviationChange, ...]
    gone_deviations: tuple[DeviationChange, ...]

    def of(self, change: ChangeKind) -> list[ClauseChange]:
        """The clauses with this kind of change, in the order of the contract; conformance is before robustness."""
        found = [item for item in self.clauses if item.change is change]
        return sorted(found, key=lambda item: section_place(section_of(item.clause)))

    @property
    def fails(self) -> bool:
        """True if any clause but a MAY clause fails on a case on which it passed before."""
        return bool(self.of(ChangeKind.REGRESSION))


def compare(old: Report, new: Report) -> ReportDifference:
    """The changes from ``old`` to ``new``.

    Two deviations are the same if their clause and reason class are. A deviation is not listed as gone if its clause
    is no longer judged, and not as new if the older suite did not have its clause.
    """
    clauses = tuple(_changes(old, new))
    known_before = chosen_or_left_out(old.run)
    then, now = _failures(old), _failures(new)
    judged = {clause for clause, item in new.standings.items() if item.standing in _HOLDS | FAILING}
    return ReportDifference(
        old=_name(old),
        new=_name(new),
        clauses=clauses,
        new_deviations=_only(now, then, known_before | {WHOLE_CASE}),
        gone_deviations=_only(then, now, judged | {WHOLE_CASE}),
    )


def _name(report: Report) -> str:
    state = "" if report.complete else ", incomplete"
    return f"{report.run.target} (suite {report.run.suite}{state})"


def _changes(old: Report, new: Report) -> Iterator[ClauseChange]:
    known_before, known_now = chosen_or_left_out(old.run), chosen_or_left_out(new.run)
    before, after = old.standings, new.standings
    passed = _Passed(old, new)
    for clause in dict.fromkeys((*after, *before)):
        then, now = (item[clause].standing if clause in item else None for item in (before, after))
        failing = _failing(new, clause)
        if clause in known_now - known_before:
            change: ChangeKind | None = ChangeKind.NEW_CLAUSE
        elif clause in known_before - known_now:
            change = ChangeKind.GONE_CLAUSE
        else:
            fails_on = {case for item in failing for case in item.cases}
            change = _change(then, now, comparable=not fails_on.isdisjoint(passed.on(clause)))
            if change is ChangeKind.REGRESSION and all(item.optional for item in failing):
                change = ChangeKind.NO_LONGER_MET
        if change is not None:
            yield _clause_change(change, clause, then, now, failing or _failing(old, clause))


def _change(then: Standing | None, now: Standing | None, *, comparable: bool) -> ChangeKind | None:
    held, failed = then in _HOLDS, then in FAILING
    holds, fails = now in _HOLDS, now in FAILING
    if held and fails:
        return ChangeKind.REGRESSION if comparable else ChangeKind.NEWLY_JUDGED
    if failed and holds:
        return ChangeKind.REPAIR
    if (held or failed) and not (holds or fails):
        return ChangeKind.NO_LONGER_JUDGED
    if (holds or fails) and not (held or failed):
        return ChangeKind.NEWLY_JUDGED
    return None


class _Passed:
    """The cases on which clauses passed in the old report, without those on which something was repaired."""

    def __init__(self, old: Report, new: Report) -> None:
        self._failed: Final = _failed_on(old)
        fails = _failed_on(new)
        self._repaired: Final = {case for case, failed in self._failed.items() if failed - fails.get(case, set())}
        self._held: Final = {clause for clause, item in old.standings.items() if item.standing in _HOLDS}
        self._judged: Final = judged_on(old.checks, old.run.cases)
        self._all: Final = cases_of(old.run)
        self._unlisted: Final = self._all[len(old.run.cases) :] if old.checks else self._all

    def on(self, clause: str) -> frozenset[str]:
        """Those cases of ``clause``; of cases whose checks the report does not list, all if the clause held."""
        cases = {*self._judged.get(clause, ()), *(self._unlisted if clause in self._held else ())}
        return frozenset(case for case in cases - self._repaired if clause not in self._failed.get(case, ()))


def _failed_on(report: Report) -> dict[str, set[str]]:
    """For each case with a failure, the clauses that failed on it."""
    found: dict[str, set[str]] = {}
    for item in report.deviations:
        for case in item.cases if item.outcome in FAILS else ():
            found.setdefault(case, set()).update(item.clauses)
    return found


def _failing(report: Report, clause: str) -> list[DeviationResult]:
    return [item for item in report.deviations if clause in item.clauses and item.outcome in FAILS]


def _clause_change(
    change: ChangeKind,
    clause: str,
    then: Standing | None,
    now: Standing | None,
    shown: list[DeviationResult],
) -> ClauseChange:
    cases = dict.fromkeys(case for item in shown for case in item.cases)
    return ClauseChange(
        change=change,
        clause=clause,
        level=shown[0].level if shown else level_of(clause),
        before=then,
        after=now,
        text=shown[0].text if shown else "",
        cases=tuple(cases)[:_SAMPLES],
        replay=shown[0].replay if shown else "",
        question=question_of(clause),
    )


def _failures(report: Report) -> dict[tuple[str, str], DeviationResult]:
    failures = (item for item in report.deviations if item.outcome in FAILS)
    return {(clause, item.reason): item for item in failures for clause in item.clauses}


def _only(
    these: Mapping[tuple[str, str], DeviationResult], those: Collection[tuple[str, str]], clauses: Collection[str]
) -> tuple[DeviationChange, ...]:
    """Deviations in ``these`` and not in ``those``, for the given clauses."""
    return tuple(
        DeviationChange(clause, reason, item.text, item.cases[:_SAMPLES], item.replay)
        for (clause, reason), item in these.items()
        if (clause, reason) not in those and clause in clauses
    )
