"""The columns that a table has before and after each step of a case that changes them."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Sequence

from conformance.records.closed import Mode
from conformance.records.step import Step
from conformance.records.steps import ChangeColumns
from conformance.records.table import Column

__all__ = ["columns_before_each"]


def columns_before_each(
    columns: Sequence[Column], steps: Sequence[Step], *, skipped: Collection[int] = ()
) -> Sequence[tuple[Column, ...]]:
    """Return the columns that a case's table has before each of its steps, and at the end those after all.

    ``columns`` are those of the case's table: each column that it ever has, in its last form. ``skipped`` are the
    indices of steps that were not carried out. The work is linear in the
    steps, and takes the columns once for each change.
    """
    changes = [step for step in steps if isinstance(step, ChangeColumns)]
    if not changes:
        return [tuple(columns)] * (len(steps) + 1)
    absent = {name for change in changes for name in change.add}
    strict = {name for change in changes for name in change.relax}
    now = _columns(columns, absent, strict)
    found = [now]
    for index, step in enumerate(steps):
        if isinstance(step, ChangeColumns) and index not in skipped:
            absent = (absent - set(step.add)) | set(step.drop)
            strict -= set(step.relax)
            now = _columns(columns, absent, strict)
        found.append(now)
    return found


def _columns(columns: Sequence[Column], absent: set[str], strict: set[str]) -> tuple[Column, ...]:
    return tuple(
        dataclasses.replace(column, mode=Mode.REQUIRED) if column.name in strict else column
        for column in columns
        if column.name not in absent
    )
