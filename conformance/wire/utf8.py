"""UTF-8 in bytes: whether a run of them is well-formed, and which ranges of a run are not.

Large runs are checked by numpy, a chunk at a time. Each step is an operation on whole arrays, so that neither the
script of a text nor the order of its characters changes the cost much: a decoder pays for each character, and again
for each length that it did not foresee. Only :func:`faulty_text` says where the bad bytes are.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

__all__ = ["ChunkedCheck", "faulty_text", "is_ascii", "is_utf8"]

CHUNK: Final = 1 << 18
"""Bytes of a chunk: together with two arrays of its size, it fits into the second cache of the processor."""
SMALL: Final = 1 << 14
"""Bytes up to which Python's decoder takes less time than numpy's calls."""
PLACES: Final = 1 << 14
"""Places that are looked up in one step: a chunk may have any number of empty values."""
SAMPLE: Final = 1 << 10
"""Words at the beginning of a chunk that show how much of it is ASCII."""
MOST_KEPT: Final = 0.4
"""The share of words up to which it takes less time to check them alone than to check all."""
_FEW: Final = 1 << 14
"""Bytes up to which a copy that Python looks at takes less time than numpy's calls."""
_MANY: Final = 1 << 19
"""Bytes of one call: a high bit ends the search after the call that sees it."""
_BLOCK: Final = 1 << 20
_HIGH_BITS: Final = np.uint64(0x8080_8080_8080_8080)
_FIRST_LEAD: Final = -64
"""The bytes 80 to BF, which continue a character, are those below this when read as signed."""
_LAST_LEAD: Final = 0xF4
_SECOND: Final = (
    (0xE0, np.less, 0xA0),
    (0xED, np.greater_equal, 0xA0),
    (0xF0, np.less, 0x90),
    (0xF4, np.greater_equal, 0x90),
)
"""Leading bytes, and which of the bytes that continue others do not follow these: they would make a longer form than
is needed, a surrogate, or a number beyond U+10FFFF."""

Bytes8 = npt.NDArray[np.uint8]
Places = npt.NDArray[np.int64]


def is_ascii(text: memoryview) -> bool:
    """Whether no byte has its high bit set."""
    if len(text) <= _FEW:
        return bytes(text).isascii()
    # Read as signed, such a byte is negative; numpy finds the least of many bytes at the speed of memory.
    signed = np.frombuffer(text, np.int8)
    return all(np.minimum.reduce(signed[start : start + _MANY]) >= 0 for start in range(0, len(signed), _MANY))


def is_utf8(text: memoryview, starts: npt.NDArray[Any] | None = None, *, base: int = 0) -> bool:
    """Whether the bytes as a whole are well-formed, and no value starts inside a character.

    ``starts`` are the places where values start, in rising order; ``base`` is the place of the first byte.
    """
    return ChunkedCheck(min(len(text), CHUNK)).accepts(text, starts, base=base)


class ChunkedCheck:
    """Checks bytes in chunks of ``size``, which is at least 4; a chunk of up to ``small`` bytes by decoding it.

    In a larger chunk, a byte must be a continuation byte exactly if one of the three bytes before it begins a character
    that is long enough. In addition, some bytes never occur, and some leading bytes restrict the byte that follows.
    """

    __slots__ = ("_asked", "_chunk", "_found", "_size", "_small")

    def __init__(self, size: int, *, small: int = SMALL) -> None:
        self._size = size
        self._small = small
        # The last characters of a chunk may ask for bytes beyond it, and both arrays are compared by whole words.
        length = 0 if size <= small else size + 16
        self._asked = np.zeros(length, np.bool_)
        self._found = np.zeros(length, np.bool_)
        # One buffer for all chunks: the kernel would have to clear the pages of a new one each time.
        self._chunk = bytearray(0 if size <= small else size)

    def accepts(self, text: memoryview, starts: npt.NDArray[Any] | None = None, *, base: int = 0) -> bool:
        """As :func:`is_utf8`."""
        at, size, passed = 0, len(text), 0
        while at < size:
            stop = min(at + self._size, size)
            for _ in range(3 if stop < size else 0):
                stop -= (text[stop] & 0xC0) == 0x80  # a chunk ends where a character does
            chunk = self._copied(text[at:stop])
            plain = chunk.isascii()
            if not plain and not self._is_utf8(chunk if len(chunk) <= self._small else self._condensed(chunk)):
                return False
            if starts is not None:
                # A number of another type than theirs would have all places converted.
                until = int(starts.searchsorted(starts.dtype.type(base + stop)))
                if not plain and _split(chunk, starts[passed:until], base + at):
                    return False
                passed = until
            at = stop
        return True

    def _copied(self, part: memoryview) -> bytes | bytearray:
        """The bytes of a chunk, with up to 3 zero bytes behind them, which change nothing."""
        missing = len(self._chunk) - len(part)
        if not 0 <= missing < 4:
            return bytes(part)
        with memoryview(self._chunk) as whole:
            whole[: len(part)] = part
            whole[len(part) :] = bytes(missing)
        return self._chunk

    def _condensed(self, chunk: bytes | bytearray) -> bytes | bytearray:
        """Bytes that are well-formed exactly if ``chunk`` is: ``chunk`` without most of its ASCII, if it has much.

        Words of ASCII that follow an ASCII byte, or begin the chunk, are left out: no character extends into them.
        """
        words = np.frombuffer(chunk, "<u8", len(chunk) >> 3)
        sample = words[:SAMPLE] & _HIGH_BITS
        if np.count_nonzero(sample) > MOST_KEPT * len(sample):
            return chunk
        high = np.bitwise_and(words, _HIGH_BITS, out=self._asked[: 8 * len(words)].view(np.uint64))
        kept = np.not_equal(high, 0, out=self._found[: len(words)])
        kept[1:] |= words[:-1].view("<i8") < 0  # its last byte is not ASCII
        return words.take(np.flatnonzero(kept)).tobytes() + chunk[len(chunk) & ~7 :]

    def _is_utf8(self, chunk: bytes | bytearray) -> bool:
        if len(chunk) <= self._small:
            try:
                chunk.decode()
            except UnicodeDecodeError:
                return False
            return True
        whole = np.frombuffer(chunk, np.uint8)
        most = int(whole.max())
        if most > _LAST_LEAD or b"\xc0" in chunk or b"\xc1" in chunk:
            return False
        return self._continues(whole, most) and self._follows(chunk, whole, most)

    def _continues(self, whole: Bytes8, most: int) -> bool:
        """Whether every leading byte has its continuation bytes, and no other byte is one."""
        size, asked, found = len(whole), self._asked, self._found
        end = (size + 10) & ~7
        asked[0] = False
        asked[size:end] = found[size:end] = False
        np.greater_equal(whole, 0xC0, out=asked[1 : size + 1])
        for more, lead in ((1, 0xE0), (2, 0xF0)):
            if most >= lead:
                longer = np.greater_equal(whole, lead, out=found[:size])
                place = asked[1 + more : 1 + more + size]
                np.bitwise_or(place, longer, out=place)
        np.less(whole.view(np.int8), _FIRST_LEAD, out=found[:size])
        return not (asked[:end].view(np.uint64) != found[:end].view(np.uint64)).any()

    def _follows(self, chunk: bytes | bytearray, whole: Bytes8, most: int) -> bool:
        """Whether no leading byte is followed by one that it does not allow; all are followed by one that continues."""
        first, second = self._asked[: len(whole) - 1], self._found[: len(whole) - 1]
        for lead, compare, limit in _SECOND:
            if lead > most or bytes((lead,)) not in chunk:
                continue
            np.equal(whole[:-1], lead, out=first)
            compare(whole[1:], limit, out=second)
            if np.bitwise_and(first, second, out=first).any():
                return False
        return True


