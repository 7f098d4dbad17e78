"""The REST surface of the reference: empty tables, and refusals of everything else."""

from __future__ import annotations

import json
from typing import Any

from conformance.protocols.storage_write.reference.rest import answering
from conformance.protocols.storage_write.reference.store import Store
from conformance.reference.tokens import numbered

TABLES = "/bigquery/v2/projects/p/datasets/d/tables"
MADE = {
    "tableReference": {"projectId": "p", "datasetId": "d", "tableId": "t"},
    "schema": {"fields": [{"name": "a", "type": "INT64", "mode": "REQUIRED"}]},
}


class _Asking:
    """Requests to one store."""

    def __init__(self) -> None:
        self._answering = answering(Store(lambda: 0, numbered()))

    def ask(self, method: str, path: str, body: Any = None) -> tuple[int, Any]:
        return self._answering(method, path, {}, b"" if body is None else json.dumps(body).encode())


def test_a_table_is_made_and_shown_empty() -> None:
    """A second one of its name is refused, and so is a second dataset."""
    rest = _Asking()
    dataset = {"datasetReference": {"projectId": "p", "datasetId": "d"}}

    assert rest.ask("POST", TABLES, MADE)[0] == 404
    assert rest.ask("POST", "/bigquery/v2/projects/p/datasets", dataset)[0] == 200
    assert rest.ask("POST", "/bigquery/v2/projects/p/datasets", dataset)[0] == 409
    assert rest.ask("POST", TABLES, MADE)[0] == 200
    assert rest.ask("POST", TABLES, MADE)[0] == 409
    assert rest.ask("GET", f"{TABLES}/t")[1]["schema"]["fields"][0]["name"] == "a"
    assert rest.ask("GET", f"{TABLES}/t/data?maxResults=5")[1]["totalRows"] == "0"
    assert rest.ask("DELETE", f"{TABLES}/t") == (200, {})
    assert rest.ask("GET", f"{TABLES}/t")[0] == 404


def test_anything_else_is_refused() -> None:
    """With a status, whatever the body is."""
    rest = _Asking()

    assert rest.ask("GET", "/elsewhere")[0] == 404
    assert rest.ask("POST", "/bigquery/v2/projects/p/datasets", {"datasetReference": 1})[0] == 400
