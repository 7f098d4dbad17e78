"""Simpler steps of a case of Arrow Flight: fewer of them, one after another, with fewer or other rows of its table."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

from conformance.generate.choices import Choices
from conformance.generate.simplify import keeps, simpler_columns, under, up_to
from conformance.protocols.flight.records import DoAction, DoExchange, DoGet, DoPut, FlightSqlStep, PollFlightInfo
from conformance.records import Case, Meanwhile, Step

__all__ = ["simpler"]


def simpler(choices: Choices, case: Case) -> Case:
    """Return the case with fewer and plainer steps, fewer columns, plainer modes and types, and the same rows."""
    found = _simpler_steps(case.steps, lambda: keeps(choices), lambda most: up_to(choices, most))
    if case.table.arrow is not None or any(isinstance(step, FlightSqlStep) for step in case.steps):
        return dataclasses.replace(case, steps=found)  # the columns are in a file, or in statements
    columns = simpler_columns(choices, case.table.columns, "")
    return dataclasses.replace(case, table=under(case.table, columns), steps=found)


def _simpler_steps(steps: Sequence[Step], keeps: Callable[[], bool], up_to: Callable[[int], int]) -> tuple[Step, ...]:
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
