"""Plain values: exact, independent of layout, and comparable line by line."""

from __future__ import annotations

import decimal
import json
import struct
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from conformance.wire.intervals import DAY_TIME, YEAR_MONTH
from conformance.wire.plain import Plain, PlainError, PlainTable, differences, plain_table, plain_values
from tests.wire.corpus import batches

INT = pa.int32()


def _f64(value: float) -> dict[str, str]:
    return {"f64": struct.pack(">d", value).hex()}


def _duplicate_struct() -> pa.Array:
    fields = [pa.field("a", INT), pa.field("a", pa.utf8())]
    mask = pa.array([False, True, False])
    return pa.StructArray.from_arrays(
        [pa.array([1, 2, None], INT), pa.array(["x", "y", "z"])], fields=fields, mask=mask
    )


def _nested_dictionary() -> pa.Array:
    inner = pa.DictionaryArray.from_arrays(pa.array([1, 0, None], pa.int8()), pa.array(["a", "b"]))
    lists = pa.ListArray.from_arrays(pa.array([0, 2, 3], INT), inner)
    return pa.DictionaryArray.from_arrays(pa.array([1, None, 0, 0], pa.uint16()), lists)


def _dense() -> pa.Array:
    children = [pa.array([1, None]), pa.array(["a", "b"])]
    return pa.UnionArray.from_dense(
        pa.array([5, 7, 5, 7], pa.int8()), pa.array([0, 0, 1, 1], INT), children, type_codes=[5, 7]
    )


def _intervals() -> pa.Array:
    raw = pa.py_buffer(struct.pack("<iiq", 1, -2, 3) + struct.pack("<iiq", -(2**31), 2**31 - 1, -(2**63)))
    return pa.Array.from_buffers(pa.month_day_nano_interval(), 2, [None, raw])


def _days() -> pa.Array:
    storage = pa.Array.from_buffers(pa.int64(), 2, [pa.py_buffer(b"\1"), pa.py_buffer(struct.pack("<4i", -1, 5, 7, 7))])
    return pa.ExtensionArray.from_storage(DAY_TIME, storage)


MOST = decimal.Decimal("9" * 76)
EXPECTED: list[tuple[str, Any, list[Plain]]] = [
    ("null", pa.nulls(2), [None, None]),
    ("bool", pa.array([True, None, False]), [True, None, False]),
    ("uint64", pa.array([2**64 - 1, None], pa.uint64()), [2**64 - 1, None]),
    ("timestamp", pa.array([-(2**63), 2**63 - 1], pa.timestamp("ns", "UTC")), [-(2**63), 2**63 - 1]),
    ("date32", pa.array([2**31 - 1, None], INT).cast(pa.date32()), [2**31 - 1, None]),
    ("duration", pa.array([-5], pa.duration("ns")), [-5]),
    ("float16", pa.array([np.float16(0.5), None], pa.float16()), [_f64(0.5), None]),
    ("float32", pa.array([0.1, -0.0], pa.float32()), [_f64(float(np.float32(0.1))), _f64(-0.0)]),
    ("float64", pa.array([float("nan"), float("-inf")]), [{"f64": "nan"}, _f64(float("-inf"))]),
    ("utf8", pa.array(["\0", None, "\U0001f600"]), ["\0", None, "\U0001f600"]),
    ("binary", pa.array([b"\0\xff", b"", None]), [{"hex": "00ff"}, {"hex": ""}, None]),
    ("fixed", pa.array([b"ab", None], pa.binary(2)), [{"hex": "6162"}, None]),
    ("fixed of nothing", pa.array([b"", None], pa.binary(0)), [{"hex": ""}, None]),
    ("decimal", pa.array([decimal.Decimal("-1.50")], pa.decimal128(5, 2)), [{"decimal": "-150"}]),
    ("decimal256", pa.array([MOST, None], pa.decimal256(76, 0)), [{"decimal": "9" * 76}, None]),
    ("interval", _intervals(), [
        {"months": 1, "days": -2, "ns": 3}, {"months": -(2**31), "days": 2**31 - 1, "ns": -(2**63)}
    ]),
    ("months", pa.ExtensionArray.from_storage(YEAR_MONTH, pa.array([3, None], INT)), [{"months": 3}, None]),
    ("days", _days(), [{"days": -1, "ms": 5}, None]),
    ("list", pa.array([[1, None], None, []]), [[1, None], None, []]),
    ("fixed list", pa.array([[1, 2], None, [3, None]], pa.list_(INT, 2)), [[1, 2], None, [3, None]]),
    ("struct", _duplicate_struct(), [{"struct": [1, "x"]}, None, {"struct": [None, "z"]}]),
    ("empty struct", pa.array([{}, None], pa.struct([])), [{"struct": []}, None]),
    ("map", pa.array([[("k", 1), ("k", None)], None, []], pa.map_(pa.utf8(), INT)), [
        {"map": [["k", 1], ["k", None]]}, None, {"map": []}
    ]),
    ("dense union", _dense(), [1, "a", None, "b"]),
    ("dictionary", pa.array(["b", None, "b", "a"]).dictionary_encode(), ["b", None, "b", "a"]),
    ("dictionary of dictionaries", _nested_dictionary(), [[None], None, ["b", "a"], ["b", "a"]]),
    ("runs", pa.RunEndEncodedArray.from_arrays([1, 3, 4], pa.array(["a", None, "c"])), ["a", None, None, "c"]),
]  # fmt: skip


