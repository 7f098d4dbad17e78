"""Merge the attempts of a run with ``--repeat`` into one event for each case, and count how often each failure occurs.

A failure that occurs in some attempts and not in others is a property of the target, such as a race. The merged case
has every failure that any attempt showed, so that nothing is lost, and the counts say which of them did not always
occur.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from conformance.engine.events import CaseJudged
from conformance.engine.outcomes import finding_class, reason_classes
from conformance.records import Finding, Outcome, Verdict

__all__ = ["Attempts", "merge_attempts"]

Failure = tuple[str, str, str]
"""A case, a clause and a reason class."""


@dataclasses.dataclass(frozen=True, slots=True)
class Attempts:
    """The merged cases in their order, the number of attempts at each, and the attempts in which each failure occurred.

    A case without an entry in ``counts`` was put to the target once, and its failures are not counted. ``told`` are the
    attempts that show whether a failure occurs, where they are fewer: one that was stopped and does not have it shows
    nothing.
    """

    cases: tuple[CaseJudged, ...]
    counts: Mapping[str, int] = dataclasses.field(default_factory=dict)
    failures: Mapping[Failure, int] = dataclasses.field(default_factory=dict)
    told: Mapping[Failure, int] = dataclasses.field(default_factory=dict)

    def occurred(self, clauses: Iterable[str], cases: Iterable[str], reason: str) -> tuple[int, int]:
        """The attempts at ``cases`` in which one of ``clauses`` failed with this reason class, and all attempts; zeros
        if the run did not repeat its cases.
        """
        names = tuple(clauses)
        seen = tries = 0
        for case in (one for one in cases if one in self.counts):
            often = max(((case, clause, reason) for clause in names), key=lambda one: self.failures.get(one, 0))
            seen += self.failures.get(often, 0)
            tries += self.told.get(often, self.counts[case])
        return seen, tries


def merge_attempts(events: Sequence[CaseJudged], repeat: int) -> Attempts:
    """The cases of a run with ``repeat`` attempts at each case; unchanged if it had one attempt."""
    if repeat == 1:
        return Attempts(tuple(events))
    by_case: dict[str, list[CaseJudged]] = {}
    for event in events:
        by_case.setdefault(event.case_id, []).append(event)
    failures = Counter(failure for event in events for failure in _failures(event))
    silent = Counter(
        failure
        for event in events
        if event.stopped
        for failure in failures.keys() - _failures(event)
        if failure[0] == event.case_id
    )
    return Attempts(
        tuple(_merged(attempts) for attempts in by_case.values()),
        {case_id: len(attempts) for case_id, attempts in by_case.items()},
        failures,
        {failure: len(by_case[failure[0]]) - count for failure, count in silent.items()},
    )


def _failures(event: CaseJudged) -> set[Failure]:
    return {
        (event.case_id, verdict.clause, reason)
        for verdict in event.verdicts
        if verdict.outcome.fails_run
        for reason in reason_classes(verdict)
    }


def _merged(attempts: Sequence[CaseJudged]) -> CaseJudged:
    verdicts: dict[str, list[Verdict]] = {}
    for attempt in attempts:
        for verdict in attempt.verdicts:
            verdicts.setdefault(verdict.clause, []).append(verdict)
    return dataclasses.replace(
        attempts[0],
        verdicts=tuple(merged for members in verdicts.values() for merged in _one_clause(members)),
        evidence=tuple(dict.fromkeys(item for attempt in attempts for item in attempt.evidence)),
        answers=tuple(dict.fromkeys(item for attempt in attempts for item in attempt.answers)),
        blocked=tuple(dict.fromkeys(clause for attempt in attempts for clause in attempt.blocked)),
        meetings=next((attempt.meetings for attempt in attempts if attempt.meetings), ()),
        stopped=attempts[0].stopped if all(attempt.stopped for attempt in attempts) else "",
        calls=sum(attempt.calls for attempt in attempts),
        received=sum(attempt.received for attempt in attempts),
        seconds=sum(attempt.seconds for attempt in attempts),
    )


def _one_clause(verdicts: Sequence[Verdict]) -> list[Verdict]:
    """The verdicts of one clause on one case: one for each way in which it failed, else one that says the most.

    Findings of one reason class come from the first attempt that has them.
    """
    failed = [verdict for verdict in verdicts if verdict.outcome.fails_run]
    if not failed:
        return [next((verdict for verdict in verdicts if verdict.outcome is Outcome.PASS), verdicts[0])]
    first: dict[tuple[Outcome, str], Verdict] = {}
    findings: dict[tuple[Outcome, str], dict[str, list[Finding]]] = {}
    for verdict in failed:
        key = (verdict.outcome, "" if verdict.findings else reason_classes(verdict)[0])
        first.setdefault(key, verdict)
        classes: dict[str, list[Finding]] = {}
        for finding in verdict.findings:
            classes.setdefault(finding_class(verdict.outcome, finding), []).append(finding)
        findings[key] = classes | findings.get(key, {})
    return [
        dataclasses.replace(
            verdict, findings=tuple(finding for members in findings[key].values() for finding in members)
        )
        for key, verdict in first.items()
    ]
