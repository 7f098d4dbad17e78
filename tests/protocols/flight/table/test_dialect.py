"""Statements are written for one server: types, literals and parameters."""

from __future__ import annotations

import pytest

from conformance.protocols.flight.table.dialect import SqlSpec, Statements, UnknownTypeError, check_sql, sql_name
from conformance.records import BqType, Column, Mode, RecordError

COLUMNS = (
    Column("row_id", BqType.INT64, mode=Mode.REQUIRED),
    Column("word", BqType.STRING),
    Column("amount", BqType.FLOAT64),
    Column("good", BqType.BOOL),
    Column("day", BqType.DATE),
)
ROWS = (
    {"row_id": 1, "word": "it's", "amount": 0.1, "good": True, "day": "2024-02-29"},
    {"row_id": -2, "word": None, "good": False},
)


def statements(sql: SqlSpec | None = None) -> Statements:
    """The statements about a table of two rows."""
    return Statements(sql or SqlSpec(), "t", COLUMNS, lambda: ROWS)


@pytest.mark.parametrize(
    ("template", "filled"),
    [
        ("DROP TABLE {table}", "DROP TABLE t"),
        ("{names}", "row_id, word, amount, good, day"),
        ("{markers}", "?, ?, ?, ?, ?"),
        ("x = {marker}", "x = ?"),
        (
            "{create}",
            "CREATE TABLE t (row_id BIGINT NOT NULL, word VARCHAR, amount DOUBLE, good BOOLEAN, day DATE)",
        ),
        (
            "{values}",
            "(1, 'it''s', 1.0000000000000001E-1, TRUE, DATE '2024-02-29'), (-2, NULL, NULL, FALSE, NULL)",
        ),
        ("{rows:1-2}", "(-2, NULL, NULL, FALSE, NULL)"),
        ("{other} {}", "{other} {}"),
    ],
)
def test_a_template_is_filled(template: str, filled: str) -> None:
    """Each place by its name; any other brace stays."""
    assert statements().filled(template) == filled


def test_a_dialect_has_words_of_its_own() -> None:
    """Types, how a table is made, how a quote is written, and numbered parameters."""
    sql = SqlSpec(
        types={"STRING": "STRING", "INT64": "LONG"},
        create="CREATE TABLE {table} ({columns}) USING parquet",
        quote="\\'",
        marker="${n}",
    )

    made = Statements(sql, "t", COLUMNS[:2], lambda: ROWS[:1])

    assert made.filled("{create}") == "CREATE TABLE t (row_id LONG NOT NULL, word STRING) USING parquet"
    assert made.filled("{values}") == r"(1, 'it\'s')"
    assert made.filled("{markers}") == "$1, $2"


@pytest.mark.parametrize(
    ("sql", "columns"),
    [
        (SqlSpec(types={"BOOL": ""}), COLUMNS),
        (SqlSpec(), (Column("g", BqType.GEOGRAPHY),)),
        (SqlSpec(), (Column("n", BqType.INT64, mode=Mode.REPEATED),)),
    ],
)
def test_a_type_without_a_name_is_an_error(sql: SqlSpec, columns: tuple[Column, ...]) -> None:
    """The case is untestable by that name."""
    with pytest.raises(UnknownTypeError, match=r"\[flight.sql.types\] names no type for "):
        Statements(sql, "t", columns, tuple).filled("{create}")


@pytest.mark.parametrize("sql", [SqlSpec(types={"TEXT": "x"}), SqlSpec(create="CREATE {table}")])
def test_a_dialect_that_cannot_be_written_is_refused(sql: SqlSpec) -> None:
    """With the place in the file."""
    with pytest.raises(RecordError, match=r"^target.flight.sql\."):
        check_sql(sql)


def test_a_table_is_called_after_its_case() -> None:
    """In characters that no dialect quotes, with the token of the run."""
    assert sql_name("flight-sql.Prepared-query", "ab12") == "c_flight_sql_prepared_query_ab12"
