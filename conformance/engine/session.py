"""Assemble a run: open the target, the readers, the cases and the shrinker in order, and close them in reverse order.

Only this module combines the packages below; commands and the pytest plugin say what to run.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from functools import partial
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Final

from conformance.contract.clause import CLAUSES
from conformance.disk.files import inside
from conformance.engine.casestep import CaseStep, CaseWork, drawn
from conformance.engine.counterexample import Shrinker
from conformance.engine.events import Event, RunEnded, RunStarted
from conformance.engine.isolating import Isolator
from conformance.engine.offer import Offer
from conformance.engine.owed import Owed
from conformance.engine.plugin import EnginePlugin
from conformance.engine.run import CaseJob, run
from conformance.engine.selection import Plan, Selection
from conformance.engine.shown import decided
from conformance.engine.smoke import in_base, narrowed, refused_form, smoke
from conformance.engine.started import identity_of, surroundings
from conformance.generate import draw_case, draw_scenario, generated_id, scenario_id
from conformance.generate.forms import BASE, EVERY, drawn_in, form_id, in_forms, wanted
from conformance.protocol import DEFAULT_PROTOCOL, plugin
from conformance.readers import ReaderInfo, ReaderPool
from conformance.records import Case
from conformance.targets import Target, TargetError, TargetKind, TargetSpec, open_target

if TYPE_CHECKING:
    from conformance.readers.programs.backend import Backend

__all__ = ["STATE", "Session", "Settings", "default_log", "last_log", "open_session", "own_file"]

STATE: Final = Path(".conformance")
"""The directory for a run's log and counterexamples, below the current directory."""


def default_log(spec: TargetSpec) -> Path:
    """The path of the log of a target's run, unless the user gives another."""
    return STATE / f"{spec.name}.jsonl"


def own_file(name: str) -> Path:
    """The path of a file of the suite's own, to be written: nobody asked for a file behind a link in its place.

    Raises:
        DiskError: it or :data:`STATE` is a symbolic link.
    """
    return inside(Path(), str(STATE / name))


def last_log() -> Path | None:
    """The log of the last run that was given no other path; None if there is none. A run that could not begin has left
    an empty file.
    """
    found = ((path, path.stat()) for path in STATE.glob("*.jsonl"))
    begun = ((path, file.st_mtime_ns) for path, file in found if file.st_size)
    return max(begun, key=itemgetter(1), default=(None, 0))[0]


@dataclasses.dataclass(frozen=True, slots=True)
class Settings:
    """How to run the selection: the seed, the numbers of generated cases and of scenarios, shrinking, readers,
    deadlines, and the number of attempts at each case.

    ``smoke`` asks for the smoke phase (:mod:`conformance.engine.smoke`). With
    ``exchanges``, the log holds every exchange. ``reader`` are the names of the readers, by default all in Python, and
    ``secure`` makes the servers of those that read over TLS alone.
    """

    seed: int = 0
    generated: int = 0
    scenarios: int = 0
    shrink: bool = True
    readers: bool = True
    deadline_multiplier: float = 1.0
    smoke: bool = True
    repeat: int = 1
    exchanges: bool = False
    reader: tuple[str, ...] = ()
    secure: Callable[[], Backend] | None = None


