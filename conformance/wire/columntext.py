"""Judging of UTF-8 in columns: every live slot must be well-formed text on its own.

Fast checks come first: ASCII by words of 8 bytes, other text as one run in which no slot begins inside a character.
Only if they fail are the bytes classified one by one, to separate faulty live slots from slots that are not live.
"""

from __future__ import annotations

import numpy as np

from conformance.contain.text import many
from conformance.wire.body import Body
from conformance.wire.faults import Rule
from conformance.wire.layout import Op
from conformance.wire.liveness import live, numbers
from conformance.wire.utf8 import faulty_text, is_ascii, is_utf8

__all__ = ["judge_text"]


def judge_text(body: Body, op: Op, length: int, first: int, *, span: tuple[int, int]) -> None:
    """Judge the text between the first and the last offset of a column whose offsets are sound."""
    data = body.contents[first + 2]
    if data is None:
        return
    start, end = span
    text = data[start:end]
    if is_ascii(text):
        return
    # A search in offsets that are not aligned in memory would copy all of them, once for each chunk of text.
    offsets = np.require(numbers(body.contents[first + 1], f"i{op.width}", length + 1), requirements="A")
    if is_utf8(text, offsets[:-1], base=start):
        return
    mask = live(body, op, length)
    if mask is None:
        return
    starts = offsets[:-1].astype(np.int64) - start
    ends = offsets[1:].astype(np.int64) - start
    wrong = faulty_text(np.frombuffer(text, np.uint8), starts, ends) & mask
    if wrong.any():
        slot = int(wrong.argmax())
        value = bytes(text[int(starts[slot]) : min(int(ends[slot]), int(starts[slot]) + 24)])
        observed = f"the bytes {value.hex(' ')} in slot {slot} ({many(int(wrong.sum()), 'such slot')})"
        body.fault(Rule.UTF8_INVALID, op, first + 2, observed, element=(start + int(starts[slot]), 1))
