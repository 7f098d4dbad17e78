from __future__ import annotations

import datetime as dt
import decimal
import random
from collections.abc import Callable

import pyarrow as pa
import pytest

from conformance.contract.comparing.cellbits import take
from conformance.contract.comparing.matching import (
    RowMatch,
    _shown,
    comparable,
    fingerprints,
    match_rows,
    show_row,
    show_rows,
)

TABLE = pa.table(
    {
        "id": [1, 2, 3, 2],
        "word": ["x", None, "z", "y"],
        "list": [[1], [], [1, 2], [2, 1]],
        "record": [{"a": 1.5, "b": [True]}, None, {"a": float("nan"), "b": []}, {"a": None, "b": [False, None]}],
    }
)
COLUMNS = [
    pa.array([True, False, None, True]),
    pa.array([1, -1, 0, None], pa.int64()),
    pa.array([0.0, 1.5, float("inf"), None]),
    pa.array(["", "a", "b", None]),
    pa.array([b"", b"\x00", b"\x00\x00", None]),
    pa.array([dt.date(1, 1, 1), dt.date(9999, 12, 31), dt.date(1970, 1, 1), None]),
    pa.array([0, 1, -1, None], pa.timestamp("us", "UTC")),
    pa.array([0, 1, 86_399_999_999, None], pa.time64("us")),
    pa.array([decimal.Decimal(n) for n in ("0", "1", "-1")] + [None], pa.decimal128(38, 9)),
    pa.array([decimal.Decimal(n) for n in ("0", "1", "-1")] + [None], pa.decimal256(76, 38)),
    pa.array([(0, 0, 0), (1, 0, 0), (0, 1, 0), None], pa.month_day_nano_interval()),
    pa.array([[], [0], [0, 0], [None]], pa.list_(pa.int64())),
    pa.array([["a", "b"], ["ab"], ["a"], ["b", "a"]]),
    pa.array([{"a": 1, "b": None}, {"a": None, "b": 1}, None, {"a": 1, "b": 1}]),
    pa.array([[{"a": 1}], [{"a": None}], [None], []]),
]


def changed(column: str, values: list[object]) -> pa.Table:
    """The table with other values in a column."""
    index = TABLE.schema.get_field_index(column)
    return TABLE.set_column(index, column, pa.array(values, TABLE.schema.field(index).type))


def with_first_id(number: int) -> pa.Table:
    """The first row under another id."""
    row = TABLE.slice(0, 1)
    return row.set_column(0, "id", pa.array([number]))


@pytest.mark.parametrize("array", COLUMNS, ids=lambda array: str(array.type))
def test_different_values_have_different_fingerprints(array: pa.Array) -> None:
    """Values that differ have hashes that differ; NULL is a value too."""
    assert len(set(fingerprints(array).tolist())) == len({repr(value) for value in array.to_pylist()})


@pytest.mark.parametrize("array", COLUMNS, ids=lambda array: str(array.type))
def test_a_fingerprint_depends_on_the_value_alone(array: pa.Array) -> None:
    """A slice, a copy in another order and a column of several chunks hash as the values do."""
    whole = fingerprints(array).tolist()

    assert fingerprints(array.slice(1, 2)).tolist() == whole[1:3]
    assert fingerprints(take(array, [3, 0, 2])).tolist() == [whole[3], whole[0], whole[2]]
    assert fingerprints(pa.concat_arrays([array.slice(2), array.slice(0, 2)])).tolist() == whole[2:] + whole[:2]


def test_every_nan_is_one_value_and_zeros_keep_their_sign() -> None:
    """NaN equals NaN, 0.0 is not -0.0."""
    nan, other, zero, negative = fingerprints(pa.array([float("nan"), -float("nan"), 0.0, -0.0])).tolist()

    assert nan == other
    assert zero != negative


@pytest.mark.parametrize(
    ("got", "expected"),
    [
        (TABLE.take([3, 1, 0, 2]), RowMatch((), (), (), ())),
        (TABLE.take([3, 1, 0]), RowMatch((), (2,), (), ())),
        (TABLE.slice(0, 0), RowMatch((), (0, 1, 2, 3), (), ())),
        (TABLE.take([0, 1, 2, 3, 2]), RowMatch((), (), (4,), ())),
        (pa.concat_tables([TABLE, with_first_id(9)]), RowMatch((), (), (), (4,))),
        (changed("word", ["x", "n", "z", "y"]), RowMatch(((1, 1),), (), (), ())),
        (pa.concat_tables([TABLE.slice(1), with_first_id(9)]), RowMatch(((0, 3),), (), (), ())),
        (TABLE.take([0, 0, 1, 2]), RowMatch((), (3,), (1,), ())),
    ],
    ids=["order", "one lost", "all lost", "repeated", "foreign", "changed", "changed and moved", "replaced by a copy"],
)
def test_rows_are_matched_by_value(got: pa.Table, expected: RowMatch) -> None:
    """Lost, repeated, foreign and changed rows are distinguished, in any order."""
    assert match_rows(TABLE, got) == expected


@pytest.mark.parametrize("wrap", [lambda value: value, lambda value: [value], lambda value: {"f": value}])
def test_a_zero_of_the_other_sign_is_a_changed_row(wrap: Callable[[float], object]) -> None:
    """The matching distinguishes minus zero from zero at every depth, though pyarrow calls the tables equal."""
    before, after = (pa.table({"n": [1, 2], "a": [wrap(0.5), wrap(zero)]}) for zero in (0.0, -0.0))

    assert before.equals(after)
    assert match_rows(before, after) == RowMatch(((1, 1),), (), (), ())


