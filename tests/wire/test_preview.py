"""Previews of buffers: the first values of every type and layout, as a person writes them."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pytest

from conformance.wire import Schema, read_batch, read_schema
from conformance.wire.closed import BufferRole
from conformance.wire.preview import preview, preview_values, shorten
from conformance.wire.types import Type, TypeKind
from tests.wire.forge import batch_message, column, field, i1, i2, i4, i8, schema_message
from tests.wire.test_views import long, short


@pytest.mark.parametrize(
    ("text", "most", "expected"),
    [
        ("abcd", 4, "abcd"),
        ("abcde", 4, "abc…"),
        ("a\nb\0", 4, "a·b·"),
        ("x" * 72, 72, "x" * 72),
        ("x" * 73, 72, "x" * 71 + "…"),
    ],
)
def test_long_text_is_cut(text: str, most: int, expected: str) -> None:
    """A text stays on one line and has at most so many characters, the ellipsis among them."""
    assert shorten(text, most) == expected


def _number(bits: int, *, signed: bool) -> Type:
    return Type(TypeKind.INT, bit_width=bits, signed=signed)


def _decimal(scale: int, bits: int = 32) -> Type:
    return Type(TypeKind.DECIMAL, bit_width=bits, precision=9, scale=scale)


def _timed(kind: TypeKind, unit: str, bits: int = 64) -> Type:
    return Type(kind, bit_width=bits, unit=unit)


_VALUES: list[tuple[Type, bytes, str]] = [
    (Type(TypeKind.BOOL), b"\x05", "bits 10100000"),
    (Type(TypeKind.BOOL), b"\x05\x00\x80", "bits 10100000 00000000 00000001"),
    (Type(TypeKind.BOOL), b"\x05\x00\x80\xff", "bits 10100000 00000000 00000001…"),
    (_number(8, signed=True), i1(-1, 127), "-1, 127"),
    (_number(8, signed=False), i1(-1, 127), "255, 127"),
    (_number(16, signed=False), i2(-1), "65535"),
    (_number(64, signed=True), i8(-(2**63)), "-9223372036854775808"),
    (_number(8, signed=True), i1(*range(6)), "0, 1, 2, 3, 4, 5"),
    (_number(8, signed=True), i1(*range(7)), "0, 1, 2, 3, 4, 5, … 7 in all"),
    (_number(32, signed=True), i4(1, 2) + b"\1\2\3", "1, 2"),
    (Type(TypeKind.FLOATING_POINT, bit_width=16), struct.pack("<e", 1.5), "1.5"),
    (Type(TypeKind.FLOATING_POINT, bit_width=32), struct.pack("<2f", 1.5, -0.0), "1.5, -0.0"),
    (Type(TypeKind.FLOATING_POINT, bit_width=64), struct.pack("<d", 0.1), "0.1"),
    (_decimal(2), i4(150, -5, 0, -12345), "1.50, -0.05, 0.00, -123.45"),
    (_decimal(0), i4(150, -5), "150, -5"),
    (_decimal(-2), i4(150, -5), "150e2, -5e2"),
    (_decimal(1, 128), i8(-1, -1), "-0.1"),
    (_decimal(100), i4(7), shorten("0." + "0" * 99 + "7")),
    (_decimal(101), i4(7), "7e-101"),
    (_timed(TypeKind.DATE, "day", 32), i4(0, -1, 19_000), "1970-01-01, 1969-12-31, 2022-01-08"),
    (_timed(TypeKind.DATE, "ms"), i8(86_400_000, -1), "1970-01-02, 1969-12-31"),
    (_timed(TypeKind.DATE, "day", 32), i4(2**31 - 1), "2147483647"),
    (_timed(TypeKind.DATE, "ms"), i8(2**62), "4611686018427387904"),
    (_timed(TypeKind.TIME, "s", 32), i4(3661), "01:01:01"),
    (_timed(TypeKind.TIME, "ms", 32), i4(1, 86_399_999), "00:00:00.001, 23:59:59.999"),
    (_timed(TypeKind.TIME, "us"), i8(1, 60_000_000), "00:00:00.000001, 00:01:00"),
    (_timed(TypeKind.TIME, "ns"), i8(1, 10**9), "00:00:00.000000001, 00:00:01"),
    (_timed(TypeKind.TIME, "s"), i8(2**62), "4611686018427387904"),
    (_timed(TypeKind.TIMESTAMP, "s"), i8(1_700_000_000), "2023-11-14T22:13:20"),
    (_timed(TypeKind.TIMESTAMP, "ms"), i8(-1), "1969-12-31T23:59:59.999"),
    (_timed(TypeKind.TIMESTAMP, "us"), i8(1_000_001), "1970-01-01T00:00:01.000001"),
    (_timed(TypeKind.TIMESTAMP, "ns"), i8(1_000_000_001), "1970-01-01T00:00:01.000000001"),
    (_timed(TypeKind.TIMESTAMP, "s"), i8(-(2**63)), "-9223372036854775808"),
    (_timed(TypeKind.DURATION, "s"), i8(-90), "-90"),
    (_timed(TypeKind.INTERVAL, "year-month", 32), i4(-14), "(-14,)"),
    (_timed(TypeKind.INTERVAL, "day-time"), i4(1, -2), "(1, -2)"),
    (_timed(TypeKind.INTERVAL, "month-day-nano", 128), i4(1, -2) + i8(3), "(1, -2, 3)"),
    (Type(TypeKind.FIXED_SIZE_BINARY, byte_width=2), b"\x01\xff\x00\x7f", "01ff, 007f"),
    (Type(TypeKind.FIXED_SIZE_BINARY, byte_width=13), bytes(range(13)), "000102030405060708090a0b"),
    (Type(TypeKind.NULL), b"\1", ""),
]


@pytest.mark.parametrize(("made", "content", "expected"), _VALUES, ids=str)
def test_values_are_shown_as_their_type_says(made: Type, content: bytes, expected: str) -> None:
    """Six values at most, each in the notation of its type; what no calendar has is shown as the stored number."""
    assert preview_values(memoryview(content), made) == expected


def _shown(
    schema: Schema,
    role: BufferRole | None,
    nodes: Sequence[tuple[int, int]],
    buffers: Sequence[bytes],
    at: int,
    **batch: Any,
) -> str:
    body = read_batch(batch_message(nodes[0][0], nodes, buffers, batch=batch), schema).body
    assert body is not None
    content = body.contents[at]
    assert content is not None
    return preview(body, body.plan.ops[0], role, content)


_DENSE = pa.dense_union([pa.field("a", pa.int8()), pa.field("b", pa.int8())])
_IN_UNION = [i1(0, 1, 0), i4(0, 0, 1), b"", i1(1, 2), b"", i1(3)]


@pytest.mark.parametrize(
    ("kind", "role", "nodes", "buffers", "at", "expected"),
    [
        pytest.param(pa.int8(), "VALIDITY", [(3, 1)], [b"\5", i1(1, 2, 3)], 0, "bits 101 (1 null)", id="one null"),
        pytest.param(pa.int8(), "VALIDITY", [(3, 2)], [b"\4", i1(1, 2, 3)], 0, "bits 001 (2 nulls)", id="two nulls"),
        pytest.param(pa.int8(), "VALIDITY", [(3, 0)], [b"\7", i1(1, 2, 3)], 0, "bits 111 (0 nulls)", id="no null"),
        pytest.param(pa.int8(), "DATA", [(2, 0)], [b"", i1(1, 2, 3)], 1, "1, 2", id="padding is no value"),
        pytest.param(pa.bool_(), "DATA", [(9, 0)], [b"", b"\1\1"], 1, "bits 10000000 1", id="booleans"),
        pytest.param(pa.utf8(), "OFFSETS", [(2, 0)], [b"", i4(0, 1, 3, 9), b"abc"], 1, "0, 1, 3", id="offsets of text"),
        pytest.param(pa.large_utf8(), "OFFSETS", [(1, 0)], [b"", i8(0, 3), b"abc"], 1, "0, 3", id="wide offsets"),
        pytest.param(pa.utf8(), "DATA", [(1, 0)], [b"", i4(0, 3), b"a\nc"], 2, "'a·c'", id="text"),
        pytest.param(
            pa.utf8(), "DATA", [(1, 0)], [b"", i4(0, 57), b"a" * 57], 2, f"'{'a' * 55}…'", id="text of 57 letters"
        ),
        pytest.param(pa.binary(), "DATA", [(1, 0)], [b"", i4(0, 2), b"\1\xff"], 2, "01 ff", id="bytes"),
        pytest.param(
            pa.binary(), "DATA", [(1, 0)], [b"", i4(0, 24), bytes(24)], 2, " ".join(["00"] * 24), id="24 bytes"
        ),
        pytest.param(
            pa.binary(), "DATA", [(1, 0)], [b"", i4(0, 25), bytes(25)], 2, " ".join(["00"] * 24) + "…", id="25 bytes"
        ),
        pytest.param(pa.list_(pa.int8()), "OFFSETS", [(1, 0), (2, 0)], [b"", i4(0, 2), b"", i1(1, 2)], 1, "0, 2"),
        pytest.param(
            pa.dictionary(pa.int8(), pa.utf8()), "INDICES", [(2, 0)], [b"", i1(0, -1)], 1, "0, -1", id="signed indices"
        ),
        pytest.param(
            pa.dictionary(pa.uint8(), pa.utf8()), "INDICES", [(2, 0)], [b"", i1(0, -1)], 1, "0, 255", id="indices"
        ),
        pytest.param(_DENSE, "TYPE_IDS", [(3, 0), (2, 0), (1, 0)], _IN_UNION, 0, "0, 1, 0", id="type ids"),
        pytest.param(_DENSE, "OFFSETS", [(3, 0), (2, 0), (1, 0)], _IN_UNION, 1, "0, 0, 1", id="offsets of a union"),
    ],
)
def test_buffers_are_shown_as_their_role_says(
    *, kind: pa.DataType, role: str, nodes: list[tuple[int, int]], buffers: list[bytes], at: int, expected: str
) -> None:
    """Bits as bits with the number of nulls, offsets and indices as integers of their width, data by its type."""
    assert _shown(column(kind), BufferRole[role], nodes, buffers, at) == expected


def test_views_are_shown_with_their_value_or_its_place() -> None:
    """A value of up to 12 bytes is in its view; of a longer one the view has the place."""

    def shown(kind: str, role: BufferRole | None, at: int, views: bytes) -> str:
        schema = read_schema(schema_message(field("x", kind))).schema
        assert schema is not None
        buffers = [b"", views, b"thirteen byte"]
        return _shown(schema, role, [(len(views) // 16, 0)], buffers, at, variadicBufferCounts=[1])

    views = short(b"ok") + short(b"twelve bytes") + long(b"thirteen byte")
    assert shown("Utf8View", BufferRole.VIEWS, 1, views) == "'ok', 'twelve bytes', 13 bytes of data 0 at 0"
    assert shown("Utf8View", BufferRole.VIEWS, 1, i4(-1, 7, 8, 9)) == "-1 bytes of data 8 at 9"
    assert shown("Utf8View", None, 2, views) == "'thirteen byte'"
    assert shown("BinaryView", None, 2, views) == b"thirteen byte".hex(" ")
