"""Cases of a campaign from their indices to their rows: draw, materialise, drive, read, judge.

This is the loop body of a lab, and of the plain loop that the benchmark compares a campaign with. It knows neither
Spark nor processes. A fault of the suite costs its case and is an *error*, as in every other run.
"""

from __future__ import annotations

import gc
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from typing import Final

import pyarrow as pa

from conformance.campaign import rows
from conformance.campaign.decoding import Decoders, Ended
from conformance.campaign.done import Done, kept, plan_row
from conformance.campaign.guidance import Weights, draw
from conformance.campaign.job import Job
from conformance.campaign.sampling import sampled
from conformance.contract.judge import Brief, judge_briefly
from conformance.contract.view import View
from conformance.engine.bench import Bench
from conformance.engine.outcomes import refine, whole_case
from conformance.engine.run import Driver
from conformance.engine.selection import all_clauses
from conformance.generate import materialise
from conformance.records import Case, Exchange, Outcome, Reading, Verdict
from conformance.targets import TargetError

__all__ = ["SIDE_BY_SIDE", "Stepper", "settle"]

SIDE_BY_SIDE: Final = 16
"""Cases that are taken through a phase before any of them enters the next."""
BRISK: Final = 0.25
"""Seconds after which cases that were begun side by side are finished one by one."""
LARGE: Final = 4 << 20
"""Bytes of responses after which they are."""

_THRESHOLDS: Final = (50_000, 20, 20)
"""Objects made before the garbage collector looks at the young ones, and how many looks before it looks further."""


class _Work:
    """A case that is being worked on; ``found`` ends it. ``seconds`` are those for driving, and for all after that."""

    __slots__ = ("case", "ended", "exchange", "found", "index", "phase", "seconds", "table", "view")

    def __init__(self, index: int, case: Case, ended: Mapping[str, Ended]) -> None:
        self.index = index
        self.case = case
        self.ended = ended
        self.phase = 0
        self.seconds = [0.0, 0.0]
        self.table: pa.Table | None = None
        self.exchange: Exchange | None = None
        self.view: View | None = None
        self.found: Brief | None = None


