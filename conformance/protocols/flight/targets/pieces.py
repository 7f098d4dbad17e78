"""The pieces of a stream of FlightData: one of the writings of a table, with one of the damages.

The rows are written by pyarrow, whose messages come apart into ``data_header`` and ``data_body``; what the target makes
of them is judged, and they are not.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import pyarrow as pa

from conformance.protocols.flight.generate.damage import DAMAGES, Change, Piece, Pieces, changed, inserted
from conformance.protocols.flight.records import Damage, FlightWriting
from conformance.protocols.flight.records.calls import DAMAGED_BATCHES
from conformance.records import Case
from conformance.targets.handing import batches_of

__all__ = ["frames", "pieces_of"]

_OPTIONS: Final = {
    FlightWriting.LZ4: pa.ipc.IpcWriteOptions(compression="lz4"),
    FlightWriting.ZSTD: pa.ipc.IpcWriteOptions(compression="zstd"),
    FlightWriting.V4: pa.ipc.IpcWriteOptions(metadata_version=pa.ipc.MetadataVersion.V4),
    FlightWriting.DELTAS: pa.ipc.IpcWriteOptions(emit_dictionary_deltas=True),
}


def pieces_of(
    case: Case,
    table: pa.Table,
    *,
    written: FlightWriting = FlightWriting.PLAIN,
    damage: Damage = Damage.NONE,
    at: int = 0,
) -> Pieces:
    """The stream of a case's table; the schema alone if there is no row."""
    if damage is Damage.NONE:
        return list(frames(table.schema, batches_of(table, case.table.recipe) if table.num_rows else [], written))
    (whole,) = table.combine_chunks().to_batches()
    ends = [whole.num_rows * number // DAMAGED_BATCHES for number in range(DAMAGED_BATCHES + 1)]
    batches = [whole.slice(first, end - first) for first, end in itertools.pairwise(ends)]
    return _change_of(damage)(list(frames(table.schema, batches, written)), at)


def _change_of(damage: Damage) -> Change:
    return DAMAGES[damage] if damage in DAMAGES else _foreign()[damage]


@functools.cache
def _foreign() -> Mapping[Damage, Change]:
    """The damages that take a message of another stream."""
    batch = pa.record_batch([pa.array([1.5, 2.5], pa.float64())], names=["other"])
    other_schema, other_batch = frames(batch.schema, [batch])
    sink = pa.BufferOutputStream()
    pa.ipc.write_tensor(pa.Tensor.from_numpy(batch.column(0).to_numpy()), sink)
    tensor = pa.ipc.read_message(pa.py_buffer(sink.getvalue()))
    return {
        Damage.SCHEMA_OTHER: inserted(other_schema),
        Damage.OTHER_BATCH: changed(lambda _: other_batch),
        Damage.OTHER_KIND: inserted(Piece(tensor.metadata.to_pybytes(), tensor.body.to_pybytes())),
    }


def frames(
    schema: pa.Schema, batches: Sequence[pa.RecordBatch], written: FlightWriting = FlightWriting.PLAIN
) -> Iterator[Piece]:
    """The messages of a stream in one of the writings."""
    if written in (FlightWriting.REPLACED, FlightWriting.DELTAS):
        schema, batches = _encoded(schema, batches, growing=written is FlightWriting.DELTAS)
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, schema, options=_OPTIONS.get(written)) as writer:
        for batch in batches:
            writer.write_batch(batch)
    for message in pa.ipc.MessageReader.open_stream(pa.py_buffer(sink.getvalue())):
        body = message.body.to_pybytes() if message.body is not None else b""
        yield Piece(message.metadata.to_pybytes(), body, rows=message.type == "record batch")


def _encoded(
    schema: pa.Schema, batches: Sequence[pa.RecordBatch], *, growing: bool
) -> tuple[pa.Schema, list[pa.RecordBatch]]:
    """The batches with their texts dictionary-encoded; with ``growing`` each dictionary begins with the one before."""
    kind = pa.dictionary(pa.int32(), pa.string())
    fields = [field.with_type(kind) if pa.types.is_string(field.type) else field for field in schema]
    encoded = pa.schema(fields, metadata=schema.metadata)
    known: dict[str, list[str]] = {}
    made = []
    for batch in batches:
        columns = []
        for field, column in zip(schema, batch.columns, strict=True):
            if not pa.types.is_string(field.type):
                columns.append(column)
                continue
            words = known.setdefault(field.name, []) if growing else []
            words += [word for word in dict.fromkeys(column.to_pylist()) if word is not None and word not in words]
            places = {word: at for at, word in enumerate(words)}
            indices = pa.array([places.get(word) for word in column.to_pylist()], pa.int32())
            columns.append(pa.DictionaryArray.from_arrays(indices, pa.array(words, pa.string())))
        made.append(pa.record_batch(columns, schema=encoded))
    return encoded, made
