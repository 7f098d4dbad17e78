"""The full proof: all mutants, all faulty servers, all legal variations and the systematic changes, in several
processes. The mutants and the legal variations of a protocol are tried if there are cases of it.

:mod:`conformance.engine.proof` and :mod:`conformance.engine.fates` define the gates. This module distributes the tasks,
puts the results together, and says whether the proof holds.
"""

from __future__ import annotations

import dataclasses
import os
import time
import warnings
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import as_completed
from contextlib import ExitStack, closing
from typing import Any, Final, TypeAlias

from conformance.contain.crew import crew
from conformance.contract.clause import CLAUSES, Clause, load_chapters
from conformance.contract.viewing import profile_of
from conformance.engine.casestep import CaseStep, CaseWork
from conformance.engine.events import CaseJudged
from conformance.engine.fates import Fate
from conformance.engine.owed import Owed, lasting_target
from conformance.engine.plugin import EnginePlugin
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
from conformance.protocol import DEFAULT_PROTOCOL, plugin, plugins, protocol_names
from conformance.records import Case, Level, Outcome, Verdict
from conformance.reference.plugin import ReferencePlugin
from conformance.reference.proven import proven_mutants
from conformance.reference.variations import VARIATIONS
from conformance.targets.spec import kind_of

__all__ = ["Proof", "prove"]

ALARMS: Final = ("reference", "bytes alarm", "server alarm", "scenario alarm")
"""The kinds of tasks in which nothing may fail."""

MESSAGES: Final = DEFAULT_PROTOCOL
"""The protocol whose clauses and cases judge messages alone."""

SHARDS: Final = 8
"""The number of parts of the systematic changes; with that many, the processes end at about the same time."""

HEAVIEST: Final = ("reference", "bytes alarm", "systematic", "faulty server", "server alarm")
"""The kinds of tasks that take longest, in the order in which they begin, so that the processes end together."""

Task: TypeAlias = tuple[str, str, str, int]
"""A kind of task, the protocol that it is on, the name of what is tried, and the step in which cases are taken."""


