"""Protobuf messages as plain JSON values, without loss: encoding the JSON gives the same bytes again.

A known field is a key with its value: text, a number, a list where the field is repeated, base64 for bytes. An unknown
field is a key ``#17`` with its wire type. Bytes that this form cannot give back are kept as they are, under the one key
``bytes``; so are bytes that are no message.
"""

from __future__ import annotations

import base64
import binascii
import struct
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from google.protobuf.descriptor import Descriptor, FieldDescriptor

from conformance._codec import NO_NUMBERS, json_float

__all__ = ["RAW", "PlainFormError", "from_plain", "to_plain"]

RAW: Final = "bytes"
"""The key of bytes that have no other form; no message of the API has a field of this name."""
_VARINT, _FIXED64, _LENGTH, _FIXED32 = 0, 1, 2, 5
_UNKNOWN: Final = {_VARINT: "varint", _FIXED64: "fixed64", _LENGTH: "base64", _FIXED32: "fixed32"}
_INTEGERS: Final = frozenset(
    {FieldDescriptor.TYPE_INT32, FieldDescriptor.TYPE_INT64, FieldDescriptor.TYPE_ENUM, FieldDescriptor.TYPE_BOOL}
)
_MOST_VARINT: Final = 10
"""The most bytes of a varint: 64 bits in groups of 7."""


class PlainFormError(ValueError):
    """A JSON value is not the form of a message; the text says where and what was expected."""


class _NotPlainError(Exception):
    """Bytes have no plain form."""


def to_plain(kind: Descriptor | None, data: bytes) -> dict[str, Any]:
    """The plain form of ``data``, a message of ``kind``; its bytes as they are if it has none or ``kind`` is None."""
    if kind is not None:
        try:
            found = _message(kind, data)
            if _encoded(kind, found, "") == data:
                return found
        except (_NotPlainError, PlainFormError):
            pass
    return {RAW: _text(data)}


def from_plain(kind: Descriptor | None, value: Any, path: str = "") -> bytes:
    """The bytes of a message in its plain form.

    Raises:
        PlainFormError: the value is not the form of a message of ``kind``.
    """
    if isinstance(value, Mapping) and set(value) == {RAW}:
        return _bytes(value[RAW], f"{path}.{RAW}")
    if kind is None:
        raise PlainFormError(f"{path}: expected an object with the one key {RAW!r}")
    return _encoded(kind, value, path)


def _text(data: bytes) -> str:
    return base64.b64encode(data).decode()


def _bytes(value: Any, path: str) -> bytes:
    try:
        return base64.b64decode(value, validate=True)
    except (TypeError, ValueError, binascii.Error):
        raise PlainFormError(f"{path}: expected base64 text, got {value!r:.60}") from None


# --- reading ----------------------------------------------------------------------------------------


def _message(kind: Descriptor, data: bytes) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for number, wire, raw in _fields(data):
        field = kind.fields_by_number.get(number)
        if field is None:
            found.setdefault(f"#{number}", []).append({_UNKNOWN[wire]: _text(raw) if isinstance(raw, bytes) else raw})
            continue
        value = _value(field, wire, raw)
        if _repeated(field):
            found.setdefault(field.name, []).append(value)
        elif field.name in found:
            raise _NotPlainError
        else:
            found[field.name] = value
    return found


def _repeated(field: Any) -> bool:
    # Newer versions of protobuf warn of `label`, and older ones have no `is_repeated`.
    return bool(field.is_repeated) if hasattr(field, "is_repeated") else field.label == field.LABEL_REPEATED


def _value(field: FieldDescriptor, wire: int, raw: int | bytes) -> Any:
    match field.type, wire, raw:
        case FieldDescriptor.TYPE_STRING, _, bytes():
            try:
                return raw.decode()
            except UnicodeDecodeError:
                raise _NotPlainError from None
        case FieldDescriptor.TYPE_BYTES, _, bytes():
            return _text(raw)
        case FieldDescriptor.TYPE_MESSAGE, _, bytes() if field.message_type is not None:
            return _message(field.message_type, raw)
        case FieldDescriptor.TYPE_DOUBLE, 1, int():
            return json_float(*struct.unpack("<d", raw.to_bytes(8, "little")))
        case kind, 0, int() if kind in _INTEGERS:
            return raw - (1 << 64) if raw >> 63 else raw
    raise _NotPlainError


