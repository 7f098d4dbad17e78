"""pyarrow, given schema and batches end to end as one stream, as the readers of Spark and ADBC do, in Arrow C++."""

from __future__ import annotations

import pyarrow as pa

from conformance.readers.fullread import FullRead
from conformance.readers.info import Read, ReaderInfo, Takes
from conformance.readers.messages import stream_bytes

INFO = ReaderInfo(
    name="pyarrow.stream",
    title="Arrow C++: open_stream over schema and batches end to end",
    package="pyarrow",
    takes=Takes.STREAM,
)


def load() -> Read:
    """The function that reads; pyarrow is always installed."""
    return read


def read(whole: FullRead) -> pa.Table:
    """Decode all messages as one stream."""
    with pa.ipc.open_stream(stream_bytes(whole)) as reader:
        return reader.read_all()
