"""The HTTP server for JSON: bodies in every form arrive whole."""

from __future__ import annotations

import gzip
import http.client
import json
import socket
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from conformance.contain import jsonhttp
from conformance.contain.jsonhttp import JsonServer


def echo(method: str, target: str, headers: Mapping[str, str], body: bytes) -> tuple[int, Any]:
    """Repeat the request."""
    return 202, {"method": method, "target": target, "agent": headers.get("user-agent"), "body": body.decode()}


@pytest.fixture
def connection() -> Iterator[http.client.HTTPConnection]:
    """A connection to a server that repeats what it is asked."""
    server = JsonServer(echo)
    server.start()
    one = http.client.HTTPConnection("127.0.0.1", server.port)
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
    parts = gzip.compress(b"x" * 100_000, mtime=0)
    connection.request("POST", "/", iter([parts[:10], parts[10:]]), {"Content-Encoding": "gzip"}, encode_chunked=True)
    first = said(connection)[1]["body"]
    connection.request("GET", "/")

    assert first == "x" * 100_000
    assert said(connection)[1]["body"] == ""


@pytest.mark.parametrize(
    "headers",
    [
        {"Content-Encoding": "gzip"},
        *({"Content-Length": length} for length in ("x", "-1", "+7", "1_0", "99999999999", "9" * 5000)),
    ],
)
def test_an_unreadable_body_is_refused(connection: http.client.HTTPConnection, headers: dict[str, str]) -> None:
    """A body that is not what its headers say is answered with 400."""
    connection.request("POST", "/", b"no gzip", headers)

    assert said(connection)[0] == 400


CHUNKED = b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"


@pytest.mark.parametrize(
    "rest",
    [
        b"-5\r\nhello\r\n0\r\n\r\n",
        b"0x5\r\nhello\r\n0\r\n\r\n",
        b"4\r\nhello\r\n0\r\n\r\n",
        b"ffffffffffff\r\nhello",
        b"0\r\n" + b"a: b\r\n" * 200,
        b"1" * 100_000,
    ],
)
def test_chunks_that_no_client_makes_are_refused(connection: http.client.HTTPConnection, rest: bytes) -> None:
    """Nothing is read on and on, and nothing is taken for a length that is none."""
    connection.connect()
    connection.sock.sendall(CHUNKED + rest)

    answer = http.client.HTTPResponse(connection.sock)
    answer.begin()

    assert answer.status == 400


def test_a_body_that_is_cut_off_is_refused(connection: http.client.HTTPConnection) -> None:
    """It is not taken for a shorter one."""
    connection.connect()
    connection.sock.sendall(b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nhello")
    connection.sock.shutdown(socket.SHUT_WR)

    answer = http.client.HTTPResponse(connection.sock)
    answer.begin()

    assert answer.status == 400


def test_a_body_that_inflates_too_far_is_refused(
    connection: http.client.HTTPConnection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The limit counts what is held in memory."""
    monkeypatch.setattr(jsonhttp, "MOST_BYTES", 1000)
    connection.request("POST", "/", gzip.compress(bytes(1001), mtime=0), {"Content-Encoding": "gzip"})

    assert said(connection)[0] == 400


def test_a_body_that_nests_too_deeply_is_refused() -> None:
    """Python gives up on it; the connection and its next request live on."""

    def parsed(method: str, target: str, headers: Mapping[str, str], body: bytes) -> tuple[int, Any]:
        return 200, json.loads(body)

    server = JsonServer(parsed)
    server.start()
    deep = http.client.HTTPConnection("127.0.0.1", server.port)
    deep.request("POST", "/", b"[" * 1_000_000)
    refused = said(deep)
    deep.request("POST", "/", b"{}")
    served = said(deep)
    deep.close()
    server.stop()

    assert refused == (400, {"error": {"code": 400, "message": "unreadable body: it nests too deeply"}})
    assert served == (200, {})


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 202),
        ({"Host": "localhost:1"}, 202),
        ({"Host": "[::1]:1"}, 202),
        ({"Origin": "http://example.com"}, 403),
        ({"Origin": "null"}, 403),
        ({"Host": "example.com:1"}, 403),
        ({"Host": "localhost.example.com"}, 403),
    ],
)
def test_a_server_that_answers_no_pages_refuses_those_of_any_site(headers: Mapping[str, str], status: int) -> None:
    """Browsers send the page's site in Origin; a page whose own name leads to this machine has that name in Host."""
    server = JsonServer(echo, pages=False)
    server.start()
    try:
        one = http.client.HTTPConnection("127.0.0.1", server.port)
        one.request("POST", "/", b"{}", dict(headers))
        assert said(one)[0] == status
        one.close()
    finally:
        server.stop()


def test_a_second_host_does_not_hide_the_first() -> None:
    """No request is served that names another host at all (RFC 9112, section 3.2)."""
    server = JsonServer(echo, pages=False)
    server.start()
    try:
        for hosts in (b"Host: localhost\r\nHost: example.com", b"Host: example.com\r\nHost: localhost"):
            with socket.create_connection(("127.0.0.1", server.port)) as one:
                one.sendall(b"GET / HTTP/1.1\r\n" + hosts + b"\r\n\r\n")
                answer = http.client.HTTPResponse(one)
                answer.begin()
                assert answer.status == 403
    finally:
        server.stop()


def test_a_server_that_others_reach_may_have_any_name() -> None:
    """In a network of containers a server is called by a name of which it does not know."""
    server = JsonServer(echo, host="0.0.0.0", pages=False)  # it is what `serve --host` permits
    server.start()
    try:
        one = http.client.HTTPConnection("127.0.0.1", server.port)
        one.request("GET", "/", headers={"Host": "emulator:9050"})
        assert said(one)[0] == 202
        one.close()
    finally:
        server.stop()
