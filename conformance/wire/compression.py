"""Compressed buffers: the length prefix, exactly one well-formed frame, and the declared size.

The blocks of a frame are walked before anything is decompressed, so that a wrong declared size is found without
allocating it. The codecs themselves are pyarrow's.
"""

from __future__ import annotations

import dataclasses
import struct
from collections.abc import Callable
from typing import Final

import pyarrow as pa

from conformance.wire.faults import Rule

__all__ = ["DecompressionBudget", "decompress"]

FLOOR: Final = 256 << 20
"""Bytes that any message may decompress to: correct columns of zeros compress without limit, too."""
FACTOR: Final = 255
"""Bytes per stored byte that are allowed beyond the floor: the largest ratio that an LZ4 block can express."""
ZSTD_BLOCK: Final = 128 << 10
"""The largest decompressed size of one ZSTD block (https://www.rfc-editor.org/rfc/rfc8878#section-3.1.1.2.4)."""

PADDING: Final = 64
"""Zero bytes after a frame that still count as padding are fewer than this."""

_LZ4_MAGIC: Final = 0x184D2204
_ZSTD_MAGIC: Final = 0xFD2FB528
_read_i64: Final = struct.Struct("<q").unpack_from
_read_u32: Final = struct.Struct("<I").unpack_from

Wrong = Callable[[Rule, str], None]

"""A callback that reports a broken rule with the text of the observation."""


class DecompressionBudget:
    """The number of bytes that the messages sharing the budget may still decompress to.

    ``most`` sets the limit; without it, the limit follows from the number of stored bytes.
    """

    __slots__ = ("remaining",)

    def __init__(self, stored: int, most: int | None = None) -> None:
        self.remaining = FLOOR + FACTOR * stored if most is None else most


@dataclasses.dataclass(frozen=True, slots=True)
class Scan:
    """The result of walking a frame's blocks: the end of the frame, and the largest size that it can decompress to."""

    end: int
    most: int


class _BadFrameError(Exception):
    """The bytes are not a frame of the codec; the message gives the reason."""


def decompress(content: memoryview, codec: str, budget: DecompressionBudget, wrong: Wrong) -> memoryview | None:
    """The decompressed bytes of a stored buffer; None, with the fault passed to ``wrong``, if there are none.

    Source: https://arrow.apache.org/docs/format/Columnar.html#compression. A buffer starts with its uncompressed
    length; -1 means that the bytes after the length are not compressed.
    """
    if len(content) < 8:
        wrong(Rule.COMPRESSION_PREFIX_TRUNCATED, f"{len(content)} bytes")
        return None
    declared: int = _read_i64(content)[0]
    frame = content[8:]
    if declared < -1:
        wrong(Rule.COMPRESSION_PREFIX_NEGATIVE, f"an uncompressed length of {declared}")
        return None
    if declared == 0 and not len(frame):
        wrong(Rule.COMPRESSION_EMPTY_WITHOUT_FRAME, "a length of 0 and nothing else")
    if declared == -1 or not (declared or len(frame)):
        return frame
    try:
        scan = _SCANS[codec](frame)
    except _BadFrameError as error:
        wrong(Rule.COMPRESSION_FRAME, str(error))
        return None
    _judge_rest(bytes(frame[scan.end :]), wrong)
    if declared > scan.most:
        wrong(Rule.COMPRESSION_SIZE_MISMATCH, f"{declared} bytes announced by a frame of at most {scan.most}")
    elif declared > budget.remaining:
        wrong(Rule.COMPRESSION_EXPANSION, f"{declared} bytes announced, {budget.remaining} left of the limit")
    else:
        budget.remaining -= declared
        return _expand(frame[: scan.end], codec, declared, wrong)
    return None


def _judge_rest(rest: bytes, wrong: Wrong) -> None:
    if rest and len(rest) < PADDING and not rest.strip(b"\0"):
        wrong(Rule.COMPRESSION_PADDING_IN_LENGTH, f"{len(rest)} zero bytes after the frame")
    elif rest:
        wrong(Rule.COMPRESSION_TRAILING_BYTES, f"{len(rest)} bytes after the frame")


