"""The JSON report: the result of a run as one document with a published schema, stable enough to be compared by
diff.

Lists are in the order of the contract and the corpus; nothing in ``clauses`` or ``deviations`` depends on time. The
schema is ``conformance/report/report.schema.json``, generated from the classes here.
"""

from __future__ import annotations

import dataclasses
import json
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from conformance._jsonschema import json_schema
from conformance.contract.clause import Role
from conformance.contract.closed import EvidenceKind, Question
from conformance.contract.wholecase import EXPLAINED
from conformance.disk.files import write_whole
from conformance.engine.causes import Cause, causes
from conformance.engine.events import RunStarted
from conformance.engine.expectations import ProblemKind
from conformance.engine.outcomes import WHOLE_CASE
from conformance.engine.result import Covered, Deviation, Result, offers
from conformance.engine.standing import FAILING, PASSED, ClauseStanding, Standing, standing_of
from conformance.records import Level, Outcome, RecordError, to_json
from conformance.report.checks import Checks, checks_of
from conformance.report.profiles import SERVED, ProfileResult, by_profile
from conformance.report.readertable import ReaderResult, by_reader
from conformance.report.summary import Cell, counted, level_of, question_of, replay_command, verdict_line
from conformance.truth.confirmed import Confirmed, of_this_suite

__all__ = ["SCHEMA_VERSION", "Report", "document", "report_schema", "service_of", "write_json"]

SCHEMA_VERSION: Final = 1
"""It is raised when a reader of version n would misread the document; a new key alone does not raise it."""


@dataclasses.dataclass(frozen=True, slots=True)
class ClauseResult:
    """The result of one clause over all cases: its worst outcome, and the number of verdicts with each outcome.

    ``standing`` is what the run says of the clause, and ``why`` the reason if its passes do not count. ``judged`` and
    ``owed`` count cases. Reports of version 0.2 lack these keys.
    ``evidence`` are the kinds of evidence that the requirement rests on, strongest first.
    ``question`` is the question about a reader that the clause answers; other clauses have none. ``role`` says whether
    the library or the application of a server is bound.
    """

    id: str
    level: Level
    outcome: Outcome
    verdicts: tuple[OutcomeCount, ...]
    source: str = ""
    evidence: tuple[EvidenceKind, ...] = ()
    standing: Standing | None = None
    judged: int = 0
    owed: int = 0
    why: str = ""
    question: Question | None = None
    role: Role | None = None

    def in_full(self) -> ClauseStanding:
        """The standing, as far as the outcomes tell it if the report does not."""
        if self.standing is not None:
            passed = sum(item.count for item in self.verdicts if item.outcome in PASSED)
            return ClauseStanding(self.standing, passed, self.judged, self.owed, self.why)
        counts = Counter({item.outcome: item.count for item in self.verdicts})
        return standing_of(counts, counts[Outcome.DEPENDENCY_FAILED])


@dataclasses.dataclass(frozen=True, slots=True)
class OutcomeCount:
    """The number of verdicts with one outcome."""

    outcome: Outcome
    count: int


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class DeviationResult(Deviation):
    """A deviation as reports show it: with its level, and ``replay``, a command that shows it again.

    ``reason`` is the reason class that an entry of the expected failures must name.
    """

    level: Level

    @property
    def optional(self) -> bool:
        """True if it is the failure of a MAY clause, expected or not; a crash on its case is more than that."""
        return self.level is Level.MAY and self.outcome in (Outcome.FAIL, Outcome.EXPECTED_FAIL)

    @property
    def fails_run(self) -> bool:
        """True if it alone makes the run fail: the failure of a MAY clause does not."""
        return self.outcome.fails_run and not self.optional

    def __post_init__(self) -> None:
        if not self.clauses:
            raise RecordError("deviation.clauses", "at least one clause", [])


@dataclasses.dataclass(frozen=True, slots=True)
class CausePart:
    """A deviation of a cause: its place in the report's list of deviations.

    ``narrowed`` is set if the cause has only some of the deviation's cases: the deviation as those cases show it.
    """

    deviation: int
    narrowed: DeviationResult | None = None


@dataclasses.dataclass(frozen=True, slots=True)
class CauseResult:
    """One thing to fix: the deviations that it is, the echoes that follow from it, and the clauses that it blocks.

    ``key`` is the same in every run of a target. ``cases`` are those with one of its own deviations, ``smallest`` the
    smallest of those with the first, and ``replay`` the command that shows it again. ``contrast`` are sentences on what
    sets its findings apart from what is right in the same run. ``level`` is the strongest of its own clauses and of its
    echoes.
    """

    key: str
    title: str
    outcome: Outcome
    level: Level
    own: tuple[CausePart, ...]
    cases: tuple[str, ...]
    smallest: str
    replay: str
    echoes: tuple[CausePart, ...] = ()
    blocks: tuple[str, ...] = ()
    contrast: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True, slots=True)
