"""Two ways out of one library: which values are compared, and what a difference says."""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from conformance.readers.ipc import Decoded, Unsupported
from conformance.readers.ipc.own import Ways, compared, compared_after, is_certain
from conformance.wire.plain import plain_table


class _Own:
    """A library with an interface of its own: it gives what it was made with, or raises it."""

    def __init__(self, values: Sequence[Any] | Exception) -> None:
        self._values = values

    def own(self, made: Any, place: int) -> Sequence[Any]:
        """The values of every column."""
        del made, place
        if isinstance(self._values, Exception):
            raise self._values
        return self._values


def ways(array: pa.Array, own: Sequence[Any] | Exception) -> Ways:
    """The comparison of one column."""
    batch = pa.record_batch([array], names=["x"])
    return compared(_Own(own), None, Decoded(batch.schema, [batch]), plain_table([batch]))


SAME = {
    "bool": pa.array([True, None]),
    "int64": pa.array([-(2**63), None]),
    "uint64": pa.array([2**64 - 1, None], pa.uint64()),
    "float32": pa.array([1.5, None], pa.float32()),
    "nan": pa.array([float("nan"), -0.0]),
    "decimal128": pa.array([Decimal("-1.20"), None], pa.decimal128(5, 2)),
    "decimal256": pa.array([Decimal(10**75), None], pa.decimal256(76, 0)),
    "text": pa.array(["ä", None]),
    "binary": pa.array([b"\xff", None]),
    "list": pa.array([[1, None], None, []]),
    "struct": pa.array([{"a": 1, "b": "x"}, None]),
    "union": pa.UnionArray.from_sparse(
        pa.array([0, 1, 2, 1], pa.int8()),
        [pa.array([1, 2, 3, 4]), pa.array(["a", "b", "c", None]), pa.array([b"\xff"] * 4)],
    ),
    "list of structs": pa.array([[{"a": 1}, None], None]),
}


@pytest.mark.parametrize("name", SAME)
def test_the_same_values_agree(name: str) -> None:
    """The Python values of a column are its plain values, whatever its type."""
    assert ways(SAME[name], SAME[name].to_pylist()) == Ways(1)


def test_a_union_of_more_values_than_rows_is_found() -> None:
    """Its values are compared with those of the child that has them, and counted."""
    union = pa.UnionArray.from_sparse(pa.array([0, 1], pa.int8()), [pa.array([7, 8]), pa.array(["a", "b"])])

    assert ways(union, [7, "a"]).differences == ('column 0 "x", row 1: expected "b", got "a"',)
    assert len(ways(union, [7, "b", 9]).differences) == 1
    numbers = pa.UnionArray.from_sparse(pa.array([0], pa.int8()), [pa.array([7]), pa.array([b"a"])])
    assert "raises PlainError: 'x' is no value of" in ways(numbers, ["x"]).differences[0]


def test_a_difference_names_its_place() -> None:
    """Column, row and both values."""
    assert ways(pa.array([1, None]), [1, 2]).differences == ('column 0 "x", row 1: expected null, got 2',)
    assert ways(pa.array([1, None]), [1]).differences == ("rows: expected 2, got 1",)


def test_an_error_of_the_own_interface_is_a_difference() -> None:
    """The values exist, and the interface does not give them."""
    found = ways(pa.array([1]), ValueError("no")).differences

    assert found == ("column 0 'x': its own interface raises ValueError: no",)


def test_a_type_that_the_interface_lacks_is_not_compared() -> None:
    """The interface says that it cannot give the values."""
    assert ways(pa.array([1]), Unsupported("no decimals")) == Ways(0)


@pytest.mark.parametrize(
    "kind",
    [
        pa.date32(),
        pa.timestamp("ns"),
        pa.duration("s"),
        pa.map_(pa.string(), pa.int8()),
        pa.list_(pa.time32("s")),
        pa.struct([("a", pa.int8()), ("a", pa.int8())]),
    ],
    ids=str,
)
def test_values_that_python_cannot_hold_are_not_compared(kind: pa.DataType) -> None:
    """Times have fewer values in Python than in Arrow, and a dictionary holds each name once; see below for nulls."""
    assert not is_certain(kind)
    assert ways(pa.nulls(1, kind), [object()]) == Ways(int(pa.types.is_temporal(kind)))


