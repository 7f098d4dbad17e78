"""The calls of jobs.query on one connection of HTTP/1.1 that is passed on: followed, and given to the journal.

Every other request goes by unread. The proxy passes bytes on before it looks at them, so a connection that this module
cannot follow is passed on all the same; a query on it is counted as not recorded.
"""

from __future__ import annotations

import re
import time
import zlib
from collections import deque
from collections.abc import Callable, Generator, Mapping
from typing import Final, TypeAlias
from urllib.parse import parse_qsl

from conformance.contract.rpcstatus import STATUS_OF_HTTP
from conformance.recording.journal import Ended, Journal
from conformance.recording.keeping import Bounds, KeptMessages
from conformance.records import CallEnd, RunQuery

__all__ = ["RestCalls"]

MOST_HEAD: Final = 64 << 10
"""The most bytes of a head, or of a line elsewhere: more than servers and clients take."""
MOST_FIELDS: Final = 1000
MOST_OPEN: Final = 1000
"""The most requests of a connection that wait for their answers."""
MOST_TEXT: Final = 2000
"""The bytes of an error's body that are kept."""
_QUERY: Final = re.compile(
    rb"POST (?:https?://[^/ ]+)?(?:/bigquery/v2)?/projects/[^/ ?]+/queries(?:\?[^ ]*)? HTTP/1\.[01]"
)
_STATUS: Final = re.compile(rb"HTTP/1\.[01] ([1-9][0-9]{2})\b")
_GZIP: Final = 31
"""What zlib calls the form of gzip."""

Headers: TypeAlias = Mapping[str, str]
Steps: TypeAlias = Generator[None, bytes, None]


class _LostError(Exception):
    """The bytes cannot be followed any further."""


class _Body:
    """The body of a message, held within ``bounds``; ``ended`` is True once all of it has come."""

    def __init__(self, bounds: Bounds, *, packed: bool) -> None:
        self._bounds = bounds
        self._packed = packed
        self._data = bytearray()
        self._open = True
        self.ended = False

    def take(self, part: bytes) -> None:
        """Add a part."""
        if not self._open:
            return
        if len(self._data) + len(part) > self._bounds.call or not self._bounds.take(len(part)):
            self.close()
            return
        self._data += part

    def close(self) -> None:
        """Give the memory back; the content is gone, and no part is added."""
        self._bounds.give(len(self._data))
        self._data = bytearray()
        self._open = False

    def text(self) -> bytes | None:
        """The content without its compression; None if it is not whole, too long or damaged."""
        if not self._open or not self.ended:
            return None
        if not self._packed:
            return bytes(self._data)
        inflating = zlib.decompressobj(_GZIP)
        try:
            text = inflating.decompress(bytes(self._data), self._bounds.call)
        except zlib.error:
            return None
        return text if inflating.eof else None


class _Awaited:
    """A request: ``kept`` and ``body`` are None unless it is a query."""

    def __init__(self, *, bodyless: bool, kept: KeptMessages | None = None, body: _Body | None = None) -> None:
        self.bodyless, self.kept, self.body = bodyless, kept, body
        self.began = time.monotonic()
        self.status = 0
        self.answer: _Body | None = None

    def close(self) -> None:
        """Give the memory of both bodies back."""
        for body in (self.body, self.answer):
            if body is not None:
                body.close()


