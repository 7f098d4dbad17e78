"""Rows of a case before columns got other names and types."""

from __future__ import annotations

from conformance.generate.changedrows import rows_then
from conformance.records import AlteredColumn, BqType, Case, ChangeColumns, Column, Table

LAST = (Column("n", BqType.NUMERIC), Column("s", BqType.STRING), Column("b", BqType.BIGNUMERIC))
WAS = (Column("i", BqType.INT64), Column("t", BqType.STRING), Column("b", BqType.NUMERIC))
STEP = ChangeColumns(alter=tuple(AlteredColumn(now.name, was) for now, was in zip(LAST, WAS, strict=True)))
CASE = Case("mine", "a title", Table(LAST, rows=()), steps=(STEP,))


def test_rows_have_the_names_and_values_of_then() -> None:
    """NULL stays, and so does what is no value of the earlier type: its row is inserted later."""
    rows = [{"n": "7", "s": "x", "b": "1.5"}, {"n": None}, {"n": "0.5", "s": None, "b": None}]

    assert rows_then(CASE, rows, WAS) == [
        {"i": 7, "t": "x", "b": "1.5"},
        {"i": None},
        {"i": "0.5", "t": None, "b": None},
    ]


def test_rows_of_the_last_columns_are_those_of_the_case() -> None:
    """Nothing is copied."""
    rows = [{"n": "7"}]

    assert rows_then(CASE, rows, LAST) is rows


def test_values_without_an_integer_stay() -> None:
    """No number and no finite one: their rows are refused, or inserted later, and break nothing."""
    rows = [{"n": "Infinity"}, {"n": "NaN"}, {"n": "no number"}]

    assert rows_then(CASE, rows, WAS) == [{"i": row["n"]} for row in rows]
