"""A table is in the target as the case has it, or the case is untestable for a reason that names the culprit."""

from __future__ import annotations

import time
from types import SimpleNamespace
from typing import Any

import pytest

from conformance.targets import seeds
from conformance.targets.rest import RestClient
from conformance.targets.restway import InsertAll, Sql
from conformance.targets.seeding import Seeder
from conformance.targets.targeterrors import CannotSeed
from tests.targets.fake_server import FakeServer
from tests.targets.seeded import COLUMNS, ROWS, refused, row, seeder_of


def test_a_table_is_made_filled_and_verified(fake: FakeServer, seeder: Seeder) -> None:
    """Schema and rows arrive, in requests of limited size, and the listing is looked at."""
    table = seeder.seed("case", COLUMNS, ROWS, withheld=0)

    stored = fake.tables[table.names.table]
    assert [field["name"] for field in stored["schema"]["fields"]] == ["a", "b"]
    assert stored["rows"] == [{"a": "1", "b": "x"}, {"a": "2", "b": "y"}, {"a": None, "b": None}]
    assert [path.rsplit("/", 1)[-1].partition("?")[0] for _, path in fake.rest_requests] == [
        "datasets", "tables", "insertAll", "insertAll", "data",
    ]  # fmt: skip


def test_rows_can_be_withheld_and_appended(fake: FakeServer, seeder: Seeder) -> None:
    """The seed leaves out the last rows; appending brings them in order."""
    table = seeder.seed("case", COLUMNS, ROWS, withheld=2)
    before = len(fake.tables[table.names.table]["rows"])

    table.append(1)
    table.append(1)

    assert before == 1
    assert [row["a"] for row in fake.tables[table.names.table]["rows"]] == ["1", "2", None]


def test_a_table_is_made_again_under_its_name(fake: FakeServer, seeder: Seeder) -> None:
    """The next rows are the only ones of the new table, and later appends go on behind them."""
    table = seeder.seed("case", COLUMNS, ROWS, withheld=2)
    name = table.names.table

    done = seeder.remake(table, 1)
    table.append(1)

    assert done
    assert table.names.table == name
    assert [row["a"] for row in fake.tables[name]["rows"]] == ["2", None]


def test_a_table_is_made_again_with_other_columns(fake: FakeServer, seeder: Seeder) -> None:
    """It has no rows then, and those that follow have what they have in its columns."""
    table = seeder.seed("case", COLUMNS, ROWS, withheld=2)
    name = table.names.table

    done = seeder.renew(table, COLUMNS[:1])
    table.append(1)

    assert done
    assert [field["name"] for field in fake.tables[name]["schema"]["fields"]] == [COLUMNS[0].name]
    assert len(fake.tables[name]["rows"]) == 1


def test_a_table_that_is_not_dropped_is_not_made_again(fake: FakeServer, seeder: Seeder) -> None:
    """A server without deletion still has the table; that is no error of its rows."""
    table = seeder.seed("case", COLUMNS, ROWS, withheld=2)
    fake.rest = lambda method, path, body: (409 if path.endswith("/tables") else 501, {}) if method != "GET" else None

    assert not seeder.remake(table, 1)


def test_a_table_without_rows_needs_no_insert(fake: FakeServer, seeder: Seeder) -> None:
    """An empty table is created and verified to be empty."""
    seeder.seed("case", COLUMNS, [], withheld=0)

    assert not any("insertAll" in path for _, path in fake.rest_requests)


def test_each_drive_of_a_case_has_a_table_of_its_own(seeder: Seeder) -> None:
    """Names are made of the case's id and counted, so that no two drives share rows."""
    names = [seeder.seed(case_id, COLUMNS, [], withheld=0).names.table for case_id in ("a/b", "a/b", "a.b")]

    assert len(set(names)) == 3
    assert names[0].startswith("t_a_b_")
    assert names[0].removesuffix("_1") == names[1].removesuffix("_2")


def test_an_existing_dataset_is_used(fake: FakeServer, seeder: Seeder) -> None:
    """409 for the dataset is no failure, and it is asked for once."""
    fake.rest = lambda method, path, body: (409, {}) if path.endswith("/datasets") else None

    seeder.seed("one", COLUMNS, ROWS, withheld=0)
    seeder.seed("two", COLUMNS, ROWS, withheld=0)

    assert sum(path.endswith("/datasets") for _, path in fake.rest_requests) == 1


