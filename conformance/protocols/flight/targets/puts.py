"""The FlightData of a DoPut in the forms that a step asks for: writings, names, metadata and spellings.

The rows are written by pyarrow, whose messages come apart into ``data_header`` and ``data_body``; what the target makes
of them is judged, and they are not.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

import pyarrow as pa

from conformance.protocols.flight.contract import encoding
from conformance.protocols.flight.records import DoPut, FlightWriting, Naming, Spelling
from conformance.protocols.flight.wire.messages import FLIGHT
from conformance.records import Case
from conformance.targets.handing import batches_of
from conformance.wire.protobuf import read_protobuf

__all__ = ["MessageParts", "frames", "put_messages", "spelled"]

_UNKNOWN: Final = encoding.number(77, 5) + encoding.part(78, b"x")
"""Fields that no version of Flight has."""

_OPTIONS: Final = {
    FlightWriting.LZ4: pa.ipc.IpcWriteOptions(compression="lz4"),
    FlightWriting.ZSTD: pa.ipc.IpcWriteOptions(compression="zstd"),
    FlightWriting.V4: pa.ipc.IpcWriteOptions(metadata_version=pa.ipc.MetadataVersion.V4),
    FlightWriting.DELTAS: pa.ipc.IpcWriteOptions(emit_dictionary_deltas=True),
}


class MessageParts(NamedTuple):
    """One IPC message in its two parts."""

    header: bytes
    body: bytes
    has_rows: bool


def put_messages(case: Case, table: pa.Table, step: DoPut, of: bytes, other: bytes) -> Iterator[tuple[bytes, bool]]:
    """The messages of a DoPut, each with whether it has rows; ``other`` is the descriptor of another flight."""
    batches = batches_of(table, case.table.recipe) if table.num_rows else []
    if step.ahead:
        yield spelled("FlightData", encoding.data(of=of), step.spelled), False
    for at, frame in enumerate(frames(table.schema, batches, step.written)):
        named = None if step.ahead else _name(step.named, at, of, other)
        metadata = b"%d" % at if step.metadata and frame.has_rows else None
        message = encoding.data(frame.header, frame.body, of=named, metadata=metadata)
        yield spelled("FlightData", message, step.spelled), frame.has_rows
        if step.metadata:
            yield spelled("FlightData", encoding.data(metadata=b"alone"), step.spelled), False


def spelled(kind: str, message: bytes, how: Spelling) -> bytes:
    """A message of Flight in another form that means the same."""
    if how is Spelling.UNKNOWN_FIELDS:
        return _UNKNOWN + message + _UNKNOWN
    if how not in (Spelling.REVERSED, Spelling.REPEATED):
        return message
    fields = read_protobuf(message, FLIGHT[kind]).message.fields
    if how is Spelling.REVERSED:  # the occurrences of one field keep their order
        return b"".join(message[one.start : one.end] for one in sorted(fields, key=lambda one: -one.number))
    return b"".join(_before(one.number, one.value) + message[one.start : one.end] for one in fields)


def _before(field: int, value: object) -> bytes:
    """An earlier occurrence of a scalar field; a text is repeated in Flight and a message is merged: they have none."""
    if isinstance(value, int):
        return encoding.number(field, 0)
    return encoding.part(field, b"\xff") if isinstance(value, memoryview) else b""


def _name(named: Naming, at: int, of: bytes, other: bytes) -> bytes | None:
    """The descriptor of the message number ``at``; None if it has none."""
    if at == 0:
        return None if named is Naming.LATE else of
    if named is Naming.CHANGED:
        return other
    return of if named is Naming.EVERY or (named is Naming.LATE and at == 1) else None


def frames(
    schema: pa.Schema, batches: Sequence[pa.RecordBatch], written: FlightWriting = FlightWriting.PLAIN
) -> Iterator[MessageParts]:
    """The messages of a stream in one of the writings."""
    if written in (FlightWriting.REPLACED, FlightWriting.DELTAS):
        schema, batches = _encoded(schema, batches, growing=written is FlightWriting.DELTAS)
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, schema, options=_OPTIONS.get(written)) as writer:
        for batch in batches:
            writer.write_batch(batch)
    for message in pa.ipc.MessageReader.open_stream(pa.py_buffer(sink.getvalue())):
        body = message.body.to_pybytes() if message.body is not None else b""
        yield MessageParts(message.metadata.to_pybytes(), body, message.type == "record batch")


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
