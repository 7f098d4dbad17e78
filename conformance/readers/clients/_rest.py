"""The one REST answer that google-cloud-bigquery needs before it reads through the Storage API: ``tables.get``.

It is made from the columns of the case, not from data of a target, and never leaves the process: the client's HTTP
session has this adapter mounted at its endpoint. Every other request is answered with ``400 notRecorded``, so that a
client that falls back to ``tabledata.list`` fails visibly.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, Final
from urllib.parse import urlsplit

import requests
from requests.adapters import BaseAdapter

from conformance.records import BqType, Column

__all__ = ["ENDPOINT", "TablesGet", "rest_schema"]

ENDPOINT: Final = "http://replay.invalid"
"""A name that never resolves (RFC 6761): without the adapter, a request could not reach anything by mistake."""

_LEGACY: Final[Mapping[BqType, str]] = {
    BqType.INT64: "INTEGER",
    BqType.FLOAT64: "FLOAT",
    BqType.BOOL: "BOOLEAN",
}
"""``tables.get`` answers with legacy SQL names where they differ from GoogleSQL (REST reference, TableFieldSchema)."""


def rest_schema(columns: Iterable[Column]) -> list[dict[str, Any]]:
    """The columns as ``TableFieldSchema`` objects; numbers are strings there, like every int64 of the REST API."""
    return [_field(column) for column in columns]


def _field(column: Column) -> dict[str, Any]:
    field: dict[str, Any] = {
        "name": column.name,
        "type": _LEGACY.get(column.type, column.type.value),
        "mode": column.mode.value,
    }
    numbers = {"precision": column.precision, "scale": column.scale, "maxLength": column.max_length}
    field |= {key: str(number) for key, number in numbers.items() if number is not None}
    if column.fields:
        field["fields"] = rest_schema(column.fields)
    if column.range_of is not None:
        field["rangeElementType"] = {"type": column.range_of.value}
    return field


class TablesGet(BaseAdapter):
    """Answers ``tables.get`` for the one table given to :meth:`play`."""

    def __init__(self) -> None:
        super().__init__()
        self._path = ""
        self._resource: dict[str, Any] = {}

    def play(self, *, project: str, dataset: str, table: str, columns: Iterable[Column]) -> None:
        """Answer for this table from now on, and for no other."""
        self._path = f"/bigquery/v2/projects/{project}/datasets/{dataset}/tables/{table}"
        self._resource = {
            "kind": "bigquery#table",
            "id": f"{project}:{dataset}.{table}",
            "type": "TABLE",
            "tableReference": {"projectId": project, "datasetId": dataset, "tableId": table},
            "schema": {"fields": rest_schema(columns)},
        }

    def send(self, request: requests.PreparedRequest, *_args: Any, **_kwargs: Any) -> requests.Response:
        """Answer a request for the table of :meth:`play`; nothing leaves the process."""
        path = urlsplit(request.url or "").path
        known = request.method == "GET" and path == self._path
        text = f"not recorded: {request.method} {path}"
        error = {"error": {"code": 400, "message": text, "errors": [{"reason": "notRecorded", "message": text}]}}
        response = requests.Response()
        response.status_code = 200 if known else 400
        response.headers["Content-Type"] = "application/json; charset=UTF-8"
        response._content = json.dumps(self._resource if known else error).encode()  # noqa: SLF001  # requests adapters set the body this way
        response.request, response.url = request, request.url or ""
        return response

    def close(self) -> None:
        """Do nothing: no connection is open."""
