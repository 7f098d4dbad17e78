"""Exact comparison of values: equality, differences, and their report."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from conformance.contract.comparing.differences import (
    ValueDifferenceKind,
    difference,
    differences,
    identical,
    pair_rows,
)

OTHER_NAN = np.array([0x7FF8000000000001], "<u8").view("<f8")[0]


def bits(kind: pa.DataType, *values: int) -> pa.Array:
    """An array over the very integers that its type stores."""
    width = kind.bit_width // 8
    data = b"".join(value.to_bytes(width, "little", signed=True) for value in values)
    return pa.Array.from_buffers(kind, len(values), [None, pa.py_buffer(data)])


SMALL, LARGE = -(2**255), 2**255 - 1

SAME = {
    "nan of any payload": (pa.array([float("nan")]), pa.array([OTHER_NAN])),
    "nested nan of any payload": (pa.array([[float("nan")]]), pa.array([[OTHER_NAN]])),
    "bytes under a null": (
        pa.Array.from_buffers(pa.int64(), 1, [pa.py_buffer(b"\0"), pa.py_buffer(bytes(8))]),
        pa.Array.from_buffers(pa.int64(), 1, [pa.py_buffer(b"\0"), pa.py_buffer(b"\1" * 8)]),
    ),
    "slots under a null parent": (
        pa.StructArray.from_arrays([pa.array([1, 2])], names=["a"], mask=pa.array([False, True])),
        pa.StructArray.from_arrays([pa.array([1, 9])], names=["a"], mask=pa.array([False, True])),
    ),
    "lists elsewhere in their child": (pa.array([[1], [2, 3], []]).slice(1), pa.array([[2, 3], []])),
    "decimals of another width": (bits(pa.decimal128(38, 9), -15), bits(pa.decimal256(40, 9), -15)),
    "77 digits": (bits(pa.decimal256(76, 38), SMALL, LARGE), bits(pa.decimal256(76, 38), SMALL, LARGE)),
    "offsets of another width": (pa.array(["a", None]), pa.array(["a", None], pa.large_utf8())),
    "a map and its entries": (
        pa.array([[("k", 1)]], pa.map_(pa.utf8(), pa.int64())),
        pa.array([[{"key": "k", "value": 1}]]),
    ),
    "struct fields in another order": (pa.array([{"a": 1, "b": "x"}]), pa.array([{"b": "x", "a": 1}])),
    "chunks": (pa.chunked_array([[1, 2], [3]]), pa.chunked_array([[1], [2, 3]])),
    "nothing": (pa.array([], pa.int64()), pa.array([], pa.utf8())),
}


@pytest.mark.parametrize(("expected", "actual"), SAME.values(), ids=SAME)
def test_same(expected: Any, actual: Any) -> None:
    """Bytes that no value uses make no difference."""
    assert difference(expected, actual) is None


DIFFERENT = {
    "signed zero": (pa.array([1.0, 0.0]), pa.array([1.0, -0.0]), "row 1, value: expected 0.0, got -0.0"),
    "nested signed zero": (pa.array([[0.0]]), pa.array([[-0.0]]), "row 0, item 0, item: expected 0.0, got -0.0"),
    "null": (pa.array([1, None]), pa.array([1, 2]), "row 1, value: expected NULL, got 2"),
    "items": (pa.array([[1], [2, 3]]), pa.array([[1], [2]]), "row 1, value: expected 2 items, got 1 item"),
    "null for an empty list": (pa.array([[1], []]), pa.array([[1], None]), "row 1, value: expected [], got NULL"),
    "item": (
        pa.array([[1], [2, 3]]),
        pa.array([[1], [2, 4]]),
        "row 1, item 1, item: expected 3, got 4",
    ),
    "deep": (
        pa.array([{"a": 1, "b": [{"c": "x"}]}, None]),
        pa.array([{"a": 1, "b": [{"c": "y"}]}, None]),
        "row 0, item 0, b.item.c: expected 'x', got 'y'",
    ),
    "decimal": (
        bits(pa.decimal128(38, 9), -1_500_000_000),
        bits(pa.decimal128(38, 9), 1),
        "row 0, value: expected -1.500000000, got 0.000000001",
    ),
    "77 digits": (
        bits(pa.decimal256(76, 38), LARGE),
        bits(pa.decimal256(76, 38), SMALL),
        f"row 0, value: expected {str(LARGE)[:-38]}.{str(LARGE)[-38:]}, got -{str(-SMALL)[:-38]}.{str(-SMALL)[-38:]}",
    ),
    "interval": (
        pa.array([(14, -3, 5)], pa.month_day_nano_interval()),
        pa.array([(-14, 3, 5)], pa.month_day_nano_interval()),
        "row 0, value: expected 14 months, -3 days, 5 ns, got -14 months, 3 days, 5 ns",
    ),
    "timestamp beyond the calendar": (
        bits(pa.timestamp("us"), -62_135_596_800_000_000),
        bits(pa.timestamp("us"), -62_135_596_800_000_001),
        (
            "row 0, value: expected 0001-01-01 00:00:00 (-62135596800000000 us), "
            "got outside the calendar (-62135596800000001 us)"
        ),
    ),
    "timestamp of seconds": (
        bits(pa.timestamp("s"), 86_399),
        bits(pa.timestamp("s"), -1),
        "row 0, value: expected 1970-01-01 23:59:59 (86399 s), got 1969-12-31 23:59:59 (-1 s)",
    ),
    "date": (
        bits(pa.date32(), 0),
        bits(pa.date32(), 3_000_000),
        "row 0, value: expected 1970-01-01 (day 0), got outside the calendar (day 3000000)",
    ),
    "time": (
        bits(pa.time64("us"), 86_399_999_999),
        bits(pa.time64("us"), 5),
        "row 0, value: expected 23:59:59.999999 (86399999999 us), got 00:00:00.000005 (5 us)",
    ),
    "bytes": (pa.array([b"\xff"]), pa.array([b"/w=="]), "row 0, value: expected b'\\xff', got b'/w=='"),
    "several": (
        pa.array([1, 2, 3]),
        pa.array([1, 0, 0]),
        "row 1, value: expected 2, got 0 (2 places differ)",
    ),
    "another kind": (pa.array([1]), pa.array(["1"]), "row 0, value: expected int64, got string"),
    "bytes for text": (pa.array(["a"]), pa.array([b"a"]), "row 0, value: expected string, got binary"),
    "other fields": (
        pa.array([{"a": 1}]),
        pa.array([{"b": 1}]),
        "row 0, value: expected fields ['a'], got fields ['b']",
    ),
    "fewer rows": (
        pa.table({"a": [1, 2, 3]}),
        pa.table({"a": [1]}),
        "row 1, a: expected 3 rows, got 1 row (2 places differ)",
    ),
    "fewer columns": (
        pa.table({"a": [1], "b": [1]}),
        pa.table({"a": [1]}),
        "row 0, value: expected 2 columns, got 1 column",
    ),
    "rows without columns": (
        pa.table({"a": [1, 2]}).select([]),
        pa.table({"a": [1]}).select([]),
        "row 1, value: expected 2 rows, got 1 row",
    ),
}


@pytest.mark.parametrize(("expected", "actual", "said"), DIFFERENT.values(), ids=DIFFERENT)
def test_different(expected: Any, actual: Any, said: str) -> None:
    """The first difference is reported with its row, its path and both values."""
    assert str(difference(expected, actual)) == said


def test_every_path_that_differs_is_listed_once() -> None:
    """A table's differences come one per path and kind, counted."""
    expected = pa.table({"a": [1, 2, None], "b": [["x"], ["y"], []]})
    actual = pa.table({"a": [0, None, 3], "b": [["x"], ["z"], ["w"]]})

    found = {(one.path, one.kind): (one.row, one.count) for one in differences(expected, actual)}

    assert found == {
        ("a", ValueDifferenceKind.NULL): (1, 2),
        ("a", ValueDifferenceKind.VALUE): (0, 1),
        ("b", ValueDifferenceKind.ITEMS): (2, 1),
        ("b.item", ValueDifferenceKind.VALUE): (1, 1),
    }


