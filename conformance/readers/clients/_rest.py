"""REST requests of google-cloud-bigquery, answered without a connection.

One request in each reading needs an answer before the client turns to the Storage API. Nothing of the answer comes from
a target, and carrying it over HTTP took more time than the client's other work on it.
"""

from __future__ import annotations

import json
from typing import Any, Final
from urllib.parse import urlsplit

import requests
from requests.adapters import BaseAdapter

from conformance.contain.jsonhttp import Answering

__all__ = ["ENDPOINT", "InProcess"]

ENDPOINT: Final = "http://replay.invalid"
"""A name that no resolver knows (RFC 6761): without the adapter, nothing else would be reached by mistake."""


class InProcess(BaseAdapter):
    """Gives each request of a session to ``answering``, without its headers: no answer depends on them."""

    def __init__(self, answering: Answering) -> None:
        super().__init__()
        self._answering = answering

    def send(self, request: requests.PreparedRequest, *_args: Any, **_kwargs: Any) -> requests.Response:
        """Answer a request; nothing leaves the process."""
        url = request.url or ""
        target = urlsplit(url)._replace(scheme="", netloc="").geturl()
        body = request.body if isinstance(request.body, bytes) else str(request.body or "").encode()
        status, value = self._answering(request.method or "", target, {}, body)
        response = requests.Response()
        response.status_code = status
        response.headers["Content-Type"] = "application/json; charset=UTF-8"
        response._content = json.dumps(value).encode()  # noqa: SLF001  # how adapters fill it
        response.request, response.url = request, url
        return response

    def close(self) -> None:
        """Nothing is open."""
