"""nanoarrow, the C library: streams only, through its Python bindings.

When nanoarrow has read everything, pyarrow takes the batches over the Arrow C stream interface, without copying
them. An error of pyarrow there is an error in the stage ``values``.
"""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from typing import Any, Final

import pyarrow as pa

from conformance.readers.ipc.cinterface import exported
from conformance.readers.ipc.implementation import Decoded, IpcReaderInfo, Library, Unsupported
from conformance.readers.ipc.sources import in_pieces

_LACKS: Final = r"\(95\)|not (yet )?supported|unsupported feature|Cannot read pre-1\.0\.0 Union"
"""nanoarrow reports ENOTSUP, which is 95 on Linux; for V4 unions it reports a message instead."""

READER = IpcReaderInfo(
    name="nanoarrow",
    title="nanoarrow (C) through its Python bindings",
    language="C",
    kinds=("stream",),
    options={"chunk": (), "way": ("", "imported")},
    lacks=_LACKS,
    takes_long=True,  # it never answers on deep nesting, and each such input takes as long as an answer may
)
WRITER = READER.as_writer()


def load() -> Library:
    """Import nanoarrow and its IPC extension."""
    import nanoarrow  # noqa: PLC0415  # only a worker imports a library under test
    from nanoarrow import ipc  # noqa: PLC0415

    class Nanoarrow:
        version: str = nanoarrow.__version__

        def decode(self, kind: str, data: bytes, schema: bytes, options: Mapping[str, Any]) -> Any:
            del schema  # streams: nothing else is declared
            if options.get("way") == "imported":
                return nanoarrow.ArrayStream(exported(kind, data)).read_all()
            source = in_pieces(data, options["chunk"]) if "chunk" in options else io.BytesIO(data)
            return nanoarrow.ArrayStream(ipc.InputStream.from_readable(source)).read_all()

        def hand_over(self, made: Any) -> Decoded:
            return Decoded.of(pa.RecordBatchReader.from_stream(made))

        def own(self, made: Any, place: int) -> Sequence[Any]:
            try:
                values: Sequence[Any] = made.child(place).to_pylist()
            except KeyError as error:
                if "Can't resolve iterator for type" in str(error):
                    raise Unsupported(str(error)) from None
                raise
            return values

        def source(self, data: bytes) -> Any:
            return nanoarrow.ArrayStream(ipc.InputStream.from_readable(io.BytesIO(data)))

        def encode(self, kind: str, data: Any, options: Mapping[str, Any]) -> bytes:
            del kind, options
            sink = io.BytesIO()
            with ipc.StreamWriter.from_writable(sink) as writer:
                writer.write_stream(data)
            return sink.getvalue()

    return Nanoarrow()