def _expand(frame: memoryview, codec: str, declared: int, wrong: Wrong) -> memoryview | None:
    # Reading one byte more than declared detects a frame with more content.
    try:
        with pa.CompressedInputStream(pa.BufferReader(pa.py_buffer(frame)), codec) as stream:
            made: bytes = stream.read(declared + 1)
    except (OSError, pa.ArrowException) as error:
        wrong(Rule.COMPRESSION_FRAME, f"a frame that does not decompress: {error}")
        return None
    if len(made) != declared:
        relation = "more than" if len(made) > declared else f"{len(made)} of"
        wrong(Rule.COMPRESSION_SIZE_MISMATCH, f"{relation} {declared} announced bytes")
        return None
    return memoryview(made)


def _scan_lz4(frame: memoryview) -> Scan:
    """Walk an LZ4 frame; source: https://github.com/lz4/lz4/blob/dev/doc/lz4_Frame_format.md.

    Raises :class:`_BadFrameError` if the bytes are not one frame of version 1 without reserved bits.
    """
    size = len(frame)
    if size < 7 or _read_u32(frame)[0] != _LZ4_MAGIC:
        raise _BadFrameError(f"no LZ4 frame: it starts {bytes(frame[:4]).hex(' ')}")
    flags, limits = frame[4], frame[5]
    if flags >> 6 != 1 or flags & 2 or limits & 0x8F or limits >> 4 < 4:
        raise _BadFrameError(f"an LZ4 frame descriptor of {flags:#04x} {limits:#04x}")
    # Frame descriptor: a block holds at most 64 KiB (code 4) to 4 MiB (code 7); content size, dictionary id, block
    # checksums and content checksum each depend on a flag.
    largest = 1 << (8 + 2 * (limits >> 4))
    at = 7 + (8 if flags & 8 else 0) + (4 if flags & 1 else 0)
    most = 0
    while True:
        if at + 4 > size:
            raise _BadFrameError("an LZ4 frame without its end mark")
        block: int = _read_u32(frame, at)[0]
        at += 4
        if block == 0:
            break
        length = block & 0x7FFF_FFFF
        # The highest bit of a block's size is set if the block is stored uncompressed.
        most += length if block >> 31 else min(largest, 255 * length)
        at += length + (4 if flags & 16 else 0)
    end = at + (4 if flags & 4 else 0)
    if end > size:
        raise _BadFrameError("an LZ4 frame without its checksum")
    return Scan(end, most)


def _scan_zstd(frame: memoryview) -> Scan:
    """Walk a sequence of ZSTD frames: the Arrow format requires a single frame of LZ4 buffers only."""
    end, most = _scan_zstd_frame(frame, 0)
    while end + 4 <= len(frame) and _read_u32(frame, end)[0] == _ZSTD_MAGIC:
        end, more = _scan_zstd_frame(frame, end)
        most += more
    return Scan(end, most)


def _scan_zstd_frame(frame: memoryview, at: int) -> tuple[int, int]:
    """Walk one ZSTD frame: its end and its largest size; source: https://www.rfc-editor.org/rfc/rfc8878#section-3.1.1.

    Raises :class:`_BadFrameError` if the bytes are not a frame, or if they end inside it.
    """
    size = len(frame)
    if size < at + 6 or _read_u32(frame, at)[0] != _ZSTD_MAGIC:
        raise _BadFrameError(f"no ZSTD frame: it starts {bytes(frame[at : at + 4]).hex(' ')}")
    descriptor = frame[at + 4]
    if descriptor & 8:
        raise _BadFrameError(f"a ZSTD frame descriptor of {descriptor:#04x}")
    # A frame of a single segment has no window descriptor, but always has a content size of at least one byte.
    single = descriptor >> 5 & 1
    content_size = (single, 2, 4, 8)[descriptor >> 6]
    at += 5 + (1 - single) + (0, 1, 2, 4)[descriptor & 3] + content_size
    most, last = 0, 0
    while not last:
        if at + 3 > size:
            raise _BadFrameError("a ZSTD frame without its last block")
        header = int.from_bytes(frame[at : at + 3], "little")
        # Block types: 0 is stored as it is, 1 is one byte repeated `length` times, 2 is compressed, 3 is reserved.
        last, kind, length = header & 1, header >> 1 & 3, header >> 3
        if kind == 3:
            raise _BadFrameError("a ZSTD block of the reserved type")
        at += 3 + (1 if kind == 1 else length)
        most += length if kind < 2 else ZSTD_BLOCK
    at += 4 if descriptor & 4 else 0
    if at > size:
        raise _BadFrameError("a ZSTD frame that is cut short")
    return at, most


_SCANS: Final = {"lz4": _scan_lz4, "zstd": _scan_zstd}
