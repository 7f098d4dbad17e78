"""A small REST client for seeding: JSON in, JSON out, a deadline and a size limit on everything, no retries.

It decides nothing about tables. Retries are left out on purpose: a refusal is an answer, and a server that answers
500 must cost one request, not a client library's whole retry budget.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from typing import Any, Final

import requests

__all__ = ["RestClient", "RestError"]

MAX_ANSWER: Final = 256 << 20
"""Bytes of one answer; the largest honest one lists the rows of one verified page."""


class RestError(Exception):
    """A request failed: ``status`` is its HTTP status, None where there was no answer; the text says what came."""

    def __init__(self, text: str, *, status: int | None = None) -> None:
        super().__init__(text)
        self.status = status


class RestClient:
    """Requests to one BigQuery REST surface at ``base`` (``http://host:port``), each within ``deadline`` seconds."""

    def __init__(self, base: str, *, deadline: float) -> None:
        self._base = base.rstrip("/")
        self._deadline = deadline
        self._session = requests.Session()
        # A proxy from the surroundings must not stand between the suite and a server on this machine.
        self._session.trust_env = False

    def get(
        self, path: str, *, params: Mapping[str, str] | None = None, deadline: float | None = None
    ) -> dict[str, Any]:
        """GET ``path`` and return the JSON object; raises :class:`RestError`."""
        return self._call("GET", path, params=params, deadline=deadline)

    def post(self, path: str, body: Mapping[str, Any], *, deadline: float | None = None) -> dict[str, Any]:
        """POST ``body`` as JSON and return the JSON object; raises :class:`RestError`."""
        return self._call("POST", path, body=body, deadline=deadline)

    def delete(self, path: str, *, deadline: float | None = None) -> None:
        """DELETE ``path``; raises :class:`RestError`."""
        self._call("DELETE", path, deadline=deadline)

    def answers(self, path: str, *, deadline: float) -> bool:
        """Whether GET ``path`` is answered with a 2xx status, whatever the body says."""
        try:
            with self._session.get(self._base + path, timeout=deadline, stream=True) as response:
                return response.ok
        except requests.RequestException:
            return False

    def close(self) -> None:
        """Close the connections."""
        self._session.close()

    def _call(
        self,
        method: str,
        path: str,
        *,
        params: Mapping[str, str] | None = None,
        body: Mapping[str, Any] | None = None,
        deadline: float | None = None,
    ) -> dict[str, Any]:
        seconds = deadline or self._deadline
        until = time.monotonic() + seconds
        where = f"{method} {path}"
        data = None if body is None else json.dumps(body, ensure_ascii=False).encode()
        headers = {} if data is None else {"Content-Type": "application/json"}
        try:
            with self._session.request(
                method, self._base + path, params=params, data=data, headers=headers, timeout=seconds, stream=True
            ) as response:
                text = _read(response, where, until=until, seconds=seconds)
        except requests.Timeout:
            raise RestError(f"{where}: no answer within {seconds:g} s") from None
        except requests.RequestException as error:
            raise RestError(f"{where}: {_root(error)}") from None
        if response.status_code >= 500:
            # Several servers close the connection after such an answer; the next request must not be the one to notice.
            self._session.close()
        if not response.ok:
            raise RestError(f"{where}: HTTP {response.status_code} {_message(text)}", status=response.status_code)
        return _object(text, where)


def _read(response: requests.Response, where: str, *, until: float, seconds: float) -> bytes:
    """The body, within the deadline as a whole: a server that drips byte by byte is not waited for."""
    kept = bytearray()
    for chunk in response.iter_content(chunk_size=None):
        kept += chunk
        if len(kept) > MAX_ANSWER:
            raise RestError(f"{where}: expected at most {MAX_ANSWER} bytes but more came")
        if time.monotonic() > until:
            raise RestError(f"{where}: no whole answer within {seconds:g} s, {len(kept)} bytes came")
    return bytes(kept)


def _object(text: bytes, where: str) -> dict[str, Any]:
    if not text.strip():
        return {}
    try:
        answer = json.loads(text)
    except ValueError:
        raise RestError(f"{where}: expected JSON but got {text[:200]!r}") from None
    if not isinstance(answer, dict):
        raise RestError(f"{where}: expected a JSON object but got {type(answer).__name__}")
    return answer


def _message(text: bytes) -> str:
    """The message of a Google-style error body, else the start of the body."""
    try:
        return str(json.loads(text)["error"]["message"])[:500]
    except (ValueError, KeyError, TypeError):
        return text[:500].decode("utf-8", "backslashreplace")


def _root(error: BaseException) -> str:
    """The innermost cause: ``Connection refused`` says more than three layers of wrappers."""
    while (cause := error.__cause__ or error.__context__) is not None:
        error = cause
    return f"{type(error).__name__}: {error}"
