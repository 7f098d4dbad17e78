"""Mutants of compressed buffers: their codec, the length in front of them, their frames."""

from __future__ import annotations

import functools
import struct
from collections.abc import Callable
from typing import Any, Final

import pyarrow as pa

from conformance.reference.lz4 import Lz4Options, lz4_frame
from conformance.reference.message import DraftMessage, frame
from conformance.reference.register import batch_mutant
from conformance.wire.frames import header_checksum

_BLOCK: Final = 128 << 10
"""Bytes that one block of a ZSTD frame holds at most."""
_BOMB: Final = 1 << 33
"""Bytes that the bomb below inflates to."""


def _framed(message: DraftMessage, change: Callable[[dict[str, Any]], None]) -> bytes:
    """The message with its finished header changed in place."""
    tree, body = message.complete()
    change(tree["header"])
    return frame(tree, body)


@batch_mutant("compression.codec-unknown", kills="buffers.codec-known")
def codec_unknown(message: DraftMessage) -> bytes:
    """The header names a codec that the format does not define."""

    def name(header: dict[str, Any]) -> None:
        header["compression"] = {"codec": 9}

    return _framed(message, name)


@batch_mutant("compression.method-unknown", kills="buffers.method-known")
def method_unknown(message: DraftMessage) -> bytes:
    """The header names a compression method that the format does not define."""

    def name(header: dict[str, Any]) -> None:
        header["compression"] = {**header.get("compression", {}), "method": 3}

    return _framed(message, name)


def _repacked(message: DraftMessage, pack: Callable[[bytes, bytes], bytes]) -> DraftMessage:
    """The message with every buffer stored as ``pack(raw, LZ4 frame)`` and LZ4_FRAME declared."""
    if not any(part.data for part in message.parts):
        raise LookupError("every buffer is empty")
    codec = pa.Codec("lz4")
    for part in message.parts:
        if part.data:
            part.data = pack(part.data, codec.compress(part.data, asbytes=True))
    message.codec = ""
    message.header["compression"] = {"codec": 0}
    return message


@batch_mutant("compression.prefix-missing", kills="buffers.prefix", defects=("I-70",))
def prefix_missing(message: DraftMessage) -> DraftMessage:
    """Compressed buffers are cut to 4 bytes, too few for their length prefix."""
    return _repacked(message, lambda raw, _frame: struct.pack("<i", len(raw)))


@batch_mutant("compression.prefix-negative", kills="buffers.prefix-not-negative", defects=("I-70",))
def prefix_negative(message: DraftMessage) -> DraftMessage:
    """The declared uncompressed length is -2."""
    return _repacked(message, lambda _raw, squeezed: struct.pack("<q", -2) + squeezed)


@batch_mutant("compression.raw-block", kills="buffers.frame", defects=("I-67",))
def raw_block(message: DraftMessage) -> DraftMessage:
    """LZ4_FRAME is declared and raw LZ4 blocks are sent."""
    raw = pa.Codec("lz4_raw")
    return _repacked(message, lambda data, _frame: struct.pack("<q", len(data)) + raw.compress(data, asbytes=True))


@batch_mutant("compression.two-frames", kills="buffers.one-frame", defects=("I-67",))
def two_frames(message: DraftMessage) -> DraftMessage:
    """A buffer is split into two LZ4 frames."""
    codec = pa.Codec("lz4")

    def split(data: bytes, _frame: bytes) -> bytes:
        half = len(data) // 2
        frames = codec.compress(data[:half], asbytes=True) + codec.compress(data[half:], asbytes=True)
        packed: bytes = struct.pack("<q", len(data)) + frames
        return packed

    return _repacked(message, split)


@batch_mutant("compression.size-wrong", kills="buffers.size")
def size_wrong(message: DraftMessage) -> DraftMessage:
    """The declared uncompressed length is 8 bytes more than there are."""
    return _repacked(message, lambda data, squeezed: struct.pack("<q", len(data) + 8) + squeezed)


