"""Compressed buffers: the length prefix, well-formed frames (of LZ4 exactly one), and the declared size.

The blocks of a frame are walked before anything is decompressed, so that a wrong declared size is found without
allocating it. The codecs themselves are pyarrow's.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Final

import pyarrow as pa

from conformance.contain.text import many
from conformance.wire.faults import Rule
from conformance.wire.frames import BadFrameError, scan_lz4, scan_zstd, with_windows, without_checks
from conformance.wire.hints import byte_swapped

__all__ = ["DecompressionBudget", "decompress"]

FLOOR: Final = 256 << 20
"""Bytes that any messages may decompress to: correct columns of zeros compress without limit, too."""
FACTOR: Final = 255
"""Bytes per stored byte that are allowed beyond the floor: the largest ratio that an LZ4 block can express."""
MESSAGE_FACTOR: Final = 16
"""The same for one message: its bytes are in memory at one time."""
KEPT: Final = 64 << 20
"""Decompressed bytes that stay in memory; those of any further message are decompressed again when they are asked for.
"""
PADDING: Final = 64
"""Zero bytes after a frame that still count as padding are fewer than this."""

_read_i64: Final = struct.Struct("<q").unpack_from

Wrong = Callable[[Rule, str], None]
"""A callback that reports a broken rule with the text of the observation."""


class DecompressionBudget:
    """The number of bytes that the messages sharing the budget may still decompress to.

    ``most`` returns the limit, and is called when the first message is compressed; without it, the limit follows from
    the number of stored bytes. Of what was decompressed and judged, the first :data:`KEPT` bytes stay in memory.
    ``again`` is the one body whose bytes were decompressed for a second time, with them.
    """

    __slots__ = ("_kept", "_left", "again")

    def __init__(self, stored: int, most: Callable[[], int] | None = None) -> None:
        self._left: int | Callable[[], int] = FLOOR + FACTOR * stored if most is None else most
        self._kept = 0
        self.again: tuple[object, list[memoryview | None]] | None = None

    @property
    def remaining(self) -> int:
        """The number of bytes that are left."""
        if not isinstance(self._left, int):
            self._left = self._left()
        return self._left

    def spend(self, count: int) -> None:
        """Subtract ``count`` bytes from the rest."""
        self._left = self.remaining - count

    def keeps(self, count: int) -> bool:
        """True if ``count`` bytes that were decompressed may stay in memory; they then count as kept."""
        if self._kept + count > KEPT:
            return False
        self._kept += count
        return True

    def of_message(self, stored: int) -> DecompressionBudget:
        """A budget of one message of ``stored`` bytes, which decompresses to less memory than all may together."""
        return DecompressionBudget(0, lambda: min(self.remaining, FLOOR + MESSAGE_FACTOR * stored))


def decompress(content: memoryview, codec: str, budget: DecompressionBudget, wrong: Wrong) -> memoryview | None:
    """The decompressed bytes of a stored buffer; None, with the fault passed to ``wrong``, if there are none.

    Source: https://arrow.apache.org/docs/format/Columnar.html#compression. A buffer starts with its uncompressed
    length; -1 means that the bytes after the length are not compressed.
    """
    if len(content) < 8:
        wrong(Rule.COMPRESSION_PREFIX_TRUNCATED, f"a buffer of {many(len(content), 'byte')}")
        return None
    (declared,) = _read_i64(content)
    frame = content[8:]
    if declared < -1:
        wrong(
            Rule.COMPRESSION_PREFIX_NEGATIVE,
            f"an uncompressed length of {declared}{_swapped(declared, budget.remaining)}",
        )
        return None
    if declared == 0 and not len(frame):
        wrong(Rule.COMPRESSION_EMPTY_WITHOUT_FRAME, "an uncompressed length of 0 and nothing after it")
    if declared == -1 or not (declared or len(frame)):
        return frame
    try:
        scan = _SCANS[codec](frame)
    except BadFrameError as error:
        wrong(Rule.COMPRESSION_FRAME, str(error))
        return None
    _judge_rest(bytes(frame[scan.end :]), wrong)
    if declared > scan.most:
        observed = f"an uncompressed length of {declared} before a frame of at most {many(scan.most, 'byte')}"
        wrong(Rule.COMPRESSION_SIZE_MISMATCH, observed + _swapped(declared, scan.most))
    elif declared > budget.remaining:
        observed = f"an uncompressed length of {declared}, where the limit leaves {many(budget.remaining, 'byte')}"
        wrong(Rule.COMPRESSION_EXPANSION, observed + _swapped(declared, scan.most))
    else:
        budget.spend(declared)
        return _expand(frame[: scan.end], codec, declared, wrong)
    return None


def _swapped(declared: int, most: int) -> str:
    return byte_swapped(declared, 8, range(most + 1).__contains__)


def _judge_rest(rest: bytes, wrong: Wrong) -> None:
    if rest and len(rest) < PADDING and not rest.strip(b"\0"):
        wrong(Rule.COMPRESSION_PADDING_IN_LENGTH, f"{many(len(rest), 'zero byte')} after the frame")
    elif rest:
        wrong(Rule.COMPRESSION_TRAILING_BYTES, f"{many(len(rest), 'byte')} after the frame")


def _expand(frame: memoryview, codec: str, declared: int, wrong: Wrong) -> memoryview | None:
    try:
        made = _decoded(frame, codec, declared)
    except _LIBRARY_ERRORS as error:
        try:
            made = _OTHER_WAYS[codec](frame, declared)
        except _LIBRARY_ERRORS as last:
            wrong(Rule.COMPRESSION_FRAME, f"a frame that does not decompress: {last if codec == 'zstd' else error}")
            return None
        if codec == "lz4":
            wrong(Rule.COMPRESSION_CHECKSUM, f"blocks that decompress, and a check that fails: {error}")
    if len(made) != declared:
        size = f"more than {declared}" if len(made) > declared else str(len(made))
        wrong(Rule.COMPRESSION_SIZE_MISMATCH, f"an uncompressed length of {declared} before a frame of {size} bytes")
        return None
    return memoryview(made)


_LIBRARY_ERRORS: Final = (OSError, pa.ArrowException)


def _decoded(frame: memoryview | bytes, codec: str, declared: int) -> bytes:
    """The frame's content, up to one byte more than declared, so that a frame that holds more shows itself."""
    with pa.CompressedInputStream(pa.BufferReader(pa.py_buffer(frame)), codec) as stream:
        made: bytes = stream.read(declared + 1)
    return made


def _decoded_unchecked(frame: memoryview, declared: int) -> bytes:
    """The content of an LZ4 frame by its blocks alone."""
    return _decoded(without_checks(frame), "lz4", declared)


def _decoded_narrowly(frame: memoryview, declared: int) -> bytes:
    """The content of ZSTD frames whose windows the library refuses to keep in memory, although RFC 8878 permits them.

    The library's limits are 128 MiB where content passes through a window, and 2 GiB where it goes to one place.
    """
    if declared < 1 << 27:
        return _decoded(with_windows(frame, 27), "zstd", declared)
    made: bytes = pa.decompress(with_windows(frame, 31), declared, "zstd", asbytes=True)
    return made


_OTHER_WAYS: Final = {"lz4": _decoded_unchecked, "zstd": _decoded_narrowly}
_SCANS: Final = {"lz4": scan_lz4, "zstd": scan_zstd}