class RestCalls:
    """One connection; ``asked`` and ``answered`` take the bytes of both directions in their order."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._open: deque[_Awaited] = deque()
        self._lost = False
        self._requests = _started(self._request)
        self._answers = _started(self._answer)

    def asked(self, data: bytes) -> None:
        """Follow bytes of the client."""
        self._follow(self._requests, data)

    def answered(self, data: bytes) -> None:
        """Follow bytes of the server."""
        self._follow(self._answers, data)

    def ended(self) -> None:
        """The connection has ended: queries without an answer are not recorded."""
        self._lose()

    def _follow(self, steps: Steps, data: bytes) -> None:
        if self._lost or not data:
            return
        try:
            steps.send(data)
        except (_LostError, StopIteration):
            self._lose()

    def _lose(self) -> None:
        self._lost = True
        if queries := sum(one.kept is not None for one in self._open):
            self._journal.passed[RunQuery.METHOD] += queries
        while self._open:
            self._open.popleft().close()

    def _request(self, first: bytes, headers: Headers) -> tuple[_Body | None, bool, Callable[[], None]]:
        """What to do with a request whose head came: where its body goes, that it has one, and what to do behind it."""
        if first.startswith(b"CONNECT "):
            raise _LostError
        if _QUERY.fullmatch(first) is None:
            asked = _Awaited(bodyless=first.startswith(b"HEAD "))
        else:
            kept = self._journal.keep_query((*headers.items(), *_parameters(first)))
            asked = _Awaited(bodyless=False, kept=kept, body=self._body(headers))
        self._open.append(asked)
        if len(self._open) > MOST_OPEN:
            raise _LostError
        return asked.body, False, _nothing

    def _answer(self, first: bytes, headers: Headers) -> tuple[_Body | None, bool, Callable[[], None]]:
        """The same for an answer."""
        status = _STATUS.match(first)
        if status is None or status[1] == b"101" or not self._open:
            raise _LostError
        if status[1].startswith(b"1"):  # another answer follows
            return None, True, _nothing
        asked = self._open[0]
        asked.status = int(status[1])
        asked.answer = None if asked.kept is None else self._body(headers)
        bodyless = asked.bodyless or asked.status in (204, 304)
        if not bodyless and "content-length" not in headers and "transfer-encoding" not in headers:
            raise _LostError  # it ends with the connection
        return asked.answer, bodyless, self._over

    def _body(self, headers: Headers) -> _Body:
        return _Body(self._journal.bounds, packed=headers.get("content-encoding", "").lower() == "gzip")

    def _over(self) -> None:
        """Give the journal a query that was answered."""
        asked = self._open.popleft()
        if asked.kept is None or asked.body is None or asked.answer is None:
            return
        request, answer = asked.body.text(), asked.answer.text()
        asked.close()
        if request is None or answer is None:
            self._journal.passed[RunQuery.METHOD] += 1
            return
        asked.kept.request(request)
        asked.kept.half_close()
        status, said = "OK", ""
        if 200 <= asked.status < 300:
            asked.kept.response(answer)
        else:
            status = STATUS_OF_HTTP.get(asked.status, "UNKNOWN")
            said = f"HTTP {asked.status} {answer[:MOST_TEXT].decode('utf-8', 'replace')}"
        seconds = time.monotonic() - asked.began
        self._journal.end(asked.kept, Ended(status, said, CallEnd.COMPLETE, (), (), seconds))


def _parameters(first: bytes) -> list[tuple[str, str]]:
    """The parameters in the URL of a request, under names that say which are credentials; ``key`` is an API key."""
    query = first.split(b" ")[1].partition(b"?")[2].decode("latin-1")
    return [("api-key" if name == "key" else name, value) for name, value in parse_qsl(query)]


def _nothing() -> None:
    """What is done behind most messages."""


Meets: TypeAlias = Callable[[bytes, Headers], tuple[_Body | None, bool, Callable[[], None]]]


def _started(meets: Meets) -> Steps:
    steps = _messages(meets)
    next(steps)
    return steps


def _messages(meets: Meets) -> Steps:
    """The messages of one direction (RFC 9112), one after the other, as their bytes are sent in."""
    held = bytearray()
    while True:
        first = yield from _line(held)
        if not first:
            continue
        headers: dict[str, str] = {}
        size = len(first)
        while line := (yield from _line(held)):
            name, _, value = line.decode("latin-1").partition(":")
            headers[name.strip().lower()] = value.strip()
            size += len(line)
            if len(headers) > MOST_FIELDS or size > MOST_HEAD:
                raise _LostError
        body, bodyless, over = meets(first, headers)
        if not bodyless and "chunked" in headers.get("transfer-encoding", "").lower():
            while size := _size((yield from _line(held)).partition(b";")[0], 16):
                yield from _content(held, size, body)
                yield from _line(held)
            while (yield from _line(held)):
                pass
        elif not bodyless:
            yield from _content(held, _size(headers.get("content-length", "0").encode(), 10), body)
        if body is not None:
            body.ended = True
        over()


def _line(held: bytearray) -> Generator[None, bytes, bytes]:
    while (end := held.find(b"\n")) < 0:
        if len(held) > MOST_HEAD:
            raise _LostError
        held += yield
    line = bytes(held[:end])
    del held[: end + 1]
    return line.rstrip(b"\r")


def _content(held: bytearray, size: int, body: _Body | None) -> Steps:
    while size:
        if not held:
            held += yield
        part = bytes(held[:size])
        del held[:size]
        size -= len(part)
        if body is not None:
            body.take(part)


def _size(digits: bytes, base: int) -> int:
    if re.fullmatch(rb"[0-9A-Fa-f]{1,15}", digits.strip()) is None:
        raise _LostError
    try:
        return int(digits, base)
    except ValueError:
        raise _LostError from None
