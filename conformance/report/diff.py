"""The improvements and regressions between two reports, separated from changes that cannot be compared.

A clause that passed before and fails now is a regression. These are not regressions, because nobody knows whether
the clause passed before: a clause that the older suite did not have, one that it could not judge, and one that fails
only on cases that it did not have. An expected failure counts as a failure here, because the targets are compared
and not their lists of expected failures.
"""

from __future__ import annotations

import dataclasses
import enum
import re
from collections.abc import Collection, Iterator, Mapping
from typing import Final

from conformance.engine.outcomes import WHOLE_CASE
from conformance.records import Level, Outcome
from conformance.report.document import ClauseResult, DeviationResult, Report
from conformance.report.reading import chosen_or_left_out
from conformance.report.summary import level_of

__all__ = ["ChangeKind", "ClauseChange", "DeviationChange", "ReportDifference", "compare"]

_HOLDS: Final = frozenset({Outcome.PASS, Outcome.UNEXPECTED_PASS})
_FAILS: Final = frozenset({Outcome.FAIL, Outcome.CRASH, Outcome.HANG, Outcome.REFUSED, Outcome.EXPECTED_FAIL})
_GENERATED: Final = re.compile(r"generated\.(\w+)\.s(\d+)\.i(\d+)")
_SAMPLES: Final = 5
"""Cases named for a change: enough to replay one, few enough to read."""


class ChangeKind(enum.StrEnum):
    """The kinds of change of a clause between two reports."""

    REGRESSION = "regression"
    """It passed before and fails now."""
    REPAIR = "repair"
    """It failed before and passes now."""
    NEWLY_JUDGED = "newly-judged"
    """It was not judged before, or it fails only on cases that the older run did not have."""
    NO_LONGER_JUDGED = "no-longer-judged"
    """It was judged before and is not judged now."""
    NEW_CLAUSE = "new-clause"
    """The older suite did not have it."""
    GONE_CLAUSE = "gone-clause"
    """The newer suite does not have it."""


@dataclasses.dataclass(frozen=True, slots=True)
class ClauseChange:
    """One clause that changed: its outcomes before and after (None if it was not judged), and cases that show it."""

    change: ChangeKind
    clause: str
    level: Level
    before: Outcome | None
    after: Outcome | None
    text: str = ""
    cases: tuple[str, ...] = ()
    replay: str = ""


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
        """The clauses with this kind of change, in the order of the contract."""
        return [item for item in self.clauses if item.change is change]

    @property
    def fails(self) -> bool:
        """True if any clause that passed before fails now."""
        return bool(self.of(ChangeKind.REGRESSION))


def compare(old: Report, new: Report) -> ReportDifference:
    """The changes from ``old`` to ``new``.

    Two deviations are the same if their clause and reason class are. A deviation is not listed as gone if its clause
    is no longer judged, and not as new if the older suite did not have its clause.
    """
    before, after = ({item.id: item for item in report.clauses} for report in (old, new))
    clauses = tuple(_changes(old, new, before, after))
    known_before = chosen_or_left_out(old.run)
    then, now = _failures(old), _failures(new)
    judged = {clause for clause, item in after.items() if item.outcome in _HOLDS | _FAILS}
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


def _changes(
    old: Report, new: Report, before: Mapping[str, ClauseResult], after: Mapping[str, ClauseResult]
) -> Iterator[ClauseChange]:
    known_before, known_now = chosen_or_left_out(old.run), chosen_or_left_out(new.run)
    for clause in dict.fromkeys((*new.run.clauses, *after, *old.run.clauses, *before)):
        then, now = before.get(clause), after.get(clause)
        failing = _failing(new, clause)
        if clause in known_now - known_before:
            change: ChangeKind | None = ChangeKind.NEW_CLAUSE
        elif clause in known_before - known_now:
            change = ChangeKind.GONE_CLAUSE
        else:
            change = _change(then, now, comparable=any(_had(old, case) for item in failing for case in item.cases))
        if change is not None:
            yield _clause_change(change, clause, then, now, failing or _failing(old, clause))


def _change(then: ClauseResult | None, now: ClauseResult | None, *, comparable: bool) -> ChangeKind | None:
    held, failed = (then is not None and then.outcome in some for some in (_HOLDS, _FAILS))
    holds, fails = (now is not None and now.outcome in some for some in (_HOLDS, _FAILS))
    if held and fails:
        return ChangeKind.REGRESSION if comparable else ChangeKind.NEWLY_JUDGED
    if failed and holds:
        return ChangeKind.REPAIR
    if (held or failed) and not (holds or fails):
        return ChangeKind.NO_LONGER_JUDGED
    if (holds or fails) and not (held or failed):
        return ChangeKind.NEWLY_JUDGED
    return None


def _had(report: Report, case_id: str) -> bool:
    """True if the run of ``report`` put the case ``case_id`` to its target."""
    run = report.run
    if match := _GENERATED.fullmatch(case_id):
        return match[1] == run.profile and int(match[2]) == run.seed and int(match[3]) < run.generated
    return case_id in run.cases


def _failing(report: Report, clause: str) -> list[DeviationResult]:
    return [item for item in report.deviations if clause in item.clauses and item.outcome in _FAILS]


def _clause_change(
    change: ChangeKind,
    clause: str,
    then: ClauseResult | None,
    now: ClauseResult | None,
    shown: list[DeviationResult],
) -> ClauseChange:
    some = now or then
    cases = dict.fromkeys(case for item in shown for case in item.cases)
    return ClauseChange(
        change=change,
        clause=clause,
        level=level_of(clause) if some is None else some.level,
        before=None if then is None else then.outcome,
        after=None if now is None else now.outcome,
        text=shown[0].text if shown else "",
        cases=tuple(cases)[:_SAMPLES],
        replay=shown[0].replay if shown else "",
    )


def _failures(report: Report) -> dict[tuple[str, str], DeviationResult]:
    failures = (item for item in report.deviations if item.outcome in _FAILS)
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
