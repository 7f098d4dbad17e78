"""Calls of jobs.query on a connection that a proxy passes on."""

from __future__ import annotations

import gzip
from collections import Counter
from collections.abc import Iterable

import pytest

from conformance.recording.journal import Ended
from conformance.recording.keeping import Bounds, KeptMessages, Metadata
from conformance.recording.restcalls import MOST_OPEN, RestCalls
from conformance.records import Call

QUERY = b'{"query": "SELECT 1"}'
ANSWER = b'{"jobComplete": true}'
ASKED = b"POST /bigquery/v2/projects/p/queries?prettyPrint=false HTTP/1.1"
OK = b"HTTP/1.1 200 OK"


class Journal:
    """Keeps the calls that would be written."""

    def __init__(self) -> None:
        self.bounds = Bounds(call=1000, together=10_000)
        self.passed: Counter[str] = Counter()
        self.calls: list[Call] = []
        self.kept: list[KeptMessages] = []

    def keep_query(self, sent: Metadata) -> KeptMessages:
        """The place for a call."""
        return KeptMessages("storage_read", "jobs.query", sent, self.bounds, 0.0)

    def end(self, kept: KeptMessages, ended: Ended) -> None:
        """A call has ended."""
        self.kept.append(kept)
        self.calls.append(
            kept.call(status=ended.status, details=ended.details, end=ended.end, initial=(), trailers=(), seconds=0.0)
        )


def message(first: bytes, body: bytes = b"", *headers: bytes) -> bytes:
    """A message with a length."""
    length = b"Content-Length: %d" % len(body)
    return b"\r\n".join([first, *headers, length, b"", body])


def chunked(first: bytes, parts: Iterable[bytes], *headers: bytes) -> bytes:
    """A message in chunks, with a trailer."""
    body = b"".join(b"%x;a=b\r\n%s\r\n" % (len(part), part) for part in parts)
    return b"\r\n".join([first, b"Transfer-Encoding: chunked", *headers, b"", body + b"0\r\nX: y\r\n\r\n"])


def follow(asked: bytes, answered: bytes, size: int = 10_000) -> Journal:
    """What is recorded of a connection whose bytes come in pieces of a size."""
    journal = Journal()
    calls = RestCalls(journal)  # type: ignore[arg-type]  # as much of a journal as it needs
    for data, take in ((asked, calls.asked), (answered, calls.answered)):
        for start in range(0, len(data), size):
            take(data[start : start + size])
    calls.ended()
    assert journal.bounds.used == sum(kept.size for kept in journal.kept), "the memory of bodies is given back"
    return journal


@pytest.mark.parametrize("size", [1, 7, 10_000])
def test_a_query_is_recorded(size: int) -> None:
    """With the bodies of its request and its answer, however the bytes come, between other requests."""
    asked = message(b"GET /a HTTP/1.1") + message(ASKED, QUERY) + message(b"HEAD /b HTTP/1.1") + message(ASKED, b"{}")
    head = b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n"
    answered = message(OK, b"other") + message(OK, ANSWER) + head + message(OK, b"[]")
    journal = follow(asked, answered, size)

    assert [(call.request, call.responses) for call in journal.calls] == [(QUERY, (ANSWER,)), (b"{}", (b"[]",))]
    assert {(call.method, call.status, call.order) for call in journal.calls} == {("jobs.query", "OK", "")}
    assert not journal.passed


@pytest.mark.parametrize("size", [1, 10_000])
def test_chunks_and_compression_are_undone(size: int) -> None:
    """Of the request and of the answer."""
    packed = gzip.compress(ANSWER, mtime=0)
    asked = message(ASKED, gzip.compress(QUERY, mtime=0), b"Content-Encoding: gzip")
    answered = chunked(OK, [packed[:9], packed[9:]], b"content-encoding: GZIP")
    (call,) = follow(asked, answered, size).calls

    assert (call.request, call.responses) == (QUERY, (ANSWER,))


def test_an_error_is_a_status() -> None:
    """As in an exchange of the suite: with the text of the error, and without a response."""
    (call,) = follow(message(ASKED, QUERY), message(b"HTTP/1.1 404 Not Found", b"no table")).calls

    assert (call.status, call.details, call.responses) == ("NOT_FOUND", "HTTP 404 no table", ())


