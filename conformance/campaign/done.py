"""The rows stored for a finished case, one per stage of a campaign."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from typing import Any

from conformance.campaign import storedrows
from conformance.campaign.campaignjob import MUTATED, CampaignJob
from conformance.campaign.coverage import covers
from conformance.campaign.guidance import Weights, begin
from conformance.engine.outcomes import WHOLE_CASE
from conformance.records import FORMAT, Case, Exchange, Outcome, Verdict, to_json, to_row

__all__ = ["Done", "condemned", "kept", "plan_row"]


@dataclasses.dataclass(frozen=True, slots=True)
class Done:
    """The rows of a finished case by stage; ``exchange`` is None unless the exchange is to be stored."""

    plan: Mapping[str, Any]
    judge: Mapping[str, Any]
    verdicts: list[dict[str, Any]]
    readings: list[dict[str, Any]]
    exchange: dict[str, Any] | None = None


def kept(index: int, case: Case, exchange: Exchange, why: str) -> dict[str, Any]:
    """The row of a stored exchange, with its case."""
    return {
        "index": index,
        **to_row(exchange),
        "case": json.dumps(to_json(case), ensure_ascii=False, separators=(",", ":")),
        "why": why,
        "stored": "",
        "format": FORMAT,
    }


def plan_row(index: int, case: Case, *, stopped: bool = False) -> dict[str, Any]:
    """The row that describes how the case is made; one that was stopped before its end covers nothing."""
    recipe = case.table.recipe
    return {
        "index": index,
        "case_id": case.id,
        "rows": 0 if recipe is None else recipe.rows,
        "columns": len(case.table.columns),
        "covers": [] if stopped else covers(case),
    }


def condemned(job: CampaignJob, index: int, outcome: Outcome, reason: str, weights: Weights | None) -> Done:
    """The rows of a case on which the target ended the process or missed the deadline."""
    plan = _planned(job, index, weights)
    verdict = Verdict(plan["case_id"], WHOLE_CASE, outcome, reason=reason)
    judged = {
        "index": index,
        "case_id": plan["case_id"],
        "outcome": str(outcome),
        "passed": bytes((len(job.clauses) + 7) // 8),
        "read": 0,
        "calls": 0,
        "received": 0,
    }
    return Done(plan, judged, storedrows.verdicts(index, [verdict]), [])


def _planned(job: CampaignJob, index: int, weights: Weights | None) -> dict[str, Any]:
    """The row that describes how a case is made, for a case that did not run to its end."""
    if job.profile == MUTATED:
        from conformance.campaign.inputs import make_input, plan_input  # noqa: PLC0415  # builds all samples

        return plan_input(job.seed, index, make_input(job.seed, index))
    return plan_row(index, begin(job, index, weights).case)
