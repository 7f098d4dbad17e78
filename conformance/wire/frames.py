"""Frames of the two codecs, walked block by block without decompressing anything.

Sources: https://github.com/lz4/lz4/blob/dev/doc/lz4_Frame_format.md and https://www.rfc-editor.org/rfc/rfc8878.
"""

from __future__ import annotations

import dataclasses
import struct
from collections.abc import Iterator
from typing import Final

__all__ = [
    "BadFrameError",
    "Scan",
    "header_checksum",
    "scan_lz4",
    "scan_zstd",
    "with_windows",
    "without_checks",
    "xxh32",
]

ZSTD_BLOCK: Final = 128 << 10
"""The most that one ZSTD block decompresses to."""

_LZ4_MAGIC: Final = 0x184D2204
_ZSTD_MAGIC: Final = 0xFD2FB528
_ZSTD_SKIPPABLE: Final = 0x184D2A50
"""The first of 16 magic numbers of skippable frames."""
_SINGLE_SEGMENT: Final = 32
"""The bit of a ZSTD frame's descriptor that says that the frame has no window descriptor."""
_DICTIONARY: Final = 1
_CONTENT_CHECKSUM: Final = 4
_CONTENT_SIZE: Final = 8
_BLOCK_CHECKSUM: Final = 16
_CHECKS: Final = _CONTENT_CHECKSUM | _CONTENT_SIZE | _BLOCK_CHECKSUM
_read_u32: Final = struct.Struct("<I").unpack_from


@dataclasses.dataclass(frozen=True, slots=True)
class Scan:
    """The result of a walk over a frame's blocks: where the frame ends, and the most that it can decompress to."""

    end: int
    most: int


class BadFrameError(Exception):
    """The bytes are not a frame of the codec; the text says why."""


def scan_lz4(frame: memoryview) -> Scan:
    """Find the end of the LZ4 frame at the start of ``frame``, and an upper bound of its decompressed size.

    Raises:
        BadFrameError: there is none, or it is cut short.
    """
    size = len(frame)
    if size < 7 or _u32(frame, 0) != _LZ4_MAGIC:
        raise BadFrameError(f"no LZ4 frame, but the bytes {bytes(frame[:4]).hex(' ')}")
    flags, limits = frame[4], frame[5]
    if flags >> 6 != 1 or flags & 2 or limits & 0x8F or limits >> 4 < 4:
        raise BadFrameError(f"an LZ4 frame descriptor of {flags:#04x} {limits:#04x}")
    largest = 1 << (8 + 2 * (limits >> 4))
    end = most = 0
    for start, end in _lz4_parts(frame):
        length = end - start - 4
        most += length if frame[start + 3] >> 7 else min(largest, 255 * length)
    end += 4 if flags & _CONTENT_CHECKSUM else 0
    if end > size:
        raise BadFrameError("an LZ4 frame without its checksum")
    return Scan(end, most)


def _u32(frame: memoryview, at: int) -> int:
    number: int
    (number,) = _read_u32(frame, at)
    return number


def _lz4_parts(frame: memoryview) -> Iterator[tuple[int, int]]:
    """Start and end of each block, its size included and its checksum not, and of the end mark, which comes last."""
    flags, size = frame[4], len(frame)
    at = 7 + (8 if flags & _CONTENT_SIZE else 0) + (4 if flags & _DICTIONARY else 0)
    between = 4 if flags & _BLOCK_CHECKSUM else 0
    while at + 4 <= size:
        block = _u32(frame, at)
        end = at + 4 + (block & 0x7FFF_FFFF)
        yield at, end
        if not block:
            return
        at = end + between
    raise BadFrameError("an LZ4 frame without its end mark")


def without_checks(frame: memoryview) -> bytes:
    """The same LZ4 frame without its checksums and its content size, all of which the format lets a decoder ignore.

    ``frame`` is one that :func:`scan_lz4` has walked. The header checksum cannot be left out; it becomes right.
    """
    flags = frame[4]
    dictionary_at = 6 + (8 if flags & _CONTENT_SIZE else 0)
    dictionary = frame[dictionary_at : dictionary_at + 4] if flags & _DICTIONARY else b""
    descriptor = bytes((flags & ~_CHECKS, frame[5])) + dictionary
    parts = [frame[start:end] for start, end in _lz4_parts(frame)]
    return b"".join((frame[:4], descriptor, header_checksum(descriptor), *parts))


def header_checksum(descriptor: bytes) -> bytes:
    """The byte that follows the descriptor of an LZ4 frame."""
    return bytes((xxh32(descriptor) >> 8 & 0xFF,))


