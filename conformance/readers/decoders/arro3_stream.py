"""arro3, given one stream: arrow-rs, the strictest decoder of text encoding, nullability and null counts."""

from __future__ import annotations

from conformance.readers.info import Read, ReaderInfo, Takes
from conformance.readers.tables import stream_reader

INFO = ReaderInfo(
    name="arro3.stream",
    title="arrow-rs: arro3.io.read_ipc_stream over schema and batches end to end",
    package="arro3-io",
    takes=Takes.STREAM,
)


def load() -> Read:
    """Import arro3."""
    import arro3.io  # noqa: PLC0415  # only a worker imports a library under test

    return stream_reader(arro3.io.read_ipc_stream)