@pytest.mark.parametrize("name", ["dictionary", "runs"])
def test_dictionaries_and_runs_have_the_values_of_their_type(name: str) -> None:
    """What a library decodes is compared as if it had not been encoded."""
    words = pa.array(["a", None, "b"])
    array = words.dictionary_encode() if name == "dictionary" else pa.RunEndEncodedArray.from_arrays([1, 2, 3], words)

    assert ways(array, ["a", None, "b"]) == Ways(1)
    assert ways(array, ["a", None, "c"]).differences == ('column 0 "x", row 2: expected "b", got "c"',)


BATCH = pa.record_batch([pa.array([1, None])], names=["x"])


class _After:
    """A library that gives this after whatever it was asked for, or raises it."""

    def __init__(self, given: pa.Array | Exception) -> None:
        self._given = given

    def after(self, made: Any, what: str) -> Decoded:
        """The column, under the name that it had."""
        del made, what
        if isinstance(self._given, Exception):
            raise self._given
        batch = pa.record_batch([self._given], names=["x"])
        return Decoded(batch.schema, [batch])


def after(given: pa.Array | Exception) -> Ways | None:
    """The comparison of two numbers with what a library has after a cast."""
    return compared_after(_After(given), None, "cast", plain_table([BATCH]))


def test_values_after_a_cast_are_those_before() -> None:
    """Another type with the same values is no difference; another value is, and so is an error."""
    assert after(pa.array([1, None], pa.int8())) == Ways(1)
    assert after(pa.array([2, None])) == Ways(1, ('cast: column 0 "x", row 0: expected 1, got 2',))
    assert after(ValueError("no")) == Ways(1, ("cast: raises ValueError: no",))


def test_what_a_library_cannot_do_is_not_compared() -> None:
    """It says so, and that is no difference."""
    assert after(Unsupported("no cast")) is None


def test_the_types_of_many_columns_are_listed_once() -> None:
    """To list them for each column took minutes for thousands, since pyarrow makes the list again for each use."""
    batch = pa.record_batch({str(number): pa.array([number]) for number in range(50)})
    listed: list[pa.Schema] = []

    class Schema:
        @property
        def types(self) -> list[pa.DataType]:
            listed.append(batch.schema)
            return list(batch.schema.types)

    class Own:
        def own(self, made: Any, place: int) -> Sequence[Any]:
            del made
            return [place]

    assert compared(Own(), None, Decoded(Schema(), [batch]), plain_table([batch])) == Ways(50)
    assert len(listed) == 1


EARLY = pa.array([0, None, -(2**31)], pa.int32()).view(pa.date32())


def test_a_time_that_is_shown_as_null_is_a_difference() -> None:
    """The classes of Python hold fewer times, so values are not compared; to show none where there is one is wrong."""
    assert ways(EARLY, [object(), None, object()]) == Ways(1)
    assert ways(EARLY, [object(), None, None]) == Ways(1, ("column 0 'x', row 2: expected a value, got null",))


def test_a_time_may_be_an_error_and_no_panic() -> None:
    """An error says that the value cannot be had; a failed assertion, which no caller catches, is reported."""

    class Panic(BaseException):
        """As PyO3 raises it."""

    class Own:
        def own(self, made: Any, place: int) -> Sequence[Any]:
            del made, place
            raise Panic("out of range")

    batch = pa.record_batch([EARLY], names=["x"])
    panicked = compared(Own(), None, Decoded(batch.schema, [batch]), plain_table([batch]))

    assert ways(EARLY, OverflowError("date value out of range")) == Ways(0)
    assert panicked.columns == 1
    assert re.fullmatch(r"column 0 'x': its own interface raises \S+Panic: out of range", *panicked.differences)
    with pytest.raises(MemoryError):
        ways(EARLY, MemoryError())
