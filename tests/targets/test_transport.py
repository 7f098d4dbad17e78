"""An HTTP exchange ends by its deadline and within its limits, whatever the server does.

It is longer than others: each way in which a server can misbehave is a server of a few lines.
"""

from __future__ import annotations

import contextlib
import gzip
import re
import socket
import time
import zlib
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from conformance.targets.targeterrors import TargetError
from conformance.targets.transport import HEAD_BYTES, PIECE, HttpClient, HttpError, HttpResponse
from tests.patience import LONG, patiently
from tests.targets.raw_server import Peer, RawServer, Serve, Speak, answering, message

LIMIT = 1 << 20
GZIPPED = gzip.compress(b"hello", mtime=0)
CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"

Connect = Callable[..., HttpClient]


@pytest.fixture
def connect() -> Iterator[Connect]:
    """Clients that are closed with the test."""
    with contextlib.ExitStack() as stack:

        def make(base: str, **options: Any) -> HttpClient:
            client = HttpClient(base, **options)
            stack.callback(client.close)
            return client

        yield make


def exchange(
    client: HttpClient, *, seconds: float = 10, limit: int | None = LIMIT, body: bytes | None = None
) -> HttpResponse:
    """GET / through ``client``."""
    return client.exchange("GET", "/", body=body, until=time.monotonic() + seconds, limit=limit)


def failure(server: RawServer, *, seconds: float = 10, limit: int | None = LIMIT) -> str:
    """How an exchange with ``server`` fails."""
    client = HttpClient(server.base)
    with pytest.raises(HttpError) as raised:
        exchange(client, seconds=seconds, limit=limit)
    assert client._connection is None
    return str(raised.value)


def after_request(*data: bytes, for_ever: bytes = b"", drip: bool = False) -> Speak:
    """Answer a request by ``data``, and then by ``for_ever`` without an end."""

    def speak(peer: Peer) -> None:
        peer.request()
        peer.send(b"".join(data))
        if for_ever:
            peer.for_ever(for_ever, drip=drip)

    return speak


# --- the deadline ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("begins", "for_ever"),
    [
        (b"", b"H"),
        (b"HTTP/1.1 200 OK\r\nA: ", b"a"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n", b" "),
        (CHUNKED, b"1\r\n \r\n"),
        (CHUNKED + b"1;", b"a"),
        (CHUNKED + b"0\r\nA: ", b"a"),
        (b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
    ],
    ids=["status", "header", "body", "chunks", "extension", "trailer", "interim"],
)
def test_a_dripping_server_ends_at_the_deadline(serve: Serve, begins: bytes, for_ever: bytes) -> None:
    """Each byte comes soon after the last one, and the exchange still ends at its deadline."""
    said = patiently(
        lambda seconds: failure(serve(after_request(begins, for_ever=for_ever, drip=True)), seconds=seconds),
        lambda said: said.endswith(" bytes of an answer came"),
    )

    assert re.fullmatch(r"no whole answer within \S+ s; \d+ bytes of an answer came", said)


def test_a_silent_server_ends_at_the_deadline(serve: Serve) -> None:
    """A request that is never answered costs its deadline."""
    assert failure(serve(Peer.wait), seconds=0.1) == "no answer within 0.1 s"


def test_a_server_that_reads_nothing_ends_at_the_deadline(serve: Serve) -> None:
    """A body that cannot be sent is given up at the deadline."""
    client = HttpClient(serve(Peer.wait).base)

    with pytest.raises(HttpError, match=r"no answer within 0\.2 s"):
        exchange(client, body=bytes(64 << 20), seconds=0.2)


def test_a_connection_that_is_not_accepted_ends_at_the_deadline() -> None:
    """Connecting is a part of the exchange."""
    with socket.create_server(("127.0.0.1", 0), backlog=0) as listener:
        port = listener.getsockname()[1]
        waiting = []
        for _ in range(4):  # these fill the queue of a listener that nobody accepts from
            connection = socket.socket()
            connection.settimeout(0)
            connection.connect_ex(("127.0.0.1", port))
            waiting.append(connection)

        with pytest.raises(HttpError, match=r"no answer within 0\.2 s"):
            exchange(HttpClient(f"http://127.0.0.1:{port}"), seconds=0.2)

        for connection in waiting:
            connection.close()


# --- limits ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("begins", "for_ever"),
    [
        (b"HTTP/1.1 200 OK\r\n\r\n", b" " * 65536),
        (CHUNKED, b"8000\r\n" + b" " * 0x8000 + b"\r\n"),
        (CHUNKED, b"1;" + b"a" * 1000 + b"\r\n \r\n"),
        (b"", b"HTTP/1.1 100 Continue\r\n\r\n" * 1000),
    ],
    ids=["until-close", "chunks", "extensions", "interim"],
)
def test_an_endless_answer_is_taken_up_to_the_limit(serve: Serve, begins: bytes, for_ever: bytes) -> None:
    """Bytes are counted as they come, chunk sizes and interim answers included; the limit is named as ours."""
    said = failure(serve(after_request(begins, for_ever=for_ever)))

    assert said == f"more bytes came than {LIMIT}, and {LIMIT} is the suite's own limit for this answer"