def test_an_interim_answer_is_passed_over() -> None:
    """The query's own answer comes behind it."""
    (call,) = follow(message(ASKED, QUERY), b"HTTP/1.1 100 Continue\r\n\r\n" + message(OK, ANSWER)).calls

    assert call.responses == (ANSWER,)


def test_credentials_are_masked() -> None:
    """Wherever the server repeats them."""
    secret = b"ya29.a-long-secret-token"
    asked = message(ASKED, QUERY, b"Authorization: Bearer " + secret)
    (call,) = follow(asked, message(OK, b'{"x": "%s"}' % secret)).calls

    assert secret not in call.responses[0]


def test_credentials_in_the_url_are_masked() -> None:
    """An API key, or a token, wherever the server repeats it."""
    asked = ASKED.replace(b"?", b"?key=AIza-a-long-key&access_token=ya29.a-long-token&")
    answered = message(b"HTTP/1.1 400 Bad Request", b"key AIza-a-long-key, token ya29.a-long-token")
    (call,) = follow(message(asked, QUERY), answered).calls

    assert "AIza" not in call.details
    assert "ya29" not in call.details


def test_an_answer_before_the_end_of_its_request() -> None:
    """A query of which a part came is not recorded as if that were all."""
    journal = Journal()
    calls = RestCalls(journal)  # type: ignore[arg-type]  # as much of a journal as it needs
    asked = message(ASKED, QUERY)
    calls.asked(asked[:-3])
    calls.answered(message(b"HTTP/1.1 413 Too Large", b"{}"))
    calls.asked(asked[-3:])

    assert (journal.calls, journal.passed, journal.bounds.used) == ([], {"jobs.query": 1}, 0)


def test_requests_without_answers_are_bounded() -> None:
    """A client that asks on and on gets its bytes passed on, and no memory."""
    journal = follow(message(ASKED, QUERY) * (MOST_OPEN + 1), b"")

    assert journal.passed == {"jobs.query": MOST_OPEN + 1}


@pytest.mark.parametrize(
    "answered",
    [
        b"no HTTP at all\r\n\r\n",
        b"HTTP/1.1 200 OK\r\n\r\nuntil the end",
        b"HTTP/1.1 101 Switching Protocols\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n",
        message(OK, b"x" * 1001),
        message(OK, b"no gzip", b"Content-Encoding: gzip"),
        message(OK, gzip.compress(b"x" * 1001, mtime=0), b"Content-Encoding: gzip"),
        b"x" * 70_000,
        b"HTTP/1.1 200 OK\r\n" + b"".join(b"a%d: b\r\n" % number for number in range(1002)),
        b"HTTP/1.1 200 OK\r\n" + b"".join(b"a%d: %s\r\n" % (number, b"b" * 999) for number in range(66)),
    ],
)
def test_what_cannot_be_followed_is_counted(answered: bytes) -> None:
    """A query without an answer that can be recorded; more bytes change nothing."""
    journal = follow(message(ASKED, QUERY), answered + message(OK, b"a"))

    assert journal.calls == []
    assert journal.passed == {"jobs.query": 1}


def test_a_connection_that_ends_early() -> None:
    """A query that was not answered is counted."""
    assert follow(message(ASKED, QUERY), b"").passed == {"jobs.query": 1}


@pytest.mark.parametrize(
    "first",
    [
        b"GET /bigquery/v2/projects/p/queries HTTP/1.1",
        b"GET /bigquery/v2/projects/p/queries/j HTTP/1.1",
        b"POST /bigquery/v2/projects/p/jobs HTTP/1.1",
        b"CONNECT bigquery.googleapis.com:443 HTTP/1.1",
        b"PRI * HTTP/2.0",
    ],
)
def test_other_requests_go_by(first: bytes) -> None:
    """They are neither recorded nor counted."""
    journal = follow(message(first, b"{}"), message(OK, ANSWER))

    assert (journal.calls, +journal.passed) == ([], Counter())