def test_open_nulls_permit_anything_where_null_is_expected() -> None:
    """A path can be left open where NULL is expected, and only there."""
    expected, actual = pa.table({"a": [None, 1]}), pa.table({"a": [7, None]})

    (found,) = differences(expected, actual, open_nulls=["a"])

    assert (found.row, found.got, found.count) == (1, "NULL", 1)


def test_the_caller_has_the_last_word_on_values() -> None:
    """Values whose bits differ are the same where the caller says so."""
    expected, actual = pa.table({"a": ["x", "y"]}), pa.table({"a": ["X", "z"]})

    def folded(_path: str, left: pa.Array, here: int, right: pa.Array, there: int) -> bool:
        return bool(left[here].as_py().casefold() == right[there].as_py().casefold())

    assert [one.row for one in differences(expected, actual, same=folded)] == [1]


def test_identical_needs_one_comparison_for_equal_tables() -> None:
    """Equal tables with floats are recognised, and a changed sign of zero is not overlooked."""
    table = pa.table({"f": [0.0, float("nan"), None], "t": ["a", "b", None]})

    assert identical(table, pa.table({"f": [0.0, OTHER_NAN, None], "t": ["a", "b", None]}))
    assert not identical(table, pa.table({"f": [-0.0, float("nan"), None], "t": ["a", "b", None]}))