@dataclasses.dataclass(frozen=True, slots=True)
class Proof:
    """The results of a proof. ``faulty_servers`` maps each faulty server to the MUST clauses that it holds.

    ``unproven`` are clauses on messages and on calls of a protocol for which no mutant is made. ``unknown`` are ids
    that a mutant kills and that do not exist.
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
    share: int = 1,
    reported: Callable[[str, int, int], None] = lambda _what, _done, _of: None,
) -> Proof:
    """Try everything on ``cases``; ``mutants``, ``every``, ``thin`` and ``share`` make a sampled proof.

    Each ``every``-th systematic change is tried. The faulty servers, the reference and its legal variations get each
    ``thin``-th light case, the mutants of servers each ``thin``-th of those that are not made for them. If ``mutants``
    are chosen, the legal variations of the service share each ``share``-th light case.

    With ``clauses``, only these are proven: by the mutants made for them, the reference and the legal variations, those
    of servers on the cases that are made for these clauses.
    ``workers`` processes compute, by default one per core; another one tries the mutants that hang.
    ``reported`` is called with the name of the last task, the number of finished tasks, and the number of all tasks.
    """
    load_chapters()
    cases, asked = tuple(cases), tuple(CLAUSES if clauses is None else clauses)
    chosen, spoken = _chosen(cases, mutants, clauses)
    tasks: list[Task] = [("mutant", proven_mutants()[name].protocol, name, thin) for name in chosen]
    if any(CLAUSES[name].on_messages for name in asked):
        tasks += [("bytes alarm", MESSAGES, name, thin) for name in VARIATIONS]
    if clauses is None:
        changed = [name for name, one in plugins(EnginePlugin).items() if one.changed is not None]
        tasks += [("systematic", name, f"{shard} of {name}", every) for name in changed for shard in range(SHARDS)]
    for protocol in spoken:
        tasks += _on_servers(protocol, thin, share=None if mutants is None else share, faulty=clauses is None)
    processes = workers or os.cpu_count() or 1
    results, seconds = _run(sorted(tasks, key=_turn), (cases, asked), processes, reported)
    to_prove = [name for name in asked if _is_proven(CLAUSES[name], spoken)] if mutants is None else ()
    return dataclasses.replace(_put_together(chosen, to_prove, results), seconds=seconds)


def _chosen(
    cases: Iterable[Case], mutants: Sequence[str] | None, clauses: Collection[str] | None
) -> tuple[Sequence[str], Sequence[str]]:
    """The mutants to try, and the protocols whose references are asked."""
    protocols = {case.protocol for case in cases}
    spoken = [protocol for protocol in protocol_names() if protocol in protocols]
    every_mutant = proven_mutants()
    chosen = [name for name, one in every_mutant.items() if one.protocol in spoken]
    if mutants is not None:
        chosen = list(mutants)
        others = {every_mutant[name].protocol for name in chosen}
        spoken = [protocol for protocol in spoken if protocol == MESSAGES or protocol in others]
    if clauses is not None:
        chosen = [name for name in chosen if not set(clauses).isdisjoint(every_mutant[name].kills)]
        spoken = [one for one in spoken if one == MESSAGES or any(_is_on(CLAUSES[name], one) for name in clauses)]
    return chosen, spoken


def _on_servers(protocol: str, thin: int, *, share: int | None, faulty: bool) -> Iterator[Task]:
    """The tasks of a protocol's reference, its legal variations, which may ``share`` a part of the cases, and its
    ``faulty`` servers.
    """
    reference = plugin(ReferencePlugin, protocol)
    yield "reference", protocol, "", thin
    part = thin if share is None else max(thin, share * len(reference.variations()))
    yield from (("server alarm", protocol, name, part) for name in reference.variations())
    yield from (("scenario alarm", protocol, name, 1) for name in reference.scenarios())
    if faulty:
        yield from (("faulty server", protocol, name, thin) for name in reference.faulty)


def _turn(task: Task) -> tuple[int, bool]:
    """When a task begins: those of the heaviest kinds first, and of the others those of servers."""
    kind, _, name, _ = task
    server = kind != "mutant" or proven_mutants()[name].serializer is None
    return HEAVIEST.index(kind) if kind in HEAVIEST else len(HEAVIEST), not server


def _waits(task: Task) -> bool:
    """True for a mutant that hangs or dies in a process of its own: who tries it waits most of the time."""
    kind, _, name, _ = task
    return kind == "mutant" and proven_mutants()[name].process


def _accused(kind: str, name: str) -> str:
    """The name of a legal server or serializer on which a clause failed."""
    return f"{kind} {name}" if name.startswith("of ") else name


def _is_proven(clause: Clause, spoken: Collection[str]) -> bool:
    """True if a mutant has to be made for a clause."""
    return clause.on_messages or any(_is_on(clause, one) for one in spoken if one != MESSAGES)


def _is_on(clause: Clause, protocol: str) -> bool:
    """True if the clause judges servers of a protocol, and nothing else."""
    return clause.profiles == (profile_of(protocol),)


def _put_together(chosen: Sequence[str], to_prove: Collection[str], results: Mapping[tuple[str, str], Any]) -> Proof:
    made_for = {clause for name in chosen for clause in proven_mutants()[name].kills}
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
        faulty_servers={name: held for (kind, name), held in results.items() if kind == "faulty server"},
        alarms={_accused(*key): made for key, made in results.items() if key[0] in ALARMS and made},
        unproven=tuple(name for name in to_prove if name not in made_for),
        unknown=tuple(sorted(made_for - set(CLAUSES))),
        changes=dict(changes),
        types=dict(types),
        survivors=tuple(fate for fate in found if fate.survived),
        raised=tuple(fate for fate in found if fate.errors),
        variations=sum(kind in ("bytes alarm", "server alarm") for kind, _ in results),
    )


def _run(
    tasks: Sequence[Task],
    stage: tuple[tuple[Case, ...], tuple[str, ...]],
    workers: int,
    reported: Callable[[str, int, int], None],
) -> tuple[dict[tuple[str, str], Any], dict[tuple[str, str], float]]:
    """The result of each task, and the seconds that it took. One process beyond the ``workers`` tries what waits, one
    after the other, so that no core does.
    """
    results: dict[tuple[str, str], Any] = {}
    seconds: dict[tuple[str, str], float] = {}
    with ExitStack() as stack:
        pool = stack.enter_context(crew(workers, _prepare, *stage))
        aside = stack.enter_context(crew(1, _prepare, *stage)) if any(map(_waits, tasks)) else pool
        futures = {(aside if _waits(task) else pool).submit(_timed, *task): task for task in tasks}
        for number, future in enumerate(as_completed(futures), 1):
            kind, protocol, name, _ = futures[future]
            name = name or f"of {protocol}"
            results[kind, name], seconds[kind, name] = future.result()
            reported(name, number, len(tasks))
    return results, seconds


_FIXTURES: dict[str, tuple[ProofFixture, ProofFixture]] = {}
"""The fixtures of this process by protocol, made once by :func:`_prepare`: with every clause, and with the clauses to
prove.
"""


def _prepare(cases: tuple[Case, ...], asked: tuple[str, ...]) -> None:
    load_chapters()
    # A mutant's arithmetic may overflow or divide by zero; only the bytes that it sends matter.
    warnings.simplefilter("ignore", RuntimeWarning)
    for protocol in protocol_names():
        every = ProofFixture.of([case for case in cases if case.protocol == protocol], CLAUSES.values())
        chosen = tuple(CLAUSES[name] for name in asked)
        _FIXTURES[protocol] = (every, dataclasses.replace(every, clauses=chosen))


def _timed(kind: str, protocol: str, name: str, step: int) -> tuple[Any, float]:
    """The result of a task, and the seconds that it took."""
    began = time.monotonic()
    return _task(kind, protocol, name, step), time.monotonic() - began


def _task(kind: str, protocol: str, name: str, step: int) -> Any:  # noqa: PLR0911  # one for each kind
    every, proven = _FIXTURES[protocol]
    match kind:
        case "mutant":
            mutant = proven_mutants()[name]
            return try_mutant(every if mutant.service is None else every.shared(step, mutant.kills), mutant)
        case "scenario alarm":
            return _failures(by_scenario(proven, name, protocol))
        case "faulty server":
            return held(every.thinned(step), name, protocol)
        case "systematic":
            return _systematic(every, protocol, int(name.split(maxsplit=1)[0]), step)
        case "bytes alarm":
            sample = proven.sampled(step, list(VARIATIONS).index(name) % step)
            return by_bytes(sample, VARIATIONS[name].serializer)
        case "reference":
            return _answered(proven.sampled(step, 0), None, protocol)
        case _:
            # Legal servers are many: in a part of a proof, each answers the cases that are made for its clauses.
            part = proven if len(proven.clauses) == len(CLAUSES) else proven.narrowed(proven.clauses)
            first = plugin(ReferencePlugin, protocol).variations().index(name) % step
            return _answered(part.sampled(step, first), name, protocol)


def _answered(proof_fixture: ProofFixture, name: str | None, protocol: str) -> Failures:
    """The clauses that fail on the answers of the reference, or of one of its legal variations."""
    refined = plugin(ReferencePlugin, protocol).refusals_fail
    kills = [clause.id for clause in proof_fixture.clauses]
    return _failures(by_server(proof_fixture, name, kills, protocol, refined=refined), refined=refined)


def _failures(answered: Iterable[Sequence[Verdict]], *, refined: bool = False) -> Failures:
    """The clauses that fail, with their cases; ``refined``, also the refusals and deaths that no clause reports."""
    failures: dict[str, tuple[str, ...]] = {}
    for verdicts in answered:
        if refined:
            note_failures(verdicts, failures, counted=[outcome for outcome in Outcome if outcome.fails_run])
        else:
            note_failures(verdicts, failures)
    return failures


def held(proof_fixture: ProofFixture, faulty: str, protocol: str = DEFAULT_PROTOCOL) -> tuple[str, ...]:
    """The MUST clauses that the faulty server of that name holds, in their order."""
    clauses = [clause for clause in proof_fixture.clauses if profile_of(protocol) in clause.profiles]
    cases = []
    with (
        lasting_target(protocol, faulty) as target,
        closing(Owed(clauses, kind_of(protocol))) as owed,
    ):
        step = CaseStep(clauses, target)
        for tried in proof_fixture.served(()):
            work = step.take(CaseWork(dataclasses.replace(tried.case, isolated=False)))
            verdicts = step.verdicts(work)
            stopped = "" if work.exchange is None else work.exchange.stopped
            blocked = owed.missing(tried.case, tried.table, verdicts, stopped=bool(stopped))
            cases.append(CaseJudged(tried.case.id, tried.case.title, "", verdicts, blocked=blocked, stopped=stopped))
    found = standings([one.id for one in clauses], cases, [one for case in cases for one in case.verdicts])
    return tuple(one.id for one in clauses if one.level is Level.MUST and found[one.id].standing is Standing.HELD)


def _systematic(
    proof_fixture: ProofFixture, protocol: str, shard: int, every: int
) -> tuple[Counter[str], Counter[str], list[Fate]]:
    """The changes and the substituted types of one shard, counted by result, and those that break a gate."""
    take = (shard, SHARDS * every)
    held = plugin(EnginePlugin, protocol)
    changes, types = (
        [] if judge is None else list(judge(proof_fixture.clauses, take)) for judge in (held.changed, held.substituted)
    )
    remarkable = [fate for fate in (*changes, *types) if fate.survived or fate.errors]
    return Counter(map(_end, changes)), Counter(map(_end, types)), remarkable


def _end(fate: Fate) -> str:
    return "rejected" if fate.clauses else "permitted" if fate.permission else "survived"