@batch_mutant("compression.padding-in-length", kills="buffers.frame-length")
def padding_in_length(message: DraftMessage) -> DraftMessage:
    """The length of a compressed buffer counts the padding behind its frame."""
    return _repacked(message, lambda data, squeezed: struct.pack("<q", len(data)) + squeezed + bytes(3))


@batch_mutant(
    "compression.empty-without-frame",
    kills="buffers.empty-frame",
    defects=("I-114",),
    source="https://github.com/apache/arrow-java/pull/1248",
)
def empty_without_frame(message: DraftMessage) -> DraftMessage:
    """A compressed buffer without values is stored as the length 0 and nothing after it."""
    if all(part.data for part in message.parts):
        raise LookupError("no buffer is empty")
    empty = [part for part in message.parts if not part.data]
    packed = _repacked(message, lambda data, squeezed: struct.pack("<q", len(data)) + squeezed)
    for part in empty:
        part.data = struct.pack("<q", 0)
    return packed


def _checked(message: DraftMessage, change: Callable[[bytearray], None]) -> DraftMessage:
    """The message with every buffer in an LZ4 frame that carries all checks, each frame changed in place."""

    def pack(data: bytes, _frame: bytes) -> bytes:
        made = bytearray(lz4_frame(data, Lz4Options(content_checksum=True, content_size=True, block_checksums=True)))
        change(made)
        return struct.pack("<q", len(data)) + bytes(made)

    return _repacked(message, pack)


@batch_mutant("compression.content-checksum-wrong", kills="buffers.frame")
def content_checksum_wrong(message: DraftMessage) -> DraftMessage:
    """The checksum at the end of an LZ4 frame is not that of its content."""

    def change(made: bytearray) -> None:
        made[-1] ^= 1

    return _checked(message, change)


@batch_mutant("compression.block-checksum-wrong", kills="buffers.frame")
def block_checksum_wrong(message: DraftMessage) -> DraftMessage:
    """The checksum of the last block of an LZ4 frame is not that of its bytes."""

    def change(made: bytearray) -> None:
        made[-9] ^= 1  # before the end mark and the content checksum, of four bytes each

    return _checked(message, change)


@batch_mutant("compression.content-size-wrong", kills="buffers.frame")
def content_size_wrong(message: DraftMessage) -> DraftMessage:
    """The content size in an LZ4 frame is 8 bytes more than there are; its header checksum is right."""

    def change(made: bytearray) -> None:
        made[6:14] = struct.pack("<Q", struct.unpack_from("<Q", made, 6)[0] + 8)
        made[14:15] = header_checksum(bytes(made[4:14]))

    return _checked(message, change)


@batch_mutant("compression.header-checksum-wrong", kills="buffers.frame")
def header_checksum_wrong(message: DraftMessage) -> DraftMessage:
    """The checksum of an LZ4 frame's header is not that of its bytes."""

    def change(made: bytearray) -> None:
        made[14] ^= 1

    return _checked(message, change)


@functools.cache
def _bomb() -> bytes:
    """A ZSTD frame of blocks that repeat one zero (https://www.rfc-editor.org/rfc/rfc8878, section 3.1.1)."""
    repeated, last = ((_BLOCK << 3 | 1 << 1 | end).to_bytes(3, "little") + bytes(1) for end in (0, 1))
    return bytes.fromhex("28b52ffd0038") + repeated * (_BOMB // _BLOCK - 1) + last


@batch_mutant("compression.bomb", kills="buffers.expansion")
def bomb(message: DraftMessage) -> DraftMessage:
    """A buffer of a quarter of a megabyte inflates to eight gigabytes."""
    for index, part in enumerate(part for part in message.parts if part.data):
        raw = struct.pack("<q", -1) + part.data
        part.data = raw if index else struct.pack("<q", _BOMB) + _bomb()
    message.codec = ""
    message.header["compression"] = {"codec": 1}
    return message
