"""nanoarrow's C library as a serializer, through its Python bindings."""

from __future__ import annotations

import io
from typing import Any

import nanoarrow
from messages import serve
from nanoarrow import ipc


def batches(table: bytes) -> list[Any]:
    """The arrays of the stream, one for each batch."""
    return list(nanoarrow.c_array_stream(ipc.InputStream.from_readable(io.BytesIO(table))))


def stream(batch: Any) -> bytes:
    """The batch as a stream."""
    sink = io.BytesIO()
    with ipc.StreamWriter.from_writable(sink) as writer:
        writer.write_array(batch)
    return sink.getvalue()


serve("nanoarrow", nanoarrow.__version__, batches, stream)
