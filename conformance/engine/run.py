"""Run cases: drive each one, judge it and report it, as one generator of events.

One thread drives the target, in corpus order, so that the target's history is the same in every run. Other threads
read and judge at the same time, some cases behind; events still come in the order of the cases. An error of the target
ends its case. An error of the suite ends its case too, with the outcome *error*, never *pass*.
"""

from __future__ import annotations

import dataclasses
import sys
import time
import traceback
from collections import deque
from collections.abc import Collection, Generator, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Final

from conformance.contract.judge import Judged
from conformance.contract.raised import Raised, attempt
from conformance.contract.view import View
from conformance.engine.answers import Answered, answered
from conformance.engine.casestep import CaseStep, CaseWork, Phase
from conformance.engine.counterexample import Shrinker
from conformance.engine.events import (
    CaseJudged,
    Event,
    Evidence,
    ExchangeRecorded,
    Request,
    RunEnded,
    RunStarted,
    SuiteBroke,
)
from conformance.engine.evidence import gather
from conformance.engine.isolating import Isolator
from conformance.engine.lack import Lack
from conformance.engine.offer import Offer
from conformance.engine.outcomes import unsupported
from conformance.engine.owed import Owed
from conformance.engine.provenance import remarks as remarks_of
from conformance.engine.requests import requests_of, shape_of
from conformance.generate.factors import Meeting
from conformance.generate.plugin import GeneratePlugin
from conformance.protocol import plugin
from conformance.records import Case, Outcome
from conformance.targets import TargetError

__all__ = ["CaseJob", "run"]

WORKERS: Final = 2
"""Threads that judge while one thread drives: judging is mostly numpy, and waiting for reader processes."""
AHEAD: Final = 4
"""The most exchanges of any size up to :data:`LARGE_BYTES` together that are kept while they wait for their turn."""
LARGE_BYTES: Final = 64 << 20
"""Beyond so many bytes the next case waits until the first of them is judged: judging takes several times its size."""
FAR_AHEAD: Final = 64
"""The most exchanges kept that together have at most :data:`AHEAD_BYTES`, so that pauses of a target cost no time."""
AHEAD_BYTES: Final = 16 << 20
"""Far below the largest exchange, so that a run needs no more memory by driving ahead."""
SWITCH: Final = 0.0005
"""Seconds that a thread computes before another gets its turn. Driving and reading mostly wait for other processes,
and at Python's 5 ms these wait for a thread that judges after each message.
"""
MOST_RECORDED: Final = 32 << 20
"""The largest exchange in a log, in bytes of responses: base64 of more comes near the longest line that is read."""
READERS: Final = "readers."
"""The ids of clauses on readers begin so."""
GIVE_UP_AFTER: Final = 3
"""After so many consecutive cases without a target the rest is not tried: each may cost a full start-up deadline."""


@dataclasses.dataclass(frozen=True, slots=True)
class CaseJob:
    """A case to run, the argument that replays it, whether it was generated (and so may be shrunk), and which attempt
    at the case it is, from 1. ``undrawn`` is the exception that the suite raised instead of drawing the case.
    """

    case: Case
    replay: str
    generated: bool = False
    attempt: int = 1
    undrawn: Exception | None = None


class _Driven:
    """A job whose case was put to the target; a second thread judges it."""

    def __init__(self, job: CaseJob) -> None:
        self.job = job
        self.work = CaseWork(job.case, job.undrawn)
        self.evidence: tuple[Evidence, ...] = ()
        self.requests: tuple[Request, ...] = ()
        self.blocked: tuple[str, ...] = ()
        self.answers: tuple[Answered, ...] = ()
        self.done: Future[None] = Future()
        self.size = 0
        """The bytes of the table and of the responses."""


