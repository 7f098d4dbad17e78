"""Follows the requests of HTTP/1.1 on one connection, so that a proxy can leave out those of web pages and pass on
every other byte as it came.
"""

from __future__ import annotations

import re
from typing import Final

from conformance.contain.jsonhttp import is_of_a_page

__all__ = ["REFUSAL", "Requests"]

MOST_HEAD: Final = 1 << 16
"""The longest head in bytes, as long as a line that the suite's own server takes; pages can make their URLs longer."""

_SAID: Final = (
    b'{"error": {"code": 403, "message": "expected a request of a program, with a head of at most 64 KiB, got one of a'
    b' web page or a longer one"}}'
)
REFUSAL: Final = (
    b"HTTP/1.1 403 Forbidden\r\nContent-Type: application/json; charset=UTF-8\r\nConnection: close\r\n"
    b"Content-Length: %d\r\n\r\n%s" % (len(_SAID), _SAID)
)
"""The answer to the page."""

_METHOD: Final = re.compile(rb"[!#-9A-Z^-z|~]{1,32}(?: |\Z)")
_LINE: Final = re.compile(rb"([^ ]+) .* HTTP/1\.[0-9]\r?\n")
_END: Final = re.compile(rb"\n\r?\n")


class Requests:
    """The requests of a client in the order of their bytes; ``refused`` once one is of a web page.

    ``named`` is as in :func:`~conformance.contain.jsonhttp.is_of_a_page`. Every request is looked at: a browser sends
    the requests of a page on a connection that an earlier one left open. Bytes that no browser sends, such as those of
    another protocol, are passed on blindly from there on.
    """

    def __init__(self, *, named: bool) -> None:
        self.refused = False
        self._named = named
        self._held = bytearray()
        self._next = self._head
        self._body = 0
        self._blind = False
        self._looked = 0
        """How much of the head was searched for its end already: it may come byte by byte."""

    def take(self, data: bytes) -> bytes:
        """What may be passed on after the client sent ``data``; a head is held until it is whole."""
        if self._blind:
            return data
        self._held += data
        passed = bytearray()
        while self._held and not self.refused:  # _blindly passes on everything that is held
            size = min(self._body, len(self._held))
            self._body -= size
            if not size:
                size = self._next()
            if not size:
                break
            passed += self._held[:size]
            del self._held[:size]
            self._looked = 0
        return bytes(passed)

    def rest(self) -> bytes:
        """What is still held at the end: a head without an end is no request."""
        return bytes(self._held)

    def _head(self) -> int:
        """The bytes of the head that begins here; 0 if it is not whole, or is of a page."""
        if not _METHOD.match(self._held):
            return self._blindly()
        end = _END.search(self._held, max(0, self._looked - 3))
        self._looked = len(self._held)
        if end is None:
            self.refused = len(self._held) > MOST_HEAD
            return 0
        line = _LINE.match(self._held)
        if line is None or line[1] == b"CONNECT":
            return self._blindly()
        fields = [field.partition(b":") for field in bytes(self._held[line.end() : end.start()]).split(b"\n")]
        headers = [
            (name.strip().lower().decode("latin-1"), value.strip().decode("latin-1")) for name, _, value in fields
        ]
        self.refused = end.end() > MOST_HEAD or is_of_a_page(headers, named=self._named)
        if self.refused:
            return 0
        said = dict(headers)
        length = said.get("content-length", "0")
        if "chunked" in said.get("transfer-encoding", "").lower():
            self._next = self._chunk
        elif re.fullmatch("[0-9]{1,19}", length, re.ASCII):
            self._body = int(length)
        else:
            return self._blindly()
        return end.end()

    def _chunk(self) -> int:
        """The bytes of the line before a chunk, which passes after it."""
        line, found, _ = bytes(self._held[:MOST_HEAD]).partition(b"\n")
        if not found:
            return self._blindly() if len(self._held) >= MOST_HEAD else 0
        size = re.match(rb"[0-9A-Fa-f]{1,16}", line)
        if size is None:
            return self._blindly()
        length = int(size[0], 16)
        if not length:
            self._next = self._trailer
        self._body = length + 2 if length else 0
        return len(line) + 1

    def _trailer(self) -> int:
        """The bytes of a line behind the last chunk; the next head follows an empty one."""
        line, found, _ = bytes(self._held[:MOST_HEAD]).partition(b"\n")
        if not found:
            return self._blindly() if len(self._held) >= MOST_HEAD else 0
        if not line.strip():
            self._next = self._head
        return len(line) + 1

    def _blindly(self) -> int:
        self._blind = True
        return len(self._held)
