"""Drawing the cases of a campaign: as every run draws them, and in the guided part with other weights.

The weights of the guided part follow from what the first part covered and where it failed, and from nothing else: they
are worked out once from committed results, kept with the run, and the same for the same run on every machine.
"""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Iterable, Mapping
from typing import Final

from conformance.campaign.coverage import universe
from conformance.campaign.job import Job
from conformance.generate import draw_case
from conformance.generate.choices import Seeded
from conformance.generate.drawing import PROFILES, Profile, draw_case_by
from conformance.records import BqType, Case

__all__ = ["Weights", "draw", "weigh"]

MOST: Final = 12
"""How often an option is repeated at most: a favoured type still leaves room for what it stands beside."""


@dataclasses.dataclass(frozen=True, slots=True)
class Weights:
    """How often each type is repeated among those drawn from, and the row counts to draw from."""

    types: Mapping[str, int]
    rows: tuple[int, ...]

    @property
    def digest(self) -> str:
        """Eight hexadecimal digits: guided cases of two runs are the same where the weights are."""
        text = repr((sorted(self.types.items()), self.rows))
        return hashlib.sha256(text.encode()).hexdigest()[:8]

    def profile(self, name: str) -> Profile:
        """The named profile under these weights."""
        base = PROFILES[name]
        types = tuple(kind for kind in base.types for _ in range(self.types.get(kind, 1)))
        return dataclasses.replace(base, types=types, rows=self.rows or base.rows)


def draw(job: Job, index: int, weights: Weights | None) -> Case:
    """Case ``index`` of a job: guided where it is one of the last :attr:`Job.guided` ones.

    Raises:
        ValueError: a guided case is asked for and there are no weights yet.
    """
    if index < job.cases - job.guided:
        return draw_case(job.seed, index, profile=job.profile)
    if weights is None:
        raise ValueError(f"expected weights for case {index}, which is guided, but the first part is not judged yet")
    choices = Seeded(job.seed, index, f"guided-{job.profile}")
    case_id = f"guided.{job.profile}.s{job.seed}.w{weights.digest}.i{index}"
    return draw_case_by(choices, weights.profile(job.profile), case_id=case_id)


def weigh(job: Job, reached: Iterable[str], failing: Iterable[str]) -> Weights:
    """Weights from the cells that were ``reached`` and those of ``failing`` cases.

    A type is favoured for each of its cells that was never reached, and for cells that failed; row counts are drawn
    as before.
    """
    missing = universe(job.profile) - set(reached)
    failed = set(failing)
    base = PROFILES[job.profile]
    types = {}
    for kind in sorted({*base.types} - {BqType.RECORD}):
        never = sum(cell.startswith((f"type:{kind}/", f"with:{kind}/")) for cell in missing)
        found = sum(cell.startswith((f"type:{kind}/", f"with:{kind}/")) for cell in failed)
        types[str(kind)] = min(MOST, 1 + never + (found + 3) // 4)
    return Weights(types, base.rows)
