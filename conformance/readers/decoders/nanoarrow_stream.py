"""nanoarrow, given one stream: the strictest decoder of structure among those with a Python wheel."""

from __future__ import annotations

from conformance.readers.info import LimitKind, Read, ReaderInfo, ReaderLimit, Takes
from conformance.readers.tables import stream_reader
from conformance.records import ReadingOutcome

INFO = ReaderInfo(
    name="nanoarrow.stream",
    title="nanoarrow (C): ipc.InputStream over schema and batches end to end",
    package="nanoarrow",
    takes=Takes.STREAM,
    limits=(
        ReaderLimit(
            LimitKind.WITHOUT_OFFSETS,
            ReadingOutcome.ERROR,
            "nanoarrow 0.9.0 hands on offsets of 0 bytes, which the Arrow format permits for a column without slots,"
            " through the C data interface, where one offset has to be: another library reads what is in memory there",
        ),
    ),
)


def load() -> Read:
    """Import nanoarrow's IPC reader."""
    from nanoarrow import ArrayStream, ipc  # noqa: PLC0415  # only a worker imports a library under test

    return stream_reader(lambda data: ArrayStream(ipc.InputStream.from_readable(data)))
