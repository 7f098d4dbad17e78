"""The codec of the buffers of a record batch, against the one that a request names."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from conformance.contract.bytefields import BatchBytes
from conformance.contract.clause import Violation

__all__ = ["CODECS", "WORTHWHILE", "not_compressed", "other_codec"]

CODECS: Final = {"lz4": "LZ4_FRAME", "zstd": "ZSTD"}
"""The codecs that a record batch can declare, with their names in a request; an unknown codec is treated as none."""
WORTHWHILE: Final = 1 << 10
"""The size in bytes up to which a server may leave all buffers of a batch uncompressed: compression gains nothing
there.
"""


def _codec(batch: BatchBytes | None) -> str | None:
    """The codec of the buffers of a batch, empty for none; None if it has none, or cannot be read."""
    message = batch.message if batch is not None else None
    return CODECS.get(message.codec, "") if message is not None and message.flat_nodes else None


def not_compressed(batch: BatchBytes | None, asked: str) -> Iterator[Violation]:
    """Yield a violation if the buffers of a batch are not compressed; small ones need not be."""
    if batch is not None and _codec(batch) == "" and asked and len(batch.data) > WORTHWHILE:
        yield Violation(asked, "no compression", field="RecordBatch.compression")


def other_codec(batch: BatchBytes | None, asked: str) -> Iterator[Violation]:
    """Yield a violation if the buffers of a batch are compressed by a codec that nobody asked for."""
    if _codec(batch) not in (None, "", asked):
        yield Violation(asked or "no compression", _codec(batch) or "", field="RecordBatch.compression")
