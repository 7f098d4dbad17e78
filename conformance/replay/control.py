"""The control API of a replay server, below ``/replay/`` of its REST port: recordings, plans, and the log."""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import parse_qsl, unquote, urlsplit

from conformance.contain.parse import ForeignJsonError, parse_object
from conformance.engine.log import LogError
from conformance.records import RecordError
from conformance.replay.asked import Asked
from conformance.replay.loading import faults_of, from_message
from conformance.replay.shelf import Shelf

__all__ = ["PREFIX", "Control"]

PREFIX: Final = "/replay/"
_PATH: Final = re.compile(r"/replay/exchanges/([^/]+)(/faults)?")


class Control:
    """The API of one server; ``addresses`` are what the server printed when it started."""

    def __init__(self, shelf: Shelf, asked: Asked, addresses: Mapping[str, Any]) -> None:
        self._shelf = shelf
        self._asked = asked
        self._addresses = addresses
        self._numbers = itertools.count(1)

    def answer(self, method: str, target: str, body: bytes) -> tuple[int, Any]:
        """The status and the JSON of an answer; never raises on what clients send."""
        try:
            return self._route(method, target, body)
        except (ForeignJsonError, RecordError, LogError, OSError, ValueError) as error:
            return 400, {"error": str(error)}

    def _route(self, method: str, target: str, body: bytes) -> tuple[int, Any]:
        url = urlsplit(target)
        query = dict(parse_qsl(url.query))
        match method, url.path:
            case "GET", "/replay/":
                return 200, dict(self._addresses)
            case "GET", "/replay/exchanges":
                return 200, {"exchanges": [held.state() for held in self._shelf.all()]}
            case "GET", "/replay/calls":
                calls = list(self._asked.since(int(query.get("since", "0"))))
                return 200, {"calls": calls, "next": calls[-1]["number"] + 1 if calls else int(query.get("since", "0"))}
            case "POST", "/replay/exchanges":
                made = list(from_message(parse_object(body), str(next(self._numbers))))
                if not made:
                    return 400, {"error": "expected an exchange with a session, got none"}
                for held in made:
                    self._shelf.put(held)
                return 200, {"exchanges": [held.state() for held in made]}
        found = _PATH.fullmatch(url.path)
        if found is None:
            return 404, {"error": f"expected a request of docs/replay.md, got {method} {url.path}"}
        name, faults = unquote(found[1]), found[2]
        known = False
        if method == "POST" and faults:
            known = self._shelf.plan(name, faults_of(parse_object(body)))
        elif method == "DELETE" and not faults:
            known = self._shelf.drop(name)
        elif method == "GET" and not faults:
            one = self._shelf.get(name)
            return (404, {"error": f"no exchange {name!r}"}) if one is None else (200, one.state())
        return (200, {}) if known else (404, {"error": f"no exchange {name!r}"})
