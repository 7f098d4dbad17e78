"""The Arrow data of an append: rows of the case's table as bare messages, and in the forms that are none.

Clients write fields without metadata: what the service does with metadata that it does not know is not recorded.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping
from typing import Final

import pyarrow as pa

from conformance.protocols.storage_write.records import Framing, RowsAppend, WriteRows

__all__ = ["EXTRA", "ArrowMessages", "arrow_messages"]

EXTRA: Final = "not_in_the_table"
"""The name of the column that a table does not have."""
END: Final = b"\xff\xff\xff\xff\0\0\0\0"
"""The marker that ends an IPC stream (https://arrow.apache.org/docs/format/Columnar.html#ipc-streaming-format)."""
OUT_OF_RANGE: Final = -(1 << 63)
"""Microseconds since the Unix epoch that are no TIMESTAMP of BigQuery, whose years are 1 to 9999."""


@dataclasses.dataclass(frozen=True, slots=True)
class ArrowMessages:
    """The two fields of an append with Arrow data."""

    schema: bytes
    batch: bytes


def arrow_messages(table: pa.Table, step: WriteRows, append: RowsAppend) -> ArrowMessages:
    """The Arrow data of one request of a step."""
    batch = _batch(table, step, append)
    bare = ArrowMessages(batch.schema.serialize().to_pybytes(), batch.serialize().to_pybytes())
    return _FRAMED[append.framing](batch, bare)


def _batch(table: pa.Table, step: WriteRows, append: RowsAppend) -> pa.RecordBatch:
    rows = table.slice(append.first, append.count).combine_chunks()
    fields = [_plain(field, step) for field in rows.schema if field.name not in step.omit]
    arrays = [_array(rows.column(field.name), field.type) for field in fields]
    if append.bad:
        place = next(at for at, field in enumerate(fields) if pa.types.is_timestamp(field.type))
        instants = arrays[place].cast(pa.int64()).to_pylist()
        spoilt = [OUT_OF_RANGE if at in append.bad else instant for at, instant in enumerate(instants)]
        arrays[place] = pa.array(spoilt, pa.int64()).cast(fields[place].type)
    if step.extra:
        fields.append(pa.field(EXTRA, pa.int64()))
        arrays.append(pa.array(range(append.count), pa.int64()))
    if step.backwards:
        fields, arrays = [*fields[:1], *fields[:0:-1]], [*arrays[:1], *arrays[:0:-1]]
    return pa.RecordBatch.from_arrays(arrays, schema=pa.schema(fields))


def _array(column: pa.ChunkedArray, kind: pa.DataType) -> pa.Array:
    array = column.combine_chunks()
    whole = array.chunk(0) if isinstance(array, pa.ChunkedArray) else array
    return pa.Array.from_buffers(kind, len(whole), whole.buffers()) if pa.types.is_timestamp(kind) else whole


def _plain(field: pa.Field, step: WriteRows) -> pa.Field:
    """The field without metadata, at any depth."""
    kind = field.type
    if pa.types.is_struct(kind):
        kind = pa.struct([_plain(kind.field(at), step) for at in range(kind.num_fields)])
    elif pa.types.is_list(kind):
        kind = pa.list_(_plain(kind.value_field, step))
    elif pa.types.is_timestamp(kind) and step.plain_times:
        kind = pa.timestamp("us")
    return pa.field(field.name, kind, nullable=field.nullable)


def _stream(schema: pa.Schema, batches: Iterable[pa.RecordBatch]) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, schema) as writer:
        for batch in batches:
            writer.write_batch(batch)
    return bytes(sink.getvalue())


def _halves(batch: pa.RecordBatch) -> bytes:
    middle = batch.num_rows // 2
    parts = batch.slice(0, middle), batch.slice(middle)
    return b"".join(pa.concat_batches([part]).serialize().to_pybytes() for part in parts)


_Framed = Callable[[pa.RecordBatch, ArrowMessages], ArrowMessages]

_FRAMED: Final[Mapping[Framing, _Framed]] = {
    Framing.BARE: lambda _batch, bare: bare,
    Framing.SCHEMA_WITH_END: lambda _batch, bare: ArrowMessages(bare.schema + END, bare.batch),
    Framing.BATCH_WITH_END: lambda _batch, bare: ArrowMessages(bare.schema, bare.batch + END),
    Framing.STREAM_AS_BATCH: lambda batch, bare: ArrowMessages(bare.schema, _stream(batch.schema, [batch])),
    Framing.STREAMS: lambda batch, _bare: ArrowMessages(_stream(batch.schema, ()), _stream(batch.schema, [batch])),
    Framing.TWO_BATCHES: lambda batch, bare: ArrowMessages(bare.schema, _halves(batch)),
    Framing.CUT: lambda _batch, bare: ArrowMessages(bare.schema, bare.batch[: len(bare.batch) // 2]),
    Framing.SCHEMA_AS_BATCH: lambda _batch, bare: ArrowMessages(bare.schema, bare.schema),
    Framing.NO_SCHEMA: lambda _batch, bare: ArrowMessages(b"", bare.batch),
}
