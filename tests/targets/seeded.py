"""A small table, seeders of the fake server, and what it lists, for the tests of seeding."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.records import BqType, Column
from conformance.targets.rest import RestClient
from conformance.targets.restway import InsertAll, RestTables, Sql
from conformance.targets.seeding import Seeder
from conformance.targets.targeterrors import CannotSeed
from tests.targets.fake_server import FakeServer

COLUMNS = (Column("a", BqType.INT64), Column("b", BqType.STRING))
ROWS: list[dict[str, Any]] = [{"a": 1, "b": "x"}, {"a": 2, "b": "y"}, {"a": None}]


OverRest = type[InsertAll] | type[Sql]


def seeder_of(client: RestClient, *ways: OverRest, rows: int = 2, token: str = "") -> Seeder:
    """A seeder over REST by ``ways``, with ``rows`` rows per request."""
    tables = RestTables(client)
    made = [way(tables, rows_per_request=rows) for way in ways or (InsertAll,)]
    return Seeder(made, project="p", dataset="d", listed=tables, token=token)


def refused(seeder: Seeder) -> str:
    """Why the rows could not be seeded."""
    with pytest.raises(CannotSeed) as raised:
        seeder.seed("case", COLUMNS, ROWS, withheld=0)
    return str(raised.value)


def listing(fake: FakeServer, answer: dict[str, Any]) -> None:
    """Have tabledata.list answer with ``answer``."""
    fake.rest = lambda method, path, body: (200, answer) if "/data?" in path else None


def row(*values: Any) -> dict[str, Any]:
    """A row as tabledata.list shows it."""
    return {"f": [{"v": value} for value in values]}