class QuestionResult:
    """The verdict on one question about a reader: its clauses of one level, counted by standing."""

    question: Question
    level: Level
    counts: Cell


@dataclasses.dataclass(frozen=True, slots=True)
class ProblemResult:
    """A problem with the expected failures of the target file; a stale entry fails the run."""

    kind: ProblemKind
    entry: int
    text: str


@dataclasses.dataclass(frozen=True, slots=True)
class Report:
    """The result of one run of the suite.

    ``complete`` is false if the run was cut short. ``silent`` are chosen clauses that no case gave anything to
    observe. ``checks`` say on which cases of the corpus each clause was judged. ``broke`` are tracebacks of the
    suite's own defects, ``broke_on`` the cases on which they occurred, in the same order. ``remarks`` concern the
    target as a whole. ``profiles`` are the parts of the service, for a server. ``causes`` group the failures, those
    to repair first at the beginning. ``service`` says how many clauses the service itself has
    confirmed, for a run on a server. ``combinations`` are the pairs and triples of features that scenarios covered.
    ``readers`` say what each reader gave, if a clause on readers was chosen.
    ``questions`` are the verdicts on a reader, conformance before robustness; other runs have none.
    """

    schema_version: int
    run: RunStarted
    complete: bool
    failed: bool
    summary: str
    seconds: float
    outcomes: tuple[OutcomeCount, ...]
    clauses: tuple[ClauseResult, ...]
    deviations: tuple[DeviationResult, ...]
    problems: tuple[ProblemResult, ...] = ()
    silent: tuple[str, ...] = ()
    broke: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    broke_on: tuple[str, ...] = ()
    profiles: tuple[ProfileResult, ...] = ()
    checks: tuple[Checks, ...] = ()
    causes: tuple[CauseResult, ...] = ()
    service: Confirmed | None = None
    combinations: tuple[Covered, ...] = ()
    readers: tuple[ReaderResult, ...] = ()
    questions: tuple[QuestionResult, ...] = ()

    @property
    def shows_nothing(self) -> bool:
        """True if the run fails although nothing in it does: nothing was judged or served, and a pass says nothing."""
        stale = any(problem.kind is ProblemKind.STALE for problem in self.problems)
        fails = stale or self.broke or any(item.fails_run for item in self.deviations)
        return self.complete and self.failed and not fails

    @property
    def conclusive(self) -> bool:
        """False if the run was cut short, or shows nothing: its badges are grey."""
        return self.complete and not self.shows_nothing

    def parts(self, parts: Sequence[CausePart]) -> list[DeviationResult]:
        """The deviations of a cause, as its cases show them."""
        return [part.narrowed or self.deviations[part.deviation] for part in parts]

    def grouped(self, outcomes: Collection[Outcome]) -> Iterator[tuple[CauseResult | None, list[DeviationResult]]]:
        """The deviations with these outcomes: those of each cause, in the order in which to repair them, then
        those of none.
        """
        left = {place for place, item in enumerate(self.deviations) if item.outcome in outcomes}
        for cause in self.causes:
            parts = [*cause.own, *cause.echoes]
            if items := [item for item in self.parts(parts) if item.outcome in outcomes]:
                yield cause, items
                left -= {part.deviation for part in parts}
        if left:
            yield None, [self.deviations[place] for place in sorted(left)]

    @property
    def worst(self) -> Mapping[str, Outcome]:
        """The worst outcome of each clause that has a verdict."""
        return {item.id: item.outcome for item in self.clauses}

    @property
    def standings(self) -> Mapping[str, ClauseStanding]:
        """The standing of each clause of the run, in the order of the run."""
        silent = {
            clause: ClauseStanding(Standing.NOT_JUDGED if offers(self.run, clause) else Standing.NOT_OFFERED)
            for clause in self.run.clauses
        }
        found = silent | {item.id: item.in_full() for item in self.clauses}
        return {clause: item for clause, item in found.items() if clause != WHOLE_CASE or item.standing in FAILING}

    def counted(self) -> dict[tuple[Question | None, Level], Cell]:
        """The clauses by the question about a reader that they answer and by level, counted by standing."""
        return counted(self.standings)


