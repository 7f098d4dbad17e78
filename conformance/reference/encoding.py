"""Arrow messages as the service sends them: one bare encapsulated message each, 8-byte aligned, no end-of-stream.

pyarrow's own ``serialize()`` writes exactly that for an uncompressed batch. It takes no compression, so a compressed
batch is taken out of a stream. Source: the Arrow columnar format, section "Encapsulated message format"
(https://arrow.apache.org/docs/format/Columnar.html#encapsulated-message-format).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import pyarrow as pa

__all__ = ["compress_response", "encode_batch", "encode_schema"]

_CODECS: Final[Mapping[str, str]] = {"LZ4_FRAME": "lz4", "ZSTD": "zstd"}
"""Name in ``ArrowSerializationOptions.CompressionCodec`` to pyarrow's name of the codec."""


def encode_schema(schema: pa.Schema) -> bytes:
    """The schema as one encapsulated message."""
    return bytes(schema.serialize())


def encode_batch(batch: pa.RecordBatch, codec: str = "") -> bytes:
    """The batch as one encapsulated message; ``codec`` is ``""``, ``LZ4_FRAME`` or ``ZSTD``."""
    if not codec:
        return bytes(batch.serialize())
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema, options=pa.ipc.IpcWriteOptions(compression=_CODECS[codec])) as writer:
        writer.write_batch(batch)
    messages = pa.ipc.MessageReader.open_stream(sink.getvalue())
    messages.read_next_message()  # the schema
    return bytes(messages.read_next_message().serialize())


def compress_response(payload: bytes) -> tuple[bytes, int]:
    """The payload as a raw LZ4 block and its size before, or the payload itself and -1 where LZ4 does not shorten it.

    The pair is what ``ReadRowsResponse`` carries under a response codec: payload and ``uncompressed_byte_size``.
    """
    compressed = bytes(pa.Codec("lz4_raw").compress(payload))
    return (compressed, len(payload)) if len(compressed) < len(payload) else (payload, -1)
