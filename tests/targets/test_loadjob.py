"""A load job is uploaded, waited for, and quoted where it fails."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest

from conformance.protocols.storage_read.reference.catalogue import TableId
from conformance.protocols.storage_read.reference.server import ReferenceServer
from conformance.records import BqType, Column, Mode
from conformance.reference.delays import Delays
from conformance.targets.loadjob import AVRO, LoadJob
from conformance.targets.patience import Patience
from conformance.targets.rest import RestClient
from conformance.targets.restway import RestTables
from conformance.targets.seeding import Seeder
from conformance.targets.service import Service
from conformance.targets.targeterrors import CannotSeed

COLUMNS = (Column("a", BqType.INT64), Column("b", BqType.STRING, Mode.REPEATED))
ROWS: list[dict[str, Any]] = [{"a": 1, "b": ["x", "--conformance"]}, {"a": None, "b": []}, {"a": 3, "b": ["\r\n"]}]


@pytest.fixture
def client() -> Iterator[RestClient]:
    """A client of the reference."""
    with ReferenceServer() as server:
        client = RestClient(f"http://{server.rest_endpoint}", deadline=60)
        yield client
        client.close()


def seeder_of(client: RestClient) -> Seeder:
    """A seeder by load jobs."""
    tables = RestTables(client)
    return Seeder([LoadJob(tables)], project="p", dataset="d", listed=tables)


def test_rows_are_loaded_and_appended(client: RestClient) -> None:
    """Each job adds its rows, and the listing has all of them."""
    table = seeder_of(client).seed("case", COLUMNS, ROWS, withheld=1)
    table.append(1)

    listed = client.get(f"/bigquery/v2/projects/p/datasets/d/tables/{table.names.table}/data")["rows"]

    assert [row["f"][0]["v"] for row in listed] == ["1", None, "3"]


@pytest.mark.parametrize(
    ("column", "lacking"),
    [
        (Column("a", BqType.INTERVAL), "INTERVAL"),
        (Column("a", BqType.RANGE, range_of=BqType.DATE), "RANGE"),
        (
            Column("a", BqType.RECORD, fields=(Column("x", BqType.JSON), Column("y", BqType.GEOGRAPHY))),
            "GEOGRAPHY and JSON",
        ),
    ],
)
def test_a_type_that_parquet_lacks_is_named(client: RestClient, column: Column, lacking: str) -> None:
    """No table is made for it."""
    with pytest.raises(CannotSeed, match=f"^a load job of Parquet does not carry {lacking}$"):
        seeder_of(client).seed("case", (column,), [], withheld=0)


class Jobs(RestTables):
    """REST with prepared answers to an upload and to the questions after it."""

    def __init__(self, *answers: dict[str, Any]) -> None:
        self.answers = list(answers)
        self.patience = Patience(None)
        self.asked: list[str] = []
        self.configuration: dict[str, Any] = {}

    def create(self, *_: Any) -> None:
        """The table is made."""

    def post(self, path: str, body: Any, **_: Any) -> dict[str, Any]:
        """The first answer."""
        self.asked.append(path)
        self.configuration = json.loads(body.split(b"\r\n")[3])["configuration"]["load"]
        return self.answers.pop(0)

    def get(self, path: str, params: dict[str, str], **_: Any) -> dict[str, Any]:
        """The next answer."""
        self.asked.append(path + "".join(f"?{key}={value}" for key, value in params.items()))
        return self.answers.pop(0)


def job(state: str, **status: Any) -> dict[str, Any]:
    """A job as the API answers it."""
    return {"jobReference": {"jobId": "j", "location": "eu"}, "status": {"state": state, **status}}


def loaded(tables: Jobs) -> None:
    """Seed one table."""
    Seeder([LoadJob(tables)], project="p", dataset="d", listed=None).seed("case", COLUMNS, ROWS, withheld=0)


def test_a_job_is_waited_for_where_it_runs() -> None:
    """The location of a job is part of its address; rows are appended to the table that exists."""
    tables = Jobs(job("PENDING"), job("RUNNING"), job("DONE"))

    loaded(tables)

    question = "/bigquery/v2/projects/p/jobs/j?location=eu"
    assert tables.asked == ["/upload/bigquery/v2/projects/p/jobs?uploadType=multipart", question, question]
    assert (tables.configuration["createDisposition"], tables.configuration["writeDisposition"]) == (
        "CREATE_NEVER",
        "WRITE_APPEND",
    )


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (job("DONE", errorResult={"reason": "quota"}), 'the load job failed: {"reason": "quota"} (columns: a INT64, '),
        ({}, "expected the load job to have a jobId and a state (columns: a INT64, "),
        ({"jobReference": [1], "status": 2}, "expected the load job to have a jobId and a state"),
    ],
)
def test_a_job_that_fails_is_quoted(answer: dict[str, Any], said: str) -> None:
    """Whatever the answer holds, the case is untestable for a reason in one sentence."""
    with pytest.raises(CannotSeed) as raised:
        loaded(Jobs(answer))

    assert str(raised.value).startswith(said)


def test_a_file_that_does_not_fit_the_table_is_an_error_of_the_job(client: RestClient) -> None:
    """The reference refuses an upload without two parts, and a job that does not exist."""
    assert "HTTP 400 Parse Error" in refused(lambda: client.post("/upload/bigquery/v2/projects/p/jobs", b"--x\r\n"))
    assert "HTTP 404 Not found: Job p:9" in refused(lambda: client.get("/bigquery/v2/projects/p/jobs/9"))


def refused(ask: Any) -> str:
    """The text of a failed request."""
    with pytest.raises(Exception, match="HTTP") as raised:
        ask()
    return str(raised.value)


def seen(delays: Delays, **more: Any) -> Any:
    """A table of three rows on a slow reference, of which the last is appended; the number of rows at each stage."""
    with (
        ReferenceServer(delays=delays) as server,
        closing(RestClient(f"http://{server.rest_endpoint}", deadline=60)) as client,
    ):
        tables = RestTables(client, patience=Patience(Service(retries=3, pause=0.0)))
        seeder = Seeder([LoadJob(tables, AVRO)], project="p", dataset="d", listed=tables, **more)
        table = seeder.seed("case", COLUMNS, ROWS, withheld=1)
        place = TableId("p", "d", table.names.table)
        first = server.catalogue.snapshot(place).rows.num_rows
        seeder.append(table, 1)
        return first, server.catalogue.snapshot(place).rows.num_rows


def test_nothing_is_read_before_rows_are_seen() -> None:
    """After slow jobs, jobs that a quota ended, and listings without the rows, the table is complete each time."""
    assert seen(Delays(job_polls=3, limited_jobs=2, hidden_polls=3), settle=30.0) == (2, 3)


def test_rows_that_never_come_make_the_case_untestable() -> None:
    """The time to settle is bounded, and none is left without a [service]."""
    with pytest.raises(CannotSeed, match=r"2 rows were inserted but tabledata.list counts '0'"):
        seen(Delays(hidden_polls=1))


def test_a_quota_that_ends_every_job_is_named() -> None:
    """The number of jobs is bounded."""
    with pytest.raises(CannotSeed, match=r'the load job failed: \{"reason": "rateLimitExceeded"'):
        seen(Delays(limited_jobs=99))


def test_a_file_has_no_value_of_a_column_that_comes_later(client: RestClient) -> None:
    """The rows of a case have what a change of columns adds."""
    seeder = seeder_of(client)
    rows = [{"a": 1, "later": None}, {"a": 2, "later": "x"}]

    table = seeder.seed("case", (Column("a", BqType.INT64),), rows, withheld=0)

    assert table.inserted == 2
