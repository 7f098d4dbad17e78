"""Big-endian bodies: judged and decoded as if they had been little-endian, with exactly the numbers turned round."""

from __future__ import annotations

import struct
from typing import Any

import pyarrow as pa
import pytest

from conformance.wire import Rule, read_stream
from conformance.wire.plain import Plain, differences, plain_table, plain_values
from tests.wire.breaking import END
from tests.wire.corpus import decodable
from tests.wire.forge import batch_message, dictionary_message, field, i1, schema_message

BIG = {"endianness": 1}
INT: dict[str, Any] = {"bitWidth": 32, "is_signed": 1}


def _pack(form: str, *values: Any) -> bytes:
    return struct.pack(f">{form}", *values)


def _view(length: int, *rest: bytes) -> bytes:
    return _pack("i", length) + b"".join(rest)


CASES: list[tuple[str, dict[str, Any], tuple[list[tuple[int, int]], list[bytes]], list[Plain]]] = [
    ("int8", field("x", "Int", bitWidth=8, is_signed=1), ([(2, 0)], [b"", b"\1\2"]), [1, 2]),
    ("int64 with nulls", field("x", "Int", bitWidth=64, is_signed=1), ([(2, 1)], [b"\2", _pack("qq", 7, -7)]), [
        None, -7
    ]),
    ("float16", field("x", "FloatingPoint", precision=0), ([(1, 0)], [b"", _pack("e", 1.5)]), [
        {"f64": "3ff8000000000000"}
    ]),
    ("bool", field("x", "Bool"), ([(10, 0)], [b"", b"\x01\x02"]), [slot in (0, 9) for slot in range(10)]),
    ("time", field("x", "Time", unit=1, bitWidth=32), ([(1, 0)], [b"", _pack("i", 86_399_999)]), [86_399_999]),
    ("decimal", field("x", "Decimal", precision=38, scale=0, bitWidth=128), (
        [(1, 0)], [b"", (-5).to_bytes(16, "big", signed=True)]
    ), [{"decimal": "-5"}]),
    ("months", field("x", "Interval", unit=0), ([(1, 0)], [b"", _pack("i", 3)]), [{"months": 3}]),
    ("days and milliseconds", field("x", "Interval", unit=1), ([(1, 0)], [b"", _pack("ii", 3, -4)]), [
        {"days": 3, "ms": -4}
    ]),
    ("months, days and nanoseconds", field("x", "Interval", unit=2), ([(1, 0)], [b"", _pack("iiq", 1, 2, -3)]), [
        {"months": 1, "days": 2, "ns": -3}
    ]),
    ("bytes of fixed size", field("x", "FixedSizeBinary", byteWidth=4), ([(1, 0)], [b"", b"abcd"]), [
        {"hex": "61626364"}
    ]),
    ("text", field("x", "Utf8"), ([(2, 0)], [b"", _pack("iii", 0, 1, 3), b"abc"]), ["a", "bc"]),
    ("large text", field("x", "LargeUtf8"), ([(1, 0)], [b"", _pack("qq", 0, 3), b"abc"]), ["abc"]),
    ("lists", field("x", "List", [field("y", "Int", **INT)]), (
        [(2, 0), (3, 0)], [b"", _pack("iii", 0, 1, 3), b"", _pack("iii", 1, 2, 3)]
    ), [[1], [2, 3]]),
    ("dense union", field("x", "Union", [field("y", "Int", **INT), field("z", "Bool")], mode=1), (
        [(3, 0), (2, 0), (1, 0)], [i1(0, 1, 0), _pack("iii", 0, 0, 1), b"", _pack("ii", 1, 2), b"", b"\1"]
    ), [1, True, 2]),
]  # fmt: skip
"""Field, nodes and buffers as big-endian bytes, the values they stand for."""

LATER: list[tuple[str, str, dict[str, Any], tuple[list[tuple[int, int]], list[bytes]], list[Plain]]] = [
    ("list_view", "list views", field("x", "ListView", [field("y", "Int", **INT)]), (
        [(2, 0), (3, 0)], [b"", _pack("ii", 1, 0), _pack("ii", 2, 1), b"", _pack("iii", 1, 2, 3)]
    ), [[2, 3], [1]]),
    ("run_end_encoded", "runs", field(
        "x", "RunEndEncoded", [field("e", "Int", bitWidth=16, is_signed=1), field("v", "Utf8")]
    ), ([(3, 0), (2, 0), (2, 0)], [b"", _pack("hh", 2, 3), b"", _pack("iii", 0, 1, 2), b"ab"]), ["a", "a", "b"]),
]  # fmt: skip


def _cases() -> list[Any]:
    later = [case[1:] for case in LATER if hasattr(pa, case[0])]
    return [pytest.param(*case[1:], id=case[0]) for case in [*CASES, *later]]


