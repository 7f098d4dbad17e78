"""A proxy refuses the requests of web pages and passes on every other byte."""

from __future__ import annotations

import pytest

from conformance.targets.http1requests import MOST_HEAD, Requests

GET = b"GET / HTTP/1.1\r\nHost: localhost:1\r\n\r\n"
PAGE = b"POST /x HTTP/1.1\r\nHost: localhost:1\r\nOrigin: http://elsewhere.example\r\nContent-Length: 2\r\n\r\n{}"
REBOUND = b"GET /x HTTP/1.1\r\nHost: elsewhere.example\r\n\r\n"
SIZED = b"POST / HTTP/1.1\r\nHost: [::1]:1\r\nContent-Length: 9\r\n\r\nOrigin: x"
CHUNKED = (
    b"POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\n"
    b"c;x=y\r\nGET / HTTP/1\r\n0\r\nOrigin: a trailer\r\n\r\n"
)


def passed(*pieces: bytes, named: bool = False) -> tuple[bytes, bool]:
    """All that passes of ``pieces``, and whether one was refused."""
    requests = Requests(named=named)
    return b"".join(map(requests.take, pieces)), requests.refused


@pytest.mark.parametrize("before", [b"", GET, SIZED, CHUNKED, GET + SIZED + CHUNKED + GET])
@pytest.mark.parametrize("page", [PAGE, REBOUND, b"GET / HTTP/1.1\r\nX: " + b"x" * MOST_HEAD])
def test_a_page_passes_nothing_on_whatever_came_before_on_its_connection(before: bytes, page: bytes) -> None:
    """A browser keeps connections open; what comes byte by byte is judged the same."""
    assert passed(before + page) == (before, True)
    assert passed(*(bytes([one]) for one in before + page)) == (before, True)


@pytest.mark.parametrize(
    "said",
    [
        GET + SIZED + CHUNKED + GET,
        bytes(range(256)) * 999,
        b"CONNECT x:1 HTTP/1.1\r\n\r\n" + PAGE,
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"POST / HTTP/1.1\r\nContent-Length: many\r\n\r\n" + PAGE,
        b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nno chunk\r\n" + PAGE,
        b"GET / HTTP/1.0\n\n",
    ],
)
def test_all_that_no_browser_sends_passes_unchanged(said: bytes) -> None:
    """The recording changes no byte of a program, also of one that is broken."""
    assert passed(said) == (said, False)
    assert passed(*(bytes([one]) for one in said)) == (said, False)


def test_a_server_that_others_reach_may_have_any_name() -> None:
    """In a network of containers the proxy is called by a name of which it does not know."""
    assert passed(REBOUND, named=True) == (REBOUND, False)
    assert passed(PAGE, named=True) == (b"", True)
