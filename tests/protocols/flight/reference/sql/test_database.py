"""Tables in memory: statements change them, and transactions keep or undo what they changed."""

from __future__ import annotations

import pytest

from conformance.protocols.flight.reference.sql.database import (
    Database,
    NoSuchTableError,
    TableExistsError,
    changed,
    selected,
)
from conformance.protocols.flight.reference.sql.statements import NotUnderstoodError, parsed


def database() -> Database:
    """A database with a table of two rows."""
    made = Database()
    changed(made.tables(), parsed("CREATE TABLE t (n BIGINT, w VARCHAR)"))
    assert changed(made.tables(), parsed("INSERT INTO t (w, n) VALUES ('a', 1), (NULL, 2)")) == 2
    return made


def test_rows_are_selected() -> None:
    """By a condition, and by names."""
    tables = database().tables()

    assert selected(tables, parsed("SELECT * FROM t")).to_pylist() == [{"n": 1, "w": "a"}, {"n": 2, "w": None}]
    assert selected(tables, parsed("SELECT w FROM t WHERE n = ?"), [1]).to_pylist() == [{"w": "a"}]
    assert selected(tables, parsed("SELECT 7 AS n")).to_pylist() == [{"n": 7}]


def test_rows_are_inserted_and_deleted() -> None:
    """The number is that of the records; each row of parameters is one execution."""
    tables = database().tables()

    assert changed(tables, parsed("INSERT INTO t (n, w) VALUES (?, ?)"), [[3, "c"], [None, "d"]]) == 2
    assert changed(tables, parsed("DELETE FROM t WHERE n = 1")) == 1
    assert [row["w"] for row in selected(tables, parsed("SELECT * FROM t")).to_pylist()] == [None, "c", "d"]


@pytest.mark.parametrize(("commit", "rows"), [(True, 3), (False, 2)])
def test_a_transaction_is_kept_or_undone(commit: bool, rows: int) -> None:  # noqa: FBT001  # a parameter
    """Nobody else sees it before its end."""
    made = database()
    begun = made.begin()
    changed(made.tables(begun), parsed("INSERT INTO t (n) VALUES (3)"))

    assert selected(made.tables(), parsed("SELECT * FROM t")).num_rows == 2
    made.end(begun, commit=commit)
    assert selected(made.tables(), parsed("SELECT * FROM t")).num_rows == rows
    with pytest.raises(KeyError):
        made.end(begun, commit=commit)


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("CREATE TABLE t (n BIGINT)", TableExistsError),
        ("DROP TABLE u", NoSuchTableError),
        ("SELECT * FROM t", NotUnderstoodError),
        ("INSERT INTO t (n) VALUES (?)", NotUnderstoodError),
    ],
)
def test_what_cannot_be_executed_is_an_error(text: str, error: type[Exception]) -> None:
    """Of its own kind."""
    with pytest.raises(error):
        changed(database().tables(), parsed(text))


def test_an_update_is_no_query() -> None:
    """It has no rows."""
    with pytest.raises(NotUnderstoodError):
        selected(database().tables(), parsed("DROP TABLE t"))


def test_a_transaction_goes_back_to_a_savepoint() -> None:
    """Savepoints after it are forgotten; it stays, and a commit keeps what was before it."""
    made = database()
    transaction = made.begin()
    changed(made.tables(transaction), parsed("DELETE FROM t WHERE n = 1"))
    first = made.savepoint(transaction)
    changed(made.tables(transaction), parsed("DELETE FROM t WHERE n = 2"))
    second = made.savepoint(transaction)

    made.back_to(first)
    made.back_to(first)
    with pytest.raises(KeyError):
        made.back_to(second)
    made.end(transaction, commit=True)

    assert selected(made.tables(), parsed("SELECT n FROM t")).to_pylist() == [{"n": 2}]
    with pytest.raises(KeyError):
        made.release(first)


def test_rows_have_an_order() -> None:
    """From the least, or from the greatest."""
    tables = database().tables()

    assert selected(tables, parsed("SELECT n FROM t ORDER BY n")).column(0).to_pylist() == [1, 2]
    assert selected(tables, parsed("SELECT n FROM t ORDER BY n DESC")).column(0).to_pylist() == [2, 1]
