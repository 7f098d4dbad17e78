"""Simpler steps of a case of Arrow Flight: fewer of them, one after another, with fewer or other rows of its table."""

from __future__ import annotations

import bisect
import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

from conformance.records import DoAction, DoExchange, DoGet, DoPut, Meanwhile, PollFlightInfo, Step

__all__ = ["compacted", "kept_rows", "rows_needed", "simpler_flight"]


def simpler_flight(steps: Sequence[Step], keeps: Callable[[], bool], up_to: Callable[[int], int]) -> tuple[Step, ...]:
    """Return some of the steps, perhaps simpler; ``keeps`` decides of each part, ``up_to`` chooses a smaller number.

    A step that was made at the same time as others stays so if one before it in its group stays. A step whose info,
    endpoint or query is gone goes, too.
    """
    decided = [(keeps(), keeps(), step, _fewer_rows(step, up_to)) for step in steps]
    found: list[Step] = []
    labels: set[str] = set()
    together = False
    for kept, beside, step, simpler in decided:
        together = together and getattr(step, "alongside", False)
        if not kept or not _needs(step) <= labels:
            continue
        changes: dict[str, Any] = {}
        if getattr(step, "alongside", False) and not (together and beside):
            changes["alongside"] = False
        found.append(dataclasses.replace(simpler, **changes))
        labels.update(filter(None, [getattr(step, "label", "")]))
        together = True
    return tuple(found or steps[:1])


def _fewer_rows(step: Step, up_to: Callable[[int], int]) -> Step:
    """Return a step that sends some of the rows that it sends, the first ones."""
    if isinstance(step, DoPut | DoExchange) and step.count is not None:
        return dataclasses.replace(step, count=up_to(step.count))
    return step


def rows_needed(steps: Sequence[Step]) -> int:
    """The number of rows that a table has to have for each step that sends some of them."""
    return max((step.first + (step.count or 0) for step in steps if isinstance(step, DoPut | DoExchange)), default=0)


def compacted(steps: Sequence[Step]) -> tuple[Step, ...]:
    """Return the steps with rows that follow each other without a gap: as many, and other ones of the table."""
    first = 0
    found: list[Step] = []
    for step in steps:
        if isinstance(step, DoPut | DoExchange) and step.count is not None:
            found.append(dataclasses.replace(step, first=first))
            first += step.count
        else:
            found.append(step)
    return tuple(found)


def kept_rows(step: Step, kept: Sequence[int]) -> Step:
    """Return a step that sends, of its rows, those that are ``kept``, by their new numbers."""
    if not isinstance(step, DoPut | DoExchange) or step.count is None:
        return step
    before, until = (bisect.bisect_left(kept, row) for row in (step.first, step.first + step.count))
    return dataclasses.replace(step, first=before, count=until - before)


def _needs(step: Step) -> set[str]:
    """The labels of the answers that a step refers to."""
    match step:
        case DoGet(ticket=None):
            return {step.info}
        case DoAction() | Meanwhile():
            return {step.info} - {""}
        case PollFlightInfo():
            return {step.resume} - {""}
    return set()
