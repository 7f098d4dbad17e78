"""Drawn queries: a table as the result of jobs.query in Arrow, with drawn options, and reads of the stream of its job.

Only servers that declare such results are asked. A query is never for times in nanoseconds, which do not hold every
year that a drawn table has.
"""

from __future__ import annotations

import dataclasses
from typing import Final

from conformance.generate.choices import Choices, Seeded, one_in
from conformance.generate.drawing import draw_recipe, draw_table_columns, profiles
from conformance.generate.materialise import materialise, to_json_rows
from conformance.records import ROW_ID, Case, Column, Json, QueryStatement, ReadResult, RunQuery, Step, Table

__all__ = ["CAPABILITY", "draw_query", "draw_query_case", "is_result"]

CAPABILITY: Final = "query-results"
"""The capability that a query needs."""
_MOST: Final = 129
_MOST_WRITTEN: Final = 33
"""Rows that are written out, so that a query can name their order."""
_PLACES: Final = ("page", "page", "0", "inside", "last", "end", "1", "3")


def draw_query_case(seed: int, index: int, *, case_id: str) -> Case:
    """Return the case of a seed and an index whose table is the result of two queries."""
    choices = Seeded(seed, index, CAPABILITY)
    profile = profiles()["server"]
    columns = tuple(map(_without_parameters, draw_table_columns(choices, profile)))
    recipe = dataclasses.replace(
        draw_recipe(choices, profile, columns),
        rows=choices.pick(tuple(count for count in profile.rows if count <= _MOST)),
    )
    table = Table(columns, recipe=recipe)
    statements = [QueryStatement.SELECT, QueryStatement.SELECT, QueryStatement.NOTHING]
    if columns[0].name == ROW_ID and recipe.rows <= _MOST_WRITTEN:
        rows = to_json_rows(materialise(table), columns)
        table = Table(columns, rows=tuple(map(Json, rows)))
        statements += [QueryStatement.ORDERED] * 3
    steps = [
        step
        for label in ("q", "r")
        for step in draw_query(choices, label, choices.pick(tuple(statements)), rows=recipe.rows)
    ]
    title = "A drawn table is the result of a query, in a page and in the stream of its job"
    return Case(case_id, title, table, tuple(steps), needs=(CAPABILITY,))


def draw_query(choices: Choices, label: str, statement: QueryStatement, *, rows: int) -> list[Step]:
    """Return a query with drawn options, and reads of its result, which has so many rows."""
    query = RunQuery(
        label=label,
        statement=statement,
        max_results=choices.pick((None, None, 1, 2, 3, 7, 1000)),
        buffer_compression=choices.pick(("", "", "LZ4_FRAME", "ZSTD")),
        timestamps=choices.pick(("", "", "MICROS", "PICOS")),
        optional_job=one_in(choices, 2),
        cached=one_in(choices, 2),
    )
    if statement is QueryStatement.NOTHING:
        return [query, ReadResult(query=label, offset="0")]
    places = [choices.pick(_PLACES) for _ in range(choices.integer(1, 3))]
    reads = [ReadResult(query=label, offset=place) for place in places if not place.isdecimal() or int(place) <= rows]
    return [query, *reads, *([ReadResult(query=label, offset="0", listed=True)] if one_in(choices, 4) else [])]


def is_result(column: Column) -> bool:
    """True if a query of a table may have the column: what its result keeps of parameters is not recorded."""
    return column == _without_parameters(column)


def _without_parameters(column: Column) -> Column:
    fields = tuple(map(_without_parameters, column.fields))
    return dataclasses.replace(column, fields=fields, precision=None, scale=None, max_length=None)