def _split(chunk: bytes | bytearray, starts: npt.NDArray[Any], base: int) -> bool:
    """Whether any value starts inside a character of the chunk, which itself starts at ``base``."""
    signed = np.frombuffer(chunk, np.int8)
    for at in range(0, len(starts), PLACES):
        places = np.subtract(starts[at : at + PLACES], base, dtype=np.intp)
        if signed.take(places).min() < _FIRST_LEAD:
            return True
    return False


def faulty_text(data: Bytes8, starts: Places, ends: Places) -> npt.NDArray[np.bool_]:
    """Whether each range of ``data`` is not well-formed UTF-8 on its own; ranges may overlap and be in any order."""
    bad = np.zeros(0, np.int64) if is_utf8(data.data) else _bad_bytes(data)
    filled = starts < ends
    first = np.searchsorted(bad, starts)
    wrong = first != np.searchsorted(bad, ends)
    if len(data):
        last = len(data) - 1
        wrong |= (data[np.minimum(starts, last)] & 0xC0) == 0x80
        followed = (ends <= last) & ((data[np.minimum(ends, last)] & 0xC0) == 0x80)
        wrong |= followed & (np.searchsorted(bad, ends) == np.searchsorted(bad, ends, "right"))
    faulty: npt.NDArray[np.bool_] = wrong & filled
    return faulty


def _bad_bytes(data: Bytes8) -> Places:
    """The places of all bytes that belong to no well-formed character, in order."""
    found = []
    for start in range(0, len(data), _BLOCK):
        stop = min(start + _BLOCK, len(data))
        before = min(start, 3)
        block = np.zeros(before + stop - start + 3, np.uint8)
        known = data[start - before : stop + 3]
        block[: len(known)] = known
        bad = _classify(block)[before : before + stop - start]
        found.append(np.flatnonzero(bad) + start)
    return np.concatenate(found) if found else np.zeros(0, np.int64)


def _classify(block: Bytes8) -> npt.NDArray[np.bool_]:
    """Whether each byte of a block is part of no well-formed character; the last 3 bytes only serve as lookahead."""
    size = len(block) - 3
    lead, second = block[:size], block[1 : size + 1]
    following = (block & 0xC0) == 0x80
    one, two, three = following[1 : size + 1], following[2 : size + 2], following[3 : size + 3]
    pairs = (lead >= 0xC2) & (lead <= 0xDF) & one
    triples = (lead >= 0xE0) & (lead <= 0xEF) & one & two
    triples &= ~((lead == 0xE0) & (second < 0xA0)) & ~((lead == 0xED) & (second >= 0xA0))
    quads = (lead >= 0xF0) & (lead <= 0xF4) & one & two & three
    quads &= ~((lead == 0xF0) & (second < 0x90)) & ~((lead == 0xF4) & (second >= 0x90))
    starts = pairs | triples | quads
    covered = np.zeros(size + 3, np.bool_)
    covered[:size] |= starts
    covered[1 : size + 1] |= starts
    covered[2 : size + 2] |= triples | quads
    covered[3 : size + 3] |= quads
    bad: npt.NDArray[np.bool_] = (lead >= 0x80) & ~covered[:size]
    return bad
