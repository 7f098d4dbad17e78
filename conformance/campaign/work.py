"""Everything that runs the cases of a job, whatever its profile: the only thing that a sandbox needs from a job.

A job of drawn cases needs its target, opened, and a stepper that draws, drives, reads and judges. Other profiles
have their own steps. A sandbox only needs a way from indices to rows, a description of the target, and a memory
limit.
"""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, Protocol

from conformance.campaign.campaignjob import MUTATED, CampaignJob
from conformance.campaign.decoders import Ended
from conformance.campaign.done import Done
from conformance.campaign.guidance import Weights
from conformance.campaign.phases import Stepper
from conformance.engine.casestep import Driver
from conformance.targets import open_target

__all__ = ["MEMORY", "Mark", "Steps", "Work", "open_work"]

MEMORY: Final = 4 << 30
"""Bytes that a runner may map in addition to its libraries: several copies of the largest exchange, with a reserve."""

Mark = Callable[[int, str], None]
"""Called with a case and its next step, so that the end of the process can be attributed to it."""


class Steps(Protocol):
    """Turns indices of cases into their rows."""

    def steps(self, indices: range, *, ended: Mapping[int, Mapping[str, Ended]]) -> Iterator[Done]:
        """The rows of each case, in order; ``ended`` are decoders known to end the process, by case."""
        ...


@dataclasses.dataclass(frozen=True, slots=True)
class Work:
    """The steps of an opened job, the description of its target, and the memory limit.

    ``info`` has name, version and capabilities. ``driver`` takes single cases; None if there is nothing to drive.
    ``memory`` is the number of bytes that the process may map in addition to its mapping when the work is opened.
    """

    steps: Steps
    info: Mapping[str, Any]
    driver: Driver | None = None
    memory: int = MEMORY


@contextlib.contextmanager
def open_work(job: CampaignJob, weights: Weights | None, *, mark: Mark) -> Iterator[Work]:
    """Open what the cases of a job need; it is closed on exit.

    Raises:
        TargetError: the target cannot run here.
    """
    if job.profile == MUTATED:
        from conformance.campaign.mutated import LIMIT, InputSteps  # noqa: PLC0415  # builds all samples

        steps = InputSteps(job, mark=mark)
        yield Work(steps, steps.info, memory=LIMIT)
        return
    with open_target(job.spec, multiplier=job.multiplier, alone=True) as target:
        reported = {"name": target.name, "version": target.version, "capabilities": sorted(target.capabilities)}
        yield Work(Stepper(job, target, weights=weights, mark=mark), reported, target)