class _Runner:
    def __init__(self, step: CaseStep, offer: Offer, pool: ThreadPoolExecutor, owed: Owed | None) -> None:
        self._step = step
        self._offer = offer
        self._owed = owed
        self._clauses = {clause.id: clause for clause in step.judge.clauses}
        self._pool = pool
        self._unavailable = 0
        self._kept_back: dict[Lack, list[Case]] = {}

    def submit(self, job: CaseJob) -> _Driven:
        """Drive ``job`` now, and let the pool judge it."""
        driven = _Driven(job)
        if job.undrawn is not None:
            pass  # its work has ended
        elif lacks := self._offer.lacks(job.case):
            self._keep_back(job, driven.work, lacks)
        elif self._unavailable >= GIVE_UP_AFTER:
            reason = f"the target was not to be had for {GIVE_UP_AFTER} cases in a row"
            driven.work.end(Outcome.DEPENDENCY_FAILED, reason)
        else:
            self._drive(driven.work, counted=job.attempt == 1)
        driven.size = _size(driven.work)
        driven.done = self._pool.submit(self._assess, driven)
        return driven

    def _keep_back(self, job: CaseJob, work: CaseWork, lacks: Sequence[Lack]) -> None:
        """End a case that is not put to the target, and keep it for the probe if one change would let it run."""
        reason = "; ".join(lack.reason for lack in lacks)
        work.judged = Judged((), tuple(unsupported(work.case, self._step.judge.clauses, reason)))
        if len(lacks) == 1 and lacks[0].remedy and not job.generated:
            self._kept_back.setdefault(lacks[0], []).append(job.case)

    def probe(self) -> Iterator[str]:
        """Yield a remark for each capability and profile of which the target passes all cases, but does not offer it.

        What is not offered is not judged, so that a target file that leaves too much out hides what the target does.
        A server that serves a part of a profile may leave the profile out: the first case that it does not pass ends
        the probe.
        """
        for lack, cases in self._kept_back.items():
            if all(map(self._passes, cases)):
                yield lack.remark([case.id for case in cases])

    def _passes(self, case: Case) -> bool:
        if self._unavailable >= GIVE_UP_AFTER:
            return False
        work = self._step.take(self._drive(CaseWork(case)))
        work.release()
        judged = work.judged
        return judged is not None and bool(judged.passed) and not judged.others

    def _drive(self, work: CaseWork, *, counted: bool = True) -> CaseWork:
        """Put a case to the target, and count the consecutive cases for which the target was unavailable.

        Further attempts at a case do not count: a case that ends the target would otherwise end the run.
        """
        self._step.take(work, Phase.DRIVEN)
        if work.exchange is not None:
            self._unavailable = 0
        elif counted and isinstance(work.error, TargetError):
            self._unavailable += 1
        return work

    def _assess(self, driven: _Driven) -> None:
        """Judge a case that was driven, and gather the evidence for its findings."""
        self._step.take(driven.work)
        driven.work.attempt(lambda work: self._gather(driven, work))
        self._ask_reference(driven, driven.work)
        driven.work.release()  # earlier cases may delay this one

    def _gather(self, driven: _Driven, work: CaseWork) -> None:
        if work.view is None or work.view.exchange.untestable:
            return
        gathered = gather(work.view, self._step.verdicts(work), self._clauses)
        driven.evidence = gathered.evidence
        driven.requests = requests_of(work.view)
        driven.answers = self._answers(work.view)
        work.broke += gathered.broke

    def _answers(self, view: View) -> tuple[Answered, ...]:
        """What each reader gave; nothing if no clause on readers was chosen, for which the readings are compared."""
        if not any(clause.startswith(READERS) for clause in self._clauses):
            return ()
        readings = attempt(lambda: view.readings)  # an error of the suite there has cost these clauses their verdicts
        return () if isinstance(readings, Raised) else answered(readings)

    def _ask_reference(self, driven: _Driven, work: CaseWork) -> None:
        if self._owed is None:
            return
        try:
            stopped = work.exchange is not None and bool(work.exchange.stopped)
            verdicts = self._step.verdicts(work)
            driven.blocked = self._owed.missing(work.case, work.table, verdicts, stopped=stopped)
        except Exception as error:  # noqa: BLE001  # the verdicts stand without it; the report says that the suite broke
            work.broke.append("".join(traceback.format_exception(error)))


