"""Run cases: drive each one, judge it and report it, as one generator of events.

One thread drives the target, in corpus order, so that the target's history is the same in every run. Other threads
read and judge at the same time; events still come in the order of the cases. An error of the target ends its case. An
error of the suite ends its case too, with the outcome *error*, never *pass*.
"""

from __future__ import annotations

import dataclasses
import time
import traceback
from collections import deque
from collections.abc import Generator, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Final

from conformance.contract.judge import Judged
from conformance.engine.casestep import CaseStep, CaseWork, Phase
from conformance.engine.counterexample import Shrinker
from conformance.engine.events import CaseJudged, Event, Evidence, RunEnded, RunStarted, SuiteBroke
from conformance.engine.evidence import gather
from conformance.engine.outcomes import unsupported
from conformance.engine.owed import Owed
from conformance.records import Case, Outcome, ProtocolName
from conformance.targets import TargetError

__all__ = ["CaseJob", "run"]

WORKERS: Final = 2
"""Threads that judge while one thread drives: judging is mostly numpy, and waiting for reader processes."""
AHEAD: Final = 4
"""The most exchanges kept while they wait for their turn; each may be tens of MiB."""
SPOKEN: Final = (ProtocolName.STORAGE_READ,)
"""The protocol that every kind of target speaks."""
GIVE_UP_AFTER: Final = 3
"""After so many consecutive cases without a target the rest is not tried: each may cost a full start-up deadline."""


@dataclasses.dataclass(frozen=True, slots=True)
class CaseJob:
    """A case to run, the argument that replays it, and whether it was generated (and so may be shrunk)."""

    case: Case
    replay: str
    generated: bool = False


class _Driven:
    """A job whose case was put to the target; a second thread judges it."""

    def __init__(self, job: CaseJob) -> None:
        self.job = job
        self.started = time.monotonic()
        self.work = CaseWork(job.case)
        self.evidence: tuple[Evidence, ...] = ()
        self.blocked: tuple[str, ...] = ()
        self.done: Future[None] = Future()


class _Runner:
    def __init__(
        self,
        step: CaseStep,
        capabilities: Iterable[str],
        spoken: Sequence[ProtocolName],
        pool: ThreadPoolExecutor,
        owed: Owed | None,
    ) -> None:
        self._step = step
        self._owed = owed
        self._spoken = spoken
        self._capabilities = frozenset(capabilities)
        self._clauses = {clause.id: clause for clause in step.judge.clauses}
        self._pool = pool
        self._unavailable = 0
        self._undeclared: dict[str, CaseJob] = {}

    def submit(self, job: CaseJob) -> _Driven:
        """Drive ``job`` now, and let the pool judge it."""
        driven = _Driven(job)
        if job.case.protocol not in self._spoken:
            spoken = " and ".join(self._spoken)
            self._refuse(driven.work, f"this case speaks {job.case.protocol}; the target {spoken}")
        elif lacking := sorted(set(job.case.needs) - self._capabilities):
            self._undeclared.setdefault(lacking[0], job)
            self._refuse(driven.work, f"the target does not declare {', '.join(lacking)}")
        elif self._unavailable >= GIVE_UP_AFTER:
            reason = f"the target was not to be had for {GIVE_UP_AFTER} cases in a row"
            driven.work.end(Outcome.DEPENDENCY_FAILED, reason)
        else:
            self._drive(driven.work)
        driven.done = self._pool.submit(self._assess, driven)
        return driven

    def _refuse(self, work: CaseWork, reason: str) -> None:
        """End a case that cannot be put to the target."""
        work.judged = Judged((), tuple(unsupported(work.case, self._step.judge.clauses, reason)))

    def probe(self) -> Iterator[str]:
        """Try one case for each capability that the target does not declare; yield a remark if it passes.

        Undeclared capabilities are not judged, so a target that does not declare its weak ones would look better than
        it is.
        """
        for capability, job in self._undeclared.items():
            if self._unavailable >= GIVE_UP_AFTER:
                return
            work = self._step.take(self._drive(CaseWork(job.case)))
            if work.judged is not None and not work.judged.others:
                yield (
                    f"{capability} is not declared, but {job.case.id} passes:"
                    " add it to the target's capabilities, so that it is judged"
                )

    def _drive(self, work: CaseWork) -> CaseWork:
        """Put a case to the target, and count the consecutive cases for which the target was unavailable."""
        self._step.take(work, Phase.DRIVEN)
        if work.exchange is not None:
            self._unavailable = 0
        elif isinstance(work.error, TargetError):
            self._unavailable += 1
        return work

    def _assess(self, driven: _Driven) -> None:
        """Judge a case that was driven, and gather the evidence for its findings."""
        self._step.take(driven.work)
        driven.work.attempt(lambda work: self._gather(driven, work))
        self._ask_reference(driven, driven.work)
        driven.work.view = driven.work.table = None  # they may be large, and earlier cases may delay this one

    def _gather(self, driven: _Driven, work: CaseWork) -> None:
        if work.view is None or work.view.exchange.untestable:
            return
        gathered = gather(work.view, self._step.verdicts(work), self._clauses)
        driven.evidence = gathered.evidence
        work.broke += gathered.broke

    def _ask_reference(self, driven: _Driven, work: CaseWork) -> None:
        if self._owed is None:
            return
        try:
            driven.blocked = self._owed.missing(work.case, work.table, self._step.verdicts(work))
        except Exception as error:  # noqa: BLE001  # the verdicts stand without it; the report says that the suite broke
            work.broke.append("".join(traceback.format_exception(error)))


