"""The part of a table that a selection of fields describes, computed from the case alone.

Nothing here comes from a target, and nothing here judges; :mod:`.matching` compares rows.

Sources: ``TableReadOptions.selected_fields`` in
https://github.com/googleapis/googleapis/blob/master/google/cloud/bigquery/storage/v1/stream.proto (the order comes
from the table, nested leaves by dotted path, naming a STRUCT takes all of it).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence

import pyarrow as pa

from conformance.contract import mapping
from conformance.records import BqType, Column, Mode

__all__ = ["expected_columns", "project"]


def expected_columns(columns: Sequence[Column], selected_fields: Iterable[str]) -> tuple[Column, ...] | None:
    """Return the columns that ``selected_fields`` selects, in table order; None if a name is unknown.

    Names match without regard to case, and the result has the table's spelling. Dotted paths into one RECORD are
    merged; a path that names a RECORD selects all of it. An empty selection selects everything.
    """
    paths = [path.casefold().split(".") for path in selected_fields]
    return _select(columns, paths) if paths else tuple(columns)


def _select(columns: Sequence[Column], paths: Sequence[Sequence[str]]) -> tuple[Column, ...] | None:
    by_name = {column.name.casefold(): column for column in columns}
    into: dict[str, list[Sequence[str]]] = {}
    for path in paths:
        if path[0] not in by_name:
            return None
        into.setdefault(path[0], []).append(path[1:])
    chosen: list[Column] = []
    for name, column in by_name.items():
        below = into.get(name)
        if not below:
            continue
        if all(below):
            fields = _select(column.fields, below) if column.fields else None
            if fields is None:
                return None
            chosen.append(dataclasses.replace(column, fields=fields))
        elif any(below) and _select(column.fields, [path for path in below if path]) is None:
            return None
        else:
            chosen.append(column)
    return tuple(chosen)


def project(table: pa.Table, columns: Sequence[Column]) -> pa.Table:
    """Return the part of ``table`` that ``columns`` (of :func:`expected_columns`) describe, at every level of nesting.

    Raises:
        KeyError: the table lacks one of the columns.
    """
    table = table.combine_chunks()
    schema = mapping.arrow_schema(columns)
    arrays = [_project_chunked(table.column(column.name), column) for column in columns]
    return pa.Table.from_arrays(arrays, schema=schema) if columns else table.select([])


def _project_chunked(chunked: pa.ChunkedArray, column: Column) -> pa.ChunkedArray:
    chunks = [_project_array(chunk, column) for chunk in chunked.chunks]
    return pa.chunked_array(chunks, type=mapping.arrow_field(column).type)


def _project_array(array: pa.Array, column: Column) -> pa.Array:
    if column.type is not BqType.RECORD:
        return array
    if column.mode is Mode.REPEATED:
        values = _project_struct(array.values, column.fields)
        return pa.ListArray.from_arrays(array.offsets, values, type=mapping.arrow_field(column).type)
    return _project_struct(array, column.fields)


def _project_struct(array: pa.StructArray, columns: Sequence[Column]) -> pa.StructArray:
    positions = [array.type.get_field_index(column.name) for column in columns]
    arrays = [_project_array(array.field(index), column) for index, column in zip(positions, columns, strict=True)]
    fields = [mapping.arrow_field(column) for column in columns]
    return pa.StructArray.from_arrays(arrays, fields=fields, mask=array.is_null())
