"""The HTTP surface of the reference: enough of BigQuery's REST API to make empty tables and to see that they are empty.

Source: https://cloud.google.com/bigquery/docs/reference/rest
"""

from __future__ import annotations

import json
import re
import urllib.parse
from collections.abc import Mapping
from typing import Any, Final

from conformance.contain.jsonhttp import Answering
from conformance.protocols.storage_write.reference.store import Store
from conformance.reference.tableschema import SchemaError, read_schema, write_schema

__all__ = ["answering"]

_PATH: Final = re.compile(
    r"/bigquery/v2/projects/(?P<project>[^/]+)/datasets(?:/(?P<dataset>[^/]+)/tables(?:/(?P<table>[^/]+)(?P<data>/data)?)?)?"
)


class _HttpError(Exception):
    """A request ends in ``status``."""

    def __init__(self, status: int, said: str) -> None:
        super().__init__(said)
        self.status = status


def answering(store: Store) -> Answering:
    """What answers the requests about the tables of a store."""

    def answer(method: str, target: str, _headers: Mapping[str, str], body: bytes) -> tuple[int, dict[str, Any]]:
        match = _PATH.fullmatch(urllib.parse.urlsplit(urllib.parse.unquote(target)).path)
        if match is None:
            return 404, _error(404, f"Not found: {method} {target}; this server makes empty tables and no more")
        try:
            return 200, _answered(store, method, match, json.loads(body) if body.strip() else {})
        except _HttpError as error:
            return error.status, _error(error.status, str(error))
        except (SchemaError, ValueError, KeyError, TypeError) as error:
            return 400, _error(400, f"Invalid request: {error}")

    return answer


def _error(status: int, said: str) -> dict[str, Any]:
    return {"error": {"code": status, "message": said}}


def _answered(store: Store, method: str, match: re.Match[str], body: dict[str, Any]) -> dict[str, Any]:
    project, dataset, table = match["project"], match["dataset"], match["table"]
    if dataset is None and method == "POST":
        named = (project, str(body["datasetReference"]["datasetId"]))
        if named in store.datasets:
            raise _HttpError(409, f"Already Exists: Dataset {project}:{named[1]}")
        store.datasets.add(named)
        return body
    if (project, dataset) not in store.datasets:
        raise _HttpError(404, f"Not found: Dataset {project}:{dataset}")
    if table is None and method == "POST":
        table = str(body["tableReference"]["tableId"])
        if not store.make(_resource(project, dataset, table), read_schema(body["schema"]["fields"])):
            raise _HttpError(409, f"Already Exists: Table {project}:{dataset}.{table}")
        return _described(store, project, dataset, table)
    if table is None or _resource(project, dataset, table) not in store.tables:
        raise _HttpError(404, f"Not found: Table {project}:{dataset}.{table}")
    if method == "DELETE":
        del store.tables[_resource(project, dataset, table)]
        return {}
    if method == "GET" and match["data"] is None:
        return _described(store, project, dataset, table)
    if method == "GET" and not store.tables[_resource(project, dataset, table)].rows.num_rows:
        return {"kind": "bigquery#tableDataList", "totalRows": "0"}
    raise _HttpError(501, "this server lists no rows: read them by the Storage Read API")


def _resource(project: str, dataset: str, table: str) -> str:
    return f"projects/{project}/datasets/{dataset}/tables/{table}"


def _described(store: Store, project: str, dataset: str, table: str) -> dict[str, Any]:
    return {
        "kind": "bigquery#table",
        "tableReference": {"projectId": project, "datasetId": dataset, "tableId": table},
        "schema": write_schema(store.tables[_resource(project, dataset, table)].columns),
        "type": "TABLE",
    }
