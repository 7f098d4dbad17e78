"""A small REST client for seeding: JSON in, JSON out, a deadline and a size limit on everything, no retries.

It decides nothing about tables. Retries are left out on purpose: a refusal is an answer, and a server that answers
500 must cost one request, not a client library's whole retry budget.
"""

from __future__ import annotations

import json
import math
import time
import urllib.parse
from collections.abc import Mapping
from typing import Any, Final

from conformance.contain.parse import VALUES, ForeignJsonError, parse_object
from conformance.contain.text import safe
from conformance.targets.transport import HttpClient, HttpError, HttpResponse

__all__ = ["RestClient", "RestError"]

ANSWER_BYTES: Final = 4 << 20
"""Bytes of an answer that nothing needs to explain: a stack trace as HTML, an error for each of 5000 rows."""
EXPANSION: Final = 4
"""How often an answer may be as large as the rows that it shows: ``"1",`` comes back as ``{"v": "1"},``."""
MAX_ANSWER: Final = 48 << 20
"""Bytes of any answer: pages are asked for at 8 MiB, so only one huge row comes near."""
SHOWN: Final = 500
"""Characters of a server's text that go into a message."""


class RestError(Exception):
    """A request failed: ``status`` is its HTTP status, None where there was no answer; the text says what came."""

    def __init__(self, text: str, *, status: int | None = None) -> None:
        super().__init__(text)
        self.status = status


class RestClient:
    """Requests to one BigQuery REST surface at ``base`` (``http://host:port``), each within ``deadline`` seconds.

    ``sent`` counts the bytes of all bodies so far. The text of every :class:`RestError` is safe to print.
    Raises :class:`~conformance.targets.errors.TargetError` where ``base`` is no such address.
    """

    def __init__(self, base: str, *, deadline: float) -> None:
        self.sent = 0
        self._http = HttpClient(base)
        self._deadline = deadline

    def get(
        self, path: str, *, params: Mapping[str, str] | None = None, until: float = math.inf, shown: int = 0
    ) -> dict[str, Any]:
        """GET ``path`` and return the JSON object, before ``until`` on the monotonic clock; raises :class:`RestError`.

        ``shown`` is the size in bytes of the rows that the answer shows, as they were sent.
        """
        query = f"?{urllib.parse.urlencode(params)}" if params else ""
        where, answer, limit = self._call("GET", path, query=query, until=until, explained=shown)
        return _object(where, answer, limit)

    def post(self, path: str, body: Mapping[str, Any], *, until: float = math.inf) -> dict[str, Any]:
        """POST ``body`` as JSON and return the JSON object, empty where no body came; raises :class:`RestError`."""
        data = json.dumps(body, ensure_ascii=False).encode()
        self.sent += len(data)
        where, answer, limit = self._call("POST", path, data=data, until=until, explained=len(data))
        return _object(where, answer, limit) if answer.body.strip() else {}

    def delete(self, path: str) -> None:
        """DELETE ``path``; raises :class:`RestError`."""
        self._call("DELETE", path)

    def refusal(self, path: str, *, deadline: float) -> str:
        """Why GET ``path`` is not answered with a 2xx status within ``deadline`` seconds, empty where it is."""
        where = f"GET {path}"
        try:
            answer = self._http.exchange("GET", path, until=time.monotonic() + deadline, limit=None)
        except HttpError as error:
            return f"{where}: {error}"
        return "" if 200 <= answer.status < 300 else f"{where}: HTTP {answer.status}{_redirect(answer)}"

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def _call(
        self,
        method: str,
        path: str,
        *,
        query: str = "",
        data: bytes | None = None,
        until: float = math.inf,
        explained: int = 0,
    ) -> tuple[str, HttpResponse, int]:
        """The request in words, its answer of success, and the limit that the answer had."""
        until = min(until, time.monotonic() + self._deadline)
        limit = min(MAX_ANSWER, ANSWER_BYTES + EXPANSION * explained)
        where = f"{method} {path}"
        try:
            answer = self._http.exchange(method, path + query, json=data, until=until, limit=limit)
        except HttpError as error:
            raise RestError(f"{where}: {error}") from None
        if not 200 <= answer.status < 300:
            said = _redirect(answer) or f" {_message(answer.body)}"
            raise RestError(f"{where}: HTTP {answer.status}{said}", status=answer.status)
        return where, answer, limit


def _object(where: str, answer: HttpResponse, limit: int) -> dict[str, Any]:
    if not answer.body.strip():
        raise RestError(f"{where}: expected a JSON object but the body is empty")
    try:
        # A cell takes eight bytes at least, and counts as two values.
        return parse_object(answer.body, values=VALUES + (limit - ANSWER_BYTES) // 4)
    except ForeignJsonError as error:
        raise RestError(f"{where}: {safe(str(error))}") from None


def _redirect(answer: HttpResponse) -> str:
    if not 300 <= answer.status < 400:
        return ""
    there = f" to {safe(answer.location, SHOWN)}" if answer.location else ""
    return f", a redirect{there}; the suite follows none, so name the address that answers itself"


def _message(body: bytes) -> str:
    """The message of a Google-style error body, else the start of the body."""
    try:
        said = parse_object(body)["error"]["message"]
    except (ForeignJsonError, KeyError, TypeError):
        said = None
    text = said if isinstance(said, str) and said else body[: 4 * SHOWN].decode("utf-8", "backslashreplace")
    return safe(text, SHOWN) or "with an empty body"
