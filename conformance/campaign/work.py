"""What a job's cases are worked on with, whatever its profile: the one thing that a lab asks a job for.

A job of drawn cases needs its target, opened, and a stepper that draws, drives, reads and judges. Other profiles have
steps of their own. A lab only needs to know how to go from indices to rows, what to say of the target, and how much
memory that may take.
"""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, Protocol

from conformance.campaign.decoding import Ended
from conformance.campaign.done import Done
from conformance.campaign.guidance import Weights
from conformance.campaign.job import MUTATED, CampaignJob
from conformance.campaign.step import Stepper
from conformance.engine.casestep import Driver
from conformance.targets import open_target

__all__ = ["MEMORY", "Mark", "Steps", "Work", "open_work"]

MEMORY: Final = 4 << 30
"""Bytes that a runner may map beyond its libraries: several copies of the largest exchange, and slack."""

Mark = Callable[[int, str], None]
"""Called with a case and what is done to it next, so that a process's end can be blamed."""


class Steps(Protocol):
    """Goes from the indices of cases to their rows."""

    def steps(self, indices: range, *, ended: Mapping[int, Mapping[str, Ended]]) -> Iterator[Done]:
        """The rows of each case, in order; ``ended`` are decoders known to end the process, by case."""
        ...


@dataclasses.dataclass(frozen=True, slots=True)
class Work:
    """What is ready to work: its steps, what it works on, and the memory that it may take.

    ``info`` are name, version and capabilities. ``driver`` takes single cases; None where there is nothing to drive.
    ``memory`` are the bytes that the process may map beyond what it maps once this is open.
    """

    steps: Steps
    info: Mapping[str, Any]
    driver: Driver | None = None
    memory: int = MEMORY


@contextlib.contextmanager
def open_work(job: CampaignJob, weights: Weights | None, *, mark: Mark) -> Iterator[Work]:
    """What the cases of a job are worked on with; closed afterwards.

    Raises:
        TargetError: the target cannot run here.
    """
    if job.profile == MUTATED:
        from conformance.campaign.mutated import LIMIT, InputSteps  # noqa: PLC0415  # takes all samples

        steps = InputSteps(job, mark=mark)
        yield Work(steps, steps.info, memory=LIMIT)
        return
    with open_target(job.spec, multiplier=job.multiplier, alone=True) as target:
        reported = {"name": target.name, "version": target.version, "capabilities": sorted(target.capabilities)}
        yield Work(Stepper(job, target, weights=weights, mark=mark), reported, target)
