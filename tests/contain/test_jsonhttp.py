"""The HTTP server for JSON: bodies in every form arrive whole."""

from __future__ import annotations

import gzip
import http.client
import json
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from conformance.contain.jsonhttp import JsonServer


def echo(method: str, target: str, headers: Mapping[str, str], body: bytes) -> tuple[int, Any]:
    """Repeat the request."""
    return 202, {"method": method, "target": target, "agent": headers.get("user-agent"), "body": body.decode()}


@pytest.fixture
def connection() -> Iterator[http.client.HTTPConnection]:
    """A connection to a server that repeats what it is asked."""
    server = JsonServer(echo)
    server.start()
    one = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)
    yield one
    one.close()
    server.stop()


def said(connection: http.client.HTTPConnection) -> tuple[int, dict[str, Any]]:
    """The answer."""
    response = connection.getresponse()
    return response.status, json.loads(response.read())


def test_a_request_arrives_with_its_headers(connection: http.client.HTTPConnection) -> None:
    """The function gets method, target, headers and body, and its status and value are the answer."""
    connection.request("PUT", "/a?b=c", b"text", {"User-Agent": "me/1"})

    assert said(connection) == (202, {"method": "PUT", "target": "/a?b=c", "agent": "me/1", "body": "text"})


def test_a_compressed_body_in_chunks(connection: http.client.HTTPConnection) -> None:
    """A body without a length, compressed by gzip, arrives as it was; the connection can be used again."""
    parts = gzip.compress(b"x" * 100_000)
    connection.request("POST", "/", iter([parts[:10], parts[10:]]), {"Content-Encoding": "gzip"}, encode_chunked=True)
    first = said(connection)[1]["body"]
    connection.request("GET", "/")

    assert first == "x" * 100_000
    assert said(connection)[1]["body"] == ""


@pytest.mark.parametrize("headers", [{"Content-Encoding": "gzip"}, {"Content-Length": "x"}])
def test_an_unreadable_body_is_refused(connection: http.client.HTTPConnection, headers: dict[str, str]) -> None:
    """A body that is not what its headers say is answered with 400."""
    connection.request("POST", "/", b"no gzip", headers)

    assert said(connection)[0] == 400
