"""Judging of the views of BinaryView and Utf8View columns.

Only live slots are judged, because the format does not define the view of a null.
Views may overlap and repeat, so that no step copies the bytes of all of them together.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from conformance.contain.text import many
from conformance.wire.body import Body
from conformance.wire.faults import Rule
from conformance.wire.layout import Mask, Op
from conformance.wire.liveness import live
from conformance.wire.utf8 import faulty_text, is_ascii

__all__ = ["judge_views"]

INLINE: Final = 12
"""The largest number of bytes of a value that is stored inside its view.

Source: https://arrow.apache.org/docs/format/Columnar.html#variable-size-binary-view-layout.
"""

_VIEW: Final = np.dtype([("length", "<i4"), ("prefix", "<u4"), ("buffer", "<i4"), ("offset", "<i4")])


def judge_views(
    body: Body, op: Op, length: int, number: int, *, content: memoryview, buffers: list[memoryview]
) -> None:
    """Judge the views in buffer ``number`` against the data buffers that they refer to."""
    mask = live(body, op, length)
    if mask is None:
        return
    views = np.frombuffer(content, _VIEW, length)
    sizes = views["length"]
    long = mask & (sizes > INLINE)
    # Only a view of a long value has a buffer and an offset.
    known = long & (views["buffer"] >= 0) & (views["buffer"] < len(buffers))
    limits = np.array([len(buffer) for buffer in buffers] or [0], np.int64)
    # In 64 bits, because the sum of two 32-bit numbers may overflow.
    ends = views["offset"].astype(np.int64) + sizes
    inside = known & (views["offset"] >= 0) & (ends <= limits[np.where(known, views["buffer"], 0)])
    unsound = (
        (Rule.VIEW_LENGTH_NEGATIVE, mask & (sizes < 0)),
        (Rule.VIEW_BUFFER_INDEX, long & ~known),
        (Rule.VIEW_RANGE, known & ~inside),
    )
    for rule, wrong in unsound:
        if _report(body, op, number, rule, wrong):
            body.broke(op)
    short = mask & (sizes >= 0) & ~long
    # A short value is followed by zeros up to the end of its view
    # (https://arrow.apache.org/docs/format/Columnar.html#variable-size-binary-view-layout).
    spare = np.arange(INLINE) >= sizes[:, None]
    inline = np.frombuffer(content, np.uint8, 16 * length).reshape(length, 16)[:, 4:]
    dirty = short & np.where(spare, inline, 0).any(axis=1)
    _report(body, op, number, Rule.VIEW_INLINE_PADDING, dirty)
    wrong = np.zeros(length, np.bool_)
    if op.parameter and not is_ascii(content[: 16 * length]):
        starts = 16 * np.flatnonzero(short) + 4
        whole = np.frombuffer(content, np.uint8, 16 * length)
        wrong[short] = faulty_text(whole, starts, starts + sizes[short])
    differs = np.zeros(length, np.bool_)
    # A long view repeats the first four bytes of its value, so that readers can compare without following it.
    for buffer, chosen in _by_buffer(views, inside, buffers):
        data, starts = np.frombuffer(buffer, np.uint8), views["offset"][chosen].astype(np.int64)
        differs[chosen] = _prefixes(data, starts) != views["prefix"][chosen]
        if op.parameter and not is_ascii(buffer):
            wrong[chosen] = faulty_text(data, starts, starts + sizes[chosen])
    _report(body, op, number, Rule.VIEW_PREFIX, differs)
    _report(body, op, number, Rule.UTF8_INVALID, wrong)


def _by_buffer(
    views: npt.NDArray[Any], inside: Mask, buffers: list[memoryview]
) -> Iterator[tuple[memoryview, npt.NDArray[np.int64]]]:
    """Each data buffer that views refer to, with their slots; one sort serves all, because buffers may be many."""
    slots = np.flatnonzero(inside)
    slots = slots[np.argsort(views["buffer"][slots], kind="stable")]
    places, firsts = np.unique(views["buffer"][slots], return_index=True)
    for place, chosen in zip(places.tolist(), np.split(slots, firsts[1:]), strict=False):
        yield buffers[place], chosen


def _prefixes(data: npt.NDArray[np.uint8], starts: npt.NDArray[np.int64]) -> npt.NDArray[np.uint32]:
    """The first four bytes of each value as a little-endian number; byte by byte, because values are not aligned."""
    prefixes = np.zeros(len(starts), np.uint32)
    for byte in range(4):
        prefixes |= data[starts + byte].astype(np.uint32) << np.uint32(8 * byte)
    return prefixes


def _report(body: Body, op: Op, number: int, rule: Rule, wrong: Mask) -> bool:
    if not wrong.any():
        return False
    slot = int(wrong.argmax())
    content = body.contents[number]
    view = "" if content is None else content[16 * slot : 16 * slot + 16].hex(" ", 4)
    observed = f"the view {view} in slot {slot} ({many(int(wrong.sum()), 'such slot')})"
    body.fault(rule, op, number, observed, element=(slot, 16))
    return True
