"""What a run comes to: the events of a log folded into the lists that every report shows.

A pure function of the log, so that a report made after a crash, on another machine or in another format
says the same as the one made at once.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property

from conformance.engine.events import (
    CaseJudged,
    CounterexampleSaved,
    Event,
    Evidence,
    RunEnded,
    RunStarted,
    SuiteBroke,
)
from conformance.engine.expectations import Problem, excuses, resolve
from conformance.engine.outcomes import finding_class, reason_classes
from conformance.engine.shards import Shard
from conformance.generate import generated_id
from conformance.records import Finding, Outcome, Verdict
from conformance.targets.spec import ExpectedFailure

__all__ = ["Deviation", "Result", "fold"]

NOT_JUDGED = frozenset({Outcome.UNSUPPORTED, Outcome.UNTESTABLE, Outcome.DEPENDENCY_FAILED})
"""Outcomes of clauses about which the run says nothing, and why."""


@dataclasses.dataclass(frozen=True, slots=True)
class Deviation:
    """One distinct thing that is wrong (or not judged), however many cases show it.

    ``clauses`` has one member for what was found; a cause that kept several clauses from being judged names them all.
    ``finding``, ``evidence`` and ``replay`` belong to the first case in ``cases``; ``count`` counts findings.
    ``reason`` is the reason class, the words of an expected failure's entry.
    """

    outcome: Outcome
    clauses: tuple[str, ...]
    reason: str
    text: str
    cases: tuple[str, ...]
    count: int
    replay: str
    finding: Finding | None = None
    evidence: Evidence | None = None

    @property
    def clause(self) -> str:
        """The clause, the first where there are several."""
        return self.clauses[0]


@dataclasses.dataclass(frozen=True)
class Result:
    """A run as its reports see it; ``complete`` is false for a log that breaks off."""

    start: RunStarted
    cases: tuple[CaseJudged, ...]
    verdicts: tuple[Verdict, ...]
    problems: tuple[Problem, ...]
    deviations: tuple[Deviation, ...]
    counterexamples: tuple[CounterexampleSaved, ...]
    broke: tuple[SuiteBroke, ...]
    seconds: float
    complete: bool
    remarks: tuple[str, ...] = ()

    @cached_property
    def outcomes(self) -> Counter[Outcome]:
        """How many verdicts have each outcome."""
        return Counter(verdict.outcome for verdict in self.verdicts)

    @cached_property
    def by_clause(self) -> Mapping[str, Counter[Outcome]]:
        """Per clause that has a verdict, how many verdicts have each outcome; the clauses in the order of the run."""
        order = {clause: Counter[Outcome]() for clause in self.start.clauses}
        for verdict in self.verdicts:
            order.setdefault(verdict.clause, Counter())[verdict.outcome] += 1
        return {clause: counts for clause, counts in order.items() if counts}

    @cached_property
    def worst(self) -> Mapping[str, Outcome]:
        """Per clause that has a verdict, its worst outcome."""
        return {clause: worst(counts) for clause, counts in self.by_clause.items()}

    @cached_property
    def silent(self) -> tuple[str, ...]:
        """Chosen clauses without any verdict: no case of this run had anything for them to observe."""
        return tuple(clause for clause in self.start.clauses if clause not in self.by_clause)

    def listed(self, *outcomes: Outcome) -> list[Deviation]:
        """The deviations with one of ``outcomes``."""
        return [deviation for deviation in self.deviations if deviation.outcome in outcomes]

    @property
    def failed(self) -> list[Deviation]:
        """What fails the run, unexpected passes apart."""
        return [item for item in self.deviations if item.outcome.fails_run and item.outcome != Outcome.UNEXPECTED_PASS]

    @property
    def not_judged(self) -> list[Deviation]:
        """What could not be judged, with its causes."""
        return self.listed(*sorted(NOT_JUDGED))

    @property
    def fails(self) -> bool:
        """Whether the run exits with status 1: a surprise, a stale entry, a cut-off log, or nothing judged at all."""
        judged = any(outcome not in NOT_JUDGED for outcome in self.outcomes)
        surprises = any(outcome.fails_run for outcome in self.outcomes)
        return surprises or any(item.fails_run for item in self.problems) or not self.complete or not judged


def worst(counts: Counter[Outcome]) -> Outcome:
    """The one outcome that stands for a clause: the first in the order failed, expected, passed, not judged."""
    return min(counts, key=_RANK.index)


_RANK = (
    Outcome.ERROR,
    Outcome.CRASH,
    Outcome.HANG,
    Outcome.FAIL,
    Outcome.REFUSED,
    Outcome.UNEXPECTED_PASS,
    Outcome.EXPECTED_FAIL,
    Outcome.PASS,
    Outcome.DEPENDENCY_FAILED,
    Outcome.UNTESTABLE,
    Outcome.UNSUPPORTED,
)


def fold(events: Iterable[Event]) -> Result:
    """Fold the events of one run.

    Raises:
        ValueError: the first event is not ``run-started``.
    """
    stream = iter(events)
    start = next(stream, None)
    if not isinstance(start, RunStarted):
        raise ValueError(f"expected the events of a run, 'run-started' first, got {start!r}")  # noqa: TRY004  # a value, not a type, is at fault
    rest = list(stream)
    cases = tuple(event for event in rest if isinstance(event, CaseJudged))
    skipped = [*_elsewhere(start)]
    raw = [verdict for case in cases for verdict in case.verdicts]
    resolution = resolve(raw, start.expectations, skipped_cases=skipped)
    ended = next((event for event in rest if isinstance(event, RunEnded)), None)
    counterexamples = tuple(event for event in rest if isinstance(event, CounterexampleSaved))
    order = {clause: index for index, clause in enumerate(start.clauses)}
    return Result(
        start=start,
        cases=cases,
        verdicts=resolution.verdicts,
        problems=resolution.problems,
        deviations=tuple(
            sorted(
                _deviations(cases, raw, resolution.verdicts, counterexamples, start.expectations),
                key=lambda deviation: order.get(deviation.clause, len(order)),
            )
        ),
        counterexamples=counterexamples,
        broke=tuple(event for event in rest if isinstance(event, SuiteBroke)),
        seconds=ended.seconds if ended is not None else sum(case.seconds for case in cases),
        complete=ended is not None,
        remarks=ended.remarks if ended is not None else (),
    )


def _elsewhere(start: RunStarted) -> Iterator[str]:
    """The cases that exist and were not chosen, those that other shards generate among them."""
    yield from (left.id for left in start.left_out if left.kind == "case")
    if start.shard:
        shard = Shard.parse(start.shard)
        drawn = (generated_id(start.seed, index, profile=start.profile) for index in range(start.generated))
        yield from (case_id for case_id in drawn if not shard.holds(case_id))


def _deviations(
    cases: Sequence[CaseJudged],
    raw: Sequence[Verdict],
    resolved: Sequence[Verdict],
    counterexamples: Sequence[CounterexampleSaved],
    expectations: Sequence[ExpectedFailure],
) -> list[Deviation]:
    """Group what is not a pass: findings by clause and reason class, causes without findings by class alone."""
    by_id = {case.case_id: case for case in cases}
    # Of the counterexamples that shards found alike, the first: the one that the whole run would have found.
    saved = {(item.clause, item.reason): item.file for item in reversed(counterexamples)}
    # That a case does not show a clause which another case shows is no gap: it is why there are many cases.
    shown = {verdict.clause for verdict in raw if verdict.outcome not in NOT_JUDGED}
    judged = {verdict.case_id for verdict in raw if verdict.outcome not in NOT_JUDGED}
    groups: dict[tuple[Outcome, str, str], list[tuple[Verdict, Finding | None]]] = {}
    for before, after in zip(raw, resolved, strict=True):
        if after.outcome is Outcome.PASS or (
            after.clause in shown and after.case_id in judged and after.outcome in NOT_JUDGED
        ):
            continue
        if after.findings:
            for finding in after.findings:
                reason = finding_class(before.outcome, finding)
                excused = excuses(expectations, before, reason)
                key = (Outcome.EXPECTED_FAIL if excused else after.outcome, after.clause, reason)
                groups.setdefault(key, []).append((after, finding))
        else:
            (reason,) = reason_classes(before)
            owner = after.clause if after.outcome is Outcome.UNEXPECTED_PASS else ""
            groups.setdefault((after.outcome, owner, reason), []).append((after, None))
    shown_bytes = {case.case_id: {item.finding: item for item in reversed(case.evidence)} for case in cases}
    deviations = []
    for (outcome, owner, reason), members in groups.items():
        verdict, first = members[0]
        case = by_id[verdict.case_id]
        evidence = shown_bytes[case.case_id].get(first) if first else None
        deviations.append(
            Deviation(
                outcome=outcome,
                clauses=(owner,) if owner else tuple(dict.fromkeys(member.clause for member, _ in members)),
                reason=reason,
                text=first.observed if first else verdict.reason,
                cases=tuple(dict.fromkeys(member.case_id for member, _ in members)),
                count=len(members),
                replay=saved.get((owner, reason), case.replay),
                finding=first,
                evidence=evidence,
            )
        )
    return deviations
