"""A table has other columns if the server says that it has, whatever it answered when it was asked to change them."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from conformance.records import BqType, Column
from conformance.targets.loadjob import LoadJob
from conformance.targets.preloaded import PreloadedWay
from conformance.targets.programway import ProgramWay
from conformance.targets.restway import InsertAll, Sql
from conformance.targets.seeding import Seeder
from conformance.targets.targeterrors import CannotSeed
from tests.targets.fake_server import FakeServer
from tests.targets.seeded import COLUMNS, ROWS

ADDED = (*COLUMNS, Column("c", BqType.FLOAT64))


def test_columns_are_added_by_patch(fake: FakeServer, seeder: Seeder) -> None:
    """Rows from before have NULL in them, and later rows are inserted with them."""
    rows = [*ROWS[:2], {"a": 3, "b": "z", "c": 0.5}]
    table = seeder.seed("case", COLUMNS, rows, withheld=1)

    assert seeder.change(table, ADDED)
    seeder.append(table, 1)

    stored = fake.tables[table.names.table]
    assert [field["name"] for field in stored["schema"]["fields"]] == ["a", "b", "c"]
    assert stored["rows"][-1] == {"a": "3", "b": "z", "c": 0.5}
    assert table.columns == ADDED


def test_columns_are_dropped_by_a_statement(fake: FakeServer, seeder: Seeder) -> None:
    """``tables.patch`` drops none."""
    table = seeder.seed("case", COLUMNS, ROWS, withheld=0)
    asked: list[Any] = []

    def query(_method: str, path: str, body: Any) -> tuple[int, Any] | None:
        if not path.endswith("/queries"):
            return None
        asked.append(body["query"])
        fields = fake.tables[table.names.table]["schema"]["fields"]
        fake.tables[table.names.table]["schema"] = {"fields": fields[:1]}
        return 200, {}

    fake.rest = query

    assert seeder.change(table, COLUMNS[:1])
    assert asked == [f"ALTER TABLE `p`.`d`.`{table.names.table}` DROP COLUMN `b`"]
    assert "PATCH" not in [method for method, _ in fake.rest_requests]


def test_columns_are_renamed_and_widened_by_statements(fake: FakeServer, seeder: Seeder) -> None:
    """``tables.patch`` does neither; the rows are those of the new columns then."""
    table = seeder.seed("case", COLUMNS, ROWS, withheld=0)
    now = (Column("a", BqType.NUMERIC, COLUMNS[0].mode), Column("z", COLUMNS[1].type, COLUMNS[1].mode))
    asked: list[str] = []

    def query(_method: str, path: str, body: Any) -> tuple[int, Any] | None:
        if not path.endswith("/queries"):
            return None
        asked.append(body["query"])
        fields = [{"name": one.name, "type": one.type.value, "mode": one.mode.value} for one in now]
        fake.tables[table.names.table]["schema"] = {"fields": fields}
        for row in fake.tables[table.names.table]["rows"]:
            row["z"] = row.pop("b", row.get("z"))
        return 200, {}

    fake.rest = query
    rows = [{"a": None if row["a"] is None else str(row["a"]), "z": row.get("b")} for row in ROWS]

    assert seeder.change(table, now, altered=tuple(zip(COLUMNS, now, strict=True)), rows=rows)
    start = f"ALTER TABLE `p`.`d`.`{table.names.table}` "
    assert asked == [start + "ALTER COLUMN `a` SET DATA TYPE NUMERIC", start + "RENAME COLUMN `b` TO `z`"]
    assert table.rows == rows


@pytest.mark.parametrize("status", [200, 400, 501])
def test_a_server_that_changes_nothing_has_changed_nothing(fake: FakeServer, seeder: Seeder, status: int) -> None:
    """An OK without an effect is no change, nor is a refusal; the table goes on with its columns."""
    table = seeder.seed("case", COLUMNS, ROWS, withheld=0)
    fake.rest = lambda method, _path, _body: (status, {}) if method == "PATCH" else None

    assert not seeder.change(table, ADDED)
    assert table.columns == COLUMNS


def test_types_have_two_names(fake: FakeServer, seeder: Seeder) -> None:
    """The REST API answers with FLOAT where FLOAT64 was asked for."""
    table = seeder.seed("case", COLUMNS, ROWS, withheld=0)
    named = [{"name": name, "type": kind} for name, kind in (("a", "INTEGER"), ("b", "STRING"), ("c", "FLOAT"))]
    described = {"schema": {"fields": named}}
    fake.rest = lambda method, path, _body: (200, described) if method == "GET" and "/data?" not in path else None

    assert seeder.change(table, ADDED)


@pytest.mark.parametrize("schema", [None, [], {"fields": None}, {"fields": [1]}, {"fields": [{"name": "a"}]}])
def test_a_table_without_a_readable_schema_has_not_changed(fake: FakeServer, seeder: Seeder, schema: Any) -> None:
    """Whatever the answer of ``tables.get`` is."""
    table = seeder.seed("case", COLUMNS, ROWS, withheld=0)
    answer = {"schema": schema}
    fake.rest = lambda method, path, _body: (200, answer) if method == "GET" and "/data?" not in path else None

    assert not seeder.change(table, ADDED)


def test_a_change_that_loses_rows_is_no_change_of_columns(fake: FakeServer, seeder: Seeder) -> None:
    """The listing is looked at again: what is then wrong is wrong before anything is read."""
    table = seeder.seed("case", COLUMNS, ROWS, withheld=0)

    def patched(method: str, _path: str, _body: Any) -> None:
        if method == "PATCH":
            del fake.tables[table.names.table]["rows"][0]

    fake.rest = patched

    with pytest.raises(CannotSeed, match=r"tabledata\.list counts"):
        seeder.change(table, ADDED)


def test_a_table_that_is_not_the_suites_keeps_its_columns(fake: FakeServer, seeder: Seeder) -> None:
    """Nothing is asked of a table that was loaded by somebody else."""
    table = seeder.seed("case", COLUMNS, ROWS, withheld=0)
    table.way = SimpleNamespace(own=False)
    before = len(fake.rest_requests)

    assert not seeder.change(table, ADDED)
    assert len(fake.rest_requests) == before


def test_what_somebody_loaded_is_not_the_suites() -> None:
    """Every other way makes tables of its own."""
    assert [way.own for way in (PreloadedWay, ProgramWay, LoadJob, InsertAll, Sql)] == [False, True, True, True, True]
