"""FlightData messages, field by field, and IPC streams divided into such messages."""

from __future__ import annotations

import struct

import pyarrow as pa

from conformance.wire import Header, read_messages
from tests.wire.proto_samples import delimited

__all__ = ["divided", "flight_data", "streamed"]

NUMBERS = {"descriptor": 1, "header": 2, "metadata": 3, "body": 1000}


def flight_data(message: bytes = b"", *, order: str = "descriptor header metadata body", **fields: bytes) -> bytes:
    """The bytes of a FlightData with the given ``fields`` in an ``order``; an IPC ``message`` gives header and body."""
    if message:
        (length,) = struct.unpack_from("<i", message, 4)
        fields |= {"header": message[8 : 8 + length], "body": message[8 + length :]}
    return b"".join(delimited(NUMBERS[name], fields[name]) for name in order.split() if fields.get(name))


def divided(stream: bytes) -> list[bytes]:
    """The IPC messages of a stream, without its end marker."""
    found = [one for one in read_messages(stream) if one.header is not Header.END_OF_STREAM]
    return [stream[one.start : one.end] for one in found]


def streamed(*batches: pa.RecordBatch, **options: object) -> bytes:
    """The stream that pyarrow writes."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batches[0].schema, options=pa.ipc.IpcWriteOptions(**options)) as writer:
        for batch in batches:
            writer.write_batch(batch)
    return bytes(sink.getvalue().to_pybytes())
