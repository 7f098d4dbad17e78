"""Conversion of big-endian bodies: the numbers in their buffers are byte-swapped before anything is judged.

The layout determines which bytes are numbers. Bitmaps, 8-bit values, text, type ids, and the inline bytes and prefix of
a view keep their bytes (https://arrow.apache.org/docs/format/Columnar.html#byte-order-endianness).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

import numpy as np

from conformance.wire.closed import BufferRole
from conformance.wire.layout import LayoutPlan, Op
from conformance.wire.types import TypeKind

__all__ = ["swap"]

_INLINE: Final = 12
_VIEW: Final = np.dtype([("length", "<i4"), ("prefix", "V4"), ("buffer", "<i4"), ("offset", "<i4")])


def swap(plan: LayoutPlan, starts: tuple[int, ...], stored: Sequence[memoryview | None]) -> list[memoryview | None]:
    """Return the buffers, those of numbers as swapped copies; bytes after the last complete number stay as they are."""
    contents = list(stored)
    for op in plan.ops:
        first = starts[op.index]
        for place, role in enumerate(op.roles):
            content = contents[first + place]
            swapper = _SWAPPERS.get(role)
            if content and swapper is not None:
                contents[first + place] = memoryview(swapper(op, content))
    return contents


def _reversed(content: memoryview, parts: tuple[int, ...]) -> bytes:
    """``content`` as records of numbers with the given widths in bytes, the bytes of each number reversed."""
    order: list[int] = []
    for part in parts:
        order += range(len(order) + part - 1, len(order) - 1, -1)
    width = len(order)
    whole = len(content) // width * width
    records = np.frombuffer(content, np.uint8, whole).reshape(-1, width)
    return records[:, order].tobytes() + bytes(content[whole:])


def _data(op: Op, content: memoryview) -> bytes | memoryview:
    made = op.field.type
    # A field with offsets has bytes or text as its data, and its width is that of an offset.
    if made.kind in (TypeKind.BOOL, TypeKind.FIXED_SIZE_BINARY) or op.width <= 1 or BufferRole.OFFSETS in op.roles:
        return content
    return _reversed(content, _PARTS.get(made.unit, (op.width,)))


_PARTS: Final = {"day-time": (4, 4), "month-day-nano": (4, 4, 8)}
"""The widths in bytes of the numbers of an interval that consists of several."""


def _offsets(op: Op, content: memoryview) -> bytes:
    # The width of a dense union is that of its type ids (1 byte); its offsets have 4 bytes.
    return _reversed(content, (op.width if op.width > 1 else 4,))


def _views(_: Op, content: memoryview) -> bytes:
    whole = len(content) // 16 * 16
    views = np.frombuffer(content, _VIEW, whole // 16).copy()
    views["length"] = views["length"].byteswap()
    # A short value is stored in place of buffer and offset, and its bytes are not numbers.
    long = views["length"] > _INLINE
    for name in ("buffer", "offset"):
        views[name] = np.where(long, views[name].byteswap(), views[name])
    return views.tobytes() + bytes(content[whole:])


_SWAPPERS: Final[dict[BufferRole, Callable[[Op, memoryview], bytes | memoryview]]] = {
    BufferRole.DATA: _data,
    BufferRole.INDICES: lambda op, content: _reversed(content, (op.width,)),
    BufferRole.OFFSETS: _offsets,
    BufferRole.SIZES: _offsets,
    BufferRole.VIEWS: _views,
}
