"""The control API of a replay server, below ``/replay/`` of its REST port: recordings, plans, and the log."""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import parse_qsl, unquote, urlsplit

from conformance.contain.jsonhttp import is_here
from conformance.contain.parse import ForeignJsonError, parse_object
from conformance.engine.log import LogError
from conformance.records import RecordError, to_json
from conformance.replay.asked import AskedLog
from conformance.replay.loading import faults_of, from_message
from conformance.replay.shelf import Shelf
from conformance.replay.trials import Trials

__all__ = ["PREFIX", "Control"]

PREFIX: Final = "/replay/"
_NUMBER: Final = re.compile(r"-?[0-9]{1,18}")


class Control:
    """The API of one server; ``addresses`` are what the server printed when it started."""

    def __init__(self, shelf: Shelf, asked: AskedLog, addresses: Mapping[str, Any], trials: Trials) -> None:
        self._trials = trials
        self._shelf = shelf
        self._asked = asked
        self._where = addresses
        self._numbers = itertools.count(1)

    def answer(self, method: str, target: str, headers: Mapping[str, str], body: bytes) -> tuple[int, Any]:
        """The status and the JSON of an answer; never raises on what clients send.

        Requests of web pages are refused: a page of any site may send some to this machine, and may read the answer if
        the name of its host leads here (DNS rebinding). Browsers send ``Origin``, and the name in ``Host``.
        """
        if "origin" in headers or not is_here(headers.get("host", "")):
            return 403, {"error": "expected a request of a program on this machine, got one of a web page"}
        try:
            return self._route(method, target, body)
        except (ForeignJsonError, RecordError, LogError, OSError, ValueError) as error:
            return 400, {"error": str(error)}

    def _route(self, method: str, target: str, body: bytes) -> tuple[int, Any]:
        url = urlsplit(target)
        query = dict(parse_qsl(url.query))
        for verb, path, handler in _ROUTES:
            found = path.fullmatch(url.path)
            if found is not None and verb == method:
                return handler(self, body, query, *map(unquote, found.groups()))
        return 404, {"error": f"expected a request of docs/replay.md, got {method} {url.path}"}

    def addresses(self, _body: bytes, _query: Mapping[str, str]) -> tuple[int, Any]:
        """The addresses."""
        return 200, dict(self._where)

    def calls(self, _body: bytes, query: Mapping[str, str]) -> tuple[int, Any]:
        """The log from an event on."""
        asked = query.get("since", "0")
        if not _NUMBER.fullmatch(asked):
            raise ValueError("since: expected the number of an event, in up to 18 digits")
        since = int(asked)
        calls = list(self._asked.since(since))
        return 200, {"calls": calls, "next": calls[-1]["number"] + 1 if calls else since}

    def exchanges(self, _body: bytes, _query: Mapping[str, str]) -> tuple[int, Any]:
        """Every recording."""
        return 200, {"exchanges": [held.state() for held in self._shelf.all()]}

    def put_exchange(self, body: bytes, _query: Mapping[str, str]) -> tuple[int, Any]:
        """Add recordings."""
        made = list(from_message(parse_object(body), str(next(self._numbers))))
        if not made:
            raise ValueError("expected an exchange with a session, got none")
        for held in made:
            self._shelf.put(held)
        return 200, {"exchanges": [held.state() for held in made]}

    def get_exchange(self, _body: bytes, _query: Mapping[str, str], name: str) -> tuple[int, Any]:
        """One recording."""
        held = self._shelf.get(name)
        return _missing(name) if held is None else (200, held.state())

    def drop_exchange(self, _body: bytes, _query: Mapping[str, str], name: str) -> tuple[int, Any]:
        """Remove a recording."""
        return (200, {}) if self._shelf.drop(name) else _missing(name)

    def plan(self, body: bytes, _query: Mapping[str, str], name: str) -> tuple[int, Any]:
        """Give a recording another plan."""
        return (200, {}) if self._shelf.plan(name, faults_of(parse_object(body))) else _missing(name)

    def tests(self, _body: bytes, _query: Mapping[str, str]) -> tuple[int, Any]:
        """The table of interrupted reads."""
        return 200, to_json(self._trials.table)

    def summary(self, _body: bytes, _query: Mapping[str, str]) -> tuple[int, Any]:
        """What all trials showed."""
        return 200, self._trials.summary()

    def begin(self, body: bytes, _query: Mapping[str, str]) -> tuple[int, Any]:
        """Begin a trial."""
        message = parse_object(body)
        here = {key: f"127.0.0.1:{self._where[key]}" for key in ("grpc", "rest")}
        return 200, self._trials.begin(str(message.get("test", ""))).state() | here

    def trial(self, _body: bytes, _query: Mapping[str, str], number: str) -> tuple[int, Any]:
        """One trial."""
        return 200, self._trials.get(number).state()

    def report(self, body: bytes, _query: Mapping[str, str], number: str) -> tuple[int, Any]:
        """Judge a trial."""
        return 200, self._trials.report(number, parse_object(body)).state()


def _missing(name: str) -> tuple[int, Any]:
    return 404, {"error": f"no exchange {name!r}; GET /replay/exchanges lists them"}


_ROUTES: Final = tuple(
    (method, re.compile(path), handler)
    for method, path, handler in (
        ("GET", r"/replay/", Control.addresses),
        ("GET", r"/replay/calls", Control.calls),
        ("GET", r"/replay/exchanges", Control.exchanges),
        ("POST", r"/replay/exchanges", Control.put_exchange),
        ("GET", r"/replay/exchanges/([^/]+)", Control.get_exchange),
        ("DELETE", r"/replay/exchanges/([^/]+)", Control.drop_exchange),
        ("POST", r"/replay/exchanges/([^/]+)/faults", Control.plan),
        ("GET", r"/replay/retry/tests", Control.tests),
        ("GET", r"/replay/retry", Control.summary),
        ("POST", r"/replay/retry", Control.begin),
        ("GET", r"/replay/retry/([^/]+)", Control.trial),
        ("POST", r"/replay/retry/([^/]+)", Control.report),
    )
)
