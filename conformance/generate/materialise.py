"""The rows of a case as Arrow values, and back.

The judge compares a target's bytes with the table made here: it comes from the case alone. A recipe's values and
written-out rows become the same buffers, so that a case may change its form and keep its bytes.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from conformance.generate.outline import outline
from conformance.generate.synthesis import synthesise
from conformance.generate.written import arrays_from_rows, values_from_array
from conformance.records import Case, Column, Json, Table

__all__ = ["explicit", "materialise", "to_json_rows"]


def materialise(table: Table) -> pa.Table:
    """Return the rows of ``table`` under exactly ``arrow_schema(table.columns)``, in one chunk; an Arrow table
    unchanged.

    A table without columns keeps its row count (``num_rows``), as a record batch does. BIGNUMERIC extremes have 77
    digits, although ``Table.validate(full=True)`` reports them as out of precision.

    Raises:
        RecordError: a written-out row does not fit its columns, or a batch its fields; the message names the place.
    """
    if table.arrow is not None:
        # Few tables are written as Arrow, and this import is as long as all the others of a server.
        from conformance.generate.arrowtable import arrow_table  # noqa: PLC0415

        return arrow_table(table.arrow)
    reported = outline(table.columns)
    schema = reported.schema
    if table.recipe is not None:
        arrays = synthesise(reported, table.recipe)
        count = table.recipe.rows
    else:
        assert table.rows is not None
        arrays = arrays_from_rows(table.columns, table.rows, schema)
        count = len(table.rows)
    if not arrays:
        return _without_columns(count)
    return pa.Table.from_arrays(arrays, schema=schema)


def to_json_rows(table: pa.Table, columns: Sequence[Column]) -> list[dict[str, Any]]:
    """Return the rows in the exact JSON form of :class:`conformance.records.Table`; every column has its key."""
    if not columns:
        return [{} for _ in range(table.num_rows)]
    values = [values_from_array(column, _one_chunk(table.column(index))) for index, column in enumerate(columns)]
    names = [column.name for column in columns]
    return [dict(zip(names, row, strict=True)) for row in zip(*values, strict=True)]


def explicit(case: Case) -> Case:
    """Return the case with its recipe replaced by the rows that it gives."""
    if case.table.recipe is None:
        return case
    rows = to_json_rows(materialise(case.table), case.table.columns)
    return dataclasses.replace(case, table=Table(case.table.columns, rows=tuple(map(Json, rows))))


def _one_chunk(column: pa.ChunkedArray) -> pa.Array:
    return column.chunk(0) if column.num_chunks == 1 else pa.concat_arrays(column.chunks)


def _without_columns(count: int) -> pa.Table:
    # Table.from_arrays([]) has no rows; a batch made from structs without fields keeps the number of the structs.
    empty = pa.Array.from_buffers(pa.struct([]), count, [None], 0, children=[])
    return pa.Table.from_batches([pa.RecordBatch.from_struct_array(empty)])
