"""The SQL that the suite sends is understood, and nothing else."""

from __future__ import annotations

import datetime as dt

import pyarrow as pa
import pytest

from conformance.protocols.flight.reference.sql.statements import (
    PARAMETER,
    CreateTable,
    Delete,
    Drop,
    Insert,
    NotUnderstoodError,
    Select,
    Statement,
    parsed,
)


@pytest.mark.parametrize(
    ("text", "statement"),
    [
        (
            "CREATE TABLE t (n BIGINT NOT NULL, w VARCHAR)",
            CreateTable("t", pa.schema([pa.field("n", pa.int64(), nullable=False), ("w", pa.string())])),
        ),
        (
            "INSERT INTO t (n, w) VALUES (-1, 'it''s'), (NULL, ?)",
            Insert("t", ("n", "w"), ((-1, "it's"), (None, PARAMETER))),
        ),
        (
            "insert into t (x, y, z) values (1.5E-3, TRUE, DATE '2024-02-29')",
            Insert("t", ("x", "y", "z"), ((0.0015, True, dt.date(2024, 2, 29)),)),
        ),
        ("SELECT * FROM t", Select("t", ("*",))),
        ("SELECT n, w FROM t WHERE n = 3", Select("t", ("n", "w"), "n", 3)),
        ("SELECT n FROM t WHERE n = ?", Select("t", ("n",), "n", PARAMETER)),
        ("SELECT 7 AS n", Select("", ("n",), value=7)),
        ("DELETE FROM t WHERE n = 1", Delete("t", "n", 1)),
        ("DROP TABLE t", Drop("t")),
    ],
)
def test_a_statement_is_understood(text: str, statement: Statement) -> None:
    """Words in any case."""
    assert parsed(text) == statement


@pytest.mark.parametrize(
    "text",
    ["", "SELEC 1", "SELECT", "SELECT n FROM", "DROP TABLE t now", "CREATE TABLE t (n TEXT)", "SELECT ; FROM t",
     "INSERT INTO t (n) VALUES (x)"],
)  # fmt: skip
def test_anything_else_is_not(text: str) -> None:
    """It is refused in words."""
    with pytest.raises(NotUnderstoodError):
        parsed(text)
