"""The run: drive a case, judge it, say so, next; one generator of events, from which everything else is made.

The target is driven from one thread, in corpus order, so that its history is the same in every run.
Judging and reading go on beside it; events still come out in the order of the cases.
A fault of the target costs its case. A fault of the suite costs its case too, and is an *error*, never a pass.
"""

from __future__ import annotations

import dataclasses
import time
import traceback
from collections import deque
from collections.abc import Generator, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Final, Protocol

import pyarrow as pa

from conformance.engine.bench import Assessment, Bench
from conformance.engine.counterexample import Hunt
from conformance.engine.events import CaseJudged, Event, RunEnded, RunStarted, SuiteBroke
from conformance.engine.outcomes import unsupported, whole_case
from conformance.generate import materialise
from conformance.records import Case, Exchange, Outcome, ProtocolName
from conformance.targets import TargetError, TargetUnavailable

__all__ = ["Driver", "Job", "run"]

WORKERS: Final = 2
"""Threads that judge beside the one that drives: judging is mostly numpy and waiting for reader processes."""
AHEAD: Final = 4
"""Exchanges held while they wait for their turn: each may be tens of MiB."""
SPOKEN: Final = ProtocolName.STORAGE_READ
"""What every kind of target speaks."""
GIVE_UP_AFTER: Final = 3
"""Consecutive cases without a target before the rest are not tried: each may cost a whole start-up deadline."""


class Driver(Protocol):
    """A target that is ready to be asked; :func:`conformance.targets.open_target` gives one."""

    @property
    def remarks(self) -> tuple[str, ...]:
        """What was noticed about the target beside its cases."""
        ...

    def drive(self, case: Case, table: pa.Table) -> Exchange:
        """Put ``case`` to the target and record everything; what the target does wrong is in the exchange."""
        ...


@dataclasses.dataclass(frozen=True, slots=True)
class Job:
    """One case to run: where its replay finds it, and whether it was generated (and so may be shrunk)."""

    case: Case
    replay: str
    generated: bool = False


@dataclasses.dataclass(slots=True)
class _Driven:
    job: Job
    started: float
    exchange: Exchange | None
    future: Future[Assessment]


class _NotDrivenError(Exception):
    """The target was not to be had for a case: carries the case's outcome."""

    def __init__(self, outcome: Outcome, reason: str) -> None:
        super().__init__(reason)
        self.outcome = outcome


class _Runner:
    def __init__(self, driver: Driver, bench: Bench, capabilities: Iterable[str], pool: ThreadPoolExecutor) -> None:
        self._driver = driver
        self._bench = bench
        self._capabilities = frozenset(capabilities)
        self._pool = pool
        self._unavailable = 0
        self._undeclared: dict[str, Job] = {}

    def submit(self, job: Job) -> _Driven:
        """Drive ``job`` now, and have it judged beside."""
        started = time.monotonic()
        exchange: Exchange | None = None
        future: Future[Assessment]
        try:
            lacking = sorted(set(job.case.needs) - self._capabilities)
            if job.case.protocol is not SPOKEN:
                reason = f"this case speaks {job.case.protocol}; the target {SPOKEN}"
                verdicts = unsupported(job.case, self._bench.clauses, reason)
                future = _done(Assessment(tuple(verdicts), ()))
            elif lacking:
                self._undeclared.setdefault(lacking[0], job)
                reason = f"the target does not declare {', '.join(lacking)}"
                verdicts = unsupported(job.case, self._bench.clauses, reason)
                future = _done(Assessment(tuple(verdicts), ()))
            else:
                table = materialise(job.case.table)
                exchange = self._drive(job.case, table)
                future = self._pool.submit(self._bench.assess, job.case, exchange, table)
        except _NotDrivenError as error:
            future = _done(Assessment((whole_case(job.case, error.outcome, str(error)),), ()))
        except Exception as error:  # noqa: BLE001  # whatever the suite does wrong on one case costs that case only
            future = Future()
            future.set_exception(error)
        return _Driven(job, started, exchange, future)

    def probe(self) -> Iterator[str]:
        """Try what the target does not declare, one case for each capability; a remark where it is there all the same.

        What is not declared is not judged, so a target that leaves out what it does badly would look better than it is.
        """
        for capability, job in self._undeclared.items():
            try:
                table = materialise(job.case.table)
                assessment = self._bench.assess(job.case, self._drive(job.case, table), table)
            except Exception:  # noqa: BLE001, S112  # a target without a capability may answer with anything
                continue
            if all(verdict.outcome is Outcome.PASS for verdict in assessment.verdicts):
                yield (
                    f"{capability} is not declared, but {job.case.id} passes:"
                    " add it to the target's capabilities, so that it is judged"
                )

    def _drive(self, case: Case, table: pa.Table) -> Exchange:
        if self._unavailable >= GIVE_UP_AFTER:
            raise _NotDrivenError(
                Outcome.DEPENDENCY_FAILED, f"the target was not to be had for {GIVE_UP_AFTER} cases in a row"
            )
        try:
            exchange = self._driver.drive(case, table)
        except (TargetUnavailable, TargetError) as error:
            self._unavailable += 1
            raise _NotDrivenError(Outcome.CRASH, str(error)) from error
        self._unavailable = 0
        return exchange


