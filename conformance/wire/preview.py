"""Previews: a buffer's first values in a form for people, used by the annotated dump only."""

from __future__ import annotations

import datetime as dt
import struct
from collections.abc import Callable
from typing import Final

from conformance.contain.text import many
from conformance.wire.body import Body
from conformance.wire.closed import BufferRole, Layout
from conformance.wire.layout import Op
from conformance.wire.types import Type, TypeKind

__all__ = ["date_text", "decimal_text", "moment_text", "preview", "preview_values", "shorten"]

SHOWN: Final = 6
"""The number of values shown of a buffer."""
MOST: Final = 72
"""The number of characters shown of all values together."""

_EPOCH: Final = dt.datetime(1970, 1, 1)  # noqa: DTZ001  # zones are shown by the type, not per value
_TICKS: Final = {"s": 1, "ms": 1_000, "us": 1_000_000, "ns": 1_000_000_000}
_DATES: Final = {"day": "days", "ms": "milliseconds"}
_INTERVALS: Final = {"year-month": "<i", "day-time": "<ii", "month-day-nano": "<iiq"}
_FLOATS: Final = {2: "<e", 4: "<f", 8: "<d"}


def shorten(text: str, most: int = MOST) -> str:
    """``text`` on one line, cut to ``most`` characters; unprintable characters become dots."""
    flat = text[: most + 1]
    if not flat.isprintable():
        flat = "".join(char if char.isprintable() else "\N{MIDDLE DOT}" for char in flat)
    return flat if len(flat) <= most else flat[: most - 1] + "\N{HORIZONTAL ELLIPSIS}"


def preview(body: Body, op: Op, role: BufferRole | None, content: memoryview) -> str:
    """The first values of one buffer of ``op``; if ``role`` is None, it is a data buffer of a view field."""
    length = body.nodes[2 * op.index]
    if role is BufferRole.VALIDITY:
        bits = _bits(content, length)
        nulls = body.nodes[2 * op.index + 1]
        return f"{bits} ({nulls} null{'' if nulls == 1 else 's'})"
    if role in (BufferRole.OFFSETS, BufferRole.SIZES, BufferRole.TYPE_IDS, BufferRole.INDICES):
        return _values(content, _reader(op, role), length + (role is BufferRole.OFFSETS and op.layout in _ONE_MORE))
    if role is BufferRole.VIEWS:
        return _values(content, (op.width, _view), length)
    if op.layout is Layout.BOOL:
        return _bits(content, length)
    if op.layout is Layout.FIXED:
        return _values(content, (op.width, _value(op.field.type, op.width)), length)
    return _text(content) if op.parameter else _hex(content)


def preview_values(content: memoryview, made: Type) -> str:
    """The first values of a buffer that contains values of one type, one after the other."""
    if made.kind is TypeKind.BOOL:
        return _bits(content, 8 * len(content))
    width = made.byte_width or made.bit_width >> 3
    return _values(content, (width, _value(made, width)), len(content))


_ONE_MORE: Final = (Layout.BINARY, Layout.LIST)

Reader = tuple[int, Callable[[memoryview], str]]


def _reader(op: Op, role: BufferRole) -> Reader:
    width = 1 if role is BufferRole.TYPE_IDS else 4 if op.layout is Layout.DENSE_UNION else op.width
    dictionary = op.field.dictionary
    signed = dictionary is None or dictionary.index_type.signed
    return width, lambda raw: str(int.from_bytes(raw, "little", signed=signed))


def _values(content: memoryview, reader: Reader, count: int) -> str:
    width, show = reader
    if not width:
        return ""
    there = min(count, len(content) // width)
    shown = [show(content[at * width : (at + 1) * width]) for at in range(min(there, SHOWN))]
    return shorten(", ".join(shown) + (f", … {there} in all" if there > SHOWN else ""))


def _bits(content: memoryview, count: int) -> str:
    count = min(count, 8 * len(content))
    shown = "".join(str(content[bit >> 3] >> (bit & 7) & 1) for bit in range(min(count, 24)))
    grouped = " ".join(shown[at : at + 8] for at in range(0, len(shown), 8))
    return f"bits {grouped}{'…' if count > 24 else ''}"


def _text(content: memoryview) -> str:
    return repr(shorten(bytes(content[: 4 * MOST]).decode(errors="replace"), 56))


def _hex(content: memoryview) -> str:
    return shorten(bytes(content[:24]).hex(" ") + ("…" if len(content) > 24 else ""))


def _view(raw: memoryview) -> str:
    length, _, buffer, offset = struct.unpack("<i4sii", raw)
    if 0 <= length <= 12:
        return repr(bytes(raw[4 : 4 + length]).decode(errors="replace"))
    return f"{many(length, 'byte')} of data {buffer} at {offset}"


def _value(made: Type, width: int) -> Callable[[memoryview], str]:
    """The function that shows one value of a fixed-size type."""
    number = _NUMBERS.get(made.kind)
    if number is not None:
        return lambda raw: number(made, int.from_bytes(raw, "little", signed=True))
    if made.kind is TypeKind.FLOATING_POINT:
        return lambda raw: str(*struct.unpack(_FLOATS[width], raw))
    if made.kind is TypeKind.INTERVAL:
        return lambda raw: str(struct.unpack(_INTERVALS[made.unit], raw))
    if made.kind is TypeKind.FIXED_SIZE_BINARY:
        return lambda raw: bytes(raw[:12]).hex()
    return lambda raw: str(int.from_bytes(raw, "little", signed=made.signed or made.kind is not TypeKind.INT))


_NUMBERS: Final[dict[TypeKind, Callable[[Type, int], str]]] = {
    TypeKind.DECIMAL: lambda made, value: decimal_text(value, made.scale),
    TypeKind.DATE: lambda made, value: date_text(value, made.unit),
    TypeKind.TIMESTAMP: lambda made, value: moment_text(value, _TICKS[made.unit]),
    TypeKind.TIME: lambda made, value: moment_text(value, _TICKS[made.unit], skip=len("1970-01-01T")),
}


def decimal_text(value: int, scale: int) -> str:
    """The decimal with these digits, ``scale`` of them after the point."""
    digits, sign = str(abs(value)), "-" if value < 0 else ""
    # A hostile scale would make a text of any length.
    if scale <= 0 or scale > 100:
        return f"{sign}{digits}" + (f"e{-scale}" if scale else "")
    digits = digits.rjust(scale + 1, "0")
    return f"{sign}{digits[:-scale]}.{digits[-scale:]}"


def date_text(value: int, unit: str) -> str:
    """The date that is so many units after 1970-01-01; outside of the years 1 to 9999, the number."""
    try:
        return (_EPOCH + dt.timedelta(**{_DATES[unit]: value})).date().isoformat()
    except OverflowError:
        return str(value)


def moment_text(ticks: int, per_second: int, *, skip: int = 0) -> str:
    """The date and time of day so many ticks after 1970-01-01, without its first ``skip`` characters."""
    seconds, rest = divmod(ticks, per_second)
    try:
        moment = (_EPOCH + dt.timedelta(seconds=seconds)).isoformat()
    except OverflowError:
        return str(ticks)
    return moment[skip:] + (f".{rest:0{len(str(per_second)) - 1}d}" if rest else "")
