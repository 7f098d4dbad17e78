"""Simpler cases than a given one, by choice: the search space of shrinking.

A simplification consists of independent decisions, each of which keeps a part of the case (any number but 0) or
simplifies it (0): leave a step out, reset an option, drop a column, make a mode NULLABLE, take fewer rows. So a
source of choices that moves toward zeros moves toward the simplest case that still fails. The number of decisions
depends on the given case alone, never on other decisions: a change of one keeps the rest. Every simpler case is
valid: an object that a step refers to stays, and expected rows follow the rows that stay.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, cast

from conformance.generate.choices import Choices
from conformance.generate.outline import is_row_id
from conformance.generate.plugin import GeneratePlugin
from conformance.generate.sentrows import compacted, kept_rows, rows_needed
from conformance.protocol import plugin
from conformance.records import (
    AppendRows,
    BqType,
    CallStep,
    Case,
    Column,
    CreateSession,
    Json,
    Mode,
    NullPattern,
    Recipe,
    Step,
    Table,
    ValueProfile,
)

__all__ = ["Simplifier", "keeps", "restrictions_of", "simpler_columns", "simpler_recipe", "simpler_rows",
           "simpler_shape", "under", "up_to"]  # fmt: skip

Simplifier = Callable[[Choices, Case], Case]

_STAY: Final = 7
"""A part is simplified once in ``_STAY + 1`` random tries: most of a failing case has to stay, or it no longer
fails.
"""


def keeps(choices: Choices) -> bool:
    """True if a part stays, by one decision."""
    return choices.integer(0, _STAY) > 0


# --- columns ------------------------------------------------------------------------------------------


def simpler_shape(choices: Choices, case: Case) -> Case:
    """Return the case with fewer steps, plainer requests, fewer columns, plainer modes and types, and the same rows."""
    return plugin(GeneratePlugin, case.protocol).simpler(choices, case)


def restrictions_of(steps: Sequence[Step]) -> str:
    """Return the text of all restrictions: the columns that they name have to stay unchanged."""
    return "\n".join(step.row_restriction for step in steps if isinstance(step, CreateSession))


def _named(column: Column, restrictions: str) -> bool:
    word = rf"(?<!\w){re.escape(column.name)}(?!\w)"
    if re.search(word, restrictions, re.IGNORECASE):
        return True
    return any(_named(field, restrictions) for field in column.fields)


def simpler_columns(choices: Choices, columns: Sequence[Column], restrictions: str) -> tuple[Column, ...]:
    """Return fewer and simpler columns; those that the text of ``restrictions`` names stay as they are."""
    decided = [(keeps(choices), column, _simpler_column(choices, column, restrictions)) for column in columns]
    kept = tuple(simpler for stays, column, simpler in decided if stays or _named(column, restrictions))
    return kept or tuple(simpler for _stays, _column, simpler in decided[:1])


def _simpler_column(choices: Choices, column: Column, restrictions: str) -> Column:
    mode_stays, parameters_stay = keeps(choices), keeps(choices)
    fields = simpler_columns(choices, column.fields, restrictions)
    simpler = dataclasses.replace(column, fields=fields)
    if _named(column, restrictions) or is_row_id(column):
        return simpler
    if not mode_stays:
        simpler = dataclasses.replace(simpler, mode=Mode.NULLABLE)
    return simpler if parameters_stay else dataclasses.replace(simpler, precision=None, scale=None, max_length=None)


def under(table: Table, columns: tuple[Column, ...]) -> Table:
    """Return the table under simpler columns; written-out rows lose values without a column and lists of columns
    that are no longer REPEATED.
    """
    if table.rows is None:
        return dataclasses.replace(table, columns=columns)
    before = {column.name: column for column in table.columns}
    rows = tuple(Json(_fitted(row, before, columns)) for row in table.rows)
    return Table(columns, rows=rows)


def _fitted(row: Any, before: Mapping[str, Column], columns: Sequence[Column]) -> dict[str, Any]:
    return {
        column.name: _fitted_value(row[column.name], before[column.name], column)
        for column in columns
        if column.name in row
    }


def _fitted_value(value: Any, before: Column, column: Column) -> Any:
    if before.mode is Mode.REPEATED and column.mode is not Mode.REPEATED:
        value = value[0] if value else None
    if column.type is not BqType.RECORD or value is None:
        return value
    fields = {field.name: field for field in before.fields}
    if isinstance(value, list):
        return [None if item is None else _fitted(item, fields, column.fields) for item in value]
    return _fitted(value, fields, column.fields)


# --- recipes ------------------------------------------------------------------------------------------


def simpler_recipe(choices: Choices, case: Case) -> Case:
    """Return the case with fewer rows, simpler nulls and values; unchanged if its expected rows depend on its
    values.
    """
    recipe = case.table.recipe
    if recipe is None or any(isinstance(step, CallStep) and step.expect.rows is not None for step in case.steps):
        return case
    steps = case.steps
    if rows_needed(steps) and not keeps(choices):
        steps = compacted(steps)
    appended = sum(step.count for step in steps if isinstance(step, AppendRows))
    least = min(recipe.rows, max(appended, rows_needed(steps)))
    values = (ValueProfile.CONSTANT, ValueProfile.SMALL, *[recipe.values] * _STAY)
    simpler = Recipe(
        rows=up_to(choices, recipe.rows, least=least),
        seed=recipe.seed if keeps(choices) else 0,
        nulls=recipe.nulls if keeps(choices) else NullPattern.NONE,
        values=choices.pick(values),
        max_items=up_to(choices, recipe.max_items),
        cell_bytes=up_to(choices, recipe.cell_bytes),
    )
    return dataclasses.replace(case, table=dataclasses.replace(case.table, recipe=simpler), steps=steps)


def up_to(choices: Choices, most: int, *, least: int = 0) -> int:
    """Return a number from ``least`` to ``most``, by one decision: half of the random tries keep ``most``."""
    return min(choices.integer(least, 2 * most), most)


# --- written-out rows -----------------------------------------------------------------------------------


def simpler_rows(choices: Choices, case: Case) -> Case:
    """Return the case with fewer written-out rows (whole blocks if there are many), and simpler cells."""
    rows = case.table.rows
    if rows is None or plugin(GeneratePlugin, case.protocol).names_rows(case):
        return case
    appended = sum(step.count for step in case.steps if isinstance(step, AppendRows))
    first = len(rows) - appended  # appended rows are the last ones
    size = max(1, first // _BLOCKS)
    blocks = [range(start, min(start + size, first)) for start in range(0, first, size)]
    kept = [index for block in blocks if keeps(choices) for index in block]
    steps: list[Step] = []
    for step in case.steps:
        if isinstance(step, AppendRows):
            count = up_to(choices, step.count)
            kept += range(first, first + count)
            first += step.count
            steps.append(dataclasses.replace(step, count=count))
        else:
            steps.append(kept_rows(step, kept))
    places = {old: new for new, old in enumerate(kept)}
    simpler = [_simpler_cells(choices, row, case) for row in rows]
    cells = tuple(Json(simpler[index]) for index in kept)
    numbered = tuple(_renumbered(step, places) for step in steps)
    return dataclasses.replace(case, table=Table(case.table.columns, rows=cells), steps=numbered)


_BLOCKS: Final = 16
"""The number of decisions about rows in one step: few enough that a random try keeps most rows."""
_FEW: Final = 8
"""The most rows with decisions about single cells."""


def _simpler_cells(choices: Choices, row: Any, case: Case) -> Any:
    """Return the row with some lists cut and some nullable cells NULL; unchanged if a restriction reads the values."""
    if len(case.table.rows or ()) > _FEW or restrictions_of(case.steps):
        return row
    return {
        column.name: _simpler_cell(choices, column, row[column.name])
        for column in case.table.columns
        if column.name in row
    }


def _simpler_cell(choices: Choices, column: Column, value: Any) -> Any:
    if isinstance(value, list):
        return value[: up_to(choices, len(value))]
    kept = keeps(choices) or column.mode is not Mode.NULLABLE
    return value if kept else None


def _renumbered(step: Step, places: Mapping[int, int]) -> Step:
    if not isinstance(step, CallStep) or step.expect.rows is None:
        return step
    rows = tuple(places[row] for row in step.expect.rows if row in places)
    held: Any = step  # each kind of step declares the field for itself, in its own place
    return cast(Step, dataclasses.replace(held, expect=dataclasses.replace(step.expect, rows=rows)))
