"""What is kept of a case that was worked on: a row for each stage of a campaign."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from typing import Any

from conformance.campaign import rows
from conformance.campaign.coverage import covers
from conformance.campaign.guidance import Weights, draw
from conformance.campaign.job import MUTATED, CampaignJob
from conformance.engine.outcomes import WHOLE_CASE
from conformance.records import FORMAT, Case, Exchange, Outcome, Verdict, to_json, to_row

__all__ = ["Done", "condemned", "kept", "plan_row"]


@dataclasses.dataclass(frozen=True, slots=True)
class Done:
    """What is kept of a case: rows by stage; ``exchange`` is None unless it is to be kept."""

    plan: Mapping[str, Any]
    judge: Mapping[str, Any]
    verdicts: list[dict[str, Any]]
    readings: list[dict[str, Any]]
    exchange: dict[str, Any] | None = None


def kept(index: int, case: Case, exchange: Exchange, why: str) -> dict[str, Any]:
    """The row of an exchange that is kept, with its case."""
    return {
        "index": index,
        **to_row(exchange),
        "case": json.dumps(to_json(case), ensure_ascii=False, separators=(",", ":")),
        "why": why,
        "stored": "",
        "format": FORMAT,
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


def condemned(job: CampaignJob, index: int, outcome: Outcome, reason: str, weights: Weights | None) -> Done:
    """The rows of a case on which the target ended the process, or did not come back."""
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
    return Done(plan, judged, rows.verdicts(index, [verdict]), [])


def _planned(job: CampaignJob, index: int, weights: Weights | None) -> dict[str, Any]:
    """What a case is made of, where it is not worked on."""
    if job.profile == MUTATED:
        from conformance.campaign.inputs import make_input, plan_input  # noqa: PLC0415  # takes all samples

        return plan_input(job.seed, index, make_input(job.seed, index))
    return plan_row(index, draw(job, index, weights))
