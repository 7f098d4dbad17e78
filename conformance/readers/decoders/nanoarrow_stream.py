"""nanoarrow, given one stream: the strictest decoder of structure among those with a Python wheel."""

from __future__ import annotations

from conformance.readers.info import Read, ReaderInfo, Takes
from conformance.readers.tables import stream_reader

INFO = ReaderInfo(
    name="nanoarrow.stream",
    title="nanoarrow (C): ipc.InputStream over schema and batches end to end",
    package="nanoarrow",
    takes=Takes.STREAM,
)


def load() -> Read:
    """Import nanoarrow's IPC reader."""
    from nanoarrow import ArrayStream, ipc  # noqa: PLC0415  # only a worker imports a library under test

    return stream_reader(lambda data: ArrayStream(ipc.InputStream.from_readable(data)))
