"""Compressed buffers inside a batch: the codec, the length in front of each buffer, and one frame after it.

Whether compression that was asked for is honoured is a matter of the session, not of the bytes.
Buffers stored as they are (length -1) beside compressed ones, and empty buffers without a prefix, are legal.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from conformance.contract.clause import ANY_BATCH, Violation, clause
from conformance.contract.messages import bodies, broken
from conformance.contract.view import BatchBytes
from conformance.records import Level
from conformance.wire import Rule

COMPRESSION: Final = "https://arrow.apache.org/docs/format/Columnar.html#compression"
MESSAGE_FBS: Final = "https://github.com/apache/arrow/blob/main/format/Message.fbs"
SECURITY: Final = "https://arrow.apache.org/docs/format/Security.html"


@clause(
    "buffers.codec-known",
    over=bodies,
    source=MESSAGE_FBS,
    breaks="readers have to refuse what they do not know",
    profiles=ANY_BATCH,
)
def codec_known(batch: BatchBytes) -> Iterable[Violation]:
    """The codec is LZ4_FRAME or ZSTD."""
    return broken(batch, Rule.COMPRESSION_CODEC_UNKNOWN)


@clause(
    "buffers.method-known",
    over=bodies,
    source=MESSAGE_FBS,
    breaks="readers have to refuse what they do not know",
    profiles=ANY_BATCH,
)
def method_known(batch: BatchBytes) -> Iterable[Violation]:
    """The compression method is BUFFER: each buffer on its own."""
    return broken(batch, Rule.COMPRESSION_METHOD_UNKNOWN)


@clause("buffers.prefix", over=bodies, source=COMPRESSION, breaks="arrow-rs before 58.2.0 panics", profiles=ANY_BATCH)
def prefix(batch: BatchBytes) -> Iterable[Violation]:
    """A compressed buffer that is not empty starts with eight bytes: its uncompressed length, little-endian."""
    return broken(batch, Rule.COMPRESSION_PREFIX_TRUNCATED)


@clause(
    "buffers.prefix-not-negative",
    over=bodies,
    source=COMPRESSION,
    breaks="readers that allocate what is announced",
    profiles=ANY_BATCH,
)
def prefix_not_negative(batch: BatchBytes) -> Iterable[Violation]:
    """The uncompressed length is not negative, except for -1: stored as it is."""
    return broken(batch, Rule.COMPRESSION_PREFIX_NEGATIVE)


@clause("buffers.frame", over=bodies, source=COMPRESSION, breaks="every client", profiles=ANY_BATCH)
def frame(batch: BatchBytes) -> Iterable[Violation]:
    """The bytes after the length are a well-formed frame of the codec.

    LZ4_FRAME means LZ4's frame format; a raw LZ4 block is not one.
    """
    return broken(batch, Rule.COMPRESSION_FRAME)


@clause(
    "buffers.one-frame",
    over=bodies,
    source=COMPRESSION,
    breaks="Arrow C++: `Lz4 compressed input contains more than one frame`",
    profiles=ANY_BATCH,
)
def one_frame(batch: BatchBytes) -> Iterable[Violation]:
    """A compressed buffer holds one frame and nothing after it."""
    return broken(batch, Rule.COMPRESSION_TRAILING_BYTES)


@clause("buffers.frame-length", over=bodies, source=COMPRESSION, level=Level.SHOULD, profiles=ANY_BATCH)
def frame_length(batch: BatchBytes) -> Iterable[Violation]:
    """The length of a compressed buffer leaves out the padding after its frame."""
    return broken(batch, Rule.COMPRESSION_PADDING_IN_LENGTH)


@clause(
    "buffers.size",
    over=bodies,
    source=COMPRESSION,
    breaks="Polars: `got unexpected decompressed output length`; others read zeros or stale memory",
    profiles=ANY_BATCH,
)
def size(batch: BatchBytes) -> Iterable[Violation]:
    """A compressed buffer decompresses to the announced number of bytes."""
    several = {one.field for one in broken(batch, Rule.COMPRESSION_TRAILING_BYTES)}
    return [one for one in broken(batch, Rule.COMPRESSION_SIZE_MISMATCH) if one.field not in several]


@clause(
    "buffers.expansion",
    over=bodies,
    source=SECURITY,
    level=Level.SHOULD,
    breaks="readers without a limit, which a few kilobytes can take all memory from",
    profiles=ANY_BATCH,
)
def expansion(batch: BatchBytes) -> Iterable[Violation]:
    """The buffers of a message decompress to no more than a careful reader allows.

    Beyond the limit of this suite the values are not judged.
    """
    return broken(batch, Rule.COMPRESSION_EXPANSION)
