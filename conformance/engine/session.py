"""Assemble a run: open the target, the readers, the cases and the shrinker in order, and close them in reverse order.

Only this module combines the packages below; commands and the pytest plugin say what to run.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Final

from conformance.contract.clause import CLAUSES
from conformance.engine.casestep import CaseStep
from conformance.engine.counterexample import Shrinker
from conformance.engine.events import Event, RunStarted
from conformance.engine.owed import Owed
from conformance.engine.run import CaseJob, run
from conformance.engine.selection import Plan, Selection
from conformance.engine.started import surroundings
from conformance.generate import draw_case, generated_id
from conformance.readers import ReaderPool
from conformance.targets import Target, TargetKind, TargetSpec, open_target

__all__ = ["STATE", "Session", "Settings", "default_log", "open_session"]

STATE: Final = Path(".conformance")
"""The directory for a run's log and counterexamples, below the current directory."""


def default_log(spec: TargetSpec) -> Path:
    """The path of the log of a target's run, unless the user gives another."""
    return STATE / f"{spec.name}.jsonl"


@dataclasses.dataclass(frozen=True, slots=True)
class Settings:
    """How to run the selection: the seed and number of generated cases, shrinking, readers, deadlines."""

    seed: int = 0
    generated: int = 0
    shrink: bool = True
    readers: bool = True
    deadline_multiplier: float = 1.0


@dataclasses.dataclass(frozen=True, slots=True)
class Session:
    """A target that is running, and everything needed to judge it."""

    spec: TargetSpec
    driver: Target
    step: CaseStep
    plan: Plan
    selection: Selection
    settings: Settings
    all_cases: int
    owed: Owed

    @property
    def profile(self) -> str:
        """The profile of generated cases: ``server`` for requests, ``arrow`` for tables alone."""
        return "server" if self.spec.kind is TargetKind.SERVER else "arrow"

    def jobs(self) -> Iterator[CaseJob]:
        """The corpus cases in their order, then generated ones, each drawn only when the run reaches it."""
        for case in self.plan.cases:
            yield CaseJob(case, case.id)
        shard = self.selection.shard
        for index in range(self.settings.generated):
            if shard is None or shard.holds(generated_id(self.settings.seed, index, profile=self.profile)):
                case = draw_case(self.settings.seed, index, profile=self.profile)
                yield CaseJob(case, case.id, generated=True)

    def events(self) -> Iterator[Event]:
        """Run the cases and yield the events."""
        shrinker = Shrinker(
            self.step,
            STATE / "counterexamples",
            expectations=self.spec.expected_failures,
            shrinking=self.settings.shrink,
        )
        yield from run(
            self.started(),
            self.jobs(),
            self.step,
            capabilities=self.capabilities,
            shrinker=shrinker,
            owed=self.owed,
        )

    @property
    def capabilities(self) -> frozenset[str]:
        """The capabilities that the target declares: a program itself, any other target in its file."""
        return self.driver.capabilities

    def started(self) -> RunStarted:
        """The first event: the target, the selection, and the versions."""
        return RunStarted(
            **surroundings(),
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
        )


def _called(name: str, version: str) -> str:
    """Name and version without repetition: many target files have the version in the name."""
    return name if name.endswith(version) else f"{name} {version}"


@contextmanager
def open_session(spec: TargetSpec, plan: Plan, selection: Selection, settings: Settings) -> Iterator[Session]:
    """Start the target and the readers; both are stopped on exit, even after an exception.

    Raises:
        TargetUnavailable: the target cannot run here, or did not become ready.
    """
    with ExitStack() as stack:
        driver = stack.enter_context(open_target(spec, multiplier=settings.deadline_multiplier))
        pool = stack.enter_context(ReaderPool()) if settings.readers else None
        left_out = sum(left.kind == "case" for left in plan.left_out)
        step = CaseStep(plan.clauses, driver, pool)
        owed = stack.enter_context(closing(Owed(plan.clauses, spec.kind, readers=settings.readers)))
        yield Session(spec, driver, step, plan, selection, settings, len(plan.cases) + left_out, owed)
