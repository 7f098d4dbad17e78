"""LZ4 frames with the parts that encoders may add: checksums, the content size, linked and smaller blocks.

pyarrow 26.0.1 writes frames without any of these; lz4 4.4.5 for Python writes the content size by default and the rest
on demand. pyarrow compresses each block, but for a linked one that begins like an earlier block: its start is a match.
Source: https://github.com/lz4/lz4/blob/dev/doc/lz4_Frame_format.md
"""

from __future__ import annotations

import dataclasses
import struct
from collections.abc import Iterator
from typing import Final

import pyarrow as pa

from conformance.wire.frames import header_checksum, xxh32

__all__ = ["Lz4Options", "lz4_frame"]

_MAGIC: Final = struct.pack("<I", 0x184D2204)
_END_MARK: Final = bytes(4)
_VERSION: Final = 1 << 6
_STORED: Final = 1 << 31
_WINDOW: Final = 64 << 10
"""How far back a match may reach."""
_SHORTEST: Final = 4
"""Bytes of the shortest match."""
_LITERALS: Final = 12
"""Bytes before the end of a block after which no match may begin (lz4_Block_format.md, end of block restrictions)."""


@dataclasses.dataclass(frozen=True, slots=True)
class Lz4Options:
    """The optional parts of a frame; its content is cut into blocks of at most ``block`` bytes.

    ``limit`` is the code of the largest block that the frame declares: 4 for 64 KiB, and each next code for four times
    as much.
    """

    content_checksum: bool = False
    content_size: bool = False
    block_checksums: bool = False
    linked: bool = False
    stored: bool = False
    block: int = 64 << 10
    limit: int = 4


def lz4_frame(data: bytes, options: Lz4Options) -> bytes:
    """One LZ4 frame that holds ``data``."""
    flags = _VERSION | (not options.linked) << 5 | options.block_checksums << 4
    flags |= options.content_size << 3 | options.content_checksum << 2
    descriptor = bytes((flags, options.limit << 4))
    if options.content_size:
        descriptor += struct.pack("<Q", len(data))
    out = _MAGIC + descriptor + header_checksum(descriptor)
    for size, block in _blocks(data, options):
        out += struct.pack("<I", size) + block
        if options.block_checksums:
            out += struct.pack("<I", xxh32(block))
    out += _END_MARK
    return out + struct.pack("<I", xxh32(data)) if options.content_checksum else out


def _blocks(data: bytes, options: Lz4Options) -> Iterator[tuple[int, bytes]]:
    """The size field and the bytes of each block, which is stored if compression does not make it smaller."""
    codec = pa.Codec("lz4_raw")
    for start in range(0, len(data), options.block):
        raw = data[start : start + options.block]
        packed = (_repeating(data, start, raw) if options.linked else b"") or codec.compress(raw, asbytes=True)
        if options.stored or len(packed) >= len(raw):
            yield len(raw) | _STORED, raw
        else:
            yield len(packed), packed


def _repeating(data: bytes, start: int, raw: bytes) -> bytes:
    """A block whose first bytes are a match in the blocks before it; nothing where these do not hold them."""
    longest = len(raw) - _LITERALS
    found = data.rfind(raw[:_SHORTEST], max(0, start - _WINDOW), start) if longest >= _SHORTEST else -1
    if found < 0:
        return b""
    length = _SHORTEST
    while length < longest and data[found + length] == raw[length]:
        length += 1
    rest = raw[length:]
    match, literals = length - _SHORTEST, len(rest)
    first = bytes((min(match, 15),)) + struct.pack("<H", start - found) + _more(match)
    return first + bytes((min(literals, 15) << 4,)) + _more(literals) + rest


def _more(length: int) -> bytes:
    """The bytes that continue a length which begins with 15 in a token."""
    if length < 15:
        return b""
    whole, rest = divmod(length - 15, 255)
    return b"\xff" * whole + bytes((rest,))
