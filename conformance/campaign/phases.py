"""Take cases of a campaign from their indices to their rows: draw, run the engine's phases, keep the rows.

This is the loop body of a sandbox, and of the plain loop with which the benchmark compares a campaign. It depends
neither on Spark nor on processes.
"""

from __future__ import annotations

import hashlib
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from typing import Final

import pyarrow as pa

from conformance.campaign import storedrows
from conformance.campaign.campaignjob import CampaignJob
from conformance.campaign.decoders import Decoders, Ended
from conformance.campaign.done import Done, kept, plan_row
from conformance.campaign.guidance import Weights, begin
from conformance.contract.view import View
from conformance.engine.casestep import CaseStep, CaseWork, Driver, Phase
from conformance.engine.offer import Offer
from conformance.engine.selection import all_clauses
from conformance.records import Case, Exchange, Outcome, Reading

__all__ = ["SIDE_BY_SIDE", "Stepper"]

SIDE_BY_SIDE: Final = 16
"""Cases that complete a phase before any of them begins the next one."""
BRISK: Final = 0.25
"""Seconds after which cases that were begun together are finished one by one."""
LARGE: Final = 4 << 20
"""Bytes of responses after which cases are finished one by one."""


class Stepper:
    """Runs the cases of a job with a target that is ready.

    ``mark`` is called with the case and its next step, ``"drive"`` or a decoder's name, so that the end of the
    process can be attributed to it.
    """

    def __init__(
        self, job: CampaignJob, driver: Driver, *, weights: Weights | None, mark: Callable[[int, str], None]
    ) -> None:
        self._job = job
        self._driver = driver
        self._weights = weights
        self._mark = mark
        self._places = storedrows.places(job.clauses)
        self._offer = Offer.of(job.spec)
        self._index = 0
        self._received = 0
        self._decoders = Decoders(job.readers, lambda what: mark(self._index, what))
        register, reader = all_clauses(), self._decoders if job.readers else None
        self._step = CaseStep([register[clause] for clause in job.clauses], self, reader, reader)

    def step(self, index: int, *, ended: Mapping[str, Ended]) -> Done:
        """Run one case; ``ended`` are decoders known to end the process on it."""
        (done,) = self.steps(range(index, index + 1), ended={index: ended})
        return done

    def steps(self, indices: range, *, ended: Mapping[int, Mapping[str, Ended]]) -> Iterator[Done]:
        """Run some cases, at most :data:`SIDE_BY_SIDE`; yields the rows of each, in order, as soon as they exist.

        The cases go through each phase together, so that the code of a phase stays in the processor's caches: this
        takes a fifth less time. If they turn out slow or large, they are finished one by one, so that no rows wait
        for many cases.
        """
        works = deque((index, self._begun(index)) for index in indices)
        began, self._received = time.monotonic(), 0
        for phase in Phase:
            for index, work in works:
                if time.monotonic() - began > BRISK or self._received > LARGE:
                    break
                self._advance(index, work, phase, ended)
        while works:
            index, work = works.popleft()
            self._advance(index, work, Phase.JUDGED, ended)
            yield self._done(index, work)

    def _begun(self, index: int) -> CaseWork:
        """The work on a case; it has ended already if the target does not offer what the case asks for."""
        work = begin(self._job, index, self._weights)
        if work.judged is None and (lacks := self._offer.lacks(work.case)):
            work.end(Outcome.UNSUPPORTED, "; ".join(lack.reason for lack in lacks))
        return work

    def _advance(self, index: int, work: CaseWork, to: Phase, ended: Mapping[int, Mapping[str, Ended]]) -> None:
        self._index, self._decoders.ended = index, ended.get(index, {})
        self._step.take(work, to)

    @property
    def remarks(self) -> tuple[str, ...]:
        """The remarks of the target."""
        return self._driver.remarks

    def drive(self, case: Case, table: pa.Table) -> Exchange:
        """Put a case to the target, and mark the beginning and the end of it."""
        self._mark(self._index, "drive")
        exchange = self._driver.drive(case, table)
        self._mark(self._index, "")
        self._received += exchange.received
        return exchange

    def _done(self, index: int, work: CaseWork) -> Done:
        case, found, exchange, view = work.case, work.judged, work.exchange, work.view
        assert found is not None
        stopped = exchange is not None and bool(exchange.stopped)
        outcome, readings = storedrows.case_outcome(found), () if view is None else _readings(view)
        judged = {
            "index": index,
            "case_id": case.id,
            "outcome": str(outcome),
            "passed": storedrows.passed_bits(found.passed, self._places),
            "read": 0 if view is None else storedrows.read_bits(readings, self._job.readers),
            "bytes_digest": None if view is None else storedrows.bytes_digest(view),
            "values_digest": None if view is None else storedrows.values_digest(view),
            "stopped": stopped,
            "calls": 0 if exchange is None else len(exchange.calls),
            "received": 0 if exchange is None else exchange.received,
            "drive_seconds": sum(work.seconds[: Phase.DRIVEN + 1]),
            "judge_seconds": sum(work.seconds[Phase.DRIVEN + 1 :]),
        }
        why = "failing" if outcome.fails_run else "sample" if _sampled(self._job, index) else ""
        return Done(
            plan=plan_row(index, case, stopped=stopped),
            judge=judged,
            verdicts=storedrows.verdicts(index, found.others),
            readings=storedrows.readings(index, readings),
            exchange=kept(index, case, exchange, why) if why and exchange is not None else None,
        )


def _readings(view: View) -> tuple[Reading, ...]:
    """The readings of a view; none if comparing them raised, which the verdicts on readings have reported already."""
    try:
        return view.readings
    except Exception:  # noqa: BLE001  # see above
        return ()


_MILLION: Final = 1_000_000


def _sampled(job: CampaignJob, index: int) -> bool:
    """True if the exchange of this case is stored although nothing fails."""
    if job.sample >= _MILLION:
        return True
    digest = hashlib.blake2b(f"{job.seed}/{index}/sample".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "little") % _MILLION < job.sample
