"""Compressed buffers: the length prefix, exactly one well-formed frame, and the announced size.

A frame's blocks are walked before anything is decompressed, so that a lie about the size is found without believing it.
The codecs themselves are pyarrow's.
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
"""Bytes that any message may decompress to: a column of zeros shrinks without limit, and honestly so."""
FACTOR: Final = 255
"""Bytes that one stored byte may stand for beyond that: the most that LZ4 can express."""
ZSTD_BLOCK: Final = 128 << 10
"""The most that one ZSTD block decompresses to."""

PADDING: Final = 64
"""Zero bytes after a frame that can still be padding are fewer than this."""

_LZ4_MAGIC: Final = 0x184D2204
_ZSTD_MAGIC: Final = 0xFD2FB528
_read_i64: Final = struct.Struct("<q").unpack_from
_read_u32: Final = struct.Struct("<I").unpack_from

Wrong = Callable[[Rule, str], None]


class DecompressionBudget:
    """How many bytes the messages that share it may still decompress to.

    ``most`` gives the bound where the caller knows one, and is called when the first of them is compressed; else the
    bound follows from how many bytes are stored.
    """

    __slots__ = ("_left",)

    def __init__(self, stored: int, most: Callable[[], int] | None = None) -> None:
        self._left: int | Callable[[], int] = FLOOR + FACTOR * stored if most is None else most

    @property
    def remaining(self) -> int:
        """How many bytes are left."""
        if not isinstance(self._left, int):
            self._left = self._left()
        return self._left

    def spend(self, count: int) -> None:
        """Take so many bytes off what is left."""
        self._left = self.remaining - count


@dataclasses.dataclass(frozen=True, slots=True)
class Scan:
    """What a walk over a frame's blocks tells: where the frame ends, and the most that it can decompress to."""

    end: int
    most: int


class _BadFrameError(Exception):
    """The bytes are not a frame of the codec; the text says why."""


def decompress(content: memoryview, codec: str, budget: DecompressionBudget, wrong: Wrong) -> memoryview | None:
    """The bytes that a stored buffer stands for; None, with the reason given to ``wrong``, where it stands for none."""
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
        budget.spend(declared)
        return _expand(frame[: scan.end], codec, declared, wrong)
    return None


def _judge_rest(rest: bytes, wrong: Wrong) -> None:
    if rest and len(rest) < PADDING and not rest.strip(b"\0"):
        wrong(Rule.COMPRESSION_PADDING_IN_LENGTH, f"{len(rest)} zero bytes after the frame")
    elif rest:
        wrong(Rule.COMPRESSION_TRAILING_BYTES, f"{len(rest)} bytes after the frame")


def _expand(frame: memoryview, codec: str, declared: int, wrong: Wrong) -> memoryview | None:
    # One byte more than announced is asked for, so that a frame that holds more shows itself.
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
    size = len(frame)
    if size < 7 or _read_u32(frame)[0] != _LZ4_MAGIC:
        raise _BadFrameError(f"no LZ4 frame: it starts {bytes(frame[:4]).hex(' ')}")
    flags, limits = frame[4], frame[5]
    if flags >> 6 != 1 or flags & 2 or limits & 0x8F or limits >> 4 < 4:
        raise _BadFrameError(f"an LZ4 frame descriptor of {flags:#04x} {limits:#04x}")
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
        most += length if block >> 31 else min(largest, 255 * length)
        at += length + (4 if flags & 16 else 0)
    end = at + (4 if flags & 4 else 0)
    if end > size:
        raise _BadFrameError("an LZ4 frame without its checksum")
    return Scan(end, most)


def _scan_zstd(frame: memoryview) -> Scan:
    """Walks ZSTD frames, of which a buffer may hold several: unlike LZ4's, the text does not ask for one."""
    end, most = _scan_zstd_frame(frame, 0)
    while end + 4 <= len(frame) and _read_u32(frame, end)[0] == _ZSTD_MAGIC:
        end, more = _scan_zstd_frame(frame, end)
        most += more
    return Scan(end, most)


def _scan_zstd_frame(frame: memoryview, at: int) -> tuple[int, int]:
    size = len(frame)
    if size < at + 6 or _read_u32(frame, at)[0] != _ZSTD_MAGIC:
        raise _BadFrameError(f"no ZSTD frame: it starts {bytes(frame[at : at + 4]).hex(' ')}")
    descriptor = frame[at + 4]
    if descriptor & 8:
        raise _BadFrameError(f"a ZSTD frame descriptor of {descriptor:#04x}")
    single = descriptor >> 5 & 1
    content_size = (single, 2, 4, 8)[descriptor >> 6]
    at += 5 + (1 - single) + (0, 1, 2, 4)[descriptor & 3] + content_size
    most, last = 0, 0
    while not last:
        if at + 3 > size:
            raise _BadFrameError("a ZSTD frame without its last block")
        header = int.from_bytes(frame[at : at + 3], "little")
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
