"""The REST answers for clients, without a server."""

from __future__ import annotations

import json
from typing import Any

import pytest

from conformance.readers.restanswers import RestTable, answer
from tests.readers.recorded import COLUMNS

TABLE = RestTable("p", "d", "t", COLUMNS, rows=3, size=64)


def asked(method: str, path: str, body: object = None) -> tuple[int, dict[str, Any]]:
    """The answer of a server that has one table."""

    def tables(project: str, dataset: str, table: str) -> RestTable | None:
        return TABLE if (project or "p", dataset, table) == ("p", "d", "t") else None

    return answer(tables, method, path, b"" if body is None else json.dumps(body).encode())


@pytest.mark.parametrize("prefix", ["", "/bigquery/v2"])
def test_a_table_in_every_view(prefix: str) -> None:
    """``tables.get`` has the columns and the counts, whatever view is asked for."""
    status, made = asked("GET", f"{prefix}/projects/p/datasets/d/tables/t?view=STORAGE_STATS")

    assert status == 200
    assert (made["numRows"], made["numBytes"]) == ("3", "64")
    assert [field["type"] for field in made["schema"]["fields"]] == ["INTEGER", "STRING"]


@pytest.mark.parametrize(
    "text", ["SELECT * FROM d.t", "select * from `p.d.t`;", "SELECT *\nFROM `p`.`d`.`t`", "SELECT * FROM `p`.d.t"]
)
def test_a_query_of_a_whole_table_is_a_job_with_that_table(text: str) -> None:
    """The job is done, its destination is the table, and it is found again by its id."""
    status, job = asked("POST", "/projects/p/jobs", {"configuration": {"query": {"query": text}}})
    again = asked("GET", f"/projects/p/jobs/{job['jobReference']['jobId']}?location=US")[1]
    results = asked("GET", f"/projects/p/queries/{job['jobReference']['jobId']}")[1]

    assert status == 200
    assert job["status"] == {"state": "DONE"}
    assert job["configuration"]["query"]["destinationTable"] == TABLE.reference
    assert again == job
    assert (results["jobComplete"], results["totalRows"]) == (True, "3")


def test_a_query_with_a_default_dataset() -> None:
    """A table without a dataset is looked for in the default one."""
    body = {"query": "SELECT * FROM t", "defaultDataset": {"datasetId": "d"}}

    assert asked("POST", "/projects/p/queries", body)[1]["schema"] == TABLE.schema


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("GET", "/projects/p/datasets/d/tables/other", None),
        ("GET", "/projects/p/datasets/d/tables/t/data", None),
        ("POST", "/projects/p/jobs", {"configuration": {"query": {"query": "SELECT n FROM d.t"}}}),
        ("POST", "/projects/p/jobs", {"configuration": {"load": {}}}),
        ("POST", "/projects/p/jobs", ["no", "object"]),
        ("GET", "/projects/p/jobs/other", None),
    ],
)
def test_everything_else_is_not_recorded(method: str, path: str, body: object) -> None:
    """Another table, its rows, another query and another job get 400 with a reason of their own."""
    status, made = asked(method, path, body)

    assert status == 400
    assert made["error"]["errors"][0]["reason"] == "notRecorded"


def test_a_token() -> None:
    """Any path that ends in ``token`` is a token endpoint."""
    assert asked("POST", "/oauth2/v4/token")[1]["token_type"] == "Bearer"
