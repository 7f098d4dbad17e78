"""Convert between a reader's table and the bytes of a reading: conversion, full validation, the Arrow IPC stream
form.

Nothing is cast here: a reading keeps the types that the reader returned.
"""

from __future__ import annotations

import functools
import io
from collections.abc import Callable
from typing import IO, Any

import numpy as np
import pyarrow as pa

from conformance.readers.info import Read
from conformance.readers.messages import stream_bytes

__all__ = [
    "InvalidTable",
    "from_capsule",
    "from_pandas",
    "from_stream_bytes",
    "stream_reader",
    "stream_size",
    "to_stream",
    "to_stream_bytes",
    "validate",
]


class InvalidTable(Exception):  # noqa: N818  # its name becomes a reading's error class
    """A reader returned a table that breaks the rules of the Arrow format, instead of refusing the bytes."""


def from_capsule(source: Any) -> pa.Table:
    """A pyarrow table over another library's result, through the Arrow C stream interface."""
    return pa.RecordBatchReader.from_stream(source).read_all()


def stream_reader(read: Callable[[IO[bytes]], Any]) -> Read:
    """A reader that passes schema and batches to ``read`` as one stream, and converts the result."""
    return lambda whole: from_capsule(read(io.BytesIO(stream_bytes(whole))))


def from_pandas(frame: Any) -> pa.Table:
    """A pyarrow table of a pandas DataFrame's columns, with the types of the values in the frame.

    Lists and structs become text, with every number as a float: pyarrow gives their integers to pandas as floats if
    the record batch has a NULL among them, so the same rows would differ if they were split differently. Other
    Python objects for which Arrow has no type (decimals of 77 digits) become text too.
    """
    columns = [(str(name), _from_series(series)) for name, series in frame.items()]
    return pa.Table.from_arrays([column for _, column in columns], names=[name for name, _ in columns])


def _from_series(series: Any) -> pa.Array | pa.ChunkedArray:
    if series.dtype == object:
        first = next((value for value in series if value is not None), None)
        if isinstance(first, dict | list | np.ndarray):
            return pa.array([None if value is None else _nested_text(value) for value in series], pa.string())
    try:
        return pa.array(series, from_pandas=True)
    except (ValueError, TypeError, OverflowError, pa.ArrowException):
        return pa.array([None if value is None else repr(value) for value in series], pa.string())


def _nested_text(value: Any) -> str:
    """A value of a list or struct as text that does not depend on its numpy type."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {_nested_text(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list | np.ndarray):
        return "[" + ", ".join(_nested_text(item) for item in value) + "]"
    if value is None or value != value:  # NaN and NaT are NULL to pandas  # noqa: PLR0124
        return "NULL"
    if isinstance(value, bool | np.bool_):
        return str(bool(value))
    if isinstance(value, int | float | np.number):
        return repr(float(value))
    return repr(value)


def validate(table: pa.Table) -> None:
    """Check every value of a table against the rules of the Arrow format (``validate(full=True)``).

    256-bit decimals are checked as 32 bytes each: the extremes of BIGNUMERIC need 77 digits, which is legal there
    and more than pyarrow allows the type to declare.

    Raises:
        InvalidTable: A buffer is too short, an offset is out of range, a text is not UTF-8, …
    """
    for column in table.columns:
        relaxed = _relaxed(column.type)
        for chunk in column.chunks:
            _valid(chunk.validate)
            # An error of the view is ours: it changes no byte, and the reader has no part in it.
            viewed = chunk if relaxed == column.type else chunk.view(relaxed)
            _valid(functools.partial(viewed.validate, full=True))
    _valid(table.validate)


def _valid(check: Callable[[], None]) -> None:
    try:
        check()
    except pa.ArrowInvalid as error:
        raise InvalidTable(str(error)) from error


def _relaxed(kind: pa.DataType) -> pa.DataType:
    """The type with every 256-bit decimal replaced by 32 bytes of the same layout, and every child nullable.

    A child that is not nullable may hold a null below a NULL of its parent; ``view`` would refuse it.
    """
    if pa.types.is_decimal256(kind):
        return pa.binary(32)
    if pa.types.is_list(kind):
        return pa.list_(_relaxed_field(kind.value_field))
    if pa.types.is_large_list(kind):
        return pa.large_list(_relaxed_field(kind.value_field))
    if pa.types.is_struct(kind):
        return pa.struct([_relaxed_field(kind.field(index)) for index in range(kind.num_fields)])
    return kind


def _relaxed_field(field: pa.Field) -> pa.Field:
    return pa.field(field.name, _relaxed(field.type))


def stream_size(table: pa.Table) -> int:
    """Return the bytes of the table as an Arrow IPC stream."""
    counted = pa.MockOutputStream()
    _write(table, counted)
    return int(counted.size())


def to_stream(table: pa.Table, size: int | None = None) -> pa.Buffer:
    """Return a table as an Arrow IPC stream, of ``size`` bytes if that is known already.

    The size is needed first: a sink that grows would copy its content again and again.
    """
    buffer = pa.allocate_buffer(stream_size(table) if size is None else size)
    with pa.FixedSizeBufferWriter(buffer) as sink:
        _write(table, sink)
    return buffer


def _write(table: pa.Table, sink: pa.NativeFile) -> None:
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)


def to_stream_bytes(table: pa.Table) -> bytes:
    """A table as an Arrow IPC stream, in a byte string."""
    data: bytes = to_stream(table).to_pybytes()
    return data


def from_stream_bytes(data: bytes) -> pa.Table:
    """The table that :func:`to_stream_bytes` wrote."""
    with pa.ipc.open_stream(data) as reader:
        return reader.read_all()