def _fields(data: bytes) -> Iterator[tuple[int, int, int | bytes]]:
    """Each field's number, wire type and content."""
    at = 0
    while at < len(data):
        tag, at = _varint(data, at)
        number, wire = tag >> 3, tag & 7
        if wire == _VARINT:
            value, at = _varint(data, at)
            yield number, wire, value
            continue
        if wire not in _UNKNOWN:
            raise _NotPlainError
        size = {_FIXED64: 8, _FIXED32: 4}.get(wire, 0)
        if wire == _LENGTH:
            size, at = _varint(data, at)
        raw, at = data[at : at + size], at + size
        if len(raw) != size:
            raise _NotPlainError
        yield number, wire, raw if wire == _LENGTH else int.from_bytes(raw, "little")


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = 0
    for place, byte in enumerate(data[at : at + _MOST_VARINT]):
        value |= (byte & 0x7F) << 7 * place
        if byte < 0x80:
            return value & (1 << 64) - 1, at + place + 1
    raise _NotPlainError


# --- writing ----------------------------------------------------------------------------------------


def _encoded(kind: Descriptor, value: Any, path: str) -> bytes:
    if not isinstance(value, Mapping):
        raise PlainFormError(f"{path}: expected an object ({kind.name}), got {value!r:.60}")
    parts: list[bytes] = []
    for name, item in value.items():
        place = f"{path}.{name}"
        if name.startswith("#"):
            parts += _unknown(name, item, place)
            continue
        field = kind.fields_by_name.get(name)
        if field is None:
            raise PlainFormError(f"{place}: expected a field of {kind.name}")
        if not _repeated(field):
            parts.append(_field(field, item, place))
        elif isinstance(item, list):
            parts += (_field(field, one, f"{place}[{index}]") for index, one in enumerate(item))
        else:
            raise PlainFormError(f"{place}: expected a list, got {item!r:.60}")
    return b"".join(parts)


def _unknown(name: str, items: Any, place: str) -> Iterator[bytes]:
    wires = {word: wire for wire, word in _UNKNOWN.items()}
    if not name[1:].isdecimal() or not isinstance(items, list):
        raise PlainFormError(f"{place}: expected #NUMBER and a list of values")
    for item in items:
        if not isinstance(item, Mapping) or len(item) != 1 or next(iter(item)) not in wires:
            raise PlainFormError(f"{place}: expected an object with one of {', '.join(wires)}")
        ((word, value),) = item.items()
        tag = _packed(int(name[1:]) << 3 | wires[word])
        if wires[word] == _LENGTH:
            yield tag + _delimited(_bytes(value, place))
        else:
            sizes: dict[int, Callable[[int], bytes]] = {
                _VARINT: _packed,
                _FIXED64: lambda number: number.to_bytes(8, "little"),
                _FIXED32: lambda number: number.to_bytes(4, "little"),
            }
            try:
                yield tag + sizes[wires[word]](value)
            except (AttributeError, TypeError, OverflowError):
                raise PlainFormError(f"{place}: expected an unsigned number, got {value!r:.60}") from None


def _field(field: FieldDescriptor, value: Any, place: str) -> bytes:
    number = field.number << 3
    match field.type:
        case FieldDescriptor.TYPE_STRING if isinstance(value, str):
            return _packed(number | _LENGTH) + _delimited(value.encode())
        case FieldDescriptor.TYPE_BYTES:
            return _packed(number | _LENGTH) + _delimited(_bytes(value, place))
        case FieldDescriptor.TYPE_MESSAGE if field.message_type is not None:
            return _packed(number | _LENGTH) + _delimited(_encoded(field.message_type, value, place))
        case FieldDescriptor.TYPE_DOUBLE if (double := _double(value)) is not None:
            return _packed(number | _FIXED64) + struct.pack("<d", double)
        case kind if kind in _INTEGERS and type(value) is int and -(1 << 63) <= value < 1 << 63:
            return _packed(number | _VARINT) + _packed(value & (1 << 64) - 1)
    raise PlainFormError(f"{place}: expected a value of the field, got {value!r:.60}")


def _double(value: Any) -> float | None:
    """The number of a JSON value; None if it is none, or beyond the largest double."""
    if isinstance(value, str):
        return NO_NUMBERS.get(value)
    try:
        return float(value) if type(value) in (float, int) else None
    except OverflowError:
        return None


def _packed(value: int) -> bytes:
    if value < 0:
        raise OverflowError
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes((*out, value))


def _delimited(data: bytes) -> bytes:
    return _packed(len(data)) + data
