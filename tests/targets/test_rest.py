"""A REST server's answer is JSON, or one sentence that describes it."""

from __future__ import annotations

import contextlib
import gzip
import json
import time
from collections.abc import Callable, Iterator

import pytest

from conformance.targets.rest import ANSWER_BYTES, EXPANSION, MAX_ANSWER, RestClient, RestError
from tests.patience import LONG
from tests.targets.raw_server import Peer, RawServer, Serve, answering, message

DEEP = b"[" * 100_000 + b"]" * 100_000

Connect = Callable[..., RestClient]


@pytest.fixture
def connect() -> Iterator[Connect]:
    """Clients that are closed with the test."""
    with contextlib.ExitStack() as stack:

        def make(server: RawServer, *, deadline: float = LONG) -> RestClient:
            client = RestClient(server.base, deadline=deadline)
            stack.callback(client.close)
            return client

        yield make


def refused(client: RestClient, *, shown: int = 0) -> RestError:
    """How GET /a fails."""
    with pytest.raises(RestError) as raised:
        client.get("/a", shown=shown)
    return raised.value


def test_objects_go_both_ways(serve: Serve, connect: Connect) -> None:
    """JSON is sent and comes back, with the parameters of a GET in its path."""
    server = serve(answering(message(b'{"a": 1}'), message(b'{"b": 2}'), message(b"")))
    client = connect(server)

    answers = [client.post("/x", {"é": "\ud7ff"}), client.get("/y", params={"p": "1 &"})]
    client.delete("/z")

    assert answers == [{"a": 1}, {"b": 2}]
    assert [request.split(b" HTTP")[0] for request in server.requests] == [b"POST /x", b"GET /y?p=1+%26", b"DELETE /z"]
    assert json.loads(server.requests[0].partition(b"\r\n\r\n")[2]) == {"é": "\ud7ff"}


def test_what_was_sent_is_counted(serve: Serve, connect: Connect) -> None:
    """Bodies are counted as they are on the wire."""
    client = connect(serve(answering(message(b""), message(b""))))

    client.post("/x", {"a": 1})
    client.post("/x", {"a": 22})

    assert client.sent == len('{"a": 1}') + len('{"a": 22}')


def test_a_post_may_be_answered_with_nothing(serve: Serve, connect: Connect) -> None:
    """Where nothing is read from an answer, none need be in it."""
    assert connect(serve(answering(message(b"")))).post("/x", {}) == {}


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b"<!DOCTYPE html><html>", "expected JSON but got b'<!DOCTYPE html><html>' (Expecting value)"),
        (b"", "expected a JSON object but the body is empty"),
        (b" \r\n", "expected a JSON object but the body is empty"),
        (b"[1]", "expected a JSON object but got b'[1]'"),
        (b"null", "expected a JSON object but got b'null'"),
        (DEEP, "expected JSON of at most 256 levels but got more"),
        (b'{"a": ' + DEEP + b"}", "expected JSON of at most 256 levels but got more"),
        (b"[" + b"1," * 1_000_000 + b"1]", "expected JSON of at most 1000000 values but got more"),
        (b'{"a": ' + b"9" * 5000 + b"}", 'expected JSON but got b\'{"a": 99999'),
        (b"\xff\xfe\x00", "expected JSON but got b'\\xff\\xfe\\x00'"),
        (b'##vso[task] "', "expected JSON but got b'\\x23#vso[task] \"'"),
    ],
    ids=["html", "empty", "blank", "list", "null", "deep", "deep-value", "many", "digits", "bytes", "command"],
)
def test_what_is_no_object_is_quoted(serve: Serve, connect: Connect, body: bytes, said: str) -> None:
    """A body that cannot be used is described in a sentence, and counts as no answer."""
    error = refused(connect(serve(answering(message(body)))))

    assert str(error).startswith(f"GET /a: {said}")
    assert error.status is None


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b'{"error": {"message": "no such table"}}', "no such table"),
        (b'{"error": {"message": "\\ud800\\n::error::x"}}', "\\ud800\\n::error::x"),
        (b'{"error": {"message": ""}}', '{"error": {"message": ""}}'),
        (b'{"error": [1]}', '{"error": [1]}'),
        (b'{"error": "no"}', '{"error": "no"}'),
        (b'{"error": {"message": {"a": 1}}}', '{"error": {"message": {"a": 1}}}'),
        (b"{}", "{}"),
        (b"", "with an empty body"),
        (b"<!DOCTYPE HTML>\n<html>\n <p class='a'>No such\n method.</p></html>\n", "No such method."),
        (b"\x1b[31mno\xff", "\\x1b[31mno\\xff"),
        (DEEP, "[" * 500 + "… (1500 more characters)"),
        (b'{"error": ' + DEEP + b"}", '{"error": ' + "[" * 490 + "… (1500 more characters)"),
    ],
)
def test_an_error_is_quoted(serve: Serve, connect: Connect, body: bytes, said: str) -> None:
    """Google's message is shown where there is one, else the start of the body; both are safe to print."""
    error = refused(connect(serve(answering(message(body, status="400 Bad")))))

    assert str(error) == f"GET /a: HTTP 400 {said}"
    assert error.status == 400