@dataclasses.dataclass(frozen=True, slots=True)
class Session:
    """A target that is running, and everything needed to judge it.

    ``cut_short`` says that the plan has only the smoke cases left, because nothing else can be judged.
    """

    spec: TargetSpec
    driver: Target
    step: CaseStep
    plan: Plan
    selection: Selection
    settings: Settings
    all_cases: int
    owed: Owed
    cut_short: bool = False
    readers: tuple[ReaderInfo, ...] = ()

    @property
    def profile(self) -> str:
        """What is judged: ``server`` for a server of Storage Read, ``arrow`` for messages alone, and the name of the
        protocol for a server of another. Generated cases are of it.
        """
        if self.spec.protocol != DEFAULT_PROTOCOL:
            return self.spec.protocol
        return "server" if self.spec.kind == TargetKind.SERVER else "arrow"

    @property
    def _spoken(self) -> EnginePlugin:
        return plugin(EnginePlugin, self.spec.protocol)

    def jobs(self) -> Iterator[CaseJob]:
        """The corpus cases in their order, then generated ones and scenarios, each drawn only when the run reaches it;
        all attempts at a case follow each other, each with tables and sessions of its own.
        """
        for case in self.plan.cases:
            yield from self._attempts(CaseWork(case))
        seed = self.settings.seed
        profile, without = self.profile, self._spoken.not_drawn(self.spec)
        for index in range(self.settings.generated):
            name = generated_id(seed, index, profile=profile)
            draw = partial(draw_case, seed, index, profile=profile, not_offered=without)
            yield from self._drawn(name, draw)
        for index in range(self.settings.scenarios):
            name = scenario_id(seed, index, profile=profile)
            draw = partial(draw_scenario, seed, index, profile=profile, not_offered=without)
            yield from self._drawn(name, draw)

    def _drawn(self, base: str, draw: Callable[[], Case]) -> Iterator[CaseJob]:
        """The attempts at a drawn case in each of its forms."""
        shard = self.selection.shard
        for form in self.forms:
            name = form_id(base, form)
            if shard is None or shard.holds(name):
                yield from self._attempts(drawn(name, partial(drawn_in, form, draw)), generated=True)

    @property
    def forms(self) -> tuple[str, ...]:
        """The forms of each drawn case."""
        return wanted(self.spec.protocol, self.selection.form)

    @property
    def expected_jobs(self) -> int:
        """The number of jobs of the whole run."""
        drawn_cases = self.settings.generated + self.settings.scenarios
        return self.settings.repeat * (len(self.plan.cases) + drawn_cases * len(self.forms))

    def _attempts(self, work: CaseWork, *, generated: bool = False) -> Iterator[CaseJob]:
        case = work.case
        for attempt in range(1, self.settings.repeat + 1):
            yield CaseJob(case, case.id, generated=generated, attempt=attempt, undrawn=work.error)

    def events(self) -> Iterator[Event]:
        """Run the cases and yield the events."""
        shrinker = Shrinker(
            self.step,
            STATE / "counterexamples",
            expectations=self.spec.expected_failures,
            shrinking=self.settings.shrink,
        )
        start = self.started()
        events = run(
            start,
            self.jobs(),
            self.step,
            offer=self.offer,
            shrinker=shrinker,
            isolator=Isolator(start, self.step) if self.settings.shrink and self.spec.service is None else None,
            owed=self.owed,
            remarks=self.plan.remarks,
            exchanges=self.settings.exchanges,
        )
        yield from (event for event in events if not (self.cut_short and isinstance(event, RunEnded)))

    @property
    def offer(self) -> Offer:
        """What the target offers: a program declares its capabilities itself, any other target in its file."""
        return Offer.of(self.spec, self.driver.capabilities, requests=self.profile != "arrow")

    def started(self) -> RunStarted:
        """The first event: the target, the selection, and the versions."""
        return RunStarted(
            **surroundings(
                target=identity_of(self.spec, name=self.driver.name, version=self.driver.version),
                readers=self.readers,
                cases=self.plan.corpus,
            ),
            target=_called(self.driver.name, self.driver.version),
            target_file=self.spec.file,
            seed=self.settings.seed,
            generated=self.settings.generated,
            profile=self.profile,
            select=self.selection.cases,
            clause=self.selection.clauses,
            level=self.selection.level,
            readers=self.settings.readers,
            deadline_multiplier=self.settings.deadline_multiplier,
            cases=tuple(case.id for case in self.plan.cases),
            clauses=tuple(clause.id for clause in self.plan.clauses),
            all_cases=self.all_cases,
            all_clauses=len(CLAUSES),
            left_out=self.plan.left_out,
            expectations=self.spec.expected_failures,
            shard=str(self.selection.shard or ""),
            not_offered=self._spoken.left_out(self.spec),
            repeat=self.settings.repeat,
            decided=decided(
                self.spec.expected_failures, (clause.id for clause in self.plan.clauses), self.plan.left_out
            )
            if BASE in self.forms  # it is known of cases in the base what they can show
            else (),
            capability=self.selection.capabilities,
            scenarios=self.settings.scenarios,
            reader=self.settings.reader,
            form=self.selection.form,
        )


def _called(name: str, version: str) -> str:
    """Name and version without repetition: many target files have the version in the name."""
    return name if name.endswith(version) else f"{name} {version}"


def _count(plan: Plan) -> int:
    """The number of cases that a plan selects or leaves out."""
    return len(plan.cases) + sum(left.kind == "case" for left in plan.left_out)


def _refused(driver: Target, corpus: Sequence[Case], form: str, reason: str) -> str:
    """Why a target that serves the base is not asked for other forms; empty if it serves them, or was not to be asked.

    Raises:
        TargetError: it refuses the only form that it was to be asked for, for which no row came in the smoke phase.
    """
    if form == BASE or (form == EVERY) == bool(reason):
        return ""
    refused = refused_form(driver, corpus)
    if refused and form != EVERY:
        raise TargetError(refused)
    return refused


def _reader_pool(settings: Settings) -> ReaderPool:
    multiplier = settings.deadline_multiplier
    return ReaderPool(readers=settings.reader or None, secure=settings.secure, multiplier=multiplier)


@contextmanager
def open_session(
    spec: TargetSpec, plan: Plan, selection: Selection, settings: Settings, *, corpus: Sequence[Case] = ()
) -> Iterator[Session]:
    """Start the target and the readers; both are stopped on exit, even after an exception.

    Readers are started if they can read what is in a server of the protocol. The smoke phase takes its cases from
    ``corpus``. If no row comes, the session has only these cases. A target that refuses a form of the selection, where
    the base is asked as well, is asked the base alone.

    Raises:
        TargetError: the target cannot run here, did not become ready, cannot be asked for rows, or refuses the only
            form of the cases.
    """
    all_cases = _count(plan)
    if not plugin(EnginePlugin, spec.protocol).has_known_rows:
        settings = dataclasses.replace(settings, readers=False)
    with ExitStack() as stack:
        pool = None  # it comes first: the imports of the readers go on while the target starts
        if settings.readers:
            pool = stack.enter_context(_reader_pool(settings))
        driver = stack.enter_context(open_target(spec, multiplier=settings.deadline_multiplier))
        asked_first = in_forms(corpus, BASE if selection.form == EVERY else selection.form)
        reason = smoke(spec, driver, asked_first) if settings.smoke else ""
        refused = _refused(driver, corpus, selection.form, reason)
        if reason:
            plan = narrowed(plan, asked_first, reason, selection.shard)
            settings = dataclasses.replace(settings, generated=0, scenarios=0)
        elif refused:
            plan, selection = in_base(plan, refused), dataclasses.replace(selection, form=BASE)
            all_cases = _count(plan)
        deadline = spec.deadlines.stretched(settings.deadline_multiplier).case
        step = CaseStep(plan.clauses, driver, pool, deadline=deadline)
        owed = stack.enter_context(closing(Owed(plan.clauses, spec.kind, readers=settings.readers)))
        readers = tuple(pool.readers.values()) if pool is not None else ()
        yield Session(
            spec, driver, step, plan, selection, settings, all_cases, owed, cut_short=bool(reason), readers=readers
        )
