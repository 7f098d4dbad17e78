"""The result of a run: the events of a log folded into the lists that every report shows.

It is a pure function of the log. A report made after a crash, on another machine or in another format therefore agrees
with the one made during the run.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from typing import Final

from conformance.contain.text import many
from conformance.contract.clause import CLAUSES, is_binding
from conformance.contract.offers import ELSEWHERE, profile_of
from conformance.contract.wholecase import required_of
from conformance.engine.attempts import Attempts, merge_attempts
from conformance.engine.events import (
    CaseJudged,
    CauseIsolated,
    CounterexampleSaved,
    Event,
    Evidence,
    RunEnded,
    RunStarted,
    SuiteBroke,
)
from conformance.engine.expectations import Problem, Resolution, covers_any, excuses, resolve
from conformance.engine.outcomes import finding_class, reason_classes
from conformance.engine.plugin import EnginePlugin
from conformance.engine.shards import Shard
from conformance.engine.shown import skipped
from conformance.engine.standing import ClauseStanding, Standing, standings
from conformance.generate import generated_id, scenario_id
from conformance.generate.factors import Covered
from conformance.generate.forms import form_id, wanted
from conformance.generate.scenariokinds import coverage
from conformance.protocol import plugin
from conformance.records import SET_UP, Finding, Outcome, Verdict
from conformance.targets.spec import ExpectedFailure

__all__ = ["RANK", "Covered", "Deviation", "Result", "cases_of", "fold", "offers"]

NOT_JUDGED = frozenset({Outcome.UNSUPPORTED, Outcome.UNTESTABLE, Outcome.DEPENDENCY_FAILED})
"""Outcomes of clauses that the run did not judge."""


@dataclasses.dataclass(frozen=True, slots=True)
class Deviation:
    """One distinct failure, or one reason why something was not judged, however many cases show it.

    ``clauses`` has one member if there are findings; a reason that kept several clauses from being judged names them
    all. ``finding``, ``evidence`` and ``replay`` belong to the first case in ``cases``; ``count`` counts findings.
    ``reason`` is the reason class, as an entry of the expected failures quotes it. In a run that repeats its cases,
    ``occurred`` of ``attempts`` at those cases had the failure; both are 0 in any other run.
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
    occurred: int = 0
    attempts: int = 0

    @property
    def clause(self) -> str:
        """The clause; the first if there are several."""
        return self.clauses[0]

    @property
    def required(self) -> str:
        """What was required: by the finding, or by the outcome of a failure without one; empty if nothing failed."""
        return self.finding.required if self.finding is not None else required_of(self.outcome)

    @property
    def sometimes(self) -> bool:
        """True if it did not occur in every attempt at its cases."""
        return self.occurred < self.attempts

    @property
    def frequency(self) -> str:
        """How often it occurred, in words; empty if the run did not repeat its cases."""
        if not self.attempts:
            return ""
        return f"{'sometimes' if self.sometimes else 'always'} ({self.occurred} of {self.attempts})"


