"""arro3, given one stream: arrow-rs, the strictest decoder of text encoding, nullability and null counts."""

from __future__ import annotations

import io

import pyarrow as pa

from conformance.readers.info import Read, ReaderInfo, Takes
from conformance.readers.messages import stream_bytes
from conformance.readers.tables import from_capsule
from conformance.readers.whole import WholeRead

INFO = ReaderInfo(
    name="arro3.stream",
    title="arrow-rs: arro3.io.read_ipc_stream over schema and batches end to end",
    package="arro3-io",
    takes=Takes.STREAM,
)


def load() -> Read:
    """Import arro3."""
    import arro3.io  # noqa: PLC0415  # only a worker imports a library under test

    def read(whole: WholeRead) -> pa.Table:
        return from_capsule(arro3.io.read_ipc_stream(io.BytesIO(stream_bytes(whole))))

    return read