@pytest.mark.parametrize(
    ("begins", "for_ever"),
    [
        (b"HTTP/1.1 200 OK\r\nA: ", b"a" * 4096),
        (b"HTTP/1.1 200 OK\r\n", b"A: b\r\n" * 1000),
        (b"HTTP/1.1 200 ", b"a" * 4096),
        (CHUNKED + b"1;", b"a" * 4096),
        (CHUNKED + b"0\r\n", b"A: b\r\n" * 1000),
    ],
    ids=["line", "lines", "reason", "extension", "trailers"],
)
def test_an_endless_head_is_refused(serve: Serve, begins: bytes, for_ever: bytes) -> None:
    """No status line, header, chunk extension or trailer grows beyond what a head may have."""
    client = HttpClient(serve(after_request(begins, for_ever=for_ever)).base)
    connection = client._connected(time.monotonic() + LONG)

    with pytest.raises(HttpError, match="Receive buffer too long"):
        exchange(client)

    assert connection.taken <= HEAD_BYTES + 2 * PIECE


def test_an_announced_length_beyond_the_limit_is_refused(serve: Serve) -> None:
    """A body that is too long is not waited for."""
    said = failure(serve(after_request(b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999999\r\n\r\n")))

    assert said.startswith(f"the answer announces 99999999999999 bytes, and {LIMIT} is the suite's own limit")


@pytest.mark.parametrize(
    ("coding", "compress"),
    [("gzip", gzip.compress), ("X-GZIP", gzip.compress), ("deflate", zlib.compress)],
    ids=["gzip", "x-gzip", "deflate"],
)
def test_a_bomb_is_decoded_up_to_the_limit(serve: Serve, coding: str, compress: Callable[[bytes], bytes]) -> None:
    """A small body that decodes to a large one ends at the limit on decoded bytes."""
    said = failure(serve(answering(message(compress(bytes(4 * LIMIT)), f"Content-Encoding: {coding}"))))

    assert said == (
        f"the {coding.lower()} body decodes to more than {LIMIT} bytes, "
        f"and {LIMIT} is the suite's own limit for this answer"
    )


# --- what is no HTTP ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "size",
    [b"-5", b"+5", b"0x5", b"5_0", b" 5", b"", b"zz", b"f" * 21, b"\xd9\xa5"],
)
def test_an_absurd_chunk_size_is_refused(serve: Serve, size: bytes) -> None:
    """A chunk's size is up to twenty hexadecimal digits and nothing else."""
    said = failure(serve(answering(CHUNKED + size + b"\r\nabcde\r\n0\r\n\r\n")))

    assert said.startswith("expected an HTTP exchange but: illegal chunk header")


def test_a_chunk_larger_than_the_limit_is_refused(serve: Serve) -> None:
    """Sixteen exabytes are taken up to the limit."""
    assert "more bytes came" in failure(serve(after_request(CHUNKED + b"f" * 16 + b"\r\n", for_ever=b" " * 65536)))


@pytest.mark.parametrize(
    "header",
    [
        b"Content-Length: -1",
        b"Content-Length: 1_0",
        b"Content-Length: ten",
        b"Content-Length: 5\r\nContent-Length: 6",
        b"Content-Length: 5, 6",
        b"Content-Length: " + b"9" * 5000,
        b"Content-Length: 5\r\nTransfer-Encoding: chunked",
        b"Transfer-Encoding: gzip",
        b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked",
        b"no colon",
        b"A: \x00",
        b" folded",
        b"Content-Encoding: br",
        b"Content-Encoding: gzip, gzip",
    ],
)
def test_headers_that_cannot_be_obeyed_are_refused(serve: Serve, header: bytes) -> None:
    """Lengths that are none or contradict each other, unknown codings and broken lines each fail at once."""
    assert "expected" in failure(serve(answering(b"HTTP/1.1 200 OK\r\n" + header + b"\r\n\r\nhello")))


@pytest.mark.parametrize(
    "answer",
    [b"HTTP/1.1 2000 OK\r\n\r\n", b"SSH-2.0-OpenSSH\r\n\r\n", b"HTTP/1.1 099 X\r\n\r\n", b"\x16\x03\x01" * 100],
)
def test_another_protocol_is_refused(serve: Serve, answer: bytes) -> None:
    """An answer without a status line of HTTP is quoted, if it is not empty."""
    assert failure(serve(answering(answer))).startswith("expected an HTTP exchange but: ")


def test_quoted_bytes_are_safe(serve: Serve) -> None:
    """Nothing of the server's reaches a terminal as it is, nor at length."""
    said = failure(serve(answering(b"HTTP/1.1 200 OK\r\n\x1b[31m" + b"\xff" * 10_000 + b"\r\n\r\n")))

    assert said.isprintable()
    assert len(said) < 500


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "the server closed the connection without an answer"),
        (b"HTTP/1.1 100 Continue\r\n\r\n", "the server closed the connection without an answer"),
        (b"HTTP/1.1 200", "peer unexpectedly closed connection"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhello", r"received 5 bytes, expected 9"),
        (CHUNKED + b"5\r\nhe", "incomplete chunked read"),
    ],
)
def test_an_answer_that_breaks_off_is_no_answer(serve: Serve, data: bytes, message: str) -> None:
    """A connection that is closed too early is said to be."""
    assert message in failure(serve(after_request(data)))


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (GZIPPED[:-9], "the gzip data of the body ends early"),
        (b"hello", "the body is broken gzip data: "),
        (GZIPPED + b"hello", "the body is broken gzip data: "),
    ],
    ids=["cut", "plain", "more"],
)
def test_a_broken_body_is_refused(serve: Serve, body: bytes, said: str) -> None:
    """Compressed data has to be whole."""
    assert failure(serve(answering(message(body, "Content-Encoding: gzip")))).startswith(said)


