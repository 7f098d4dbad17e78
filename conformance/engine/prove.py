"""The full proof: all mutants, all faulty servers, all legal variations and the systematic changes, in several
processes. The mutants and the legal variations of Arrow Flight are tried if there are cases of Flight.

:mod:`conformance.engine.proof` and :mod:`conformance.engine.systematic` define the gates. This module distributes the
tasks, puts the results together, and says whether the proof holds.
"""

from __future__ import annotations

import dataclasses
import os
import time
import warnings
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from concurrent.futures import as_completed
from contextlib import closing
from typing import Any, Final

from conformance.contain.crew import crew
from conformance.contract.clause import CLAUSES, PROFILES, Clause, load_chapters
from conformance.contract.flight.scenarios import FLIGHT_SCENARIOS, scenario_of
from conformance.engine.casestep import CaseStep, CaseWork
from conformance.engine.events import CaseJudged
from conformance.engine.owed import Owed, lasting_target
from conformance.engine.proof import (
    Failures,
    ProofFixture,
    Trial,
    by_bytes,
    by_scenario,
    by_server,
    note_failures,
    try_mutant,
)
from conformance.engine.standing import Standing, standings
from conformance.engine.substituted import type_fates
from conformance.engine.systematic import Fate, conversations, fates
from conformance.records import Case, Level, Outcome, ProtocolName
from conformance.reference.flight.variations import FLIGHT_VARIATIONS
from conformance.reference.mutants import FAULTY_SERVERS
from conformance.reference.proven import PROVEN_MUTANTS
from conformance.reference.servicevariations import SERVICE_VARIATIONS
from conformance.reference.variations import VARIATIONS
from conformance.targets.spec import TargetKind

__all__ = ["Proof", "prove"]

ALARMS: Final = ("alarm", "server alarm", "flight alarm", "scenario alarm")
"""The kinds of tasks in which nothing may fail."""

REFERENCE_NAME: Final = "flight reference"
"""The name of the Flight reference among its legal variations."""

SHARDS: Final = 8
"""The number of parts of the systematic changes; with that many, the processes end at about the same time."""

HEAVIEST: Final = ("mutant in a process", "alarm", "systematic", "server", "flight alarm")
"""The kinds of tasks that take longest, in the order in which they begin, so that the processes end together."""


@dataclasses.dataclass(frozen=True, slots=True)
class Proof:
    """The results of a proof. ``faulty_servers`` maps each faulty server to the MUST clauses that it holds.

    ``unproven`` are clauses on messages and on Flight for which no mutant is made. ``unknown`` are ids that a mutant
    kills and that do not exist.
    ``changes`` counts the systematic changes by their result, ``types`` the substituted types. ``survivors`` are those
    of either kind that no clause rejected, ``raised`` those on which a clause raised an exception.
    ``alarms`` are legal variations (and the reference itself) on which a clause failed. ``seconds`` is how long each
    task took, by its kind and its name.
    """

    trials: tuple[Trial, ...]
    faulty_servers: Mapping[str, tuple[str, ...]]
    alarms: Mapping[str, Failures]
    unproven: tuple[str, ...]
    unknown: tuple[str, ...]
    changes: Mapping[str, int]
    types: Mapping[str, int]
    survivors: tuple[Fate, ...]
    raised: tuple[Fate, ...]
    variations: int
    seconds: Mapping[tuple[str, str], float] = dataclasses.field(default_factory=dict)

    @property
    def survived(self) -> tuple[Trial, ...]:
        """Mutants on which one of their intended clauses did not fail."""
        return tuple(trial for trial in self.trials if trial.survived)

    @property
    def broad(self) -> tuple[Trial, ...]:
        """Mutants on which an undeclared clause failed."""
        return tuple(trial for trial in self.trials if trial.surplus)

    @property
    def holds(self) -> bool:
        """True if every gate is passed."""
        gates = (self.survived, self.broad, self.alarms, self.unproven, self.unknown, self.survivors, self.raised)
        return not any(gates)


