"""Checks that the changes of a table's columns fit the table: its columns, and what its rows have in them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from conformance.records import (
    AppendRows,
    Case,
    ChangeColumns,
    Column,
    CreateSession,
    Happening,
    Meanwhile,
    Mode,
    RecordError,
    RunQuery,
)

__all__ = ["check_changes"]


def check_changes(case: Case) -> None:
    """Refuse changes of columns that the table does not have, and rows with values that no server could have put there.

    Raises:
        RecordError: one sentence with the place.
    """
    changes = [
        (f"Case.steps[{index}]", step) for index, step in enumerate(case.steps) if isinstance(step, ChangeColumns)
    ]
    if not changes:
        return
    _check_names(case.table.columns, changes)
    _check_other_steps(case)
    if case.table.rows is not None:
        _check_rows(case, [row if isinstance(row, dict) else {} for row in case.table.rows])
    elif any(isinstance(step, AppendRows) or (isinstance(step, ChangeColumns) and step.add) for step in case.steps):
        raise RecordError(changes[0][0], "a table with rows, because a recipe has values in every column", "none")


def _check_names(columns: Sequence[Column], changes: Sequence[tuple[str, ChangeColumns]]) -> None:
    modes = {column.name: column.mode for column in columns}
    for key in ("add", "drop", "relax"):
        seen: set[str] = set()
        for path, step in changes:
            for name in getattr(step, key):
                if name not in modes or name in seen:
                    raise RecordError(f"{path}.{key}", "top-level columns of the table, each once", name)
                if modes[name] is Mode.REQUIRED and key != "drop":
                    raise RecordError(f"{path}.{key}", "columns that are not REQUIRED in the table of the case", name)
                if modes[name] is Mode.REPEATED and key == "relax":
                    raise RecordError(f"{path}.{key}", "columns that are NULLABLE in the table of the case", name)
                seen.add(name)
    added = [name for _, step in changes for name in step.add]
    if added and list(modes)[-len(added) :] != added:
        raise RecordError(f"{changes[0][0]}.add", "added columns behind all others, in this order", added[0])


def _check_other_steps(case: Case) -> None:
    for index, step in enumerate(case.steps):
        path = f"Case.steps[{index}]"
        if isinstance(step, CreateSession) and step.snapshot:
            raise RecordError(
                f"{path}.snapshot", "none where columns change: which ones it shows is open", step.snapshot
            )
        if isinstance(step, AppendRows) and step.again:
            raise RecordError(f"{path}.again", "no table made again where columns change", step.again)
        if isinstance(step, RunQuery) or (isinstance(step, Meanwhile) and step.what is not Happening.RESTART):
            raise RecordError(path, "no query and no expiry where columns change", step.TAG)


def _check_rows(case: Case, rows: Sequence[Mapping[str, Any]]) -> None:
    """Refuse values in a column that a row's table does not have when the row is inserted."""
    first = len(rows) - sum(step.count for step in case.steps if isinstance(step, AppendRows))
    absent = {name for step in case.steps if isinstance(step, ChangeColumns) for name in step.add}
    strict = {name for step in case.steps if isinstance(step, ChangeColumns) for name in step.relax}
    _check_part(rows, range(first), absent, strict)
    for step in case.steps:
        if isinstance(step, ChangeColumns):
            absent = (absent - set(step.add)) | set(step.drop)
            strict -= set(step.relax)
        elif isinstance(step, AppendRows):
            _check_part(rows, range(first, first + step.count), absent, strict)
            first += step.count


def _check_part(rows: Sequence[Mapping[str, Any]], part: range, absent: set[str], strict: set[str]) -> None:
    for index in part:
        for name in sorted(absent):
            if rows[index].get(name) not in (None, []):
                raise RecordError(
                    f"Case.table.rows[{index}].{name}", "nothing: the table has no such column then", name
                )
        for name in sorted(strict):
            if rows[index].get(name) is None:
                raise RecordError(f"Case.table.rows[{index}].{name}", "a value: the column is REQUIRED then", name)
