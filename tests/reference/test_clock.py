"""The clock of a reference is set by one request, and by no other."""

from __future__ import annotations

import http.client
import json
from typing import Any

import pytest

from conformance.reference.clock import MOST_AHEAD, ClockServer, ahead_in


def asked(server: ClockServer, method: str, path: str, body: bytes) -> tuple[int, Any]:
    """Status and JSON of an answer."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port)
    connection.request(method, path, body)
    answer = connection.getresponse()
    found = answer.status, json.loads(answer.read())
    connection.close()
    return found


@pytest.mark.parametrize("body", [None, [], {}, {"ahead": "1"}, {"ahead": -1}, {"ahead": MOST_AHEAD + 1}])
def test_other_bodies_are_refused(body: object) -> None:
    """They ask for no number of seconds."""
    with pytest.raises(ValueError, match='expected "ahead" as a number of seconds from 0 to'):
        ahead_in(body)


def test_the_seconds_are_handed_on() -> None:
    """Other requests change nothing."""
    ahead: list[int] = []
    server = ClockServer(ahead.append, host="127.0.0.1")
    server.start()
    try:
        assert asked(server, "POST", "/clock", b'{"ahead": 7}') == (200, {"ahead": 7})
        assert asked(server, "POST", "/clock", b"seven")[0] == 400
        assert asked(server, "GET", "/clock", b"")[0] == 404
    finally:
        server.stop()

    assert ahead == [7]