def _done(assessment: Assessment) -> Future[Assessment]:
    future: Future[Assessment] = Future()
    future.set_result(assessment)
    return future


def run(
    start: RunStarted,
    jobs: Iterable[Job],
    driver: Driver,
    bench: Bench,
    *,
    capabilities: Iterable[str] = (),
    hunt: Hunt | None = None,
) -> Generator[Event, None, None]:
    """Run ``jobs`` and yield what happens, ``start`` first.

    ``capabilities`` are those that the target declares; what it does not declare is tried in the end, for a remark.
    ``hunt`` shrinks failing generated cases and saves them.
    Closing the generator early stops after the case in hand.
    """
    began = time.monotonic()
    yield start
    with ThreadPoolExecutor(WORKERS, thread_name_prefix="judge") as pool:
        runner = _Runner(driver, bench, capabilities, pool)
        waiting: deque[_Driven] = deque()
        for job in jobs:
            waiting.append(runner.submit(job))
            while waiting and (len(waiting) > AHEAD or waiting[0].future.done()):
                yield from _finish(waiting.popleft(), hunt)
        while waiting:
            yield from _finish(waiting.popleft(), hunt)
        undeclared = tuple(runner.probe())
    unsaved = hunt.remarks if hunt is not None else ()
    yield RunEnded(time.monotonic() - began, (*driver.remarks, *undeclared, *unsaved))


def _finish(driven: _Driven, hunt: Hunt | None) -> Iterator[Event]:
    job, exchange = driven.job, driven.exchange
    try:
        assessment = driven.future.result()
    except Exception as error:  # noqa: BLE001  # as in submit: the run goes on
        yield _broke(job.case, error)
        reason = f"the suite itself broke: {type(error).__name__}: {error}"
        assessment = Assessment((whole_case(job.case, Outcome.ERROR, reason),), ())
    yield from (SuiteBroke(job.case.id, text) for text in assessment.broke)
    yield CaseJudged(
        case_id=job.case.id,
        title=job.case.title,
        replay=job.replay,
        verdicts=assessment.verdicts,
        evidence=assessment.evidence,
        calls=0 if exchange is None else len(exchange.calls),
        received=0 if exchange is None else sum(len(data) for call in exchange.calls for data in call.responses),
        seconds=time.monotonic() - driven.started,
        generated=job.generated,
    )
    if hunt is not None and job.generated:
        try:
            yield from hunt.pursue(job.case, assessment.verdicts)
        except Exception as error:  # noqa: BLE001  # shrinking is a convenience; the verdicts stand without it
            yield _broke(job.case, error)


def _broke(case: Case, error: Exception) -> SuiteBroke:
    return SuiteBroke(case.id, "".join(traceback.format_exception(error)))
