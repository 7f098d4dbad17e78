"""A message with a field of every kind, bytes that break each rule of its encoding, and bytes that are only unusual."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from conformance._protobuftables import declare
from conformance.wire import PermittedEncoding, ProtobufRule
from conformance.wire.protobuf import MAX_DEPTH

__all__ = ["BROKEN", "FEW", "KINDS", "UNUSUAL", "delimited", "tag", "varint"]

FEW: Final = 1000
"""The limit on fields in these tests; the real one takes seconds to reach."""

KINDS: Final = declare(
    "https://example.com/kinds.proto",
    {
        "Kinds": (
            "1 int32_value int32",
            "2 int64_value int64",
            "3 uint32_value uint32",
            "4 uint64_value uint64",
            "5 sint32_value sint32",
            "6 sint64_value sint64",
            "7 bool_value bool",
            "8 enum_value enum:Colour",
            "9 fixed64_value fixed64",
            "10 sfixed64_value sfixed64",
            "11 double_value double",
            "12 fixed32_value fixed32",
            "13 sfixed32_value sfixed32",
            "14 float_value float",
            "15 string_value string",
            "16 bytes_value bytes",
            "17 message_value Kinds",
            "18 messages Kinds*",
            "19 strings string*",
            "20 int32s int32*",
            "21 fixed32s fixed32*",
            "22 bools bool*",
            "23 number int64 choice",
            "24 text string choice",
            "25 maybe int32?",
        )
    },
    {"Colour": {0: "NONE", 1: "RED", 2: "BLUE"}},
)


def varint(value: int) -> bytes:
    """``value`` as a varint, in as many bytes as it needs."""
    made = bytearray()
    while value > 0x7F:
        made.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes((*made, value))


def tag(number: int, wire_type: int) -> bytes:
    """The tag of a field."""
    return varint(number << 3 | wire_type)


def delimited(number: int, value: bytes) -> bytes:
    """A field with a length."""
    return tag(number, 2) + varint(len(value)) + value


def _nested(depth: int) -> bytes:
    made = b""
    for _ in range(depth - 1):
        made = delimited(17, made)
    return made


_R = ProtobufRule
BROKEN: Final[Mapping[ProtobufRule, tuple[bytes, ...]]] = {
    _R.VARINT_TRUNCATED: (b"\x08\x80", b"\x88", b"\x7a\xff", delimited(20, b"\x01\x82"), delimited(17, b"\x08\x80")),
    _R.VARINT_TOO_LONG: (
        b"\x08" + b"\x80" * 10 + b"\x00",
        b"\x88" + b"\x80" * 4 + b"\x00\x01",
        b"\x7a\x81" + b"\x80" * 4 + b"\x00x",
    ),
    _R.VARINT_OVERFLOW: (b"\x10" + b"\xff" * 9 + b"\x03", tag(99, 0) + b"\xff" * 9 + b"\x7f"),
    _R.FIELD_NUMBER: (b"\x00\x01", b"\x02\x00", b"\x88\x80\x80\x80\x1f\x05", tag(99, 3) + b"\x00\x00" + tag(99, 4)),
    _R.WIRE_TYPE_UNKNOWN: (b"\x0e\x00", b"\x0f\x00", tag(99, 7), tag(99, 3) + b"\x0e" + tag(99, 4)),
    _R.WIRE_TYPE_DIFFERS: (b"\x0a\x00", b"\x78\x01", b"\x0d" + bytes(4), tag(1, 3) + tag(1, 4), tag(18, 0) + b"\x00"),
    _R.LENGTH_BEYOND: (
        b"\x7a\x02x",
        delimited(17, b"\x7a\x01"),
        b"\x7a\xff\xff\xff\xff\x0f",
        tag(99, 2) + b"\x01",
    ),
    _R.FIXED_TRUNCATED: (b"\x49" + bytes(7), b"\x65" + bytes(3), tag(99, 1), tag(99, 3) + tag(1, 5) + tag(99, 4)),
    _R.GROUP_NOT_ENDED: (tag(99, 3), tag(99, 3) + tag(98, 4), delimited(17, tag(99, 3))),
    _R.GROUP_NOT_STARTED: (tag(99, 4), tag(1, 4), tag(99, 3) + tag(99, 4) + tag(99, 4)),
    _R.PACKED_SIZE: (delimited(21, bytes(7)), delimited(21, bytes(1))),
    _R.STRING_NOT_UTF8: (delimited(15, b"a\xff"), delimited(19, b"\xed\xa0\x80"), delimited(24, b"\xc3")),
    _R.DEPTH: (_nested(MAX_DEPTH + 1), tag(99, 3) * (MAX_DEPTH + 1) + tag(99, 4) * (MAX_DEPTH + 1)),
    _R.FIELDS: (b"\x08\x01" * (FEW + 1), delimited(22, b"\x01" * FEW)),
}
"""Bytes that should be a ``Kinds``, by the rule that they break."""

_P = PermittedEncoding
UNUSUAL: Final[Mapping[PermittedEncoding, tuple[bytes, ...]]] = {
    _P.FIELD_ORDER: (b"\x10\x01\x08\x01", delimited(17, b"\x10\x01\x08\x01")),
    _P.FIELD_REPEATED: (b"\x08\x01\x08\x02",),
    _P.MESSAGE_MERGED: (delimited(17, b"\x08\x01") + delimited(17, b"\x10\x02"),),
    _P.ONEOF_REPEATED: (tag(23, 0) + b"\x01" + delimited(24, b"x"), delimited(24, b"x") + tag(23, 0) + b"\x01"),
    _P.FIELD_UNKNOWN: (tag(99, 0) + b"\x01", tag((1 << 29) - 1, 5) + bytes(4), delimited(99, b"x")),
    _P.GROUP: (tag(99, 3) + b"\x08\x01" + tag(98, 3) + tag(98, 4) + tag(99, 4),),
    _P.VARINT_OVERLONG: (
        b"\x08\x81\x00",
        b"\x88\x00\x01",
        b"\x08\x81" + b"\x80" * 8 + b"\x00",
        b"\x7a\x81\x80\x80\x80\x00x",
    ),
    _P.VALUE_TRUNCATED: (b"\x08" + varint(1 << 32), b"\x38\x02", b"\x18" + varint(1 << 40), b"\x28" + varint(1 << 33)),
    _P.ENUM_UNKNOWN: (b"\x40\x09",),
    _P.DEFAULT_WRITTEN: (b"\x08\x00", delimited(15, b""), delimited(16, b""), b"\x59" + bytes(8)),
    _P.PACKING: (tag(20, 0) + b"\x01", tag(21, 5) + bytes(4)),
}
"""Bytes of a ``Kinds`` that break no rule, by the observation that they give."""
