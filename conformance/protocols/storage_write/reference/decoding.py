"""How the reference takes the Arrow data of an append: strictly one bare message in each field."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from conformance import wire
from conformance.contract import mapping
from conformance.contract.bytefields import BatchBytes, SchemaBytes
from conformance.protocols.storage_write.reference.streams import AppendRefusedError
from conformance.records import Column, Mode

__all__ = ["batch_in", "columns_missing", "read_writer_schema", "stored"]


def read_writer_schema(data: bytes) -> wire.Schema:
    """The schema in a bare schema message."""
    found = SchemaBytes(0, None, data, "request")
    if found.message.schema is None or found.faults:
        raise AppendRefusedError("INVALID_ARGUMENT", "Invalid Arrow schema: expected one bare schema message.")
    return found.message.schema


def batch_in(data: bytes, schema: wire.Schema) -> pa.RecordBatch:
    """The rows in a bare record batch message."""
    found = BatchBytes(0, None, data, schema)
    batch = None if found.faults else found.arrow()
    if batch is None:
        raise AppendRefusedError("INVALID_ARGUMENT", "Invalid Arrow data: expected one bare record batch message.")
    return batch


def columns_missing(columns: Sequence[Column], batch: pa.RecordBatch) -> list[str]:
    """The columns of a batch that a table does not have."""
    known = {column.name for column in columns}
    return [name for name in batch.schema.names if name not in known]


def stored(columns: Sequence[Column], batch: pa.RecordBatch) -> pa.Table:
    """The rows in the form in which they are read: a column that the batch does not have is NULL, or an empty list."""
    arrays = []
    for column, field in zip(columns, mapping.arrow_schema(columns), strict=True):
        if column.name in batch.schema.names:
            arrays.append(_typed(batch.column(column.name), field.type))
        elif column.mode is Mode.REPEATED:
            arrays.append(pa.array([[]] * batch.num_rows, field.type))
        else:
            arrays.append(pa.nulls(batch.num_rows, field.type))
    return pa.Table.from_arrays(arrays, schema=mapping.arrow_schema(columns))


def _typed(array: pa.Array, kind: pa.DataType) -> pa.Array:
    if array.type == kind:
        return array
    if pa.types.is_timestamp(kind) and pa.types.is_timestamp(array.type):
        return pa.Array.from_buffers(kind, len(array), array.buffers(), offset=array.offset)
    return array.cast(kind)
