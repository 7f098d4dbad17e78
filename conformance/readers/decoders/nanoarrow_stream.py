"""nanoarrow, given one stream: the strictest decoder of structure among those with a Python wheel."""

from __future__ import annotations

import io

import pyarrow as pa

from conformance.readers.info import Read, ReaderInfo, Takes
from conformance.readers.messages import stream_bytes
from conformance.readers.tables import from_capsule
from conformance.readers.whole import WholeRead

INFO = ReaderInfo(
    name="nanoarrow.stream",
    title="nanoarrow (C): ipc.InputStream over schema and batches end to end",
    package="nanoarrow",
    takes=Takes.STREAM,
)


def load() -> Read:
    """Import nanoarrow's IPC reader."""
    from nanoarrow import ArrayStream, ipc  # noqa: PLC0415  # only a worker imports a library under test

    def read(whole: WholeRead) -> pa.Table:
        return from_capsule(ArrayStream(ipc.InputStream.from_readable(io.BytesIO(stream_bytes(whole)))))

    return read
