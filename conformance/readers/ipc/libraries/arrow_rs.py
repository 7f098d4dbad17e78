"""arrow-rs, through arro3: streams and files, read whole.

Beside arrow-rs in the path: the Arrow C stream interface. arro3 itself passes batches over it from its module that
reads to its module that holds, and a panic of arrow-rs cannot unwind through it: it ends the process.
Once everything is read, pyarrow takes the batches in the same way; what that objects to is an error in the stage
``values``.
"""

from __future__ import annotations

import importlib.metadata
import io
from collections.abc import Mapping
from typing import Any, Final

import pyarrow as pa

from conformance.readers.ipc.info import Decoded, IpcReaderInfo, Library

_LACKS: Final = r"Not ?[Yy]et ?[Ii]mplemented|[Nn]ot (yet |currently )?supported"

READER = IpcReaderInfo(
    name="arro3",
    title="arrow-rs through arro3",
    language="Rust",
    kinds=("stream", "file"),
    lacks=_LACKS,
)
WRITER = READER.as_writer(options={"codec": ("", "lz4", "zstd")})


def load() -> Library:
    """Import arro3."""
    import arro3.io  # noqa: PLC0415  # only a worker imports a library under test

    class Arro3:
        version: str = importlib.metadata.version("arro3-io")

        def decode(self, kind: str, data: bytes, schema: bytes, options: Mapping[str, Any]) -> Any:
            del schema, options  # none is declared
            read = arro3.io.read_ipc if kind == "file" else arro3.io.read_ipc_stream
            return read(io.BytesIO(data)).read_all()

        def hand_over(self, made: Any) -> Decoded:
            return Decoded.of(pa.RecordBatchReader.from_stream(made))

        def source(self, data: bytes) -> Any:
            return arro3.io.read_ipc_stream(io.BytesIO(data))

        def encode(self, kind: str, data: Any, options: Mapping[str, Any]) -> bytes:
            sink = io.BytesIO()
            write = arro3.io.write_ipc if kind == "file" else arro3.io.write_ipc_stream
            # Left out, the codec would be LZ4; only None asks for no compression.
            write(data, sink, compression=options.get("codec") or None)
            return sink.getvalue()

    return Arro3()