def prove(
    cases: Iterable[Case],
    *,
    workers: int | None = None,
    mutants: Sequence[str] | None = None,
    clauses: Collection[str] | None = None,
    every: int = 1,
    thin: int = 1,
    reported: Callable[[str, int, int], None] = lambda _what, _done, _of: None,
) -> Proof:
    """Try everything on ``cases``; ``mutants``, ``every`` and ``thin`` make a sampled proof.

    Each ``every``-th systematic change is tried. The faulty servers, the reference and its legal variations get each
    ``thin``-th light case. If ``mutants`` are chosen, the legal variations of the service share the cases.

    With ``clauses``, only these are proven: by the mutants made for them, the reference and the legal variations, those
    of servers on the cases that are made for these clauses.
    ``reported`` is called with the name of the last task, the number of finished tasks, and the number of all tasks.
    """
    load_chapters()
    cases, asked = tuple(cases), tuple(CLAUSES if clauses is None else clauses)
    flies = any(case.protocol is ProtocolName.FLIGHT for case in cases)
    chosen = [name for name, one in PROVEN_MUTANTS.items() if flies or one.flight is None]
    if mutants is not None:
        chosen = list(mutants)
        flies = flies and any(PROVEN_MUTANTS[name].flight is not None for name in chosen)
    if clauses is not None:
        chosen = [name for name in chosen if not set(clauses).isdisjoint(PROVEN_MUTANTS[name].kills)]
        flies = flies and any(CLAUSES[name].on_flight for name in clauses)
    tasks: list[tuple[str, str, int]] = []
    if clauses is None:
        tasks += [("systematic", str(shard), every) for shard in range(SHARDS)] + [
            ("server", name, thin) for name in FAULTY_SERVERS
        ]
    tasks += [("alarm", name, thin) for name in ("", *VARIATIONS)]
    shared = thin if mutants is None else max(thin, len(SERVICE_VARIATIONS))
    tasks += [("server alarm", name, shared) for name in SERVICE_VARIATIONS]
    if flies:
        tasks += [("flight alarm", name, 0) for name in (REFERENCE_NAME, *FLIGHT_VARIATIONS)]
        tasks += [("scenario alarm", one.case.id, 0) for one in FLIGHT_SCENARIOS.values()]
    tasks += [("mutant", name, 0) for name in chosen]
    results, seconds = _run(sorted(tasks, key=_turn), (cases, asked), workers or os.cpu_count() or 1, reported)
    to_prove = [name for name in asked if _is_proven(CLAUSES[name], flies=flies)] if mutants is None else ()
    return dataclasses.replace(_put_together(chosen, to_prove, results), seconds=seconds)


def _turn(task: tuple[str, str, int]) -> tuple[int, bool]:
    """When a task begins: those of the heaviest kinds first, and of the others those of servers."""
    kind, name, _ = task
    server = kind != "mutant" or PROVEN_MUTANTS[name].serializer is None
    if kind == "mutant" and PROVEN_MUTANTS[name].process:
        kind = HEAVIEST[0]
    return HEAVIEST.index(kind) if kind in HEAVIEST else len(HEAVIEST), not server


def _is_proven(clause: Clause, *, flies: bool) -> bool:
    """True if a mutant has to be made for a clause."""
    return clause.on_messages or (flies and clause.on_flight)


def _put_together(chosen: Sequence[str], to_prove: Collection[str], results: Mapping[tuple[str, str], Any]) -> Proof:
    made_for = {clause for name in chosen for clause in PROVEN_MUTANTS[name].kills}
    found: list[Fate] = []
    changes: Counter[str] = Counter()
    types: Counter[str] = Counter()
    for (kind, _), result in results.items():
        if kind == "systematic":
            changes.update(result[0])
            types.update(result[1])
            found += result[2]
    return Proof(
        trials=tuple(results["mutant", name] for name in chosen),
        faulty_servers={name: results["server", name] for name in FAULTY_SERVERS if ("server", name) in results},
        alarms={name or "reference": made for (kind, name), made in results.items() if kind in ALARMS and made},
        unproven=tuple(name for name in to_prove if name not in made_for),
        unknown=tuple(sorted(made_for - set(CLAUSES))),
        changes=dict(changes),
        types=dict(types),
        survivors=tuple(fate for fate in found if fate.survived),
        raised=tuple(fate for fate in found if fate.errors),
        variations=sum(kind in ALARMS[:3] and name not in ("", REFERENCE_NAME) for kind, name in results),
    )


def _run(
    tasks: Sequence[tuple[str, str, int]],
    stage: tuple[tuple[Case, ...], tuple[str, ...]],
    workers: int,
    reported: Callable[[str, int, int], None],
) -> tuple[dict[tuple[str, str], Any], dict[tuple[str, str], float]]:
    """The result of each task, and the seconds that it took."""
    results: dict[tuple[str, str], Any] = {}
    seconds: dict[tuple[str, str], float] = {}
    with crew(workers, _prepare, *stage) as pool:
        futures = {pool.submit(_timed, *task): task for task in tasks}
        for number, future in enumerate(as_completed(futures), 1):
            kind, name, _ = futures[future]
            results[kind, name], seconds[kind, name] = future.result()
            reported(name or kind, number, len(tasks))
    return results, seconds


_FIXTURES: dict[ProtocolName, tuple[ProofFixture, ProofFixture]] = {}
"""The fixtures of this process by protocol, made once by :func:`_prepare`: with every clause, and with the clauses to
prove.
"""


