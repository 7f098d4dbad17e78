"""Keys of maps that a schema calls sorted."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from conformance.contract.ipc.mapkeys import unsorted_maps


def maps(*rows: list[Any] | None, key: pa.DataType | None = None, keys_sorted: bool = True) -> pa.Array:
    """Maps with these keys."""
    kind = pa.map_(key or pa.utf8(), pa.int8(), keys_sorted=keys_sorted)
    return pa.array([None if row is None else [(key, 1) for key in row] for row in rows], kind)


@pytest.mark.parametrize(
    "array",
    [
        maps(["a", "b", "b"], [], None, ["a"]),
        maps(["a", "B", "c"]),
        maps(["\U00010000", "￿"]),
        maps(["b", "aa"]),
        maps(["￿", "\U00010000"]),
        maps([1, 2, 9], key=pa.int64()),
        maps(["b", "a"], keys_sorted=False),
        maps([2.0, 1.0], key=pa.float64()),
        maps(["z"], ["a"]),
    ],
)
def test_an_order_that_a_writer_may_mean_is_one(array: pa.Array) -> None:
    """By value, by UTF-16, without case, by length; unsorted maps, and keys without a sure order."""
    assert list(unsorted_maps(array, "m")) == []


@pytest.mark.parametrize(
    ("array", "keys"),
    [
        (maps(["a"], ["b", "a"], ["d", "c"]), ["b", "a"]),
        (maps([3, 1, 2], key=pa.int32()), [3, 1, 2]),
        (maps([b"\xff", b"\x00"], key=pa.binary()), [b"\xff", b"\x00"]),
    ],
)
def test_the_first_map_in_no_order_is_told(array: pa.Array, keys: list[Any]) -> None:
    """With its keys, and not the maps behind it."""
    assert list(unsorted_maps(array, "m")) == [("m", keys)]


def test_maps_are_found_below_structs_lists_and_maps() -> None:
    """Each by its path."""
    inner = maps(["b", "a"])
    held = pa.StructArray.from_arrays([inner], ["m"])
    listed = pa.ListArray.from_arrays(pa.array([0, 1], pa.int32()), held)
    outer = pa.MapArray.from_arrays(pa.array([0, 1], pa.int32()), pa.array(["k"]), listed)

    assert list(unsorted_maps(outer, "o")) == [("o.value.item.m", ["b", "a"])]


@pytest.mark.parametrize("outer", ["struct", "list", "fixed", "map"])
def test_maps_below_a_null_are_no_data(outer: str) -> None:
    """Whatever their keys are."""
    inner, null = maps(["b", "a"]), pa.array([True])
    starts = pa.array([0, 1], pa.int32())
    made = {
        "struct": lambda: pa.StructArray.from_arrays([inner], ["m"], mask=null),
        "list": lambda: pa.ListArray.from_arrays(starts, inner, mask=null),
        "fixed": lambda: pa.Array.from_buffers(
            pa.list_(inner.type, 1), 1, [pa.py_buffer(b"\x00")], children=[inner]
        ),  # its from_arrays has a mask from pyarrow 15 on
        "map": lambda: _null_map(starts, inner),
    }[outer]()

    assert made.null_count == 1
    assert list(unsorted_maps(made, "m")) == []


def _null_map(starts: pa.Array, items: pa.Array) -> pa.Array:
    """A null with an entry below it."""
    there = pa.MapArray.from_arrays(starts, pa.array(["k"]), items)
    buffers = [pa.py_buffer(b"\x00"), there.buffers()[1]]
    return pa.Array.from_buffers(there.type, 1, buffers, children=[there.values])


def test_a_key_that_is_no_text_is_left_to_its_own_clause() -> None:
    """Its bytes have no order as a text."""
    keys = pa.Array.from_buffers(
        pa.utf8(), 2, [None, pa.py_buffer(bytes([0, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0])), pa.py_buffer(b"\xffa")]
    )
    made = pa.MapArray.from_arrays(pa.array([0, 2], pa.int32()), keys, pa.array([1, 2], pa.int8()))
    cast = pa.Array.from_buffers(
        pa.map_(pa.utf8(), pa.int8(), keys_sorted=True), 1, made.buffers()[:2], children=[made.values]
    )

    assert list(unsorted_maps(cast, "m")) == []
