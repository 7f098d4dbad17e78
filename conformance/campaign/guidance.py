"""Draw the cases of a campaign: the first part as in every run, the guided part with other weights.

The weights of the guided part depend only on the coverage and the failures of the first part. They are computed once
from committed results and stored with the run; the same run has the same weights on every machine.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from typing import Final

from conformance.campaign.campaignjob import CampaignJob, history_profiles
from conformance.campaign.coverage import universe
from conformance.engine.casestep import CaseWork, drawn
from conformance.engine.plugin import EnginePlugin
from conformance.generate import draw_scenario, generated_id, scenario_id
from conformance.generate.drawing import profiles
from conformance.generate.families import MOST, draw_guided, draw_member, weights_text
from conformance.generate.forms import drawn_in, form_id
from conformance.protocol import plugin
from conformance.records import BqType, Case

__all__ = ["Weights", "begin", "draw", "weigh"]

_FAILURES: Final = 4
"""The number of failing cells that count as much as one cell that was never reached."""


@dataclasses.dataclass(frozen=True, slots=True)
class Weights:
    """The number of times that each type is repeated in the set to draw from; a type that is not named occurs once."""

    types: Mapping[str, int]

    @property
    def text(self) -> str:
        """The weights as a part of a case's id: guided cases of two runs are the same if the weights are."""
        return weights_text({BqType(kind): often for kind, often in self.types.items()})


def draw(job: CampaignJob, index: int, weights: Weights | None) -> Case:
    """Case ``index`` of a job in the base; the last :attr:`CampaignJob.guided` cases are guided.

    Raises:
        ValueError: the case is guided, but there are no weights yet.
    """
    without = plugin(EnginePlugin, job.spec.protocol).not_drawn(job.spec)
    server = history_profiles().get(job.profile)
    if server is not None:
        return draw_scenario(job.seed, index, profile=server, not_offered=without)
    if index < job.cases - job.guided:
        return draw_member(job.seed, index, profile=job.profile, family=job.family, not_offered=without)
    if weights is None:
        raise ValueError(f"expected weights for case {index}, which is guided, but the first part is not judged yet")
    return draw_guided(
        job.seed, index, profile=job.profile, family=job.family, weights=weights.text, not_offered=without
    )


def begin(job: CampaignJob, index: int, weights: Weights | None) -> CaseWork:
    """The work on case ``index`` in the form of the job; it has ended if the case cannot be drawn, which costs no other
    case its result.
    """
    profile = job.profile
    server = history_profiles().get(profile)
    name = (
        generated_id(job.seed, index, profile=profile)
        if server is None
        else scenario_id(job.seed, index, profile=server)
    )
    return drawn(form_id(name, job.form), lambda: drawn_in(job.form, lambda: draw(job, index, weights)))


def weigh(job: CampaignJob, reached: Iterable[str], failing: Iterable[str]) -> Weights:
    """Weights from the cells that were ``reached`` and those of ``failing`` cases.

    A type is favoured for each of its cells that was never reached, and for cells that failed.
    """
    missing = universe(job.profile) - set(reached)
    failed = set(failing)
    types = {}
    for kind in sorted({*profiles()[job.profile].types} - {BqType.RECORD}):
        never = sum(cell.startswith((f"type:{kind}/", f"with:{kind}/")) for cell in missing)
        found = sum(cell.startswith((f"type:{kind}/", f"with:{kind}/")) for cell in failed)
        types[str(kind)] = min(MOST, 1 + never + (found + _FAILURES - 1) // _FAILURES)
    return Weights(types)
