"""UTF-8 in columns: every live slot on its own is well-formed text.

Checked coarsely first: ASCII by whole words, other text as one run with no slot beginning inside a character.
Only where that fails are the bytes classified one by one and the faulty slots told from those that nobody sees.
"""

from __future__ import annotations

import numpy as np

from conformance.wire.body import Body
from conformance.wire.faults import Rule
from conformance.wire.layout import Op
from conformance.wire.liveness import live, numbers
from conformance.wire.utf8 import faulty_text, is_ascii, is_utf8

__all__ = ["judge_text"]


def judge_text(body: Body, op: Op, length: int, first: int, *, span: tuple[int, int]) -> None:
    """Judges the text between the first and the last offset of a column whose offsets are known to be sound."""
    data = body.contents[first + 2]
    if data is None:
        return
    start, end = span
    text = data[start:end]
    if is_ascii(text):
        return
    offsets = numbers(body.contents[first + 1], f"i{op.width}", length + 1)
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
        observed = f"the bytes {value.hex(' ')} in slot {slot} ({int(wrong.sum())} such slots)"
        body.fault(Rule.UTF8_INVALID, op, first + 2, observed, slot=start + int(starts[slot]), width=1)