def document(result: Result) -> Report:
    """``result`` as the record for the JSON report."""
    return Report(
        schema_version=SCHEMA_VERSION,
        run=result.start,
        complete=result.complete,
        failed=result.fails,
        summary=verdict_line(result),
        seconds=result.seconds,
        outcomes=tuple(OutcomeCount(outcome, count) for outcome, count in sorted(result.outcomes.items())),
        clauses=tuple(_clauses(result)),
        deviations=tuple(_deviation(result, deviation) for deviation in result.deviations),
        problems=tuple(ProblemResult(problem.kind, problem.index, problem.text) for problem in result.problems),
        silent=result.silent,
        broke=tuple(broke.traceback for broke in result.broke),
        remarks=result.remarks,
        broke_on=tuple(broke.case_id for broke in result.broke),
        profiles=by_profile(result.start, result.standings),
        checks=checks_of(result),
        causes=tuple(_cause(result, cause) for cause in causes(result)),
        service=service_of(result),
        combinations=result.combinations,
        readers=_readers(result),
        questions=tuple(
            QuestionResult(question, level, cell)
            for (question, level), cell in counted(result.standings).items()
            if question is not None
        ),
    )


def _readers(result: Result) -> tuple[ReaderResult, ...]:
    """What each reader gave; nothing if no log line says so, as in a run without clauses on readers."""
    asked = any(case.answers for case in result.cases)
    return by_reader(result.start, result.cases) if asked else ()


def service_of(result: Result) -> Confirmed | None:
    """How many of the MUST clauses that a run counts the service has confirmed, by the packs that ship with the suite;
    None for a run that does not judge what a server sends.
    """
    if result.start.profile not in (SERVED, "arrow"):
        return None
    owed = (clause for clause, item in result.standings.items() if item.standing is not Standing.NOT_OFFERED)
    return of_this_suite(tuple(clause for clause in owed if level_of(clause) is Level.MUST))


def _clauses(result: Result) -> Iterator[ClauseResult]:
    """The clauses with a verdict, and those that a failing case owed."""
    for clause_id in dict.fromkeys((*result.standings, *result.by_clause)):
        counts, clause = result.by_clause.get(clause_id, Counter[Outcome]()), EXPLAINED.get(clause_id)
        standing = result.standings.get(clause_id, ClauseStanding(Standing.NOT_JUDGED))
        if not counts and not standing.owed:
            continue
        yield ClauseResult(
            id=clause_id,
            level=level_of(clause_id),
            outcome=result.worst.get(clause_id, Outcome.DEPENDENCY_FAILED),
            verdicts=tuple(OutcomeCount(outcome, count) for outcome, count in sorted(counts.items())),
            source=clause.source if clause else "",
            evidence=clause.evidence if clause else (),
            standing=standing.standing,
            judged=standing.judged,
            owed=standing.owed,
            why=standing.reason,
            question=question_of(clause_id),
            role=clause.role if clause is not None and clause.fault_of else None,
        )


def _deviation(result: Result, deviation: Deviation) -> DeviationResult:
    shared = {field.name: getattr(deviation, field.name) for field in dataclasses.fields(deviation)}
    return DeviationResult(**shared | {"replay": replay_command(result, deviation)}, level=level_of(deviation.clause))


def _cause(result: Result, cause: Cause) -> CauseResult:
    places = {_identity(one): place for place, one in enumerate(result.deviations)}

    def part(one: Deviation) -> CausePart:
        place = places[_identity(one)]
        return CausePart(place, None if one.cases == result.deviations[place].cases else _deviation(result, one))

    shared = {field.name: getattr(cause, field.name) for field in dataclasses.fields(CauseResult)}
    parts = {name: tuple(map(part, getattr(cause, name))) for name in ("own", "echoes")}
    return CauseResult(**shared | parts | {"replay": replay_command(result, cause)})


def _identity(deviation: Deviation) -> tuple[Outcome, str, str]:
    """What tells a deviation from the others of a result, whichever of its cases it is narrowed to."""
    return deviation.outcome, deviation.clause if deviation.finding is not None else "", deviation.reason


def report_schema() -> dict[str, Any]:
    """The JSON Schema of the report, as published in ``report.schema.json``."""
    return json_schema(Report, title="Result of a run of the Arrow conformance suite")


def write_json(result: Result, path: Path) -> None:
    """Write the JSON report to ``path``; fields with their default value, such as an empty list, are left out."""
    text = json.dumps(to_json(document(result)), indent=1, ensure_ascii=False)
    write_whole(path, text + "\n")