class Stepper:
    """Works on the cases of a job with a target that is ready.

    ``mark`` is told the case and what is done next, ``"drive"`` or a decoder's name, so that the process's end can be
    blamed.
    """

    def __init__(self, job: Job, driver: Driver, *, weights: Weights | None, mark: Callable[[int, str], None]) -> None:
        self._job = job
        self._driver = driver
        self._weights = weights
        self._mark = mark
        self._places = rows.Places(job.clauses)
        register = all_clauses()
        self._index = 0
        self._received = 0
        self._decoders = Decoders(job.readers, lambda what: mark(self._index, what))
        self._clauses = tuple(register[clause] for clause in job.clauses)
        self._bench = Bench(self._clauses, self._decoders if job.readers else None)
        self._phases = (self._make, self._drive, self._parse, self._read, self._judge)

    def step(self, index: int, *, ended: Mapping[str, Ended]) -> Done:
        """Work on one case; ``ended`` are decoders known to end the process on it."""
        (done,) = self.steps(range(index, index + 1), ended={index: ended})
        return done

    def steps(self, indices: range, *, ended: Mapping[int, Mapping[str, Ended]]) -> Iterator[Done]:
        """Work on some cases, at most :data:`SIDE_BY_SIDE`; the rows of each, in order, as soon as they are there.

        They go through each phase side by side, whose code stays in the processor's caches meanwhile: that takes a
        quarter less time. Cases that turn out slow or large are finished one by one, so that none waits for many.
        """
        works = deque(_Work(index, draw(self._job, index, self._weights), ended.get(index, {})) for index in indices)
        began, self._received = time.monotonic(), 0
        for number in range(len(self._phases)):
            for work in works:
                if time.monotonic() - began > BRISK or self._received > LARGE:
                    break
                self._advance(work, number + 1)
        while works:
            work = works.popleft()
            self._advance(work, len(self._phases))
            yield self._done(work)

    def _advance(self, work: _Work, phase: int) -> None:
        """Take a case through the phases before ``phase``, or to its early end."""
        self._index = work.index
        while work.phase < phase and work.found is None:
            began = time.monotonic()
            try:
                self._phases[work.phase](work)
            except TargetError as error:
                work.found = Brief((), (whole_case(work.case, Outcome.CRASH, str(error)),))
            except Exception as error:  # noqa: BLE001  # whatever the suite does wrong on one case costs that case only
                reason = f"the suite itself broke: {type(error).__name__}: {error}"
                work.found = Brief((), (whole_case(work.case, Outcome.ERROR, reason),))
            work.seconds[work.phase > 1] += time.monotonic() - began
            work.phase += 1

    # --- phases ---------------------------------------------------------------------------------------

    def _make(self, work: _Work) -> None:
        work.table = materialise(work.case.table)

    def _drive(self, work: _Work) -> None:
        self._mark(work.index, "drive")
        work.exchange = self._driver.drive(work.case, work.table)
        self._mark(work.index, "")
        self._received += sum(len(data) for call in work.exchange.calls for data in call.responses)

    def _parse(self, work: _Work) -> None:
        assert work.exchange is not None
        work.view = View(work.case, work.exchange, work.table)
        if self._job.readers and not work.exchange.untestable:
            self._decoders.prepare(work.view)

    def _read(self, work: _Work) -> None:
        """The readings, which are worked out in full only where they do not just agree."""
        assert work.view is not None
        if not self._job.readers:
            return
        self._decoders.ended = work.ended
        agreed = None if work.view.exchange.untestable else self._decoders.agree(work.view)
        if agreed is None:
            work.view = self._bench.view(work.case, work.view.exchange, work.view.table)
        else:
            work.view.readings = tuple(agreed)

    def _judge(self, work: _Work) -> None:
        """What the bench of every run says, shortly."""
        view = work.view
        assert view is not None
        if view.exchange.untestable:
            work.found = Brief((), self._bench.verdicts(view))
            return
        brief = judge_briefly(view, self._clauses)
        # One pass stands for all of them: what follows from how calls ended only asks whether there is any verdict.
        passes = [Verdict(work.case.id, group[0], Outcome.PASS) for group in brief.passed if group][:1]
        refined = refine(work.case, view.exchange, [*passes, *brief.others], view.obstacle)
        work.found = Brief(brief.passed, tuple(refined[len(passes) :]))

    def _done(self, work: _Work) -> Done:
        index, case, found, exchange, view = work.index, work.case, work.found, work.exchange, work.view
        assert found is not None
        outcome, readings = rows.case_outcome(found), () if view is None else _readings(view)
        judged = {
            "index": index,
            "case_id": case.id,
            "outcome": str(outcome),
            "passed": rows.passed_bits(found.passed, self._places),
            "read": 0 if view is None else rows.read_bits(readings, self._job.readers),
            "bytes_digest": None if view is None else rows.bytes_digest(view),
            "values_digest": None if view is None else rows.values_digest(view),
            "calls": 0 if exchange is None else len(exchange.calls),
            "received": 0 if exchange is None else sum(len(data) for c in exchange.calls for data in c.responses),
            "drive_seconds": work.seconds[0],
            "judge_seconds": work.seconds[1],
        }
        why = "failing" if outcome.fails_run else "sample" if sampled(self._job, index) else ""
        return Done(
            plan=plan_row(index, case),
            judge=judged,
            verdicts=rows.verdicts(index, found.others),
            readings=rows.readings(index, readings),
            exchange=kept(index, case, exchange, why) if why and exchange is not None else None,
        )


def _readings(view: View) -> tuple[Reading, ...]:
    """The readings of a view; none where comparing them raised, which the clauses on them have said by then."""
    try:
        return view.readings
    except Exception:  # noqa: BLE001  # see above
        return ()


def settle() -> None:
    """Take what is loaded out of the garbage collector's sight, and let it look for garbage less often.

    A case leaves thousands of small objects, all of which go with it: no cycle of them outlives a case by much.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(*_THRESHOLDS)
