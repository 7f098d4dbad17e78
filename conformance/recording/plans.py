"""Reads a fault plan from a file: a JSON object with the key ``faults``."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from conformance.contain.parse import ForeignJsonError, parse_object
from conformance.records import FaultPlan, RecordError, from_json

__all__ = ["PlanError", "read_plan"]

LARGEST: Final = 1 << 20
"""The most bytes of a plan."""
_EXAMPLE: Final = '{"faults": [{"kind": "reset", "responses": 1}]}'


class PlanError(ValueError):
    """A file is no fault plan; the text names the file and what to do."""


def read_plan(path: Path) -> FaultPlan:
    """Return the plan in a file.

    Raises:
        PlanError: it cannot be read, or it is no plan.
    """
    try:
        with path.open("rb") as file:
            data = file.read(LARGEST + 1)
    except OSError as error:
        raise PlanError(f"{path}: expected a fault plan, but the file cannot be read: {error.strerror}") from None
    if len(data) > LARGEST:
        raise PlanError(f"{path}: expected a fault plan of at most {LARGEST} bytes, got more")
    try:
        return from_json(FaultPlan, parse_object(data))
    except (ForeignJsonError, RecordError) as error:
        raise PlanError(f"{path}: {error}; a plan is JSON such as {_EXAMPLE}") from None