@dataclasses.dataclass(frozen=True)
class Result:
    """A run as reports show it; ``complete`` is false if the log is cut short, or if the set-up kept cases from being
    asked, for the reason ``set_up``.
    """

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
    set_up: str = ""
    isolated: tuple[CauseIsolated, ...] = ()

    @cached_property
    def outcomes(self) -> Counter[Outcome]:
        """The number of verdicts with each outcome."""
        return Counter(verdict.outcome for verdict in self.verdicts)

    @cached_property
    def by_clause(self) -> Mapping[str, Counter[Outcome]]:
        """For each clause with a verdict, the number of verdicts with each outcome; clauses are in the order of the
        run.
        """
        order = {clause: Counter[Outcome]() for clause in self.start.clauses}
        for verdict in self.verdicts:
            order.setdefault(verdict.clause, Counter())[verdict.outcome] += 1
        return {clause: counts for clause, counts in order.items() if counts}

    @cached_property
    def worst(self) -> Mapping[str, Outcome]:
        """For each clause with a verdict, its worst outcome."""
        return {clause: worst(counts) for clause, counts in self.by_clause.items()}

    @cached_property
    def standings(self) -> Mapping[str, ClauseStanding]:
        """The standing of each chosen clause, in the order of the run."""
        return standings(self.start.clauses, self.cases, self.verdicts, offered=partial(offers, self.start))

    @cached_property
    def combinations(self) -> tuple[Covered, ...]:
        """The pairs and triples of features that met in a session of a scenario; empty without scenarios."""
        met = [meeting for case in self.cases for meeting in case.meetings]
        return coverage(met, profile=self.start.profile) if met else ()

    @cached_property
    def silent(self) -> tuple[str, ...]:
        """Chosen clauses that no case of this run owed."""
        return tuple(
            clause for clause, item in self.standings.items() if not item.owed and clause not in self.by_clause
        )

    def listed(self, *outcomes: Outcome) -> list[Deviation]:
        """The deviations with one of ``outcomes``."""
        return [deviation for deviation in self.deviations if deviation.outcome in outcomes]

    @property
    def failed(self) -> list[Deviation]:
        """Everything that failed: the deviations that fail the run, except unexpected passes, and the optional ones."""
        return [item for item in self.deviations if item.outcome.fails_run and item.outcome != Outcome.UNEXPECTED_PASS]

    @property
    def optional(self) -> list[Deviation]:
        """The failures of MAY clauses, which fail no run."""
        return [item for item in self.listed(Outcome.FAIL) if not any(map(is_binding, item.clauses))]

    @property
    def surprises(self) -> list[Deviation]:
        """The deviations that fail the run: unexpected outcomes, but for the failures of MAY clauses."""
        optional = self.optional
        return [item for item in self.deviations if item.outcome.fails_run and item not in optional]

    @property
    def not_judged(self) -> list[Deviation]:
        """The reasons why something was not judged, as deviations."""
        return self.listed(*sorted(NOT_JUDGED))

    @cached_property
    def served_nothing(self) -> bool:
        """True if a server answered all calls of a run without a byte, although cases ask for more.

        A server of some protocols may leave out every method, so that refusals pass; but then they say nothing about
        it. If tables are put into it, it may get empty answers alone. Other servers have rows in the smoke phase of the
        run, or are not judged.
        """
        if any(case.received for case in self.cases):
            return False
        # Cases that ask for refusals alone are judged by these; any other finds nothing to judge.
        asked = (one.outcome for case in self.cases if case.calls for one in case.verdicts)
        return (
            Outcome.UNTESTABLE in asked
            and plugin(EnginePlugin, self.start.protocol).nothing_put in self.start.not_offered
        )

    @cached_property
    def judged_nothing(self) -> bool:
        """True if no clause was judged: no verdict is of a clause, or what passed shows nothing (see
        :mod:`conformance.engine.standing`).
        """
        shown = (item.standing for item in self.standings.values())
        return _UNJUDGED.issuperset(shown) and not self.surprises

    @property
    def fails(self) -> bool:
        """True if the run exits with status 1: an unexpected outcome, a stale entry, a log that is cut short, or
        nothing judged or served. The failure of a MAY clause is none of these.
        """
        useless = not self.complete or self.judged_nothing or self.served_nothing
        return bool(self.surprises) or any(item.fails_run for item in self.problems) or useless


_UNJUDGED: Final = frozenset({Standing.NOT_OFFERED, Standing.NOT_JUDGED})


def cases_of(run: RunStarted) -> list[str]:
    """The ids of the cases of a run in their order: those of the corpus, then the generated ones of all shards."""
    return [*run.cases, *drawn_of(run)]


def drawn_of(run: RunStarted) -> Iterator[str]:
    """The ids of the generated cases of a run, then those of its scenarios; the forms of each follow each other."""
    forms = wanted(run.protocol, run.form)
    for index in range(run.generated):
        yield from (form_id(generated_id(run.seed, index, profile=run.profile), form) for form in forms)
    for index in range(run.scenarios):
        yield from (form_id(scenario_id(run.seed, index, profile=run.profile), form) for form in forms)


