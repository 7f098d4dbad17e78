"""arrow-rs as a serializer, through arro3."""

from __future__ import annotations

import importlib.metadata
import io
from typing import Any

from arro3.core import Table
from arro3.io import read_ipc_stream, write_ipc_stream
from messages import serve


def batches(table: bytes) -> list[Any]:
    """The record batches of the stream."""
    return list(read_ipc_stream(io.BytesIO(table)))


def stream(batch: Any) -> bytes:
    """The batch as a stream; without ``compression=None``, arro3 compresses."""
    sink = io.BytesIO()
    write_ipc_stream(Table.from_batches([batch]), sink, compression=None)
    return sink.getvalue()


serve("arro3", importlib.metadata.version("arro3-io"), batches, stream)