# --- what is taken --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "answer",
    [
        message(b"hello"),
        message(b"hello", "Content-Encoding: identity"),
        message(GZIPPED, "Content-Encoding: gzip"),
        message(gzip.compress(b"he", mtime=0) + gzip.compress(b"llo", mtime=0), "Content-Encoding: gzip"),
        message(zlib.compress(b"hello"), "Content-Encoding: deflate"),
        CHUNKED + b"2;a=b\r\nhe\r\n3\r\nllo\r\n0\r\nA: b\r\n\r\n",
        b"HTTP/1.0 200 OK\r\n\r\nhello",
        b"HTTP/1.1 103 Early Hints\r\nLink: a\r\n\r\n" + message(b"hello"),
    ],
    ids=["length", "identity", "gzip", "members", "deflate", "chunks", "1.0", "interim"],
)
def test_every_form_of_a_body_is_taken(serve: Serve, answer: bytes, connect: Connect) -> None:
    """A body comes by length, in chunks, up to the end, compressed, or after an interim answer."""
    taken = exchange(connect(serve(answering(answer)).base))

    assert (taken.status, taken.body) == (200, b"hello")


def test_a_connection_is_kept(serve: Serve, connect: Connect) -> None:
    """Requests to a well-behaved server share a connection."""
    server = serve(answering(message(b"1"), message(b"2"), message(b"3")))
    client = connect(server.base)

    bodies = [exchange(client).body for _ in range(3)]

    assert bodies == [b"1", b"2", b"3"]
    assert server.connections == 1


