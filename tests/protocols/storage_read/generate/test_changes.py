"""Changes of columns fit the table of their case."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from conformance.generate.casecheck import check_case
from conformance.records import (
    AlteredColumn,
    AppendRows,
    BqType,
    Case,
    ChangeColumns,
    Column,
    CreateSession,
    Happening,
    Json,
    Meanwhile,
    Mode,
    Recipe,
    RecordError,
    RunQuery,
    StorageReadStep,
    Table,
)

COLUMNS = (
    Column("row_id", BqType.INT64, Mode.REQUIRED),
    Column("a", BqType.STRING),
    Column("b", BqType.STRING),
    Column("c", BqType.STRING, Mode.REPEATED),
)


def case(*steps: StorageReadStep, rows: tuple[dict[str, Any], ...] = (), recipe: Recipe | None = None) -> Case:
    """A case with three columns beside the ids."""
    numbered = tuple(Json({"row_id": index, **row}) for index, row in enumerate(rows))
    return Case("mine", "a title", Table(COLUMNS, rows=None if recipe else numbered, recipe=recipe), steps=steps)


ADD = ChangeColumns(add=("b", "c"))
RENAME = ChangeColumns(alter=(AlteredColumn("a", Column("z", BqType.STRING)),))


def alter(name: str, was: Column) -> Case:
    """A case that alters one column."""
    return case(ChangeColumns(alter=(AlteredColumn(name, was),)))


@pytest.mark.parametrize(
    "right",
    [
        case(ADD, AppendRows(1), rows=({"a": "x", "c": []}, {"a": None, "b": "y", "c": ["z"]})),
        case(ChangeColumns(drop=("b",)), AppendRows(1), rows=({"b": "x"}, {"a": "y"})),
        case(ChangeColumns(relax=("a",)), AppendRows(1), rows=({"a": "x"}, {"a": None})),
        case(ChangeColumns(add=("b",)), ChangeColumns(add=("c",)), ChangeColumns(drop=("b",))),
        case(ChangeColumns(drop=("a",)), recipe=Recipe(3)),
        case(ADD, Meanwhile(Happening.RESTART), CreateSession()),
        case(ADD, AppendRows(1, again=True), rows=({}, {"b": "y"})),
        case(RENAME, AppendRows(1), rows=({"a": "x"}, {"a": "y"})),
        case(ChangeColumns(drop=("a",), add=("c",), again=True), AppendRows(1), rows=({"a": "x"}, {"c": ["z"]})),
    ],
)
def test_changes_that_fit_are_permitted(right: Case) -> None:
    """Rows have values only in columns that the table has when they are inserted."""
    check_case(right)


def widening(*values: str) -> Case:
    """A case with a NUMERIC column that was INT64 before its last row is inserted."""
    columns = (Column("row_id", BqType.INT64, Mode.REQUIRED), Column("n", BqType.NUMERIC))
    rows = tuple(Json({"row_id": index, "n": value}) for index, value in enumerate(values))
    change = ChangeColumns(alter=(AlteredColumn("n", Column("n", BqType.INT64)),))
    return Case("mine", "a title", Table(columns, rows=rows), steps=(change, AppendRows(1)))


def test_values_of_before_are_of_the_earlier_type() -> None:
    """Those of rows that are inserted later need not be."""
    check_case(widening("1", "2.5"))

    with pytest.raises(RecordError, match="integer"):
        check_case(widening("1.5", "2"))


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (
            case(ChangeColumns(drop=("a",)), AppendRows(1), recipe=Recipe(3)),
            "Case.steps[0]: expected a table with rows, because a recipe has values in every",
        ),
        (
            case(ADD, recipe=Recipe(3)),
            "Case.steps[0]: expected a table with rows, because a recipe has values in every",
        ),
        (case(ChangeColumns(add=("d",))), "Case.steps[0].add: expected columns of the table of the case that are not"),
        (case(ADD, ChangeColumns(add=("c",))), "Case.steps[1].add: expected columns of the table of the case that are"),
        (case(ChangeColumns(relax=("row_id",))), "Case.steps[0].relax: expected columns that are there then, and NULL"),
        (case(ChangeColumns(relax=("c",))), "Case.steps[0].relax: expected columns that are there then, and NULLABLE"),
        (case(ChangeColumns()), "Case.steps[0]: expected columns to add, to drop, to relax or to"),
        (case(ChangeColumns(drop=("c",)), ADD), "Case.steps[0].drop: expected columns that are there then, without"),
        (case(ChangeColumns(drop=("a", "a"))), "Case.steps[0].drop: expected each column once in the case but got 'a'"),
        (
            case(ChangeColumns(drop=("row_id", "a", "b", "c"))),
            "Case.steps[0].drop: expected a column that stays but got 'row_id'",
        ),
        (
            case(ChangeColumns(relax=("a",)), recipe=Recipe(3)),
            "Case.steps[0]: expected a table with rows, because a recipe has values in every",
        ),
        (case(ADD, AppendRows(5), rows=({},)), "Case.steps[1].count: expected at most the table's 1 rows in all but"),
        (case(ADD, AppendRows(-5), rows=({},)), "Case.steps[1].count: expected at most the table's 1 rows in all but"),
        (case(ChangeColumns(add=("b",))), "Case.steps[0].add: expected added columns behind all others, in this order"),
        (case(ChangeColumns(add=("c", "b"))), "Case.steps[0].add: expected added columns behind all others, in this"),
        (case(ADD, rows=({"b": "x"},)), "Case.table.rows[0].b: expected nothing: the table has no such column then"),
        (
            case(ChangeColumns(drop=("a",)), AppendRows(1), rows=({"a": "x"}, {"a": "y"})),
            "Case.table.rows[1].a: expected nothing: the table has no such column then",
        ),
        (
            case(ChangeColumns(relax=("a",)), rows=({"a": None},)),
            "Case.table.rows[0].a: expected a value: the column is REQUIRED then",
        ),
        (case(ADD, CreateSession(snapshot="past")), "Case.steps[1].snapshot: expected none where columns change"),
        (
            alter("d", Column("z", BqType.STRING)),
            "Case.steps[0].alter: expected columns of the table of the case, each",
        ),
        (alter("a", Column("b", BqType.STRING)), "Case.steps[0].alter: expected names of before that no other column"),
        (
            alter("a", Column("a", BqType.INT64)),
            "Case.steps[0].alter: expected the type and mode of before, or a wider",
        ),
        (
            case(RENAME, ChangeColumns(drop=("a",))),
            "Case.steps[0].alter: expected columns of the table of the case, each changed by this step alone but got",
        ),
        (
            case(dataclasses.replace(RENAME, again=True)),
            "Case.steps[0].alter: expected no other names or types in a table that is made again but got",
        ),
        (
            Case(
                "mine",
                "a title",
                Table((Column("n", BqType.NUMERIC),), recipe=Recipe(3)),
                steps=(ChangeColumns(alter=(AlteredColumn("n", Column("n", BqType.INT64)),)),),
            ),
            "Case.steps[0]: expected a table with rows",
        ),
        (case(ADD, RunQuery()), "Case.steps[1]: expected no query and no expiry where columns change"),
        (case(Meanwhile(Happening.EXPIRY), ADD), "Case.steps[0]: expected no query and no expiry where columns change"),
    ],
)
def test_changes_that_do_not_fit_are_refused(wrong: Case, message: str) -> None:
    """One sentence says where, and what was expected."""
    with pytest.raises(RecordError) as caught:
        check_case(wrong)

    assert message in str(caught.value)