def test_changed_rows_are_paired_with_those_most_like_them() -> None:
    """Of two lost rows and two strange ones, those pair that agree in most columns."""
    before = pa.table({"id": [1, 2], "a": ["x", "y"], "b": ["p", "q"]})
    after = pa.table({"id": [2, 1], "a": ["y", "x"], "b": ["Q", "P"]})

    assert sorted(match_rows(before, after).changed) == [(0, 1), (1, 0)]


def test_a_column_of_another_type_or_name_takes_no_part() -> None:
    """Rows are matched by the columns that can be compared; the others are the schema's affair."""
    got = TABLE.set_column(0, "id", pa.array(["1", "2", "3", "2"])).rename_columns(["id", "other", "list", "record"])

    assert match_rows(TABLE, got).exact


def test_without_a_comparable_column_rows_are_counted() -> None:
    """Two tables with nothing in common differ by their number of rows only."""
    one, other = pa.table({"a": [1, 2, 3]}), pa.table({"b": ["x", "y"]})

    assert match_rows(one, other) == RowMatch((), (2,), (), ())


def test_nullability_and_item_names_do_not_matter() -> None:
    """Types are comparable if they hold the same values."""
    one = pa.list_(pa.field("item", pa.struct([pa.field("a", pa.int64(), nullable=False)]), nullable=True))
    other = pa.list_(pa.field("element", pa.struct([pa.field("a", pa.int64())]), nullable=False))

    assert comparable(one, other)
    assert not comparable(one, pa.list_(pa.struct([("b", pa.int64())])))


def test_any_shuffle_and_any_loss_is_found() -> None:
    """Of many rows in random order with some left out, exactly those are missing."""
    source = random.Random(7)
    table = pa.table({"n": pa.array(range(2000)), "s": [str(n % 50) for n in range(2000)]})
    lost = sorted(source.sample(range(2000), 17))
    kept = [row for row in range(2000) if row not in lost]
    source.shuffle(kept)

    assert match_rows(table, table.take(pa.array(kept))) == RowMatch((), tuple(lost), (), ())


@pytest.mark.parametrize(
    ("column", "shown"),
    [
        (pa.array([0], pa.timestamp("us", "No/Where")), "a timestamp[us, tz=No/Where] that Python cannot show"),
        (pa.array([b"\xff"]).view(pa.utf8()), "a string that Python cannot show (UnicodeDecodeError)"),
        (pa.array([3_000_000], pa.int32()).view(pa.date32()), "a date32[day] that Python cannot show (OverflowError)"),
    ],
    ids=["unknown zone", "no text", "beyond the calendar"],
)
def test_a_value_that_python_cannot_show_is_named_by_its_type(column: pa.Array, shown: str) -> None:
    """A row is shown whatever its values are, with the reason for a value that is not there."""
    assert show_row(pa.table({"a": column, "b": [7]}), 0).startswith(f"{{'a': {shown}")
    assert show_row(pa.table({"a": column, "b": [7]}), 0).endswith("'b': 7}")


@pytest.mark.parametrize("error", [ValueError, OverflowError, LookupError, NotImplementedError, pa.ArrowException])
def test_no_value_keeps_a_row_from_being_shown(error: type[Exception]) -> None:
    """Versions of pyarrow differ in the errors that they raise; the value is shown by its type under each of them."""

    class Value:
        type = pa.timestamp("s", "No/Where")

        def as_py(self) -> None:
            raise error("no such zone")

    assert _shown(Value()) == f"a timestamp[s, tz=No/Where] that Python cannot show ({error.__name__})"


def test_a_row_is_shown_on_one_line() -> None:
    """A row with a long value is cut."""
    table = pa.table({"a": [1], "b": ["x" * 1000]})

    assert show_row(table, 0).startswith("{'a': 1, 'b': 'xxx")
    assert len(show_row(table, 0)) < 200


def named_twice(*second: object) -> pa.Table:
    """A table of two columns of one name."""
    return pa.Table.from_arrays([pa.array([1, 2, 3]), pa.array(list(second), pa.utf8())], names=["a", "a"])


def test_columns_of_one_name_are_told_apart_by_position() -> None:
    """A server may send a name twice, and a changed value of the second column is a changed row."""
    match = match_rows(named_twice("x", "y", "z"), named_twice("z", "x", "other"))

    assert match == RowMatch(changed=((0, 0), (1, 1), (2, 2)), missing=(), repeated=(), foreign=())
    assert match_rows(named_twice("x", "y", "z"), named_twice("x", "y", "z")).exact


def test_a_name_that_one_side_has_twice_is_not_compared() -> None:
    """Rows are matched by the columns that both sides have once."""
    expected, got = named_twice("x", "y", "z"), pa.table({"a": [1, 2, 3]})

    assert match_rows(expected, got).exact
    assert match_rows(got, expected).exact


def test_two_long_rows_are_not_shown_as_one() -> None:
    """A difference behind the cut is said, with its place."""
    one, other = (pa.table({"a": ["x" * 200 + end]}) for end in "yz")

    shown, beside = show_rows(one, 0, other, 0)

    assert shown != beside
    assert "on: y'" in shown
