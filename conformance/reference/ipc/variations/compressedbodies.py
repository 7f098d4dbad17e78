"""Variations of compressed bodies."""

from __future__ import annotations

import struct
from typing import Final

import pyarrow as pa

from conformance.reference.ipc.models import StreamModel
from conformance.reference.ipc.register import variation
from conformance.reference.ipc.variations.bodies import batches_of
from conformance.reference.ipc.variations.sources import COMPRESSION, LZ4
from conformance.reference.lz4 import Lz4Options, lz4_frame

__all__ = ["squeeze"]

_COMPRESSED: Final = ("rows.thousand", "dictionary.two", "nested.mixed", "types.string-view", "rows.zero")


@variation("body.lz4", COMPRESSION, on=_COMPRESSED, grade="optional", choices={"codec": "lz4"})
def lz4(_: StreamModel) -> None:
    """Buffers are compressed with LZ4, dictionaries too, where that makes them smaller."""


@variation("body.zstd", COMPRESSION, on=_COMPRESSED, grade="optional", choices={"codec": "zstd"})
def zstd(_: StreamModel) -> None:
    """Buffers are compressed with ZSTD, dictionaries too, where that makes them smaller."""


@variation(
    "body.never-smaller",
    COMPRESSION,
    on=_COMPRESSED,
    grade="optional",
    choices={"codec": "zstd", "min_space_savings": 1.0},
)
def stored(_: StreamModel) -> None:
    """Compression is declared, and every buffer is stored as it is, under the length -1."""


@variation(
    "body.compressed-v4", COMPRESSION, on=_COMPRESSED, grade="optional", choices={"codec": "lz4", "version": "V4"}
)
def compressed_v4(_: StreamModel) -> None:
    """Buffers are compressed, and the metadata version is V4."""


def squeeze(model: StreamModel, codec: str, lz4_options: Lz4Options | None = None) -> None:
    """Compresses every buffer, also where it grows: with pyarrow, or into LZ4 frames of our own."""
    made = pa.Codec(codec)
    for message in batches_of(model):
        for part in message.parts:
            if part.data:
                squeezed = lz4_frame(part.data, lz4_options) if lz4_options else made.compress(part.data, asbytes=True)
                part.data = struct.pack("<q", len(part.data)) + squeezed
        message.batch["compression"] = {"codec": int(codec == "zstd")}


@variation("body.always-compressed", COMPRESSION, on=_COMPRESSED, grade="optional")
def always_compressed(model: StreamModel) -> None:
    """Every buffer is compressed, also where that makes it larger, as Arrow C++ writes."""
    squeeze(model, "lz4")


@variation("body.always-compressed-zstd", COMPRESSION, on=_COMPRESSED, grade="optional")
def always_compressed_zstd(model: StreamModel) -> None:
    """Every buffer is compressed with ZSTD, also where that makes it larger."""
    squeeze(model, "zstd")


@variation(
    "body.codecs-differ", COMPRESSION, on=("rows.several", "dictionary.replaced", "dictionary.delta"), grade="optional"
)
def codecs_differ(model: StreamModel) -> None:
    """One message is not compressed, the next is with LZ4, the next with ZSTD."""
    for number, message in enumerate(batches_of(model)):
        message.codec = ("", "LZ4_FRAME", "ZSTD")[number % 3]


@variation(
    "body.dictionaries-compressed", COMPRESSION, on=("dictionary.many-values", "dictionary.two"), grade="optional"
)
def dictionaries_compressed(model: StreamModel) -> None:
    """Dictionary batches are compressed, record batches are not (https://github.com/apache/arrow/pull/38371)."""
    for message in model.dictionaries:
        message.codec = "LZ4_FRAME"


@variation("body.empty-prefixed", COMPRESSION, on=("rows.several", "rows.zero"), grade="ambiguous")
def empty_prefixed(model: StreamModel) -> None:
    """A buffer of no bytes is stored as the length 0 and nothing after it."""
    _prefix_empty(model, struct.pack("<q", 0))


@variation("body.empty-stored", COMPRESSION, on=("rows.several", "rows.zero"), grade="ambiguous")
def empty_stored(model: StreamModel) -> None:
    """A buffer of no bytes is stored as the length -1 and nothing after it."""
    _prefix_empty(model, struct.pack("<q", -1))


@variation("body.empty-framed", COMPRESSION, on=("rows.several", "rows.zero"), grade="optional")
def empty_framed(model: StreamModel) -> None:
    """A buffer of no bytes is stored as the length 0 and a frame of nothing."""
    _prefix_empty(model, struct.pack("<q", 0) + pa.Codec("lz4").compress(b"", asbytes=True))


def _prefix_empty(model: StreamModel, data: bytes) -> None:
    squeeze(model, "lz4")
    for message in batches_of(model):
        for part in message.parts:
            part.data = part.data or (b"" if part.role == "validity" else data)


@variation("body.longer-than-needed", COMPRESSION, on=("rows.several", "nulls.words", "types.int32"), grade="optional")
def longer_than_needed(model: StreamModel) -> None:
    """Buffers decompress to more than their slots need (https://github.com/apache/arrow/issues/48883)."""
    for message in batches_of(model):
        for part in message.parts:
            part.data += bytes(-len(part.data) % 64)
    squeeze(model, "zstd")


def _framed(name: str, what: str, options: Lz4Options) -> None:
    """Register a variation whose buffers are LZ4 frames of this form."""

    def vary(model: StreamModel) -> None:
        squeeze(model, "lz4", options)

    vary.__doc__ = what
    variation(f"body.{name}", LZ4, on=("rows.thousand", "dictionary.two", "nested.mixed"), grade="optional")(vary)


# fmt: off
_framed("lz4-content-checksum", "LZ4 frames end in a checksum of their content.",
        Lz4Options(content_checksum=True))
_framed("lz4-block-checksums", "A checksum follows each block of the LZ4 frames.",
        Lz4Options(block_checksums=True))
_framed("lz4-content-size", "LZ4 frames say the size of their content, as the length before them does.",
        Lz4Options(content_size=True))
_framed("lz4-every-check", "LZ4 frames carry the size of their content and every checksum.",
        Lz4Options(content_checksum=True, content_size=True, block_checksums=True))
_framed("lz4-linked-blocks", "LZ4 frames have several blocks, each of which may refer to those before it.",
        Lz4Options(linked=True, block=500))
_framed("lz4-small-blocks", "LZ4 frames have several blocks, each decompressed on its own, none of them full.",
        Lz4Options(block=100))
_framed("lz4-largest-blocks", "LZ4 frames declare blocks of up to 4 MiB.",
        Lz4Options(limit=7))
_framed("lz4-stored-blocks", "The blocks of LZ4 frames are stored as they are, as encoders store what does not shrink.",
        Lz4Options(stored=True, content_checksum=True))
# fmt: on