def run(
    start: RunStarted,
    jobs: Iterable[CaseJob],
    step: CaseStep,
    *,
    capabilities: Iterable[str] = (),
    spoken: Sequence[ProtocolName] = SPOKEN,
    shrinker: Shrinker | None = None,
    owed: Owed | None = None,
) -> Generator[Event, None, None]:
    """Run ``jobs`` and yield the events, ``start`` first.

    ``capabilities`` are those that the target declares. At the end, one case for each undeclared capability is tried,
    for a remark. ``spoken`` are the protocols of the target. ``shrinker`` shrinks failing generated cases and saves
    them. ``owed`` knows the clauses that a failing case left unjudged. Closing the generator early stops after the
    current case.
    """
    began = time.monotonic()
    yield start
    with ThreadPoolExecutor(WORKERS, thread_name_prefix="judge") as pool:
        runner = _Runner(step, capabilities, spoken, pool, owed)
        waiting: deque[_Driven] = deque()
        for job in jobs:
            waiting.append(runner.submit(job))
            while waiting and (len(waiting) > AHEAD or waiting[0].done.done()):
                yield from _finish(waiting.popleft(), step, shrinker)
        while waiting:
            yield from _finish(waiting.popleft(), step, shrinker)
        undeclared = tuple(runner.probe())
    unsaved = shrinker.remarks if shrinker is not None else ()
    yield RunEnded(time.monotonic() - began, (*step.driver.remarks, *undeclared, *unsaved))


def _finish(driven: _Driven, step: CaseStep, shrinker: Shrinker | None) -> Iterator[Event]:
    driven.done.result()
    job, work = driven.job, driven.work
    yield from (SuiteBroke(job.case.id, text) for text in work.broke)
    verdicts = step.verdicts(work)
    yield CaseJudged(
        case_id=job.case.id,
        title=job.case.title,
        replay=job.replay,
        verdicts=verdicts,
        evidence=driven.evidence,
        calls=0 if work.exchange is None else len(work.exchange.calls),
        received=0 if work.exchange is None else work.exchange.received,
        seconds=time.monotonic() - driven.started,
        generated=job.generated,
        blocked=driven.blocked,
    )
    if shrinker is not None and job.generated:
        try:
            yield from shrinker.pursue(job.case, verdicts)
        except Exception as error:  # noqa: BLE001  # shrinking is a convenience; the verdicts are valid without it
            yield SuiteBroke(job.case.id, "".join(traceback.format_exception(error)))