def test_a_refused_schema_names_the_columns(fake: FakeServer, seeder: Seeder) -> None:
    """A target that cannot make the table is quoted, with the types that it was asked for."""
    fake.rest = lambda method, path, body: (
        (500, {"error": {"message": "no such type"}}) if path.endswith("/tables") else None
    )

    assert refused(seeder) == (
        "POST /bigquery/v2/projects/p/datasets/d/tables: HTTP 500 no such type (columns: a INT64, b STRING)"
    )


def test_refused_rows_are_quoted(fake: FakeServer, seeder: Seeder) -> None:
    """An answer with status 200 and insertErrors in it is a refusal."""
    fake.rest = lambda method, path, body: (
        (200, {"insertErrors": [{"index": 0, "errors": [{"reason": "invalid"}]}]}) if "insertAll" in path else None
    )

    assert refused(seeder).startswith('insertAll refused rows: [{"index": 0, "errors": [{"reason": "invalid"}]}]')


def test_seeding_ends_with_the_time_of_its_case(fake: FakeServer, seeder: Seeder) -> None:
    """Each request may be soon enough, and there may be too many of them."""
    until = 0.0  # long over on the monotonic clock

    with pytest.raises(CannotSeed, match="the time for seeding the case was over") as raised:
        seeder.seed("case", COLUMNS, ROWS, withheld=0, until=until)

    assert not raised.value.answered


