"""Checks that the changes of a table's columns fit the table: its columns, and what its rows have in them."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from conformance.generate.changedrows import rows_then
from conformance.generate.materialise import materialise
from conformance.records import (
    AppendRows,
    Case,
    ChangeColumns,
    Column,
    CreateSession,
    Happening,
    Json,
    Meanwhile,
    Mode,
    RecordError,
    RunQuery,
    Table,
)
from conformance.records.changes import WIDER, altered_columns, columns_before_each

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
    _check_alterations(case, changes)
    _check_other_steps(case)
    if case.table.rows is not None:
        _check_rows(case, [row if isinstance(row, dict) else {} for row in case.table.rows])
    elif any(
        isinstance(step, AppendRows)
        or (isinstance(step, ChangeColumns) and (step.add or step.relax or _casts(case, step)))
        for step in case.steps
    ):
        raise RecordError(changes[0][0], "a table with rows, because a recipe has values in every column", "none")


def _check_names(columns: Sequence[Column], changes: Sequence[tuple[str, ChangeColumns]]) -> None:
    modes = {column.name: column.mode for column in columns}
    added = [name for _, step in changes for name in step.add]
    there = set(modes).difference(added)
    for path, step in changes:
        if not (step.add or step.drop or step.relax or step.alter):
            raise RecordError(path, "columns to add, to drop, to relax or to alter", step.TAG)
        _check_known(f"{path}.drop", step.drop, there, lambda name: "`" not in name)
        _check_known(f"{path}.relax", step.relax, there, lambda name: modes[name] is Mode.NULLABLE)
        _check_known(f"{path}.add", step.add, set(modes) - there, lambda name: modes[name] is not Mode.REQUIRED)
        there = (there | set(step.add)) - set(step.drop)
        if not there:
            raise RecordError(f"{path}.drop", "a column that stays", step.drop[0])
    for key in ("add", "drop", "relax"):
        names = [name for _, step in changes for name in getattr(step, key)]
        if len(names) > len(set(names)):
            raise RecordError(f"{changes[0][0]}.{key}", "each column once in the case", max(names, key=names.count))
    if added and list(modes)[-len(added) :] != added:
        raise RecordError(f"{changes[0][0]}.add", "added columns behind all others, in this order", added[0])


def _check_alterations(case: Case, changes: Sequence[tuple[str, ChangeColumns]]) -> None:
    last = {column.name: column for column in case.table.columns}
    listed = [(f"{path}.alter", one) for path, step in changes for one in step.alter]
    others = {name for _, step in changes for name in (*step.drop, *step.relax)}
    for path, step in changes:
        if step.again and step.alter:
            raise RecordError(
                f"{path}.alter", "no other names or types in a table that is made again", step.alter[0].name
            )
    for path, one in listed:
        column, was = last.get(one.name), one.was
        if column is None or one.name in others or [each.name for _, each in listed].count(one.name) > 1:
            raise RecordError(path, "columns of the table of the case, each changed by this step alone", one.name)
        if was.name != one.name and (was.name in last or "`" in was.name + one.name):
            raise RecordError(path, "names of before that no other column has, without backticks", was.name)
        kept = dataclasses.replace(was, name=column.name) == column
        if not kept and not (_is_number(was) and _is_number(column) and _is_wider(was, column)):
            raise RecordError(path, "the type and mode of before, or a wider type of numbers", was.name)


def _casts(case: Case, step: ChangeColumns) -> bool:
    """Whether a step gives a column another type."""
    types = {column.name: column.type for column in case.table.columns}
    return any(one.was.type is not types.get(one.name) for one in step.alter)


def _is_number(column: Column) -> bool:
    return column.type in WIDER and column.mode is not Mode.REPEATED


def _is_wider(was: Column, column: Column) -> bool:
    return was.mode is column.mode and WIDER.index(was.type) <= WIDER.index(column.type)


def _check_known(path: str, names: Sequence[str], known: set[str], may: Callable[[str], bool]) -> None:
    """Refuse a name that is not among ``known``, or that ``may`` refuses."""
    expected = {
        "add": "columns of the table of the case that are not REQUIRED, and that are not there then",
        "drop": "columns that are there then, without backticks in their names",
        "relax": "columns that are there then, and NULLABLE in the table of the case",
    }[path.rpartition(".")[2]]
    for name in names:
        if name not in known or not may(name):
            raise RecordError(path, expected, name)


def _check_other_steps(case: Case) -> None:
    for index, step in enumerate(case.steps):
        path = f"Case.steps[{index}]"
        if isinstance(step, CreateSession) and step.snapshot:
            raise RecordError(
                f"{path}.snapshot", "none where columns change: which ones it shows is open", step.snapshot
            )
        if isinstance(step, RunQuery) or (isinstance(step, Meanwhile) and step.what is not Happening.RESTART):
            raise RecordError(path, "no query and no expiry where columns change", step.TAG)


def _check_rows(case: Case, rows: Sequence[Mapping[str, Any]]) -> None:
    """Refuse what a row cannot have, because its table lacks the column, or asks for a value, when it is inserted."""
    found = columns_before_each(case.table.columns, case.steps)
    end = len(rows) - sum(step.count for step in case.steps if isinstance(step, AppendRows))
    _check_part(case, rows, range(end), found[0])
    for columns, step in zip(found, case.steps, strict=False):
        if isinstance(step, AppendRows):
            _check_part(case, rows, range(end, end + step.count), columns)
            end += step.count


def _check_part(case: Case, rows: Sequence[Mapping[str, Any]], part: range, then: Sequence[Column]) -> None:
    earlier = altered_columns(case.steps)
    names = {was: name for name, was in earlier.items()}
    there = {names.get(column, column.name): column for column in then}
    if any(column in names for column in then):
        written = rows_then(case, [rows[index] for index in part], then)
        materialise(Table(tuple(then), rows=tuple(map(Json, _under(then, written)))))
    absent = [column.name for column in case.table.columns if column.name not in there]
    strict = [column.name for column in case.table.columns if there.get(column.name, column).mode is not column.mode]
    for index in part:
        for name in absent:
            if rows[index].get(name) not in (None, []):
                raise RecordError(
                    f"Case.table.rows[{index}].{name}", "nothing: the table has no such column then", name
                )
        for name in strict:
            if rows[index].get(name) is None:
                raise RecordError(f"Case.table.rows[{index}].{name}", "a value: the column is REQUIRED then", name)


def _under(columns: Sequence[Column], rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    names = {column.name for column in columns}
    return [{name: value for name, value in row.items() if name in names} for row in rows]
