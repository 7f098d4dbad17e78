"""Judging of UTF-8 in columns: every live slot must be well-formed text on its own.

Fast checks come first: ASCII by words of 8 bytes, other text as one run in which no slot begins inside a character.
Only if they fail are the bytes classified one by one, to separate faulty live slots from slots that are not live.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from conformance.wire.body import Body
from conformance.wire.faults import Rule
from conformance.wire.layout import Op
from conformance.wire.liveness import live, numbers

__all__ = ["faulty_text", "is_ascii", "is_plain", "judge_text"]

_CHUNK: Final = 1 << 16
_DECODED: Final = 1 << 17
_PLACES: Final = 1 << 14
_BLOCK: Final = 1 << 20
_HIGH_BITS: Final = 0x8080_8080_8080_8080
_FIRST_LEAD: Final = -64
"""The bytes 80 to BF, which continue a character, are those below this when read as signed."""

Bytes8 = npt.NDArray[np.uint8]
Places = npt.NDArray[np.int64]


def judge_text(body: Body, op: Op, length: int, first: int, *, span: tuple[int, int]) -> None:
    """Judge the text between the first and the last offset of a column whose offsets are sound."""
    data = body.contents[first + 2]
    if data is None:
        return
    start, end = span
    text = data[start:end]
    if is_ascii(text):
        return
    offsets = numbers(body.contents[first + 1], f"i{op.width}", length + 1)
    whole = np.frombuffer(text, np.uint8)
    if _is_utf8(text) and not _splits(whole, offsets, start, end):
        return
    mask = live(body, op, length)
    if mask is None:
        return
    starts = offsets[:-1].astype(np.int64) - start
    ends = offsets[1:].astype(np.int64) - start
    wrong = faulty_text(whole, starts, ends) & mask
    if wrong.any():
        slot = int(wrong.argmax())
        value = bytes(text[int(starts[slot]) : min(int(ends[slot]), int(starts[slot]) + 24)])
        observed = f"the bytes {value.hex(' ')} in slot {slot} ({int(wrong.sum())} such slots)"
        body.fault(Rule.UTF8_INVALID, op, first + 2, observed, slot=start + int(starts[slot]), width=1)


def is_ascii(text: memoryview) -> bool:
    """Whether no byte has its high bit set."""
    size = len(text)
    if size <= _CHUNK:
        return bytes(text).isascii()
    words = np.frombuffer(text, np.uint64, size >> 3)
    for start in range(0, len(words), _CHUNK):
        if int(np.bitwise_or.reduce(words[start : start + _CHUNK])) & _HIGH_BITS:
            return False
    return bytes(text[size & ~7 :]).isascii()


def _is_utf8(text: memoryview) -> bool:
    """Whether the text is well-formed, chunk by chunk; chunks end where characters do."""
    at, size = 0, len(text)
    while at < size:
        stop = min(at + _DECODED, size)
        for _ in range(3 if stop < size else 0):
            stop -= (text[stop] & 0xC0) == 0x80
        chunk = bytes(text[at:stop])
        if not is_plain(chunk):
            try:
                chunk.decode()
            except UnicodeDecodeError:
                return False
        at = stop
    return True


def is_plain(chunk: bytes) -> bool:
    """Whether a chunk is certainly well-formed, at half the price of decoding it; False may be said of any.

    In characters of up to three bytes a byte continues exactly if one of the two before it asks for that. What more
    there is to know about some leading bytes, and about characters of four bytes, is left to the decoder.
    """
    if chunk.isascii():
        return True
    whole = np.frombuffer(chunk, np.uint8)
    most = whole.max()
    if most >= 0xF0 or b"\xc0" in chunk or b"\xc1" in chunk:
        return False
    asking = whole >= 0xC0
    if most >= 0xE0:
        if b"\xe0" in chunk or b"\xed" in chunk or whole[-2:].max() >= 0xE0:
            return False
        asking[1:] |= whole[:-1] >= 0xE0
    continuing = whole.view(np.int8) < _FIRST_LEAD
    return not (continuing[0] or asking[-1]) and bool((continuing[1:] == asking[:-1]).all())


def _splits(whole: Bytes8, offsets: npt.NDArray[Any], start: int, end: int) -> bool:
    """Whether any slot begins inside a character."""
    signed = whole.view(np.int8)
    for at in range(0, len(offsets) - 1, _PLACES):
        places = offsets[at : at + _PLACES]
        if places[-1] >= end:
            places = places[places < end]
        if len(places) and signed.take(places - start if start else places).min() < _FIRST_LEAD:
            return True
    return False


def faulty_text(data: Bytes8, starts: Places, ends: Places) -> npt.NDArray[np.bool_]:
    """Whether each range of ``data`` is not well-formed UTF-8 on its own; ranges may overlap and lie in any order."""
    bad = _bad_bytes(data)
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