def run(
    start: RunStarted,
    jobs: Iterable[CaseJob],
    step: CaseStep,
    *,
    offer: Offer = Offer(),  # noqa: B008  # it is immutable
    shrinker: Shrinker | None = None,
    isolator: Isolator | None = None,
    owed: Owed | None = None,
    remarks: Sequence[str] = (),
    exchanges: bool = False,
) -> Generator[Event, None, None]:
    """Run ``jobs`` and yield the events, ``start`` first.

    ``offer`` decides which cases are put to the target. At the end, the target is probed for what it does not offer.
    ``shrinker`` shrinks failing generated cases and saves them, and ``isolator`` draws cases for the first causes.
    ``owed`` knows the clauses that a failing case left unjudged. ``remarks`` are further ones for the end of the run.
    With ``exchanges``, each exchange is an event too, unless it is too large for a line of the log; a remark names
    those. Closing the generator early stops after the current case.
    """
    began = time.monotonic()
    yield start
    with _quick_turns(), _judges(step) as pool:
        runner = _Runner(step, offer, pool, owed)
        large: list[str] = []
        waiting: deque[_Driven] = deque()
        for job in jobs:
            waiting.append(runner.submit(job))
            if exchanges and (done := waiting[-1].work.exchange) is not None and done.received > MOST_RECORDED:
                large.append(job.case.id)
            while waiting and (_is_far(waiting) or waiting[0].done.done()):
                yield from _finish(waiting.popleft(), step, shrinker, isolator, exchanges=exchanges)
        while waiting:
            yield from _finish(waiting.popleft(), step, shrinker, isolator, exchanges=exchanges)
        if isolator is not None:
            yield from isolator.events()
        hidden = tuple(runner.probe())
    unsaved = shrinker.remarks if shrinker is not None else ()
    left = [f"too large to be recorded, above {MOST_RECORDED >> 20} MiB: {', '.join(large)}"] if large else []
    said = (*step.driver.remarks, *hidden, *unsaved, *left, *remarks, *remarks_of(start.provenance))
    yield RunEnded(time.monotonic() - began, said)


def _is_far(waiting: Collection[_Driven]) -> bool:
    """True if the first of those that wait has to be judged before the next case is driven."""
    size = sum(driven.size for driven in waiting)
    if len(waiting) <= AHEAD:
        return size > LARGE_BYTES
    return len(waiting) > FAR_AHEAD or size > AHEAD_BYTES


@contextmanager
def _judges(step: CaseStep) -> Iterator[ThreadPoolExecutor]:
    """Threads that judge. An interrupt, or another early end of the run, does not wait for their verdicts."""
    with ThreadPoolExecutor(WORKERS, thread_name_prefix="judge") as pool:
        try:
            yield pool
        except BaseException:
            with step.giving_up():
                pool.shutdown(cancel_futures=True)
            raise


@contextmanager
def _quick_turns() -> Iterator[None]:
    before = sys.getswitchinterval()
    sys.setswitchinterval(min(before, SWITCH))
    try:
        yield
    finally:
        sys.setswitchinterval(before)


def _size(work: CaseWork) -> int:
    exchange, table = work.exchange, work.table
    return (0 if exchange is None else exchange.received) + (0 if table is None else table.nbytes)


def _finish(
    driven: _Driven,
    step: CaseStep,
    shrinker: Shrinker | None,
    isolator: Isolator | None,
    *,
    exchanges: bool = False,
) -> Iterator[Event]:
    driven.done.result()
    job, work = driven.job, driven.work
    yield from (SuiteBroke(job.case.id, text) for text in work.broke)
    if exchanges and work.exchange is not None and work.exchange.received <= MOST_RECORDED:
        yield ExchangeRecorded(job.case, work.exchange)
    verdicts = step.verdicts(work)
    judged = CaseJudged(
        case_id=job.case.id,
        title=job.case.title,
        replay=job.replay,
        verdicts=verdicts,
        evidence=driven.evidence,
        calls=0 if work.exchange is None else len(work.exchange.calls),
        received=0 if work.exchange is None else work.exchange.received,
        seconds=sum(work.seconds),
        generated=job.generated,
        blocked=driven.blocked,
        attempt=job.attempt,
        requests=driven.requests,
        shape=shape_of(job.case),
        meetings=_meetings(work),
        answers=driven.answers,
        stopped="" if work.exchange is None else work.exchange.stopped,
    )
    yield judged
    if isolator is not None:
        isolator.note(job.case, judged)
    if shrinker is not None and work.exchange is not None:
        shrinker.count()
    if shrinker is not None and job.generated:
        try:
            yield from shrinker.pursue(job.case, verdicts)
        except Exception as error:  # noqa: BLE001  # shrinking is a convenience; the verdicts are valid without it
            yield SuiteBroke(job.case.id, "".join(traceback.format_exception(error)))


def _meetings(work: CaseWork) -> tuple[Meeting, ...]:
    """The features that met in each session of a scenario that was put to the target to its end."""
    exchange = work.exchange
    if exchange is None or exchange.untestable or exchange.stopped:
        return ()
    return plugin(GeneratePlugin, work.case.protocol).meetings(work.case, exchange.skipped_steps)
