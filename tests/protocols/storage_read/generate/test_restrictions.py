from __future__ import annotations

from typing import Any

import pytest
import sqlglot
from sqlglot import exp

from conformance.generate import draw_case, materialise, to_json_rows
from conformance.generate.choices import Seeded
from conformance.generate.jsonform import FORMS
from conformance.protocols.storage_read.generate.restrictions import Restriction, draw_restriction
from conformance.records import BqType, Case, Column, CreateSession, Json, Mode, Recipe, Table, ValueProfile
from tests.studies import sample

COLUMNS = (
    Column("n", BqType.INT64),
    Column("f", BqType.FLOAT64),
    Column("r", BqType.RECORD, fields=(Column("end", BqType.STRING), Column("d", BqType.DATE, Mode.REQUIRED))),
    Column("list", BqType.INT64, Mode.REPEATED),
)


def truth(expression: Any, row: dict[str, Any], columns: tuple[Column, ...]) -> bool | None:  # noqa: PLR0911  # one return per kind of node
    """The truth of a parsed restriction on one row, computed value by value: an independent oracle."""
    if isinstance(expression, exp.Paren):
        return truth(expression.this, row, columns)
    if isinstance(expression, exp.And | exp.Or):
        left, right = (truth(side, row, columns) for side in (expression.left, expression.right))
        decisive = isinstance(expression, exp.Or)
        if decisive in {left, right}:
            return decisive
        return None if None in {left, right} else not decisive
    if isinstance(expression, exp.Not):
        inner = truth(expression.this, row, columns)
        return None if inner is None else not inner
    place, column = _place(expression.this, row, columns)
    if isinstance(expression, exp.Is):
        return place is None
    if place is None:
        return None
    if isinstance(expression, exp.In):
        return any(place == _literal(item, column) for item in expression.expressions)
    if isinstance(expression, exp.Between):
        low, high = (_literal(expression.args[side], column) for side in ("low", "high"))
        return bool(low <= place <= high)
    if isinstance(expression, exp.Like):
        return bool(place.startswith(_literal(expression.expression, column).removesuffix(b"%")))
    return bool(_COMPARE[type(expression)](place, _literal(expression.expression, column)))


_COMPARE: dict[type, Any] = {
    exp.EQ: lambda one, other: one == other,
    exp.NEQ: lambda one, other: one != other,
    exp.LT: lambda one, other: one < other,
    exp.LTE: lambda one, other: one <= other,
    exp.GT: lambda one, other: one > other,
    exp.GTE: lambda one, other: one >= other,
}


def _place(node: Any, row: dict[str, Any], columns: tuple[Column, ...]) -> tuple[Any, Column]:
    assert isinstance(node, exp.Column | exp.Dot)
    value: Any = row
    for name in [part.name for part in node.parts]:
        [column] = [column for column in columns if column.name == name]
        value, columns = (None if value is None else value[name]), column.fields
    if value is None or column.type is BqType.RECORD or column.type not in FORMS:
        return value, column
    return _raw(column, value), column


def _raw(column: Column, value: Any) -> Any:
    raw = FORMS[column.type].read(column, value)
    if column.type in {BqType.NUMERIC, BqType.BIGNUMERIC}:
        return int.from_bytes(raw, "little", signed=True)
    return raw


def _literal(node: Any, column: Column) -> Any:
    text = (
        node.name if isinstance(node, exp.Literal) else "".join(str(part.name) for part in node.find_all(exp.Literal))
    )
    if isinstance(node, exp.Boolean):
        return bool(node.this)
    if column.type is BqType.INT64:
        return int(text) * (-1 if isinstance(node, exp.Neg) else 1)
    if column.type is BqType.FLOAT64:
        return float(text) * (-1 if isinstance(node, exp.Neg) else 1)
    if column.type in {BqType.DATETIME, BqType.TIMESTAMP}:
        text = text.replace(" ", "T").replace("+00", "Z")
    return _raw(column, text)