_PRIMES: Final = (2654435761, 2246822519, 3266489917, 668265263, 374761393)
_MASK: Final = 0xFFFF_FFFF


def xxh32(data: bytes) -> int:
    """The checksum of LZ4 frames: xxHash-32 with the seed 0.

    Source: https://github.com/Cyan4973/xxHash/blob/dev/doc/xxhash_spec.md

    >>> hex(xxh32(b"")), hex(xxh32(b"Nobody inspects the spammish repetition"))
    ('0x2cc5d05', '0xe2293b2f')
    """
    one, two, three, four, five = _PRIMES
    stripes = len(data) & ~15
    made = five
    if stripes:
        lanes = [one + two & _MASK, two, 0, -one & _MASK]
        for words in struct.iter_unpack("<4I", data[:stripes]):
            lanes = [_turned(lane + word * two, 13) * one & _MASK for lane, word in zip(lanes, words, strict=True)]
        made = sum(_turned(lane, turn) for lane, turn in zip(lanes, (1, 7, 12, 18), strict=True))
    made += len(data)
    words_end = len(data) & ~3
    for (word,) in struct.iter_unpack("<I", data[stripes:words_end]):
        made = _turned(made + word * three, 17) * four
    for byte in data[words_end:]:
        made = _turned(made + byte * five, 11) * one
    made &= _MASK
    made = (made ^ made >> 15) * two & _MASK
    made = (made ^ made >> 13) * three & _MASK
    return made ^ made >> 16


def _turned(value: int, by: int) -> int:
    """The low 32 bits, rotated left."""
    value &= _MASK
    return (value << by | value >> 32 - by) & _MASK


def scan_zstd(frame: memoryview) -> Scan:
    """Walk ZSTD frames, of which a buffer may hold several: unlike LZ4's, the text does not ask for one.

    Skippable frames have no content and may be anywhere among the others (RFC 8878, sections 3 and 3.1.2).

    Raises:
        BadFrameError: there is none, or one is cut short.
    """
    end = most = 0
    while not end or (end + 4 <= len(frame) and _is_zstd(_u32(frame, end))):
        end, more = _scan_zstd_frame(frame, end)
        most += more
    return Scan(end, most)


def with_windows(frame: memoryview, log: int) -> bytes:
    """The same ZSTD frames, none of which asks its decoder for a window of more than 2**``log`` bytes.

    ``frame`` is one that :func:`scan_zstd` has walked. No content of at most so many bytes reaches back further.
    """
    made, at = bytearray(frame), 0
    while at < len(frame):
        if _u32(frame, at) == _ZSTD_MAGIC and not frame[at + 4] & _SINGLE_SEGMENT:
            made[at + 5] = min(frame[at + 5], log - 10 << 3)
        at, _ = _scan_zstd_frame(frame, at)
    return bytes(made)


def _is_zstd(magic: int) -> bool:
    return magic == _ZSTD_MAGIC or magic & ~0xF == _ZSTD_SKIPPABLE


def _scan_zstd_frame(frame: memoryview, at: int) -> tuple[int, int]:
    size = len(frame)
    if size < at + 6 or not _is_zstd(_u32(frame, at)):
        raise BadFrameError(f"no ZSTD frame, but the bytes {bytes(frame[at : at + 4]).hex(' ')}")
    if _u32(frame, at) != _ZSTD_MAGIC:
        end = at + 8 + (_u32(frame, at + 4) if size >= at + 8 else 0)
        if end > size:
            raise BadFrameError("a skippable ZSTD frame that is cut short")
        return end, 0
    descriptor = frame[at + 4]
    if descriptor & 8:
        raise BadFrameError(f"a ZSTD frame descriptor of {descriptor:#04x}")
    single = (descriptor & _SINGLE_SEGMENT) >> 5
    content_size = (single, 2, 4, 8)[descriptor >> 6]
    at += 5 + (1 - single) + (0, 1, 2, 4)[descriptor & 3] + content_size
    most, last = 0, 0
    while not last:
        if at + 3 > size:
            raise BadFrameError("a ZSTD frame without its last block")
        header = int.from_bytes(frame[at : at + 3], "little")
        last, kind, length = header & 1, header >> 1 & 3, header >> 3
        if kind == 3:
            raise BadFrameError("a ZSTD block of the reserved type")
        at += 3 + (1 if kind == 1 else length)
        most += length if kind < 2 else ZSTD_BLOCK
    at += 4 if descriptor & 4 else 0
    if at > size:
        raise BadFrameError("a ZSTD frame that is cut short")
    return at, most