def offers(run: RunStarted, clause_id: str) -> bool:
    """True if the target offers what a clause is about; a serializer takes no requests."""
    if clause_id in ELSEWHERE.get(run.profile, ()):
        return False
    if run.profile == "arrow" and clause_id in CLAUSES and not CLAUSES[clause_id].on_bytes:
        return False
    return profile_of(clause_id) not in run.not_offered


def worst(counts: Counter[Outcome]) -> Outcome:
    """The outcome shown for a clause: the first of its outcomes in the order failed, expected, passed, not judged."""
    return min(counts, key=RANK.index)


RANK: Final = (
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
"""The outcomes, those that a report shows first at the beginning."""


def fold(events: Iterable[Event]) -> Result:
    """The result of the events of one run.

    Raises:
        ValueError: the first event is not ``run-started``.
    """
    stream = iter(events)
    start = next(stream, None)
    if not isinstance(start, RunStarted):
        raise ValueError(f"expected the events of a run, 'run-started' first, got {start!r}")  # noqa: TRY004  # the value is wrong, not its type
    rest = list(stream)
    attempts = merge_attempts([event for event in rest if isinstance(event, CaseJudged)], start.repeat)
    cases = attempts.cases
    raw = [verdict for case in cases for verdict in case.verdicts]
    ended = next((event for event in rest if isinstance(event, RunEnded)), None)
    set_up = {verdict.case_id: verdict.reason for verdict in raw if verdict.reason.startswith(SET_UP)}
    complete = ended is not None and not set_up
    asked = [case for case in cases if case.case_id not in set_up]
    resolution = resolve(
        raw,
        start.expectations,
        skipped_cases=[*_not_judged_here(start, asked, complete=complete)],
        skipped_clauses=[*skipped(start.left_out, "clause")],
        decided=[*_decided(start, cases)] if complete and not start.shard else (),
        form=start.form,
    )
    counterexamples = tuple(event for event in rest if isinstance(event, CounterexampleSaved))
    order = {clause: index for index, clause in enumerate(start.clauses)}
    return Result(
        start=start,
        cases=cases,
        verdicts=resolution.verdicts,
        problems=resolution.problems,
        deviations=tuple(
            sorted(
                _deviations(attempts, raw, resolution.verdicts, counterexamples, start.expectations),
                key=lambda deviation: order.get(deviation.clause, len(order)),
            )
        ),
        counterexamples=counterexamples,
        broke=tuple(event for event in rest if isinstance(event, SuiteBroke)),
        seconds=ended.seconds if ended is not None else _until_now(cases),
        complete=complete,
        set_up=next(iter(set_up.values()), ""),
        isolated=tuple(event for event in rest if isinstance(event, CauseIsolated)),
        remarks=(*(ended.remarks if ended is not None else ()), *_undecided(resolution, len(start.expectations))),
    )


def _until_now(cases: Sequence[CaseJudged]) -> float:
    """The seconds of a run that was cut short: up to its last case, or those of its cases if a log has no times."""
    return max((case.at for case in cases), default=0.0) or sum(case.seconds for case in cases)


def _undecided(resolution: Resolution, entries: int) -> Iterator[str]:
    """What a narrowed run did not find out about the expected failures."""
    if resolution.unseen:
        verb, covers = ("was", "it covers") if resolution.unseen == 1 else ("were", "they cover")
        yield (
            f"{resolution.unseen} of {many(entries, 'expected failure')} {verb} not looked at:"
            f" this run judged nothing that {covers}"
        )
    if resolution.undecided:
        yield (
            f"{resolution.undecided} of {many(entries, 'expected failure')} did not occur,"
            " but could occur on what was left out: only a run of all cases decides"
        )


def _decided(start: RunStarted, cases: Sequence[CaseJudged]) -> Iterator[int]:
    """The entries that the run decides: a failure may have been left out of a case that was stopped."""
    stopped = [case.case_id for case in cases if case.stopped]
    return (index for index in start.decided if not covers_any(start.expectations[index], stopped, ()))


def _not_judged_here(start: RunStarted, cases: Sequence[CaseJudged], *, complete: bool) -> Iterator[str]:
    """The ids of cases that exist and that the run did not judge: those left out, those that other shards generate,
    those that were stopped before their end, and those that it did not reach before it was cut short.
    """
    if not start.expectations:  # nobody asks, and there may be millions
        return
    yield from skipped(start.left_out, "case")
    yield from (case.case_id for case in cases if case.stopped)
    if start.shard:
        shard = Shard.parse(start.shard)
        yield from (case_id for case_id in drawn_of(start) if not shard.holds(case_id))
    if not complete:
        judged = {case.case_id for case in cases}
        yield from (case_id for case_id in cases_of(start) if case_id not in judged)


def _grouped(
    raw: Sequence[Verdict], resolved: Sequence[Verdict], expectations: Sequence[ExpectedFailure]
) -> Mapping[tuple[Outcome, str, str], Sequence[tuple[Verdict, Finding | None]]]:
    """The verdicts that are not passes, by outcome, clause and reason class; causes without findings by class alone."""
    # A clause that one case cannot observe and another case can is not a gap: there are many cases for this reason.
    shown = {verdict.clause for verdict in raw if verdict.outcome not in NOT_JUDGED}
    judged = {verdict.case_id for verdict in raw if verdict.outcome not in NOT_JUDGED}
    groups: dict[tuple[Outcome, str, str], list[tuple[Verdict, Finding | None]]] = {}
    for before, after in zip(raw, resolved, strict=True):
        elsewhere = after.clause in shown and after.case_id in judged
        if after.outcome is Outcome.PASS or (elsewhere and after.outcome in NOT_JUDGED):
            continue
        for finding in after.findings:
            reason = finding_class(before.outcome, finding)
            excused = excuses(expectations, before, reason)
            key = (Outcome.EXPECTED_FAIL if excused else after.outcome, after.clause, reason)
            groups.setdefault(key, []).append((after, finding))
        if not after.findings:
            (reason,) = reason_classes(before)
            owner = after.clause if after.outcome is Outcome.UNEXPECTED_PASS else ""
            groups.setdefault((after.outcome, owner, reason), []).append((after, None))
    return groups


def _deviations(
    attempts: Attempts,
    raw: Sequence[Verdict],
    resolved: Sequence[Verdict],
    counterexamples: Sequence[CounterexampleSaved],
    expectations: Sequence[ExpectedFailure],
) -> list[Deviation]:
    """The verdicts that are not passes, grouped: findings by clause and reason class, causes without findings by
    class.
    """
    by_id = {case.case_id: case for case in attempts.cases}
    # Several shards may have saved a counterexample of one failure: take the first, as the unsharded run would have.
    saved = {(item.clause, item.reason): item.file for item in reversed(counterexamples)}
    shown_bytes = {case.case_id: {item.finding: item for item in reversed(case.evidence)} for case in attempts.cases}
    deviations = []
    for (outcome, owner, reason), members in _grouped(raw, resolved, expectations).items():
        verdict, first = members[0]
        case = by_id[verdict.case_id]
        evidence = shown_bytes[case.case_id].get(first) if first else None
        clauses = (owner,) if owner else tuple(dict.fromkeys(member.clause for member, _ in members))
        on = tuple(dict.fromkeys(member.case_id for member, _ in members))
        failed = outcome.fails_run or outcome is Outcome.EXPECTED_FAIL
        occurred, tries = attempts.occurred(clauses, on, reason) if failed else (0, 0)
        deviations.append(
            Deviation(
                outcome=outcome,
                clauses=clauses,
                reason=reason,
                text=first.observed if first else verdict.reason,
                cases=on,
                count=len(members),
                replay=saved.get((owner, reason), case.replay),
                finding=first,
                evidence=evidence,
                occurred=occurred,
                attempts=tries,
            )
        )
    return deviations
