"""Row restrictions: which rows of a table a ``row_restriction`` keeps.

A row stays where the expression is TRUE; FALSE and NULL drop it. A restriction that cannot be parsed is refused, never
ignored: unfiltered rows would be wrong silently. Source: ``TableReadOptions.row_restriction`` in googleapis
``google/cloud/bigquery/storage/v1/stream.proto``.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc

from conformance.protocols.storage_read.reference.sql import Nodes, SqlError, Value, evaluate, parse_expression
from conformance.protocols.storage_read.reference.sql.values import ARROW
from conformance.records import BqType, Column, Mode

__all__ = ["RestrictionError", "columns_in", "keep"]


class RestrictionError(Exception):
    """The restriction is not a boolean expression over the table's columns; the text says why."""


def keep(text: str, columns: Sequence[Column], rows: pa.Table, *, nodes: Nodes | None = None) -> pa.BooleanArray:
    """For each row (in stored form) whether the restriction keeps it; ``nodes`` as for :func:`.sql.evaluate`.

    Raises:
        RestrictionError: the text is malformed, not boolean, names an unknown column, or uses what is not supported.
    """
    try:
        value = evaluate(parse_expression(text), lambda path: column_value(path, columns, rows), nodes)
    except (SqlError, RecursionError) as error:
        raise RestrictionError(str(error)) from None
    if value.type not in (BqType.BOOL, None) or value.column is not None:
        raise RestrictionError(f"expected a BOOL, got {value.name}")
    if value.constant:
        return pa.array([bool(value.data.as_py())] * rows.num_rows, pa.bool_())
    return pc.fill_null(value.data, pa.scalar(False))  # noqa: FBT003  # a NULL drops the row, as FALSE does


def columns_in(text: str, columns: Sequence[Column], rows: pa.Table) -> set[str]:
    """The names of the columns that the restriction names, in lower case; raises nothing."""
    found: set[str] = set()

    def noted(path: Sequence[str]) -> Value:
        found.add(path[0].lower())
        return column_value(path, columns, rows.slice(0, 0))

    with contextlib.suppress(SqlError, RecursionError):
        evaluate(parse_expression(text), noted, None)
    return found


def column_value(path: Sequence[str], columns: Sequence[Column], rows: pa.Table) -> Value:
    """The column or nested field that a dotted name means, without regard to case.

    Raises:
        SqlError: there is none.
    """
    column = _find(path[0], columns, path)
    data = rows.column(column.name)
    array = data.chunk(0) if data.num_chunks == 1 else data.combine_chunks()
    for name in path[1:]:
        if column.mode is Mode.REPEATED:
            raise SqlError(f"expected a RECORD before .{name}, got an array")
        column = _find(name, column.fields, path)
        array = pc.struct_field(array, column.name)
    if column.mode is Mode.REPEATED or column.type not in ARROW:
        return Value(column.type, array, column)
    wanted = ARROW[column.type]
    return Value(column.type, array if array.type == wanted else array.cast(wanted))


def _find(name: str, columns: Sequence[Column], path: Sequence[str]) -> Column:
    for column in columns:
        if column.name.lower() == name.lower():
            return column
    raise SqlError(f"Unrecognized name: {'.'.join(path)}")
