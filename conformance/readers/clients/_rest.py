"""The one REST answer that google-cloud-bigquery needs before it reads through the Storage API: ``tables.get``.

It is made from the columns of the case, not from data of a target, and never leaves the process: the client's HTTP
session has this adapter mounted at its endpoint. Every other request is answered with ``400 notRecorded``, so that a
client that falls back to ``tabledata.list`` fails visibly.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, Final
from urllib.parse import urlsplit

import requests
from requests.adapters import BaseAdapter

from conformance.readers.tableresource import table_path, table_resource
from conformance.records import Column

__all__ = ["ENDPOINT", "TablesGet"]

ENDPOINT: Final = "http://replay.invalid"
"""A name that never resolves (RFC 6761): without the adapter, a request could not reach anything by mistake."""


class TablesGet(BaseAdapter):
    """Answers ``tables.get`` for the one table given to :meth:`play`."""

    def __init__(self) -> None:
        super().__init__()
        self._path = ""
        self._resource: dict[str, Any] = {}

    def play(self, *, project: str, dataset: str, table: str, columns: Iterable[Column]) -> None:
        """Answer for this table from now on, and for no other."""
        self._path = table_path(project=project, dataset=dataset, table=table)
        self._resource = table_resource(project=project, dataset=dataset, table=table, columns=columns)

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