@pytest.mark.parametrize(("array", "expected"), [case[1:] for case in EXPECTED], ids=[case[0] for case in EXPECTED])
def test_value_of_each_type(array: pa.Array, expected: list[Plain]) -> None:
    """Every type has the one plain form that the table of the format gives it, types and all."""
    assert json.dumps(plain_values(array)) == json.dumps(expected)


@pytest.mark.parametrize("name", list(batches()))
def test_slices_hold_their_part(name: str) -> None:
    """A slice of a column, with its buffers shared and its offset set, has the values of its part."""
    for column in batches()[name].columns:
        whole = plain_values(column)
        assert len(whole) == len(column)
        for start in range(min(4, len(column))):
            for length in (1, 2, 3):
                assert plain_values(column.slice(start, length)) == whole[start : start + length]


@pytest.mark.parametrize(("array", "expected"), [case[1:] for case in EXPECTED], ids=[case[0] for case in EXPECTED])
def test_values_inside_a_sliced_struct(array: pa.Array, expected: list[Plain]) -> None:
    """An offset of a struct applies to whatever its children are."""
    struct_array = pa.Array.from_buffers(pa.struct([("x", array.type)]), len(array), [None], 0, 0, [array])

    assert plain_values(struct_array.slice(1)) == [{"struct": [value]} for value in expected[1:]]


@pytest.mark.parametrize("hidden", [99, -99])
@pytest.mark.parametrize(("kind", "wide"), [("list_view", INT), ("large_list_view", pa.int64())])
def test_list_views_are_lists(kind: str, wide: pa.DataType, hidden: int) -> None:
    """Views in any order that share elements are read each for itself, and nothing under a null is."""
    if not hasattr(pa, kind):
        pytest.skip("this pyarrow has no list views")
    offsets, sizes = pa.array([2, hidden, 0, 1], wide), pa.array([1, 99, 3, 0], wide)
    bitmap = pa.py_buffer(bytes([0b1101]))
    child = pa.array([7, None, 9], INT)
    views = pa.Array.from_buffers(
        getattr(pa, kind)(INT), 4, [bitmap, offsets.buffers()[1], sizes.buffers()[1]], 1, 0, [child]
    )

    assert plain_values(views) == [[9], None, [7, None, 9], []]
    assert plain_values(views.slice(1, 2)) == [None, [7, None, 9]]


def test_text_that_is_none_is_shown_as_bytes() -> None:
    """A string column of bytes that are not UTF-8 still has values, which equal no reader's text."""
    data, offsets = pa.py_buffer(b"a\xff"), pa.array([0, 1, 2], INT).buffers()[1]
    assert plain_values(pa.Array.from_buffers(pa.utf8(), 2, [None, offsets, data])) == ["a", {"hex": "ff"}]


def test_storage_of_an_extension() -> None:
    """An extension type has its storage's values."""
    kind = pa.ExtensionArray.from_storage(YEAR_MONTH, pa.array([1], INT)).type
    made = pa.array([[4]], pa.list_(INT)).cast(pa.list_(INT))
    below = pa.Array.from_buffers(pa.list_(kind), 1, [None, made.buffers()[1]], 0, 0, [
        pa.ExtensionArray.from_storage(kind, made.values)
    ])  # fmt: skip
    assert plain_values(below) == [[{"months": 4}]]


def test_index_beyond_the_dictionary_is_refused() -> None:
    """An index of a valid slot that points nowhere has no value; under a null it is free."""
    indices = pa.Array.from_buffers(pa.int8(), 2, [pa.py_buffer(b"\1"), pa.py_buffer(b"\0\x7f")])
    values = pa.DictionaryArray.from_arrays(indices, pa.array(["a"]), safe=False)
    assert plain_values(values) == ["a", None]

    wrong = pa.DictionaryArray.from_arrays(pa.array([0, -1], pa.int8()), pa.array(["a"]), safe=False)
    with pytest.raises(PlainError, match=r"an index of -1|dictionary index of -1"):
        plain_values(wrong)


def test_bomb_is_refused() -> None:
    """Few bytes that declare very many values are refused before any value is made."""
    run = pa.RunEndEncodedArray.from_buffers(
        pa.run_end_encoded(pa.int64(), INT), 2**40, [None], 0, 0, [pa.array([2**40]), pa.array([1], INT)]
    )
    with pytest.raises(PlainError, match="more than"):
        plain_values(run)


