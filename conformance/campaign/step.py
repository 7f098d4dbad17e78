"""One case of a campaign from its index to its rows: draw, materialise, drive, read, judge.

This is the loop body of a lab, and of the plain loop that the benchmark compares a campaign with. It knows neither
Spark nor processes. A fault of the suite costs its case and is an *error*, as in every other run.
"""

from __future__ import annotations

import dataclasses
import gc
import json
import time
from collections.abc import Callable, Mapping
from typing import Any, Final

import pyarrow as pa

from conformance.campaign import rows
from conformance.campaign.coverage import covers
from conformance.campaign.decoding import Decoders, Ended
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
from conformance.records import Case, Exchange, Outcome, Verdict, to_json, to_row
from conformance.targets import TargetError

__all__ = ["Done", "Stepper", "condemned", "settle"]

_THRESHOLDS: Final = (50_000, 20, 20)
"""Objects made before the garbage collector looks at the young ones, and how many looks before it looks further."""


@dataclasses.dataclass(frozen=True, slots=True)
class Done:
    """What is kept of a case: rows by stage; ``exchange`` is None unless it is to be kept."""

    plan: Mapping[str, Any]
    judge: Mapping[str, Any]
    verdicts: list[dict[str, Any]]
    readings: list[dict[str, Any]]
    exchange: dict[str, Any] | None = None


@dataclasses.dataclass(frozen=True, slots=True)
class _Seen:
    """What became of a case; ``seconds`` are those for driving it and for all that came after."""

    case: Case
    found: Brief
    exchange: Exchange | None
    view: View | None
    seconds: tuple[float, float]


class Stepper:
    """Works on the cases of a job with a target that is ready.

    ``mark`` is told what is done next, ``"drive"`` or a decoder's name, so that the process's end can be blamed.
    """

    def __init__(self, job: Job, driver: Driver, *, weights: Weights | None, mark: Callable[[str], None]) -> None:
        self._job = job
        self._driver = driver
        self._weights = weights
        self._mark = mark
        self._places = rows.Places(job.clauses)
        register = all_clauses()
        self._decoders = Decoders(job.readers, mark)
        self._clauses = tuple(register[clause] for clause in job.clauses)
        self._bench = Bench(self._clauses, self._decoders if job.readers else None)

    def step(self, index: int, *, ended: Mapping[str, Ended]) -> Done:
        """Work on one case; ``ended`` are decoders known to end the process on it."""
        case = draw(self._job, index, self._weights)
        self._decoders.ended = ended
        began = time.monotonic()
        view: View | None = None
        exchange: Exchange | None = None
        driven = began
        try:
            table = materialise(case.table)
            self._mark("drive")
            exchange = self._driver.drive(case, table)
            self._mark("")
            driven = time.monotonic()
            view = self._view(case, exchange, table)
            found = self._judged(view)
        except TargetError as error:
            found = Brief((), (whole_case(case, Outcome.CRASH, str(error)),))
        except Exception as error:  # noqa: BLE001  # whatever the suite does wrong on one case costs that case only
            reason = f"the suite itself broke: {type(error).__name__}: {error}"
            found = Brief((), (whole_case(case, Outcome.ERROR, reason),))
        seconds = (driven - began, time.monotonic() - driven)
        return self._done(index, _Seen(case, found, exchange, view, seconds))

    def _view(self, case: Case, exchange: Exchange, table: pa.Table) -> View:
        """The view of an exchange with its readings, which are worked out in full only where they do not just agree."""
        view = View(case, exchange, table)
        agreed = None if exchange.untestable or not self._job.readers else self._decoders.agree(view)
        if agreed is None:
            return self._bench.view(case, exchange, table)
        view.readings = tuple(agreed)
        return view

    def _judged(self, view: View) -> Brief:
        """What the bench of every run says, shortly."""
        if view.exchange.untestable:
            return Brief((), self._bench.verdicts(view))
        brief = judge_briefly(view, self._clauses)
        # One pass stands for all of them: what follows from how calls ended only asks whether there is any verdict.
        passes = [Verdict(view.case.id, group[0], Outcome.PASS) for group in brief.passed if group][:1]
        refined = refine(view.case, view.exchange, [*passes, *brief.others], view.obstacle)
        return Brief(brief.passed, tuple(refined[len(passes) :]))

    def _done(self, index: int, seen: _Seen) -> Done:
        case, found, exchange, view = seen.case, seen.found, seen.exchange, seen.view
        outcome = rows.case_outcome(found)
        judged = {
            "index": index,
            "case_id": case.id,
            "outcome": str(outcome),
            "passed": rows.passed_bits(found.passed, self._places),
            "read": 0 if view is None else rows.read_bits(view.readings, self._job.readers),
            "bytes_digest": None if view is None else rows.bytes_digest(view),
            "values_digest": None if view is None else rows.values_digest(view),
            "calls": 0 if exchange is None else len(exchange.calls),
            "received": 0 if exchange is None else sum(len(data) for c in exchange.calls for data in c.responses),
            "drive_seconds": seen.seconds[0],
            "judge_seconds": seen.seconds[1],
        }
        why = "failing" if outcome.fails_run else "sample" if sampled(self._job, index) else ""
        return Done(
            plan=plan_row(index, case),
            judge=judged,
            verdicts=rows.verdicts(index, found.others),
            readings=[] if view is None else rows.readings(index, view.readings),
            exchange=kept(index, case, exchange, why) if why and exchange is not None else None,
        )


def settle() -> None:
    """Take what is loaded out of the garbage collector's sight, and let it look for garbage less often.

    A case leaves thousands of small objects, all of which go with it: no cycle of them outlives a case by much.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(*_THRESHOLDS)


def kept(index: int, case: Case, exchange: Exchange, why: str) -> dict[str, Any]:
    """The row of an exchange that is kept, with its case."""
    return {
        "index": index,
        **to_row(exchange),
        "case": json.dumps(to_json(case), ensure_ascii=False, separators=(",", ":")),
        "why": why,
        "stored": "",
    }


def plan_row(index: int, case: Case) -> dict[str, Any]:
    """What the case is made of."""
    recipe = case.table.recipe
    return {
        "index": index,
        "case_id": case.id,
        "rows": 0 if recipe is None else recipe.rows,
        "columns": len(case.table.columns),
        "covers": covers(case),
    }


def condemned(job: Job, index: int, outcome: Outcome, reason: str, weights: Weights | None) -> Done:
    """The rows of a case on which the target ended the process, or did not come back."""
    case = draw(job, index, weights)
    verdict = whole_case(case, outcome, reason)
    judged = {
        "index": index,
        "case_id": case.id,
        "outcome": str(outcome),
        "passed": bytes((len(job.clauses) + 7) // 8),
        "read": 0,
        "calls": 0,
        "received": 0,
    }
    return Done(plan_row(index, case), judged, rows.verdicts(index, [verdict]), [])
