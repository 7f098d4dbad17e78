"""Sessions on a table whose columns change: those from before it, and those from after it."""

from __future__ import annotations

import dataclasses

import pytest

from conformance.contract.judge import judge
from conformance.records import (
    BqType,
    Case,
    ChangeColumns,
    Column,
    CreateSession,
    Json,
    Mode,
    ReadRows,
    StorageReadStep,
    Table,
)
from tests.contract.exchanges import Answer, Deviation, Obedient, call_clauses, case_of, create, prove, read

COLUMNS = (
    Column("row_id", BqType.INT64, Mode.REQUIRED),
    Column("old", BqType.STRING),
    Column("new", BqType.STRING),
)
ROWS = tuple(Json({"row_id": number, "old": f"value {number}"}) for number in range(6))


def changing(*steps: StorageReadStep) -> Case:
    """A case whose steps may add the column ``new``, and drop ``old``."""
    return dataclasses.replace(case_of(*steps), table=Table(COLUMNS, rows=ROWS))


ADD = ChangeColumns(add=("new",))
BEFORE = changing(CreateSession(), ADD, ReadRows())
AFTER = changing(ADD, CreateSession(), ReadRows())
DROPPED = changing(ADD, CreateSession(), ChangeColumns(drop=("old",)), ReadRows())


def fewer(answers: list[Answer]) -> None:
    """The read delivers all rows but the last."""
    table = read(answers).table
    assert table is not None
    read(answers).send(table.slice(0, table.num_rows - 1))


DEVIATIONS = (
    Deviation("columns.changed-table-is-served", AFTER, lambda a: create(a).refuse("INTERNAL")),
    Deviation("columns.changed-table-is-served", AFTER, lambda a: read(a).refuse("INTERNAL")),
    Deviation("columns.session-outlives-a-change", BEFORE, lambda a: read(a).refuse("FAILED_PRECONDITION")),
    Deviation("columns.session-outlives-a-change", DROPPED, lambda a: read(a).refuse("NOT_FOUND")),
    Deviation("columns.rows-are-those-of-the-changed-table", AFTER, fewer),
    Deviation("columns.session-keeps-its-rows", BEFORE, fewer),
    Deviation("columns.session-keeps-its-rows", DROPPED, fewer),
)


@pytest.mark.parametrize("deviation", DEVIATIONS, ids=str)
def test_one_deviation_fails_its_clause_alone(deviation: Deviation) -> None:
    """A single deviation from an obedient answer fails the clause on it, and no other."""
    prove(deviation)


@pytest.mark.parametrize(
    ("case", "names"),
    [
        (BEFORE, ["row_id", "old"]),
        (AFTER, ["row_id", "old", "new"]),
        (DROPPED, ["row_id", "old", "new"]),
    ],
    ids=["before", "after", "dropped later"],
)
def test_a_session_has_the_columns_of_its_time(case: Case, names: list[str]) -> None:
    """Whatever the table has when its streams are read."""
    answers = Obedient(case).run()

    table = read(answers).table
    assert table is not None
    assert table.schema.names == names


def test_a_change_that_was_not_made_is_no_change() -> None:
    """A read that was held open while a server refused to drop a column says nothing about changed columns."""
    server = Obedient(BEFORE)
    exchange = dataclasses.replace(server.freeze(server.run()), skipped_steps=(1,))

    found = judge(BEFORE, exchange, server.table, clauses=call_clauses())

    assert [verdict.clause for verdict in found if verdict.clause.startswith("columns.")] == []