def test_a_table_with_a_column_less_is_not_identical() -> None:
    """Neither with a column of floats less, nor with one more."""
    one, both = pa.table({"a": [1.0]}), pa.table({"a": [1.0], "b": [2.0]})

    assert not identical(one, both)
    assert not identical(both, one)


# --- rows in no order -----------------------------------------------------------------------------------

ROWS = pa.table({"k": [1, 2, 3, 4], "v": ["a", "b", "c", "d"]})


def test_rows_in_another_order_need_no_pairs() -> None:
    """The same rows in another order are the same rows."""
    assert pair_rows(ROWS, ROWS.take([3, 1, 0, 2])) == []


def test_a_changed_row_is_paired_with_the_row_that_it_was() -> None:
    """A row with another value stands for a row that is not there; a row that is merely missing has no partner."""
    assert pair_rows(ROWS, pa.table({"k": [4, 2, 3], "v": ["d", "x", "c"]})) == [(1, 1)]


def test_a_duplicated_row_stands_for_no_other() -> None:
    """A row that comes twice is no changed row, also where another is missing."""
    assert pair_rows(ROWS, ROWS.take([0, 1, 2, 2]), key="k") == []


def test_many_changed_rows_are_paired_by_what_tells_them_apart() -> None:
    """A column that is wrong in every row does not make every row another, whatever the order."""
    keys = list(range(500))
    expected = pa.table({"k": keys, "v": [f"v{key}" for key in keys]})
    actual = pa.table({"k": keys[::-1], "v": [f"w{key}" for key in keys[::-1]]})

    assert pair_rows(expected, actual) == [(key, 499 - key) for key in keys]


def test_rows_without_anything_in_common_are_paired_in_order() -> None:
    """As many rows lost as strange: the first stands for the first."""
    assert pair_rows(ROWS, pa.table({"k": [9, 8, 7, 6], "v": ["z"] * 4})) == [(0, 0), (1, 1), (2, 2), (3, 3)]


def test_no_rows_have_no_pairs() -> None:
    """Against an empty table nothing is paired."""
    assert pair_rows(ROWS.slice(0, 0), ROWS) == []
    assert pair_rows(ROWS, ROWS.slice(0, 0)) == []


def test_two_long_values_are_not_shown_as_one() -> None:
    """What differs behind the cut is said."""
    found = difference(pa.table({"a": ["x" * 200 + "y"]}), pa.table({"a": ["x" * 200 + "z"]}))

    assert found is not None
    assert found.wanted != found.got
    assert "from 201 on: y" in found.wanted
