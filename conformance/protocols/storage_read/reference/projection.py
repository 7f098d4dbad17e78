"""From the rows of a table to the rows of a session: fewer columns, and the forms that Arrow clients are sent.

:func:`prune` decides which columns and sub-fields a list of selected fields means; :func:`served` gives the rows in
exactly those columns as Arrow clients are sent them, :func:`pruned` as they are stored.
Source: ``TableReadOptions.selected_fields`` in googleapis ``google/cloud/bigquery/storage/v1/stream.proto``.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from conformance.contract import mapping
from conformance.protocols.storage_read.reference.catalogue import stored_column
from conformance.records import BqType, Column, Mode

__all__ = ["IntervalOverflowError", "UnknownFieldsError", "prune", "pruned", "served"]

_NANOS_PER_MICRO = 1000
_MAX_MICROS = np.iinfo(np.int64).max // _NANOS_PER_MICRO


class UnknownFieldsError(Exception):
    """Selected fields that the table does not have: ``names`` as they were asked for."""

    def __init__(self, names: Sequence[str]) -> None:
        super().__init__(", ".join(names))
        self.names = tuple(names)


class IntervalOverflowError(Exception):
    """The time part of an INTERVAL, in microseconds, that Arrow's nanoseconds cannot hold."""

    def __init__(self, micros: int) -> None:
        super().__init__(str(micros))
        self.micros = micros


def prune(columns: Sequence[Column], selected: Iterable[str]) -> tuple[Column, ...]:
    """The columns that dotted paths select, in table order and in the table's own spelling.

    Names match without regard to case; paths under one parent merge, a parent's own name takes all its children,
    repetitions collapse; no path at all selects everything.

    Raises:
        UnknownFieldsError: a path names nothing.
    """
    paths = tuple(dict.fromkeys(selected))
    if not paths:
        return tuple(columns)
    unknown = [path for path in paths if not _exists(columns, path.lower().split("."))]
    if unknown:
        raise UnknownFieldsError(unknown)
    return _keep(columns, [path.lower().split(".") for path in paths])


def _exists(columns: Sequence[Column], path: Sequence[str]) -> bool:
    found = next((column for column in columns if column.name.lower() == path[0]), None)
    return found is not None and (len(path) == 1 or _exists(found.fields, path[1:]))


def _keep(columns: Sequence[Column], paths: Sequence[Sequence[str]]) -> tuple[Column, ...]:
    kept = []
    for column in columns:
        below = [path[1:] for path in paths if path[0] == column.name.lower()]
        if below:
            whole = not all(below)
            kept.append(column if whole else dataclasses.replace(column, fields=_keep(column.fields, below)))
    return tuple(kept)


def pruned(rows: pa.Table, columns: Sequence[Column]) -> pa.RecordBatch:
    """The rows with exactly ``columns``, in stored form."""
    kept = [stored_column(column) for column in columns]
    arrays = [_pruned(_whole(rows.column(column.name)), column) for column in kept]
    return pa.RecordBatch.from_arrays(arrays, schema=mapping.arrow_schema(kept))


def _pruned(array: pa.Array, column: Column) -> pa.Array:
    wanted = mapping.arrow_field(column).type
    if array.type == wanted:
        return array
    if column.mode is Mode.REPEATED:
        item = dataclasses.replace(column, mode=Mode.NULLABLE)
        offsets = pc.subtract(array.offsets, array.offsets[0])
        return pa.ListArray.from_arrays(offsets, _pruned(array.flatten(), item), type=wanted)
    children = [_pruned(array.field(field.name), field) for field in column.fields]
    return pa.StructArray.from_arrays(children, fields=list(wanted), mask=array.is_null())


def served(rows: pa.Table, columns: Sequence[Column]) -> pa.RecordBatch:
    """The rows under the Arrow schema that clients are sent for ``columns``.

    ``rows`` are stored rows that have at least those columns. Nothing is copied that is served as it is stored.

    Raises:
        IntervalOverflowError: an INTERVAL's time part cannot be expressed in nanoseconds.
    """
    schema = mapping.arrow_schema(columns)
    arrays = [_served(_whole(rows.column(column.name)), column) for column in columns]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def _whole(column: pa.ChunkedArray) -> pa.Array:
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()


def _served(array: pa.Array, column: Column) -> pa.Array:
    wanted = mapping.arrow_field(column).type
    if column.mode is not Mode.REPEATED:
        return _served_value(array, column)
    if array.type == wanted:
        return array
    item = dataclasses.replace(column, mode=Mode.NULLABLE)
    offsets = pc.subtract(array.offsets, array.offsets[0])
    return pa.ListArray.from_arrays(offsets, _served_value(array.flatten(), item), type=wanted)


def _served_value(array: pa.Array, column: Column) -> pa.Array:
    if column.type is BqType.INTERVAL:
        return _interval(array)
    wanted = mapping.element_type(column)
    if column.type is BqType.RANGE and column.mode is Mode.REQUIRED:
        return _without_bound_validity(array, wanted)
    if column.type is not BqType.RECORD or array.type == wanted:
        return array
    children = [_served(array.field(field.name), field) for field in column.fields]
    return pa.StructArray.from_arrays(children, fields=list(wanted), mask=array.is_null())


def _without_bound_validity(array: pa.Array, wanted: pa.DataType) -> pa.Array:
    """The bounds of a REQUIRED range: an unbounded one becomes 0, as the service sends it.

    Measured by a public client: https://github.com/abdolence/bigquery-rs, docs/src/types.md.
    """
    bounds = [array.field(name) for name in ("start", "end")]
    epochs = [bound.fill_null(pa.scalar(0, _integer(bound.type)).cast(bound.type)) for bound in bounds]
    return pa.StructArray.from_arrays(epochs, fields=list(wanted))


def _integer(temporal: pa.DataType) -> pa.DataType:
    return pa.int32() if temporal == pa.date32() else pa.int64()


def _interval(parts: pa.Array) -> pa.Array:
    """Months, days and microseconds as Arrow's month_day_nano values."""
    micros = pc.struct_field(parts, "micros").fill_null(0).to_numpy(zero_copy_only=False)
    beyond = np.abs(micros) > _MAX_MICROS
    if beyond.any():
        raise IntervalOverflowError(int(micros[beyond][0]))
    values = np.zeros(len(parts), dtype=[("months", "<i4"), ("days", "<i4"), ("nanos", "<i8")])
    for name in ("months", "days"):
        values[name] = pc.struct_field(parts, name).fill_null(0).to_numpy(zero_copy_only=False)
    values["nanos"] = micros * _NANOS_PER_MICRO
    bitmap = None if parts.null_count == 0 else _bitmap(parts.is_valid())
    return pa.Array.from_buffers(pa.month_day_nano_interval(), len(parts), [bitmap, pa.py_buffer(values)])


def _bitmap(valid: pa.Array) -> pa.Buffer:
    bits = np.packbits(valid.to_numpy(zero_copy_only=False), bitorder="little")
    return pa.py_buffer(bits.tobytes())
