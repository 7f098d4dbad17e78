"""A small REST client for seeding: JSON in both directions, limits on time and size, no retries.

It does not know tables. It makes no retries on purpose: a refusal is an answer, and a server that answers 500 must cost
one request and not the retry budget of a client library.
"""

from __future__ import annotations

import json
import math
import re
import time
import urllib.parse
from collections.abc import Callable, Mapping
from typing import Any, Final

from conformance.contain.parse import VALUES, ForeignJsonError, parse_object
from conformance.contain.text import safe
from conformance.targets.tls import SecureLine
from conformance.targets.transport import Exchanging, HttpClient, HttpError, HttpResponse

__all__ = ["RestClient", "RestError"]

ANSWER_BYTES: Final = 4 << 20
"""Bytes that any answer may have, whatever its rows: a stack trace as HTML, an error for each of 5000 rows."""
EXPANSION: Final = 4
"""The largest ratio of an answer to the rows in it: ``"1",`` comes back as ``{"v": "1"},``."""
MAX_ANSWER: Final = 48 << 20
"""The largest answer in bytes: pages are requested with 8 MiB, so that only one huge row comes near."""
SHOWN: Final = 500
"""Characters of a server's text that go into a message."""


REFUSES_WHO_ASKS: Final = frozenset({401, 403, 429})
"""Statuses about the credentials or the quota of a client (RFC 9110, section 15.5; RFC 6585, section 4)."""


class RestError(Exception):
    """A request failed: ``status`` is its HTTP status, None without an answer; the text describes the failure.

    ``reason`` is the one in an error body of Google's form, empty without such a body.
    """

    def __init__(self, text: str, *, status: int | None = None, reason: str = "") -> None:
        super().__init__(text)
        self.status = status
        self.reason = reason


