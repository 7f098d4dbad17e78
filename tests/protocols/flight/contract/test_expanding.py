"""How many bytes a dictionary-encoded column takes once it is decoded."""

from __future__ import annotations

import pyarrow as pa
import pytest

from conformance.protocols.flight.contract import expanding
from conformance.protocols.flight.contract.expanding import expanded

ROWS = 100_000


@pytest.mark.parametrize(
    ("values", "size"),
    [
        (pa.array(["x" * 2_000, "y"]), 2_000 * ROWS),
        (pa.array(["x" * 2_000, "y"], pa.large_binary()), 2_000 * ROWS),
        (pa.array([2**40, None]), 8 * ROWS),
    ],
)
def test_each_index_counts_as_its_value(values: pa.Array, size: int) -> None:
    """All indices name the first value; a kilobyte on the wire can become gigabytes."""
    column = pa.chunked_array([pa.DictionaryArray.from_arrays(pa.array([0] * ROWS, pa.int32()), values)])

    assert size <= expanded(column) <= size + 16 * ROWS


def test_a_nested_value_counts_with_what_is_in_it() -> None:
    """The second value is empty, and no index names the first."""
    values = pa.array([["x" * 1_000] * 1_000, []])
    column = pa.chunked_array([pa.DictionaryArray.from_arrays(pa.array([1] * ROWS, pa.int32()), values)])

    assert expanded(column) <= 16 * ROWS


@pytest.mark.skipif(not hasattr(pa, "string_view"), reason="pyarrow 15 and earlier have no views")
def test_a_view_counts_as_its_own_bytes() -> None:
    """A slice of an array of views would count all that the array has."""
    words = [f"{number:026}" for number in range(1_000)]
    column = pa.chunked_array(
        [pa.DictionaryArray.from_arrays(pa.array(range(1_000), pa.int32()), pa.array(words, pa.string_view()))]
    )

    assert expanded(column) == 26 * 1_000


def test_only_the_values_that_are_named_are_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    """A large dictionary that is sent once, with a few rows behind it, costs as much as its rows."""
    looked: list[int] = []
    monkeypatch.setattr(expanding, "_size", lambda _, place: looked.append(place) or 1)
    values = pa.array([[number] for number in range(200_000)])
    column = pa.chunked_array([pa.DictionaryArray.from_arrays(pa.array([7, None, 9, 7], pa.int32()), values)])

    assert expanded(column) == 3
    assert sorted(looked) == [7, 9]


def test_a_plain_column_takes_nothing_more() -> None:
    """It has no dictionary, and its bytes came over the wire."""
    assert expanded(pa.chunked_array([["x"] * ROWS])) == 0


def test_a_small_column_is_not_underestimated() -> None:
    """Its size is bounded by that of all values at each index."""
    column = pa.chunked_array([pa.array(["long enough", "b", None, "b"]).dictionary_encode()])

    assert 13 <= expanded(column) < 1_000
