"""Every value is written as a typed GoogleSQL expression."""

from __future__ import annotations

from typing import Any

import pytest
import sqlglot

from conformance.records import BqType, Column, Mode
from conformance.targets.names import Names
from conformance.targets.sql import create_statement, insert_statement, literal

T = BqType
RECORD = Column("r", T.RECORD, Mode.REPEATED, fields=(Column("x", T.INT64), Column("l", T.DATE, Mode.REPEATED)))

LITERALS: list[tuple[Column, Any, str]] = [
    (Column("a", T.INT64), -5, "-5"),
    (Column("a", T.FLOAT64), 0.1, "CAST('0.1' AS FLOAT64)"),
    (Column("a", T.FLOAT64), "-Infinity", "CAST('-inf' AS FLOAT64)"),
    (Column("a", T.BOOL), False, "FALSE"),
    (Column("a", T.STRING), 'it\'s "\n"', '"it\'s \\"\\n\\""'),
    (Column("a", T.BYTES), "AAE=", 'FROM_BASE64("AAE=")'),
    (Column("a", T.DATE), "2020-01-01", 'DATE "2020-01-01"'),
    (Column("a", T.DATETIME), "2020-01-01T00:00:00", 'DATETIME "2020-01-01T00:00:00"'),
    (Column("a", T.TIME), "01:02:03", 'TIME "01:02:03"'),
    (Column("a", T.TIMESTAMP), "2020-01-01T00:00:00Z", 'TIMESTAMP "2020-01-01T00:00:00Z"'),
    (Column("a", T.NUMERIC), "1.5", 'NUMERIC "1.5"'),
    (Column("a", T.BIGNUMERIC), "1.5", 'BIGNUMERIC "1.5"'),
    (Column("a", T.JSON), '{"a": 1}', 'JSON "{\\"a\\": 1}"'),
    (Column("a", T.GEOGRAPHY), "POINT(1 2)", 'ST_GEOGFROMTEXT("POINT(1 2)")'),
    (Column("a", T.INTERVAL), {"months": -14, "days": 3}, 'INTERVAL "-1-2 3 0:0:0" YEAR TO SECOND'),
    (Column("a", T.RANGE, range_of=T.DATE), {"start": "2020-01-01"}, 'RANGE<DATE> "[2020-01-01, UNBOUNDED)"'),
    (Column("a", T.INT64, Mode.REPEATED), [1, 2], "ARRAY<INT64>[1, 2]"),
    (Column("a", T.INT64, Mode.REPEATED), None, "ARRAY<INT64>[]"),
    (Column("a", T.INT64), None, "CAST(NULL AS INT64)"),
    (
        RECORD,
        [{"x": 1}],
        "ARRAY<STRUCT<`x` INT64, `l` ARRAY<DATE>>>[STRUCT<`x` INT64, `l` ARRAY<DATE>>(1, ARRAY<DATE>[])]",
    ),
]


@pytest.mark.parametrize(("column", "value", "text"), LITERALS)
def test_a_value_is_written_with_its_type(column: Column, value: Any, text: str) -> None:
    """Each type has one spelling, which leaves nothing to coercion."""
    assert literal(column, value) == text


def test_every_type_has_a_spelling() -> None:
    """No column type is forgotten."""
    assert {column.type for column, _, _ in LITERALS} == set(T)


def test_a_statement_parses() -> None:
    """An INSERT of every scalar type is GoogleSQL to an independent parser."""
    pairs = [(column, value) for column, value, _ in LITERALS if column.type not in (T.RANGE, T.RECORD)]
    columns = [Column(f"c{at}", column.type, column.mode) for at, (column, _) in enumerate(pairs)]
    row = {f"c{at}": value for at, (_, value) in enumerate(pairs)}

    statement = sqlglot.parse_one(insert_statement(Names("p", "d", "t"), columns, [row, row]), dialect="bigquery")

    assert statement.key == "insert"
    assert len(statement.expression.expressions) == 2


def test_a_table_is_made_with_its_parameters() -> None:
    """Lengths, precisions, NOT NULL and nested fields are those of the columns."""
    columns = (
        Column("a", T.STRING, Mode.REQUIRED, max_length=5),
        Column("b", T.NUMERIC, precision=10, scale=2),
        Column("c", T.RANGE, range_of=T.DATE),
        Column("d", T.RECORD, Mode.REPEATED, fields=(Column("x", T.BYTES, Mode.REQUIRED), Column("y", T.INT64))),
    )

    statement = create_statement(Names("p", "d", "t"), columns)

    assert statement == (
        "CREATE TABLE `p`.`d`.`t` (\n"
        "  `a` STRING(5) NOT NULL,\n"
        "  `b` NUMERIC(10, 2),\n"
        "  `c` RANGE<DATE>,\n"
        "  `d` ARRAY<STRUCT<`x` BYTES NOT NULL, `y` INT64>>\n"
        ")"
    )
    assert sqlglot.parse_one(statement, dialect="bigquery")