@pytest.mark.parametrize(
    "answer",
    [
        message(b"1", status="500 Oops"),
        message(b"1", "Connection: close"),
        message(b"1") + b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil",
        b"HTTP/1.0 200 OK\r\n\r\n1",
    ],
    ids=["500", "close", "smuggled", "1.0"],
)
def test_a_connection_is_dropped(serve: Serve, answer: bytes, connect: Connect) -> None:
    """After an error of the server, where it says so, or where more came than was asked for, a new one is made."""
    server = serve(answering(answer))
    client = connect(server.base)

    bodies = [exchange(client).body for _ in range(2)]

    assert bodies == [b"1", b"1"]
    assert server.connections == 2


def test_a_connection_that_was_closed_meanwhile_is_noticed(serve: Serve, connect: Connect) -> None:
    """A server may close an idle connection; the next request is made on a new one."""
    server = serve(answering(message(b"1")))
    client = connect(server.base)
    exchange(client)
    assert client._connection is not None
    client._connection.socket.settimeout(10)
    client._connection.socket.recv(1, socket.MSG_PEEK)  # returns once the server has closed

    assert exchange(client).body == b"1"
    assert server.connections == 2


def test_a_refusal_of_a_body_that_is_not_read_is_taken(serve: Serve, connect: Connect) -> None:
    """A server may answer and close before all of a large request is sent."""
    client = connect(serve(lambda peer: peer.send(message(b"too large", status="413 Too Large"))).base)

    assert exchange(client, body=bytes(16 << 20)).status == 413


def test_only_the_head_is_waited_for_where_no_body_is_wanted(serve: Serve, connect: Connect) -> None:
    """A probe is over with the status, whatever follows."""
    server = serve(after_request(b"HTTP/1.1 204 Fine\r\n\r\n", for_ever=b"a" * 65536))

    answer = exchange(connect(server.base), limit=None)

    assert (answer.status, answer.body) == (204, b"")


def test_a_redirect_is_an_answer_like_any_other(serve: Serve, connect: Connect) -> None:
    """Where it leads to is returned, and nothing is sent there."""
    other = serve(Peer.wait)
    server = serve(answering(message(b"", f"Location: {other.base}/", status="307 Elsewhere")))

    answer = exchange(connect(server.base))

    assert (answer.status, answer.location) == (307, f"{other.base}/")
    assert other.connections == 0


def test_proxies_of_the_environment_are_not_used(
    serve: Serve, monkeypatch: pytest.MonkeyPatch, connect: Connect
) -> None:
    """The server that is named is the one that is asked."""
    proxy = serve(Peer.wait)
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy"):
        monkeypatch.setenv(name, proxy.base)
    server = serve(answering(message(b"hello")))

    exchange(connect(server.base))

    assert proxy.connections == 0


def test_what_is_sent(serve: Serve, connect: Connect) -> None:
    """The path of the base comes first, headers of one's own last, and a body has a length."""
    server = serve(answering(message(b"")))
    client = connect(f"{server.base}/v2/", headers={"X-More": "yes"})

    client.exchange("POST", "/a b?c=d%20e", body=b"{}", until=time.monotonic() + LONG, limit=LIMIT)

    head, _, body = server.requests[0].partition(b"\r\n\r\n")
    lines = head.decode().split("\r\n")
    assert lines[0] == "POST /v2/a%20b?c=d%20e HTTP/1.1"
    assert {f"Host: 127.0.0.1:{server.port}", "X-More: yes", "Content-Length: 2"} <= set(lines)
    assert body == b"{}"


@pytest.mark.parametrize("base", ["ftp://host", "localhost:9050", "http://", "http://host:port", "http://h:99999", ""])
def test_an_address_that_is_none_is_refused(base: str) -> None:
    """A target file says where REST is, or is refused in a sentence."""
    with pytest.raises(TargetError, match="expected a REST address such as http://localhost:9050 but got"):
        HttpClient(base)


def test_a_host_that_does_not_exist_is_no_answer(connect: Connect) -> None:
    """The resolver's word is passed on."""
    with pytest.raises(HttpError):
        exchange(connect("http://" + "a" * 70 + ".invalid"))
