"""A table is of a kind if the server says that it is, whatever it answered when it was asked to make it."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.records import BqType, Column, Happening
from conformance.targets.seeding import Seeder
from conformance.targets.targeterrors import CannotSeed
from tests.targets.fake_server import FakeServer
from tests.targets.seeded import COLUMNS, ROWS

DAYS = (*COLUMNS, Column("day", BqType.DATE))
KINDS = (Happening.VIEW, Happening.PARTITIONED, Happening.INGESTION_TIME)


def saying(**fields: Any) -> Any:
    """A server that adds these fields to what it says of each table."""

    def answer(method: str, path: str, _body: Any) -> tuple[int, Any] | None:
        return (200, fields) if method == "GET" and "/data?" not in path else None

    return answer


@pytest.mark.parametrize(
    ("what", "asked", "said"),
    [
        (Happening.PARTITIONED, {"type": "DAY", "field": "day"}, {"requirePartitionFilter": True}),
        (Happening.INGESTION_TIME, {"type": "DAY"}, {}),
    ],
)
def test_a_partitioned_table_has_the_rows(
    fake: FakeServer, seeder: Seeder, what: Happening, asked: dict[str, str], said: dict[str, bool]
) -> None:
    """Those that were inserted so far."""
    table = seeder.seed("case", DAYS, ROWS, withheld=1)
    fake.rest = saying(timePartitioning=asked, **said)

    names = seeder.derive(table, what)

    assert names is not None
    assert table.results == [names]
    assert [row["a"] for row in fake.tables[names.table]["rows"]] == [str(row["a"]) for row in ROWS[:-1]]


def test_a_view_has_a_query_and_no_columns(fake: FakeServer, seeder: Seeder) -> None:
    """Its rows are not listed: the service refuses that."""
    table = seeder.seed("case", COLUMNS, ROWS, withheld=0)
    bodies: list[Any] = []

    def answer(method: str, path: str, body: Any) -> tuple[int, Any] | None:
        if method == "POST" and path.endswith("/tables"):
            bodies.append(body)
            return 200, {}
        return (200, {"type": "VIEW"}) if method == "GET" else None

    fake.rest = answer

    names = seeder.derive(table, Happening.VIEW)

    assert names is not None
    assert bodies[0]["view"]["query"] == f"SELECT * FROM `p`.`d`.`{table.names.table}`"
    assert "schema" not in bodies[0]
    assert not any("/data?" in path for _, path in fake.rest_requests if names.table in path)


@pytest.mark.parametrize("what", KINDS)
@pytest.mark.parametrize("said", [{}, {"type": "TABLE", "timePartitioning": {"type": "HOUR"}}, {"timePartitioning": 7}])
def test_a_server_that_does_not_say_so_has_made_a_plain_table(
    fake: FakeServer, seeder: Seeder, what: Happening, said: dict[str, Any]
) -> None:
    """An OK says nothing; the table that was made is removed with that of the case."""
    table = seeder.seed("case", DAYS, ROWS, withheld=0)
    fake.rest = saying(**said)

    assert seeder.derive(table, what) is None
    assert [names.table for names in table.results] == [name for name in fake.tables if name != table.names.table]


def test_a_filter_that_nobody_requires_is_another_kind(fake: FakeServer, seeder: Seeder) -> None:
    """Such a table may be read without one."""
    table = seeder.seed("case", DAYS, ROWS, withheld=0)
    fake.rest = saying(timePartitioning={"type": "DAY", "field": "day"})

    assert seeder.derive(table, Happening.PARTITIONED) is None


@pytest.mark.parametrize("what", KINDS)
def test_a_server_that_refuses_has_no_such_kind(fake: FakeServer, seeder: Seeder, what: Happening) -> None:
    """The case is not judged, and nobody is blamed."""
    table = seeder.seed("case", DAYS, ROWS, withheld=0)
    fake.rest = lambda method, _path, _body: (501, {}) if method == "POST" else None

    assert seeder.derive(table, what) is None


def test_a_server_that_does_not_answer_is_no_server_without_the_kind(fake: FakeServer, seeder: Seeder) -> None:
    """That is a reason of its own."""
    table = seeder.seed("case", DAYS, ROWS, withheld=0)
    fake.rest = lambda _method, _path, _body: (200, b"no JSON")

    with pytest.raises(CannotSeed) as raised:
        seeder.derive(table, Happening.VIEW)
    assert not raised.value.answered