class RestClient:
    """Requests to one BigQuery REST API at ``base`` (``http://host:port``), each within ``deadline`` seconds.

    ``sent`` counts the bytes of all bodies so far. ``refused`` describes the last answer if it refused the credentials
    (401, 403) or the number of requests (429). ``credentials`` and ``secure`` are those of :class:`HttpClient`, which
    ``http`` replaces. The text of every :class:`RestError` is safe to print.
    Raises :class:`~conformance.targets.targeterrors.TargetError` if ``base`` is not such an address.
    """

    def __init__(
        self,
        base: str,
        *,
        deadline: float,
        credentials: Callable[[], Mapping[str, str]] = dict,
        secure: SecureLine | None = None,
        http: Exchanging | None = None,
    ) -> None:
        self.sent = 0
        self.refused = ""
        self._http = http or HttpClient(base, credentials=credentials, secure=secure)
        self._deadline = deadline

    def get(
        self, path: str, *, params: Mapping[str, str] | None = None, until: float = math.inf, shown: int = 0
    ) -> dict[str, Any]:
        """GET ``path`` and return the JSON object, before ``until`` on the monotonic clock; raises :class:`RestError`.

        ``shown`` is the size in bytes of the rows in the answer, as they were sent.
        """
        query = f"?{urllib.parse.urlencode(params)}" if params else ""
        where, answer, limit = self._call("GET", path, query=query, until=until, explained=shown)
        return _object(where, answer, limit)

    def post(
        self,
        path: str,
        body: Mapping[str, Any] | bytes,
        *,
        content_type: str = "application/json",
        until: float = math.inf,
    ) -> dict[str, Any]:
        """POST ``body``, a mapping as JSON and bytes unchanged, and return the JSON object, empty without a body.

        Raises :class:`RestError`.
        """
        data = body if isinstance(body, bytes) else json.dumps(body, ensure_ascii=False).encode()
        return self._send("POST", path, data, content_type, until)

    def patch(self, path: str, body: Mapping[str, Any], *, until: float = math.inf) -> dict[str, Any]:
        """PATCH ``body``, and return the JSON object, empty without a body; raises :class:`RestError`."""
        return self._send("PATCH", path, json.dumps(body, ensure_ascii=False).encode(), "application/json", until)

    def _send(self, method: str, path: str, data: bytes, content_type: str, until: float) -> dict[str, Any]:
        self.sent += len(data)
        where, answer, limit = self._call(
            method, path, data=data, content_type=content_type, until=until, explained=len(data)
        )
        return _object(where, answer, limit) if answer.body.strip() else {}

    def answered(self, path: str, body: bytes | None, *, until: float) -> tuple[int, bytes]:
        """POST ``body``, or GET if it is None; return the status and the body of the answer, whatever the status is.

        Raises :class:`RestError` without an answer.
        """
        method = "GET" if body is None else "POST"
        self.sent += len(body or b"")
        until = min(until, time.monotonic() + self._deadline)
        try:
            answer = self._http.exchange(
                method, path, body=body, content_type="application/json", until=until, limit=MAX_ANSWER
            )
        except HttpError as error:
            raise RestError(f"{method} {path}: {error}") from None
        return answer.status, answer.body

    def delete(self, path: str) -> None:
        """DELETE ``path``; raises :class:`RestError`."""
        self._call("DELETE", path)

    def refusal(self, path: str, *, deadline: float) -> str:
        """The reason why GET ``path`` has no 2xx answer within ``deadline`` seconds; empty if it has one."""
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
        content_type: str = "application/json",
        until: float = math.inf,
        explained: int = 0,
    ) -> tuple[str, HttpResponse, int]:
        """Make a request; returns its description, its successful answer, and the size limit of that answer."""
        until = min(until, time.monotonic() + self._deadline)
        limit = min(MAX_ANSWER, ANSWER_BYTES + EXPANSION * explained)
        where = f"{method} {path}"
        self.refused = ""
        try:
            answer = self._http.exchange(
                method, path + query, body=data, content_type=content_type, until=until, limit=limit
            )
        except HttpError as error:
            raise RestError(f"{where}: {error}") from None
        if not 200 <= answer.status < 300:
            said = _redirect(answer) or f" {_message(answer.body)}"
            text = f"{where}: HTTP {answer.status}{said}"
            if answer.status in REFUSES_WHO_ASKS:
                self.refused = text
            raise RestError(text, status=answer.status, reason=_reason(answer.body))
        return where, answer, limit


def _object(where: str, answer: HttpResponse, limit: int) -> dict[str, Any]:
    if not answer.body.strip():
        raise RestError(f"{where}: expected a JSON object but the body is empty")
    try:
        # A cell has at least eight bytes and counts as two values.
        return parse_object(answer.body, values=VALUES + (limit - ANSWER_BYTES) // 4)
    except ForeignJsonError as error:
        raise RestError(f"{where}: {safe(str(error))}") from None


def _redirect(answer: HttpResponse) -> str:
    if not 300 <= answer.status < 400:
        return ""
    there = f" to {safe(answer.location, SHOWN)}" if answer.location else ""
    return f", a redirect{there}; the suite follows none, so name the address that answers itself"


def _reason(body: bytes) -> str:
    """The reason of the first error in a body of Google's form."""
    try:
        reason = parse_object(body)["error"]["errors"][0]["reason"]
    except (ForeignJsonError, LookupError, TypeError):
        return ""
    return reason if isinstance(reason, str) else ""


def _message(body: bytes) -> str:
    """The message in an error body of Google's form, else the start of the body."""
    try:
        said = parse_object(body)["error"]["message"]
    except (ForeignJsonError, KeyError, TypeError):
        said = None
    text = said if isinstance(said, str) and said else body[: 4 * SHOWN].decode("utf-8", "backslashreplace")
    if text.lstrip().startswith("<"):  # a page of another server: its text says what happened, its markup nothing
        text = " ".join(re.sub(r"<[^>]*>", " ", text).split()) or "with a page without text"
    return safe(text, SHOWN) or "with an empty body"