def test_an_insert_stops_when_the_time_of_its_case_is_over(
    fake: FakeServer, seeder: Seeder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of several requests no further one is made after the deadline."""
    table = seeder.seed("case", COLUMNS, ROWS, withheld=3)
    ahead = [0.0]
    monkeypatch.setattr(seeds, "time", SimpleNamespace(monotonic=lambda: time.monotonic() + ahead[0]))

    def rest(_method: str, path: str, _body: Any) -> None:
        ahead[0] += 1000.0 if "insertAll" in path else 0.0

    fake.rest = rest

    with pytest.raises(CannotSeed, match="the time for seeding the case was over"):
        table.append(3, until=time.monotonic() + 500)

    assert sum("insertAll" in path for _, path in fake.rest_requests) == 1


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"<html>", "expected JSON but got b'<html>'"),
        (b"[]", "expected a JSON object but got b'[]'"),
    ],
)
def test_an_answer_that_is_no_json_object_is_quoted(
    fake: FakeServer, seeder: Seeder, body: bytes, message: str
) -> None:
    """Another kind of server behind the port is recognised by what it says."""
    fake.rest = lambda method, path, request: (200, body)

    assert message in refused(seeder)


def test_silence_is_told_from_a_refusal() -> None:
    """Where nothing listens the failure says so, and that there was no answer."""
    client = RestClient("http://127.0.0.1:1", deadline=1)

    with pytest.raises(CannotSeed) as raised:
        seeder_of(client).seed("case", COLUMNS, ROWS, withheld=0)

    assert not raised.value.answered
    assert "Connection refused" in str(raised.value)


def test_rows_can_be_inserted_by_sql(fake: FakeServer, client: RestClient) -> None:
    """A target without insertAll is filled by statements of limited size, which are waited for."""
    statements: list[dict[str, Any]] = []

    def rest(_method: str, path: str, body: Any) -> tuple[int, Any] | None:
        if path.endswith("/queries"):
            statements.append(body)
            return 200, {"jobComplete": True}
        answer = {"totalRows": "3", "rows": [row("1", "x"), row("2", "y"), row(None, None)]}
        return (200, answer) if "/data?" in path else None

    fake.rest = rest

    table = seeder_of(client, Sql).seed("case", COLUMNS, ROWS, withheld=0).names.table

    assert [body["query"] for body in statements] == [
        f'INSERT INTO `p`.`d`.`{table}` (`a`, `b`) VALUES (1, "x"), (2, "y")',
        f"INSERT INTO `p`.`d`.`{table}` (`a`, `b`) VALUES (CAST(NULL AS INT64), CAST(NULL AS STRING))",
    ]
    assert not any(body["useLegacySql"] for body in statements)


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ({"errors": [{"reason": "invalidQuery"}]}, 'INSERT was refused: [{"reason": "invalidQuery"}]'),
        ({"jobComplete": False}, "INSERT did not complete while jobs.query waited for it"),
        ({"jobComplete": False, "jobReference": [{}]}, "INSERT did not complete while jobs.query waited for it"),
        ({"errors": "\ud800\n"}, r'INSERT was refused: "\ud800\n"'),
    ],
)
def test_a_statement_that_fails_is_quoted(
    fake: FakeServer, client: RestClient, answer: dict[str, Any], message: str
) -> None:
    """A refused or unfinished statement makes the case untestable."""
    fake.rest = lambda method, path, body: (200, answer) if path.endswith("/queries") else None

    assert refused(seeder_of(client, Sql)).startswith(message)


def test_paths_are_tried_until_one_brings_the_rows_in(fake: FakeServer, client: RestClient) -> None:
    """If insertAll refuses, SQL gets a fresh table; the rows are still verified."""
    fake.rest = lambda method, path, body: (
        (500, {"error": {"message": "no lists"}})
        if "insertAll" in path
        else (200, {"jobComplete": True})
        if path.endswith("/queries")
        else (200, {"totalRows": "3", "rows": [row("1", "x"), row("2", "y"), row(None, None)]})
        if "/data?" in path
        else None
    )

    table = seeder_of(client, InsertAll, Sql, rows=9).seed("case", COLUMNS, ROWS, withheld=0)

    assert isinstance(table.way, Sql)
    assert len(fake.tables) == 2


def test_a_table_that_no_path_fills_tells_every_reason(fake: FakeServer, client: RestClient) -> None:
    """The refusals of all paths are in one sentence."""
    fake.rest = lambda method, path, body: (
        (400, {"error": {"message": "no"}}) if "insertAll" in path or path.endswith("/queries") else None
    )

    said = refused(seeder_of(client, InsertAll, Sql, rows=9))

    assert "/insertAll: HTTP 400 no (columns: a INT64, b STRING); and by another path: POST " in said
    assert said.endswith("/queries: HTTP 400 no (columns: a INT64, b STRING)")


def left_behind(fake: FakeServer, client: RestClient, *, answer: int) -> Seeder:
    """A seeder on a server that has the table of an earlier run, and answers ``answer`` where it is made again."""
    taken = seeder_of(client).seed("case", COLUMNS, ROWS, withheld=0).names.table

    def rest(_method: str, path: str, body: Any) -> tuple[int, Any] | None:
        again = path.endswith("/tables") and body["tableReference"]["tableId"] == taken
        return (answer, {}) if again else None

    fake.rest = rest
    return seeder_of(client)


@pytest.mark.parametrize("answer", [409, 200])
def test_a_table_of_an_earlier_run_changes_nothing(fake: FakeServer, client: RestClient, answer: int) -> None:
    """A server that keeps its tables refuses the name, or adds to the table: then all names of the run are fresh."""
    seeder = left_behind(fake, client, answer=answer)

    first = seeder.seed("case", COLUMNS, ROWS, withheld=0)
    other = seeder.seed("other", COLUMNS, ROWS, withheld=0)

    token = first.names.table.split("_")[-2]
    assert len(token) == 16
    assert token in other.names.table
    assert len(fake.tables[first.names.table]["rows"]) == 3


def test_a_kept_table_is_removed_where_the_server_keeps_tables(fake: FakeServer, client: RestClient) -> None:
    """As soon as a table of an earlier run shows that the server keeps them, the run leaves none of its own."""
    seeder = left_behind(fake, client, answer=409)
    before = set(fake.tables)

    seeder.release(seeder.seed("case", COLUMNS, ROWS, withheld=0))

    assert set(fake.tables) == before


def test_a_server_that_refuses_every_name_is_untestable(fake: FakeServer, client: RestClient) -> None:
    """409 to a random name is a refusal like others, and is asked for once more only."""
    fake.rest = lambda method, path, body: (409, {}) if path.endswith("/tables") else None

    assert "HTTP 409" in refused(seeder_of(client))
    assert sum(path.endswith("/tables") for _, path in fake.rest_requests) == 2


def test_a_refused_table_is_removed_from_a_server_that_goes_on(fake: FakeServer, client: RestClient) -> None:
    """A case that cannot be seeded leaves no table behind."""
    fake.rest = lambda method, path, body: (400, {}) if "insertAll" in path else None

    refused(seeder_of(client, token="of-this-run"))

    assert fake.tables == {}