def rows_of(case: Case) -> list[dict[str, Any]]:
    """The case's rows as JSON values."""
    return to_json_rows(materialise(case.table), case.table.columns)


DRAWN = {"part": range(500, 650), "every": range(700)}
"""The numbers of drawn cases; each kind of restriction is among both."""


@pytest.mark.parametrize("drawn", sample(DRAWN, ("part",), env="thorough"))
def test_answers_agree_with_a_second_oracle(drawn: str) -> None:
    """Parsed by an SQL parser and decided row by row, every drawn restriction keeps the rows that the case says."""
    seen = set()
    for index in DRAWN[drawn]:
        case = draw_case(8, index, profile="server", not_offered=["query-results"])
        if case.title.startswith("Drawn restrictions"):
            continue  # their values have escapes and functions that this oracle does not know
        session = case.steps[0]
        assert isinstance(session, CreateSession)
        if not session.row_restriction:
            continue
        parsed = sqlglot.parse_one(session.row_restriction, read="bigquery")
        seen |= {type(node) for node in parsed.walk()}

        kept = tuple(index for index, row in enumerate(rows_of(case)) if truth(parsed, row, case.table.columns) is True)
        assert kept == session.expect.rows, session.row_restriction
    assert {exp.In, exp.Between, exp.Like, exp.Is, exp.Not, exp.And, exp.Or, *_COMPARE} <= seen


def restriction(sql_start: str, columns: tuple[Column, ...], *rows: dict[str, Any]) -> Restriction:
    """The first drawn restriction that begins with ``sql_start``."""
    table = materialise(Table(columns, rows=tuple(map(Json, rows))))
    for index in range(3000):
        drawn = draw_restriction(Seeded(0, index, "test"), columns, table)
        if drawn is not None and drawn.sql.startswith(sql_start):
            return drawn
    pytest.fail(f"no restriction begins with {sql_start}")


def test_null_under_a_null_record_is_null() -> None:
    """A field of a NULL record is NULL, also where it is REQUIRED."""
    rows: list[dict[str, Any]] = [{"r": None}, {"r": {"end": "a", "d": "2020-01-01"}}, {"r": {"d": "2020-01-01"}}]

    assert restriction("r.d IS NULL", COLUMNS[2:3], *rows).rows == (0,)
    assert restriction("r.`end` IS NOT NULL", COLUMNS[2:3], *rows).rows == (1,)
    assert restriction("r.d = DATE '2020-01-01'", COLUMNS[2:3], *rows).rows == (1, 2)


def test_comparisons_drop_null_and_nan() -> None:
    """NULL is neither equal nor unequal; NaN is unequal to everything, itself included."""
    rows: list[dict[str, Any]] = [{"f": 1.5}, {"f": "NaN"}, {"f": None}]

    assert restriction("f = 1.5", COLUMNS[1:2], *rows).rows == (0,)
    assert restriction("f != 1.5", COLUMNS[1:2], *rows).rows == (1,)
    assert restriction("f >= 1.5", COLUMNS[1:2], *rows).rows == (0,)


def test_nothing_to_compare_gives_no_restriction() -> None:
    """A table of arrays alone has no place for a predicate."""
    table = materialise(Table(COLUMNS[3:], recipe=Recipe(5)))

    assert draw_restriction(Seeded(0, 0, "test"), COLUMNS[3:], table) is None


def test_literals_are_plain() -> None:
    """No literal needs an escape, and none is NaN, an infinity or the least integer."""
    for index in range(200):
        table = materialise(Table(COLUMNS, recipe=Recipe(40, seed=index, values=ValueProfile.BOUNDARY)))

        drawn = draw_restriction(Seeded(1, index, "test"), COLUMNS, table)

        assert drawn is not None
        assert drawn.sql.isascii()
        assert not any(word in drawn.sql for word in ("\\", "nan", "inf", str(-(1 << 63)), "\n"))
