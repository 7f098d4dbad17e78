"""Received columns beside the expected ones: which hold the values of another."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from conformance.contract.comparing import received
from conformance.contract.comparing.received import Compared, _aligned, _bag
from conformance.records import BqType, Column, Mode


@pytest.mark.parametrize(
    "column",
    [
        pa.chunked_array([[2, 1], [None, 3]]),
        pa.chunked_array([[3], [], [None, 1], [2]]),
        pa.chunked_array([[3, None, 2, 1]]),
    ],
)
def test_a_bag_has_no_order_and_no_chunks(column: pa.ChunkedArray) -> None:
    """The same values in any order and division are the same bag."""
    assert _bag(pa.table({"a": column}), "a") == _bag(pa.table({"b": [1, 2, 3, None]}), "b")


@pytest.mark.parametrize(
    "column", [pa.array([1, 2, 3, 3]), pa.array([1, 2, 3]), pa.array([1, 2, 3, None], pa.float64())]
)
def test_a_bag_has_its_values_and_their_kind(column: pa.Array) -> None:
    """Another value, a value less, values of another kind: another bag."""
    assert _bag(pa.table({"a": column}), "a") != _bag(pa.table({"b": [1, 2, 3, None]}), "b")


def test_a_bag_of_nothing_is_of_its_kind() -> None:
    """A column without any chunk has no values."""
    none = pa.table({"a": pa.chunked_array([], pa.int64())})

    assert _bag(none, "a") == _bag(pa.table({"b": pa.array([], pa.int64())}), "b")
    assert _bag(none, "a") != _bag(pa.table({"b": pa.array([], pa.utf8())}), "b")


@pytest.mark.parametrize("error", [TypeError, ValueError, AttributeError, pa.ArrowInvalid, pa.ArrowNotImplementedError])
def test_values_that_pyarrow_cannot_take_are_like_those_of_no_other_column(
    error: type[Exception], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A column without a fingerprint of its values is compared by its name, and the judge goes on."""

    def fail(_: pa.Array) -> None:
        raise error("no such function")

    monkeypatch.setattr(received, "fingerprints", fail)
    table = pa.table({"a": [1], "b": [1]})

    assert (_bag(table, "a"), _bag(table, "b")) == (b"a", b"b")


@pytest.mark.parametrize(
    ("got", "found", "hidden"),
    [
        ({"n": [1], "t": ["x"]}, {"n": 1, "t": "x"}, []),
        ({"t": ["x"], "more": [2], "n": [1]}, {"n": 1, "t": "x"}, []),
        ({"N": [1], "T": ["x"]}, {"n": 1, "t": "x"}, []),
        ({"N": [2], "n": [1], "t": ["x"]}, {"n": 1, "t": "x"}, []),
        ({"n": [1]}, {"n": 1}, ["t"]),
        ({"n": [1.0], "t": ["x"]}, {"t": "x"}, ["n"]),
        ({"n": ["a"], "t": [1]}, {}, ["n", "t"]),
        ({"n": [1], "t": [b"x"]}, {"n": 1}, ["t"]),
    ],
)
def test_columns_are_found_by_name_and_kind(
    got: dict[str, object], found: dict[str, object], hidden: list[str]
) -> None:
    """In any order, and in any case if there is no column of just that name; a column of another kind is none."""
    wanted, chosen, missing = _aligned(pa.table({"n": [1], "t": ["x"]}), pa.table(got))

    assert (chosen.to_pydict(), missing) == ({name: [value] for name, value in found.items()}, hidden)
    assert chosen.schema.names == wanted.schema.names == list(found)


def test_of_several_columns_of_one_name_the_first_counts() -> None:
    """In what came, whatever its case."""
    got = pa.table([pa.array([1]), pa.array([2]), pa.array(["x"]), pa.array(["y"])], names=["n", "n", "T", "t"])

    _, chosen, missing = _aligned(pa.table({"n": [1], "t": ["x"]}), got)

    assert (chosen.to_pydict(), missing) == ({"n": [1], "t": ["y"]}, [])


@pytest.mark.parametrize(
    ("wanted", "got"),
    [
        ([1, 2], [2, 1]),
        ([{"n": None}, {"n": 1}], [{"n": 1}, {"n": None}]),
        ([{"m": [1, 2]}, {"m": [1]}], [{"m": [1]}, {"m": [1, 2]}]),
    ],
    ids=["values", "nulls", "numbers of items"],
)
def test_a_list_in_another_order_is_seen_whatever_differs(wanted: list[Any], got: list[Any]) -> None:
    """The items of the first column are all there, and each place has another."""
    number, more = Column("n", BqType.INT64), Column("m", BqType.INT64, Mode.REPEATED)
    kind = BqType.INT64 if wanted == [1, 2] else BqType.RECORD
    fields = () if kind is BqType.INT64 else (number if "n" in wanted[0] else more,)
    column = Column("l", kind, Mode.REPEATED, fields=fields)

    tables = pa.table({"l": [wanted]}), pa.table({"l": [got]})

    assert Compared(0, (column,), tables, list, ordered=True, exact=True).reordered == {"l"}