def _prepare(cases: tuple[Case, ...], asked: tuple[str, ...]) -> None:
    load_chapters()
    # A mutant's arithmetic may overflow or divide by zero; only the bytes that it sends matter.
    warnings.simplefilter("ignore", RuntimeWarning)
    for protocol in ProtocolName:
        every = ProofFixture.of([case for case in cases if case.protocol is protocol], CLAUSES.values())
        chosen = tuple(CLAUSES[name] for name in asked)
        # Legal servers of Flight are many, and each answers every case over gRPC: a part of a proof is to take seconds.
        narrowed = protocol is ProtocolName.FLIGHT and len(chosen) < len(CLAUSES)
        proven = every.narrowed(chosen) if narrowed else dataclasses.replace(every, clauses=chosen)
        _FIXTURES[protocol] = (every, proven)


def _timed(kind: str, name: str, step: int) -> tuple[Any, float]:
    """The result of a task, and the seconds that it took."""
    began = time.monotonic()
    return _task(kind, name, step), time.monotonic() - began


def _task(kind: str, name: str, step: int) -> Any:
    proof_fixture, proven = _FIXTURES[ProtocolName.STORAGE_READ]
    flights, proven_flights = _FIXTURES[ProtocolName.FLIGHT]
    match kind:
        case "mutant":
            mutant = PROVEN_MUTANTS[name]
            return try_mutant(proof_fixture if mutant.flight is None else flights, mutant)
        case "flight alarm":
            return _answered(proven_flights, None if name == REFERENCE_NAME else name, TargetKind.FLIGHT)
        case "scenario alarm":
            return _played(proven_flights, name)
        case "server":
            return held(proof_fixture.thinned(step), name)
        case "systematic":
            return _systematic(proof_fixture, int(name), step)
        case _:
            return _alarms(proven, kind, name, step)


def _alarms(proven: ProofFixture, kind: str, name: str, step: int) -> Failures:
    """The clauses that fail on the reference, without a name, or on a legal variation of its bytes or its service."""
    if kind == "server alarm":
        part = proven if len(proven.clauses) == len(CLAUSES) else proven.narrowed(proven.clauses)
        return _answered(part.sampled(step, list(SERVICE_VARIATIONS).index(name) % step), name)
    if not name:
        return _answered(proven.sampled(step, 0), None)
    return by_bytes(proven.sampled(step, list(VARIATIONS).index(name) % step), VARIATIONS[name].serializer)


def _answered(proof_fixture: ProofFixture, name: str | None, kind: TargetKind = TargetKind.SERVER) -> Failures:
    """The clauses that fail on the answers of the reference, or of one of its legal variations."""
    failures: dict[str, tuple[str, ...]] = {}
    # Servers of Flight differ in what they offer, and refuse the rest.
    refined, ends = kind is TargetKind.SERVER, [outcome for outcome in Outcome if outcome.fails_run]
    kills = [clause.id for clause in proof_fixture.clauses]
    for verdicts in by_server(proof_fixture, name, kills, kind, refined=refined):
        if refined:
            note_failures(verdicts, failures, counted=ends)
        else:
            note_failures(verdicts, failures)
    return failures


def _played(proof_fixture: ProofFixture, case_id: str) -> Failures:
    """The clauses that fail on the answers of the reference as the server of a scenario."""
    scenario = scenario_of(case_id)
    assert scenario is not None, "the task names one"
    failures: dict[str, tuple[str, ...]] = {}
    for verdicts in by_scenario(proof_fixture, scenario.name):
        note_failures(verdicts, failures)
    return failures


def held(proof_fixture: ProofFixture, faulty: str) -> tuple[str, ...]:
    """The MUST clauses that the faulty server of that name holds, in their order."""
    clauses = [clause for clause in proof_fixture.clauses if PROFILES[0] in clause.profiles]
    cases = []
    with lasting_target(TargetKind.SERVER, faulty) as target, closing(Owed(clauses, TargetKind.SERVER)) as owed:
        step = CaseStep(clauses, target)
        for tried in proof_fixture.served(()):
            work = step.take(CaseWork(dataclasses.replace(tried.case, isolated=False)))
            verdicts = step.verdicts(work)
            blocked = owed.missing(tried.case, tried.table, verdicts)
            cases.append(CaseJudged(tried.case.id, tried.case.title, "", verdicts, blocked=blocked))
    found = standings([one.id for one in clauses], cases, [one for case in cases for one in case.verdicts])
    return tuple(one.id for one in clauses if one.level is Level.MUST and found[one.id].standing is Standing.HELD)


def _systematic(proof_fixture: ProofFixture, shard: int, every: int) -> tuple[Counter[str], Counter[str], list[Fate]]:
    """The changes and the substituted types of one shard, counted by result, and those that break a gate."""
    take = (shard, SHARDS * every)
    changes = list(fates(proof_fixture.clauses, conversations(), take=take))
    types = list(type_fates(proof_fixture.clauses, take=take))
    remarkable = [fate for fate in (*changes, *types) if fate.survived or fate.errors]
    return Counter(map(_end, changes)), Counter(map(_end, types)), remarkable


def _end(fate: Fate) -> str:
    return "rejected" if fate.clauses else "permitted" if fate.permission else "survived"
