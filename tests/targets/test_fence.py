"""No request that writes leaves the suite unless it names the dataset of the run, and no other place."""

from __future__ import annotations

import json
from typing import Any

import pytest

from conformance.targets.fence import FencedClient, OutsideDatasetError, names_only
from tests.targets.fake_server import FakeServer, serving

DATASETS = "/bigquery/v2/projects/p/datasets"
TABLES = f"{DATASETS}/own/tables"
JOBS = "/upload/bigquery/v2/projects/p/jobs?uploadType=multipart"
SELECTS = "/bigquery/v2/projects/p/jobs"
QUERIES = "/bigquery/v2/projects/p/queries"
OTHERS = [("other", "own"), ("p", "other"), ("p", None), (None, "own")]


def dataset(project: Any = "p", name: Any = "own") -> dict[str, Any]:
    """The body of datasets.insert."""
    return {"datasetReference": {"projectId": project, "datasetId": name}}


def table(project: Any = "p", name: Any = "own") -> dict[str, Any]:
    """The body of tables.insert."""
    return {"tableReference": {"projectId": project, "datasetId": name, "tableId": "t"}}


def upload(project: Any = "p", name: Any = "own", **more: Any) -> bytes:
    """The body of a load job."""
    load = {"destinationTable": {"projectId": project, "datasetId": name, "tableId": "t"}}
    job = json.dumps({"configuration": {"load": load, **more}})
    return f"--x\r\nContent-Type: application/json\r\n\r\n{job}\r\n--x\r\n\r\ndata\r\n--x--\r\n".encode()


def insert(place: str = "`p`.`own`.`t`") -> dict[str, Any]:
    """The body of jobs.query."""
    return {"query": f"INSERT INTO {place} (`a`) VALUES (1)"}


def drop(place: str = "`p`.`own`.`t`", columns: str = "DROP COLUMN `a`, DROP COLUMN `b`") -> dict[str, Any]:
    """The body of jobs.query that drops columns."""
    return {"query": f"ALTER TABLE {place} {columns}"}


def select(place: str = "`p`.`own`.`t`", *, into: Any = None) -> dict[str, Any]:
    """The body of a query of a whole table."""
    query = {"query": f"SELECT * FROM {place}"}
    return {"configuration": {"query": query if into is None else {**query, "destinationTable": into}}}


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("POST", DATASETS, dataset()),
        ("POST", TABLES, table()),
        ("POST", f"{TABLES}/t/insertAll", b'{"rows": []}'),
        ("POST", JOBS, upload()),
        ("POST", QUERIES, insert()),
        ("POST", QUERIES, drop()),
        ("POST", QUERIES, drop(columns="RENAME COLUMN `a` TO `b`")),
        ("POST", QUERIES, drop(columns="ALTER COLUMN `a` SET DATA TYPE NUMERIC(10, 2)")),
        ("PATCH", f"{TABLES}/t", {"schema": {"fields": []}}),
        ("POST", SELECTS, select()),
        ("POST", SELECTS, select(into={"projectId": "p", "datasetId": "own", "tableId": "u"})),
        ("POST", SELECTS, select("`p`.`own`.`t` ORDER BY row_id DESC")),
        ("DELETE", f"{TABLES}/t", {}),
        ("DELETE", f"{DATASETS}/own?deleteContents=true", {}),
    ],
)
def test_what_names_the_dataset_may_be_sent(method: str, path: str, body: Any) -> None:
    """The ten requests of the suite that write."""
    assert names_only("p", "own", method, path, body)


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        *(("POST", DATASETS, dataset(*place)) for place in OTHERS),
        *(("POST", TABLES, table(*place)) for place in OTHERS),
        *(("POST", JOBS, upload(*place)) for place in OTHERS),
        ("POST", JOBS, upload(query={"query": "DROP SCHEMA x"})),
        ("POST", JOBS, b"--x\r\n\r\nno json\r\n"),
        ("POST", JOBS, b""),
        ("POST", JOBS, {"configuration": {}}),
        ("POST", JOBS.replace("/p/", "/q/"), upload()),
        ("POST", QUERIES, insert("`p`.`other`.`t`")),
        ("POST", QUERIES, insert("`own`.`t`")),
        ("POST", QUERIES, drop(columns="RENAME TO `b`")),
        ("POST", QUERIES, drop(columns="ALTER COLUMN `a` SET DATA TYPE INT64; DROP TABLE `p`.`other`.`t`")),
        ("POST", QUERIES, {"query": "DROP SCHEMA `p`.`own`"}),
        ("POST", QUERIES, b"INSERT INTO `p`.`own`.`t`"),
        ("POST", QUERIES.replace("/p/", "/q/"), insert()),
        ("POST", f"{DATASETS}/other/tables", table()),
        ("POST", f"{DATASETS}/other/tables/t/insertAll", b"{}"),
        ("POST", f"{DATASETS}/own/tables/t/../../other", {}),
        ("POST", SELECTS, {}),
        ("POST", SELECTS, select("`p`.`other`.`t`")),
        ("POST", SELECTS, select("`p`.`own`.`t` WHERE `x`")),
        ("POST", SELECTS, select("`p`.`own`.`t` ORDER BY (SELECT 1 FROM `p`.`other`.`t`)")),
        ("POST", SELECTS, select(into={"projectId": "p", "datasetId": "other", "tableId": "u"})),
        ("POST", SELECTS, {"configuration": {**select()["configuration"], "load": {}}}),
        ("POST", SELECTS.replace("/p/", "/q/"), select()),
        ("DELETE", f"{DATASETS}/other", {}),
        ("DELETE", f"{DATASETS}/own%2F..%2Fother", {}),
        ("DELETE", f"{DATASETS}/other/tables/t", {}),
        ("DELETE", DATASETS, {}),
        ("DELETE", f"{DATASETS.replace('/p/', '/q/')}/own", {}),
        ("DELETE", "/bigquery/v2/projects/p", {}),
    ],
)
def test_what_names_another_place_may_not(method: str, path: str, body: Any) -> None:
    """By path or by body, in another project or dataset, or by a statement that is no INSERT."""
    assert not names_only("p", "own", method, path, body)


def test_the_clock_of_the_target_may_be_set(fake: FakeServer) -> None:
    """At the path that its file names, and by no other method or path."""
    fake.rest = lambda method, path, body: (200, {})
    with serving(fake) as (_, port):
        client = FencedClient(f"http://127.0.0.1:{port}", project="p", dataset="own", clock="/clock", deadline=5)
        client.post("/clock", {"ahead": 1})
        with pytest.raises(OutsideDatasetError):
            client.post("/clocks", {"ahead": 1})
        with pytest.raises(OutsideDatasetError):
            client.delete("/clock")
        client.close()

    assert fake.rest_requests == [("POST", "/clock")]


def test_a_request_outside_is_a_defect_of_the_suite_and_is_not_sent() -> None:
    """The error names the request."""
    fake = FakeServer()
    with serving(fake) as (_, port):
        client = FencedClient(f"http://127.0.0.1:{port}", project="p", dataset="own", deadline=5)
        with pytest.raises(OutsideDatasetError, match=r"the dataset p\.own alone, but was about to send DELETE /big"):
            client.delete(f"{DATASETS}/other")
        with pytest.raises(OutsideDatasetError):
            client.post(DATASETS, dataset("p", "other"))
        client.close()

    assert fake.rest_requests == []
