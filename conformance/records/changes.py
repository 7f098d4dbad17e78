"""The columns that a table has before and after each step of a case that changes them."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Mapping, Sequence
from typing import Final

from conformance.records.closed import BqType, Mode
from conformance.records.step import Step
from conformance.records.steps import ChangeColumns
from conformance.records.table import Column

__all__ = ["WIDER", "altered_columns", "columns_before_each"]

WIDER: Final = (BqType.INT64, BqType.NUMERIC, BqType.BIGNUMERIC, BqType.FLOAT64)
"""Types of numbers, each of which a column may get in place of an earlier one of them."""


def altered_columns(steps: Sequence[Step]) -> dict[str, Column]:
    """Return what each column was before it got another name or type, by its name in the case's table."""
    changes = [step for step in steps if isinstance(step, ChangeColumns)]
    return {one.name: one.was for change in changes for one in change.alter}


def columns_before_each(
    columns: Sequence[Column], steps: Sequence[Step], *, skipped: Collection[int] = ()
) -> Sequence[tuple[Column, ...]]:
    """Return the columns that a case's table has before each of its steps, and at the end those after all.

    ``columns`` are those of the case's table: each column that it ever has, in its last form. ``skipped`` are the
    indices of steps that were not carried out. The work is linear in the steps, and takes the columns once for each
    change.
    """
    changes = [step for step in steps if isinstance(step, ChangeColumns)]
    if not changes:
        return [tuple(columns)] * (len(steps) + 1)
    absent = {name for change in changes for name in change.add}
    strict = {name for change in changes for name in change.relax}
    earlier = altered_columns(changes)
    now = _columns(columns, absent, strict, earlier)
    found = [now]
    for index, step in enumerate(steps):
        if isinstance(step, ChangeColumns) and index not in skipped:
            absent = (absent - set(step.add)) | set(step.drop)
            strict -= set(step.relax)
            earlier = {name: was for name, was in earlier.items() if name not in {one.name for one in step.alter}}
            now = _columns(columns, absent, strict, earlier)
        found.append(now)
    return found


def _columns(
    columns: Sequence[Column], absent: set[str], strict: set[str], earlier: Mapping[str, Column]
) -> tuple[Column, ...]:
    then = (earlier.get(column.name, column) for column in columns if column.name not in absent)
    there = [column.name for column in columns if column.name not in absent]
    return tuple(
        dataclasses.replace(column, mode=Mode.REQUIRED) if name in strict else column
        for name, column in zip(there, then, strict=True)
    )