def test_table_joins_batches_and_survives_json() -> None:
    """Columns of several batches are joined, and the JSON form reads back equal."""
    one = pa.record_batch([pa.array([1, 2]), pa.array([[1.5], None])], names=["a", "b"])
    two = pa.record_batch([pa.array([None], pa.int64()), pa.array([[0.0]])], names=["a", "b"])
    made = plain_table([one, two])

    assert made.names == ("a", "b")
    assert made.rows == 3
    assert made.columns[0] == [1, 2, None]
    assert PlainTable.from_json(json.loads(json.dumps(made.to_json()))) == made
    assert plain_table([]) == PlainTable((), (), 0)


@pytest.mark.parametrize(
    "document",
    [
        {"names": "a", "rows": 0, "columns": []},
        {"names": ["a"], "rows": True, "columns": [[1]]},
        {"names": ["a"], "rows": -1, "columns": [[]]},
        {"names": ["a"], "rows": 1, "columns": []},
        {"names": ["a"], "rows": 1, "columns": [[1, 2]]},
        {"names": ["a"], "rows": 1},
    ],
)
def test_document_that_is_no_table_is_refused(document: dict[str, Any]) -> None:
    """Shape and counts are checked before anything is compared."""
    with pytest.raises(PlainError):
        PlainTable.from_json(document)


def test_differences_name_column_row_and_values() -> None:
    """A difference has its place, down to the inner value, and distinguishes true from 1."""
    expected = PlainTable(("a", "b"), ([1, {"struct": [[1, 2]]}], [None, None]), 2)
    got = PlainTable(("a", "b"), ([True, {"struct": [[1, 3]]}], [None, None]), 2)

    assert differences(expected, expected) == []
    assert differences(expected, got) == [
        'column 0 "a", row 0: expected 1, got true',
        'column 0 "a", row 1[0][1]: expected 2, got 3',
    ]
    assert differences(expected, got, limit=1) == ['column 0 "a", row 0: expected 1, got true']
    fewer = PlainTable(("a", "c"), ([1], [None]), 1)
    assert [line.split(":")[0] for line in differences(expected, fewer)] == ["columns", "rows"]


def test_intervals_that_pyarrow_cannot_touch_are_read() -> None:
    """A batch with month and day-time intervals of pyarrow's own, nested too, has their values."""
    import ctypes  # noqa: PLC0415  # the way such a batch is made

    from conformance.wire.intervals import _CSchema  # noqa: PLC0415

    months = pa.array([1, None, -3], INT)
    days = pa.array([[5 << 32 | 1], [], None], pa.list_(pa.int64()))
    batch = pa.record_batch([months, days], names=["m", "d"])
    array, schema = ctypes.create_string_buffer(80), _CSchema()
    batch._export_to_c(ctypes.addressof(array), ctypes.addressof(schema))
    schema.children[0].contents.format = b"tiM"
    schema.children[1].contents.children[0].contents.format = b"tiD"
    batch = pa.RecordBatch._import_from_c(ctypes.addressof(array), ctypes.addressof(schema))
    assert str(batch.schema.field(0).type) == "month_interval"

    columns = [{"months": 1}, None, {"months": -3}], [[{"days": 1, "ms": 5}], [], None]
    assert plain_table([batch]).columns == columns
    assert plain_values(batch.column(1)) == columns[1]


@pytest.mark.parametrize("shape", [pa.list_(pa.int8(), 2), pa.list_(pa.int8()), pa.struct([("a", pa.int8())])])
def test_nested_storage_of_an_extension_is_read(shape: pa.DataType) -> None:
    """An extension over a nested type has the values of its storage, and slices have their part."""
    storage = pa.array(
        [{"a": 1}, {"a": 2}] if shape.num_fields and pa.types.is_struct(shape) else [[1, 2], [3, 4]], shape
    )

    class _Over(pa.ExtensionType):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__(shape, "suite.over")

        def __arrow_ext_serialize__(self) -> bytes:
            return b""

    array = pa.ExtensionArray.from_storage(_Over(), storage)

    assert plain_values(array) == plain_values(storage)
    assert plain_values(array.slice(1)) == plain_values(storage)[1:]


def test_intervals_are_keys() -> None:
    """The decoded values of a dictionary are kept by their type; equal types are one."""
    assert {YEAR_MONTH: 1, DAY_TIME: 2}[type(YEAR_MONTH)("year-month")] == 1


def test_two_long_values_are_not_shown_as_one() -> None:
    """What differs behind the cut is said."""
    tables = [PlainTable(("a",), (["x" * 200 + end],), 1) for end in "yz"]

    (said,) = differences(*tables)

    assert 'from 201 on: y")' in said
    assert 'from 201 on: z")' in said
