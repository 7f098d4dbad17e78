"""Rules on values: bounds to the last unit, and nothing said of slots that nobody sees."""

from __future__ import annotations

import struct
from collections.abc import Sequence

import pyarrow as pa
import pytest

from conformance.wire import Rule, read_batch
from conformance.wire.faults import Fault
from tests.wire.forge import batch_message, column, i1, i4, i8

DAY_US = 86_400_000_000


def _wide(values: Sequence[int], width: int) -> bytes:
    return b"".join(value.to_bytes(width, "little", signed=True) for value in values)


def _column(kind: pa.DataType, raw: bytes, length: int, *, bitmap: bytes = b"", nulls: int = 0) -> list[Fault]:
    return read_batch(batch_message(length, [(length, nulls)], [bitmap, raw]), column(kind)).faults


@pytest.mark.parametrize("copies", [1, 100, 70_000], ids=["small", "large", "chunked"])
@pytest.mark.parametrize(
    ("width", "precision"), [(16, 1), (16, 18), (16, 19), (16, 20), (16, 38), (32, 1), (32, 38), (32, 39), (32, 76)]
)
def test_decimal_bounds_are_exact(width: int, precision: int, copies: int) -> None:
    """10 ** precision is one too many, on either side of zero; one less fits."""
    kind = pa.decimal128(precision, 0) if width == 16 else pa.decimal256(precision, 0)
    most = 10**precision - 1
    inside, over, under = [most, -most, 0] * copies, [0, most + 1], [0, -most - 1]

    fits = _column(kind, _wide(inside, width), len(inside))
    above = _column(kind, _wide(inside + over, width), len(inside) + 2)
    below = _column(kind, _wide(inside + under, width), len(inside) + 2)

    assert fits == []
    assert [fault.rule for fault in above + below] == [Rule.DECIMAL_PRECISION] * 2
    assert above[0].observed.startswith(f"the value {most + 1} in slot {len(inside) + 1}")


def test_decimals_of_77_digits_have_a_rule_of_their_own() -> None:
    """The extremes of BIGNUMERIC need 77 digits in decimal256(76, 38): readable, and reported under one rule only."""
    extreme = 578960446186580977117854925043439539266 * 10**38 + 34992332820282019728792003956564819967

    read = read_batch(batch_message(1, [(1, 0)], [b"", _wide([extreme], 32)]), column(pa.decimal256(76, 38)))

    assert [fault.rule for fault in read.faults] == [Rule.DECIMAL_PRECISION]
    assert read.decodable


@pytest.mark.parametrize("length", [1, 100])
def test_times_end_before_midnight(length: int) -> None:
    """0 and one unit before midnight are times; -1 and midnight are not."""
    fill = [0] * (length - 1)

    assert _column(pa.time64("us"), i8(*fill, DAY_US - 1), length) == []
    for wrong in (-1, DAY_US):
        faults = _column(pa.time64("us"), i8(*fill, wrong), length)
        assert [fault.rule for fault in faults] == [Rule.TIME_RANGE]


def test_values_under_nulls_are_free() -> None:
    """A null slot may hold anything."""
    assert _column(pa.time64("us"), i8(-1, 5), 2, bitmap=b"\2", nulls=1) == []
    assert _column(pa.decimal128(3, 0), _wide([1000, 5], 16), 2, bitmap=b"\2", nulls=1) == []
    assert _column(pa.date64(), i8(1, 0), 2, bitmap=b"\2", nulls=1) == []


@pytest.mark.parametrize(
    ("kind", "nodes", "buffers"),
    [
        pytest.param(
            pa.struct([("t", pa.time32("s"))]), [(2, 1), (2, 0)], [b"\2", b"", i4(-1, 0)], id="under a null struct"
        ),
        pytest.param(
            pa.list_(pa.time32("s")),
            [(2, 1), (3, 0)],
            [b"\2", i4(0, 2, 3), b"", i4(-1, -1, 0)],
            id="spanned by a null list",
        ),
        pytest.param(
            pa.list_(pa.time32("s")), [(1, 0), (3, 0)], [b"", i4(0, 1), b"", i4(0, -1, -1)], id="after the last list"
        ),
        pytest.param(
            pa.list_(pa.time32("s"), 2),
            [(2, 1), (4, 0)],
            [b"\2", b"", i4(-1, -1, 0, 0)],
            id="under a null list of fixed size",
        ),
        pytest.param(
            pa.sparse_union([pa.field("t", pa.time32("s")), pa.field("i", pa.int32())]),
            [(2, 0), (2, 0), (2, 0)],
            [i1(0, 1), b"", i4(0, -1), b"", i4(-1, -1)],
            id="not chosen by a sparse union",
        ),
        pytest.param(
            pa.dense_union([pa.field("t", pa.time32("s"))]),
            [(1, 0), (2, 0)],
            [i1(0), i4(1), b"", i4(-1, 0)],
            id="not chosen by a dense union",
        ),
        pytest.param(
            pa.struct([("l", pa.list_(pa.struct([("t", pa.time32("s"))])))]),
            [(2, 1), (2, 0), (3, 0), (3, 0)],
            [b"\2", b"", i4(0, 2, 3), b"", b"", i4(-1, -1, 0)],
            id="three levels below a null struct",
        ),
    ],
)
def test_values_that_nobody_sees_are_free(
    kind: pa.DataType, nodes: list[tuple[int, int]], buffers: list[bytes]
) -> None:
    """A rule on values holds for slots that the parents refer to and show."""
    assert read_batch(batch_message(nodes[0][0], nodes, buffers), column(kind)).faults == []


def test_values_that_are_seen_are_judged_at_any_depth() -> None:
    """The same value in a slot that its parents show is a fault."""
    kind = pa.struct([("l", pa.list_(pa.struct([("t", pa.time32("s"))])))])
    nodes = [(2, 1), (2, 0), (3, 0), (3, 0)]
    buffers = [b"\2", b"", i4(0, 2, 3), b"", b"", i4(-1, -1, -1)]

    faults = read_batch(batch_message(2, nodes, buffers), column(kind)).faults

    assert [(fault.rule, fault.path) for fault in faults] == [(Rule.TIME_RANGE, "x.l.item.t data")]
    assert faults[0].observed == "the value -1 in slot 2 (1 such slot)"


def test_unsigned_dictionary_indices_are_not_negative() -> None:
    """The highest bit of an unsigned index is a digit."""
    kind = pa.dictionary(pa.uint8(), pa.utf8())

    assert _column(kind, struct.pack("<BB", 0, 255), 2) == []