@pytest.mark.parametrize(("column", "parts", "values"), _cases())
def test_numbers_of_each_layout_are_turned_round(
    column: dict[str, Any], parts: tuple[list[tuple[int, int]], list[bytes]], values: list[Plain]
) -> None:
    """Only the numbers of a layout are read in the declared byte order."""
    nodes, buffers = parts
    data = schema_message(column, schema=BIG) + batch_message(len(values), nodes, buffers) + END

    reading = read_stream(data)

    assert [fault.rule for fault in reading.faults] == [Rule.SCHEMA_ENDIANNESS_BIG]
    (batch,) = reading.to_batches()
    batch.validate(full=True)
    assert plain_values(batch.column(0)) == values


def test_views_keep_prefix_and_inline_bytes() -> None:
    """Of a view the length is a number, and of a long one the buffer and the offset."""
    views = _view(3, b"abc", bytes(9)) + _view(13, b"long", _pack("ii", 0, 2))
    batch = batch_message(
        2, [(2, 0)], [b"", views, b"--longer than it"], batch={"variadicBufferCounts": [1]}
    )  # fmt: skip

    reading = read_stream(schema_message(field("x", "Utf8View"), schema=BIG) + batch + END)

    assert [fault.rule for fault in reading.faults] == [Rule.SCHEMA_ENDIANNESS_BIG]
    if "string_view, sliced" in decodable():
        assert plain_values(reading.to_batches()[0].column(0)) == ["abc", "longer than i"]


def test_a_column_has_any_number_of_views() -> None:
    """The lengths of all views of a column are turned round, however many there are."""
    views = _view(3, b"abc", bytes(9)) * 20

    data = schema_message(field("x", "Utf8View"), schema=BIG) + batch_message(
        20, [(20, 0)], [b"", views], batch={"variadicBufferCounts": [0]}
    )

    assert [fault.rule for fault in read_stream(data + END).faults] == [Rule.SCHEMA_ENDIANNESS_BIG]


def test_dictionary_and_indices_are_turned_round() -> None:
    """A dictionary batch has the byte order of its schema as well."""
    encoded = field("x", "Int", **INT) | {"dictionary": {"id": 7, "indexType": {"bitWidth": 16, "is_signed": 1}}}
    values = dictionary_message(7, [10 << 24, 20 << 24])
    batch = batch_message(2, [(2, 0)], [b"", _pack("hh", 1, 0)])

    (decoded,) = read_stream(schema_message(encoded, schema=BIG) + values + batch + END).to_batches()

    assert plain_values(decoded.column(0)) == [20, 10]


def test_faults_of_big_endian_values_are_found() -> None:
    """Values are judged in their own order, and a fault points at the bytes as they are."""
    data = schema_message(field("x", "Utf8"), schema=BIG)
    start = len(data)
    data += batch_message(2, [(2, 0)], [b"", _pack("iii", 0, 2, 1), b"ab"]) + END

    fault = read_stream(data).violations[0]

    assert fault.rule is Rule.OFFSETS_NOT_MONOTONIC
    assert fault.start > start
    assert data[fault.start : fault.end] == _pack("i", 1)


def test_little_endian_bytes_that_claim_to_be_big_are_told() -> None:
    """A flag that does not fit the bytes shows, since the body is judged by it."""
    data = schema_message(field("x", "Utf8"), schema=BIG)
    data += batch_message(1, [(1, 0)], [b"", struct.pack("<ii", 0, 2), b"ab"]) + END

    assert [fault.rule for fault in read_stream(data).violations] == [Rule.OFFSETS_BEYOND_DATA]


@pytest.mark.parametrize("cut", range(1, 8))
def test_buffers_that_end_inside_a_number_are_judged(cut: int) -> None:
    """A buffer too short for its slots is reported, however it ends."""
    column = field("x", "Int", bitWidth=64, is_signed=1)
    data = schema_message(column, schema=BIG) + batch_message(2, [(2, 0)], [b"", bytes(16 - cut)]) + END

    assert [fault.rule for fault in read_stream(data).violations] == [Rule.DATA_TOO_SMALL]


@pytest.mark.parametrize("codec", ["", "zstd"])
@pytest.mark.parametrize("name", [name for name in decodable() if "sliced" not in name and "many" not in name])
def test_streams_of_the_reference_in_big_endian(name: str, codec: Any) -> None:
    """Every type that the reference writes in the other order, compressed too, is read as what it was made from."""
    if not hasattr(pa, "string_view"):
        pytest.skip("the reference writes with a newer pyarrow")
    from conformance.reference.ipc import WriterOptions, write_stream  # noqa: PLC0415

    batch = decodable()[name]

    reading = read_stream(write_stream([batch, batch], WriterOptions(big_endian=True, codec=codec)))

    assert reading.violations == []
    assert differences(plain_table([batch, batch]), plain_table(reading.to_batches())) == []