def test_a_redirect_is_reported_and_not_followed(serve: Serve, connect: Connect) -> None:
    """Where the server points to is shown, and nothing is sent there."""
    other = serve(Peer.wait)
    server = serve(answering(message(b"", f"Location: {other.base}/\x1b[2J", status="302 Found")))

    error = refused(connect(server))

    assert str(error) == (
        f"GET /a: HTTP 302, a redirect to {other.base}/\\x1b[2J; "
        "the suite follows none, so name the address that answers itself"
    )
    assert error.status == 302
    assert (len(server.requests), other.connections) == (1, 0)


def test_a_redirect_to_nowhere_is_reported(serve: Serve, connect: Connect) -> None:
    """A redirect need not say where to."""
    assert "HTTP 304, a redirect; " in str(refused(connect(serve(answering(message(b"", status="304 Same"))))))


def test_an_endless_answer_ends_at_the_limit(serve: Serve, connect: Connect) -> None:
    """The limit is ours, and is said to be; no more than it is taken."""

    def speak(peer: Peer) -> None:
        peer.request()
        peer.send(b"HTTP/1.1 200 OK\r\n\r\n")
        peer.for_ever(b" " * 65536)

    error = refused(connect(serve(speak)))

    assert str(error) == (
        f"GET /a: more bytes came than {ANSWER_BYTES}, and {ANSWER_BYTES} is the suite's own limit for this answer"
    )
    assert error.status is None


def test_a_bomb_ends_at_the_limit_whatever_its_status(serve: Serve, connect: Connect) -> None:
    """An answer that is not taken has no status."""
    bomb = gzip.compress(bytes(2 * ANSWER_BYTES), mtime=0)
    error = refused(connect(serve(answering(message(bomb, "Content-Encoding: gzip", status="400 Bad")))))

    assert "is the suite's own limit" in str(error)
    assert error.status is None


def test_rows_that_were_sent_may_come_back(serve: Serve, connect: Connect) -> None:
    """An answer may be larger by a multiple of the rows that it shows, and no larger."""
    spare = 1 << 20
    body = b'{"a": "' + b"x" * (ANSWER_BYTES + EXPANSION * spare - 9) + b'"}'
    client = connect(serve(answering(message(body), message(body + b" "))))

    assert len(client.get("/a", shown=spare)["a"]) == len(body) - 9
    assert "the answer announces" in str(refused(client, shown=spare))


def test_no_answer_is_larger_than_the_largest(serve: Serve, connect: Connect) -> None:
    """However much was sent, the suite takes so much and no more."""
    server = serve(answering(b"HTTP/1.1 200 OK\r\nContent-Length: " + str(MAX_ANSWER + 1).encode() + b"\r\n\r\n"))

    assert f"{MAX_ANSWER} is the suite's own limit" in str(refused(connect(server), shown=1 << 40))


def test_the_earlier_of_two_deadlines_counts(serve: Serve, connect: Connect) -> None:
    """A request has the client's deadline, and no more than its caller has left."""
    client = connect(serve(Peer.wait), deadline=100)

    with pytest.raises(RestError, match=r"GET /a: no answer within 0\.\d+ s"):
        client.get("/a", until=time.monotonic() + 0.1)


@pytest.mark.parametrize(
    ("status", "refusal"),
    [
        ("200 OK", ""),
        ("204 Fine", ""),
        ("503 Busy", "GET /ready: HTTP 503"),
        ("404 None", "GET /ready: HTTP 404"),
        ("307 There", "GET /ready: HTTP 307, a redirect to /ready/; the suite follows none"),
    ],
)
def test_a_probe_wants_success(serve: Serve, connect: Connect, status: str, refusal: str) -> None:
    """Whatever the body says: 2xx is ready, and anything else is said to be what it is."""
    client = connect(serve(answering(message(b"<html>", "Location: /ready/", status=status))))

    assert client.refusal("/ready", deadline=10).startswith(refusal)
    assert bool(client.refusal("/ready", deadline=10)) == bool(refusal)


def test_a_probe_of_nothing_is_refused() -> None:
    """A server that does not listen yet is not ready."""
    assert "Connection refused" in RestClient("http://127.0.0.1:1", deadline=1).refusal("/ready", deadline=1)
