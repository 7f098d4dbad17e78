"""One HTTP/1.1 exchange at a time, with one absolute deadline and a limit on the number of received bytes.

h11 parses: it refuses malformed status lines, headers, lengths and chunks. This module owns the socket, the clock and
the counters, so that a server can neither exceed the deadline by sending slowly nor fill the memory. It follows no
redirect, uses no proxy, repeats no request, and does not parse JSON.

The deadline starts with the first connection attempt; the system's resolver, which is used if the base has a host name,
has time limits of its own.
"""

from __future__ import annotations

import dataclasses
import socket
import ssl
import time
import urllib.parse
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final, Protocol

import h11

from conformance import __version__
from conformance.contain.secrets import masked_bytes
from conformance.contain.text import safe
from conformance.targets.endpoint import Tls
from conformance.targets.targeterrors import TargetError
from conformance.targets.tls import SecureLine, explained

__all__ = ["UNQUOTED", "Exchanging", "HttpClient", "HttpError", "HttpResponse", "beyond"]

HEAD_BYTES: Final = 16 << 10
"""Bytes of a status line with its headers, or of a chunk's size with its extensions (Apache: 8 KiB per line)."""
PIECE: Final = 16 << 10
"""Bytes per read from the socket: h11's time for a malformed head grows with the square of its size."""
HEAD_ONLY: Final = 1 << 20
"""Bytes allowed when only the head is needed: interim answers before it, a part of the body after it."""
SHOWN: Final = 300
"""Characters of a server's text that go into a message."""

_ZLIB_OR_GZIP: Final = 32 + zlib.MAX_WBITS
_CODINGS: Final = frozenset({"gzip", "x-gzip", "deflate"})
UNQUOTED: Final = "!#$%&'()*+,/:;=?@[]~"
"""Characters that a path keeps unquoted: it may be quoted already, and it may contain a query."""


class HttpError(Exception):
    """An exchange produced no usable answer; the text gives the reason and is safe to print."""


@dataclasses.dataclass(frozen=True, slots=True)
class HttpResponse:
    """An answer: ``location`` is the raw header, ``body`` the decoded body, empty if it was not read."""

    status: int
    location: str
    body: bytes


class Exchanging(Protocol):
    """Makes requests as :class:`HttpClient` does."""

    def exchange(
        self,
        method: str,
        path: str,
        *,
        body: bytes | None = None,
        content_type: str = "application/json",
        until: float,
        limit: int | None,
    ) -> HttpResponse:
        """Send one request and receive its answer."""

    def close(self) -> None:
        """Close the connection."""


class HttpClient:
    """Exchanges with the server at ``base`` (``http[s]://host:port[/path]``) over one connection that is kept alive.

    ``headers`` are sent with every request, and so are those that ``credentials`` returns at that time. ``secure`` is
    the TLS of an https address, by default that of the system. Secrets that the server sends back are masked in each
    answer. Raises :class:`TargetError` if ``base`` is not such an address.
    """

    def __init__(
        self,
        base: str,
        *,
        headers: Mapping[str, str] | None = None,
        credentials: Callable[[], Mapping[str, str]] = dict,
        secure: SecureLine | None = None,
    ) -> None:
        try:
            parts = urllib.parse.urlsplit(base)
            self._address = (parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80))
        except ValueError:
            raise TargetError(f"expected a REST address such as http://localhost:9050 but got {base!r}") from None
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise TargetError(f"expected a REST address such as http://localhost:9050 but got {base!r}")
        self._credentials = credentials
        self._secure = None if parts.scheme == "http" else secure or SecureLine.of(Tls(), Path())
        self._path = parts.path.rstrip("/")
        self._headers = {
            "Host": parts.netloc.rpartition("@")[2],
            "User-Agent": f"arrow-conformance/{__version__}",
            "Accept": "*/*",
            "Accept-Encoding": "gzip",
            **(headers or {}),
        }
        self._connection: _Connection | None = None

    def exchange(
        self,
        method: str,
        path: str,
        *,
        body: bytes | None = None,
        content_type: str = "application/json",
        until: float,
        limit: int | None,
    ) -> HttpResponse:
        """Send one request and receive its answer, all before ``until`` on the monotonic clock.

        The answer may have ``limit`` bytes after its head, and as many after decoding; if ``limit`` is None, its body
        is not read. The connection is closed after a failure, after a status of 500 or more, and if the server says so.
        Raises :class:`HttpError`.
        """
        seconds = max(0.0, until - time.monotonic())
        keep = False
        try:
            connection = self._connected(until)
            connection.send(self._request(method, path, body, content_type), until=until)
            answer = connection.receive(limit)
            keep = connection.reusable and answer.status < 500
        except TimeoutError:
            taken = self._connection.taken if self._connection is not None else 0
            came = f"; {taken} bytes of an answer came" if taken else ""
            raise HttpError(f"no {'whole ' if taken else ''}answer within {seconds:.3g} s{came}") from None
        except h11.ProtocolError as error:
            raise HttpError(f"expected an HTTP exchange but: {safe(str(error), SHOWN)}") from None
        except ssl.SSLError as error:
            raise HttpError(explained(error, self._secure, self._address[0])) from None
        except (OSError, UnicodeError) as error:
            raise HttpError(f"{type(error).__name__}: {error}") from None
        finally:
            if not keep:
                self.close()
        return answer

    def close(self) -> None:
        """Close the connection; a further exchange opens a new one."""
        if self._connection is not None:
            self._connection.socket.close()
            self._connection = None

    def _request(self, method: str, path: str, body: bytes | None, content_type: str) -> list[h11.Event]:
        headers = {**self._headers, **self._credentials()}
        if body is not None:
            headers |= {"Content-Type": content_type, "Content-Length": str(len(body))}
        target = self._path + urllib.parse.quote(path, safe=UNQUOTED)
        request = h11.Request(method=method, target=target, headers=list(headers.items()))
        return [request, *([h11.Data(data=body)] if body else []), h11.EndOfMessage()]

    def _connected(self, until: float) -> _Connection:
        """The connection of the last exchange, or a new one."""
        if self._connection is not None and self._connection.silent():
            return self._connection
        self.close()
        host, port = self._address
        refused = OSError(f"no address for {host}")
        for family, kind, protocol, _, address in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM):
            connecting = socket.socket(family, kind, protocol)
            try:
                connecting.settimeout(_left(until))
                connecting.connect(address)
                connecting.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                if self._secure is not None:
                    connecting.settimeout(_left(until))
                    connecting = self._secure.wrap(connecting, host, http2=False)
            except OSError as error:
                connecting.close()
                refused = error
            else:
                self._connection = _Connection(connecting)
                return self._connection
        raise refused


class _Connection:
    """A socket with its HTTP state. ``taken`` counts the received bytes of the current answer."""

    def __init__(self, connected: socket.socket) -> None:
        self.socket = connected
        self.taken = 0
        self._until = 0.0
        self._limit = 0
        self._http = h11.Connection(h11.CLIENT, max_incomplete_event_size=HEAD_BYTES)

    @property
    def reusable(self) -> bool:
        """True if request and answer are complete, both sides keep the connection, and no further bytes came."""
        done = self._http.our_state is h11.DONE and self._http.their_state is h11.DONE
        return done and self._http.trailing_data == (b"", False)

    def silent(self) -> bool:
        """True if the server has neither closed the connection since, nor sent further bytes."""
        self.socket.settimeout(0)
        try:
            self.socket.recv(1)
        except (BlockingIOError, ssl.SSLWantReadError):  # a session ticket of TLS 1.3 is no data
            return True
        except OSError:
            return False
        return False

    def send(self, request: list[h11.Event], *, until: float) -> None:
        """Send ``request``; from here on, the bytes of its answer are counted."""
        if self._http.our_state is h11.DONE:
            self._http.start_next_cycle()
        self._until, self.taken = until, 0
        data = memoryview(b"".join(self._http.send(event) or b"" for event in request))
        try:
            while data:  # sendall of a TLS socket begins its timeout anew with each record
                self.socket.settimeout(_left(until))
                data = data[self.socket.send(data) :]
        except (BrokenPipeError, ConnectionResetError):
            self._http.send_failed()  # a server may answer with a refusal and close before it has read the request

    def receive(self, limit: int | None) -> HttpResponse:
        """Receive the answer with its body decoded; without its body if ``limit`` is None."""
        self._limit = HEAD_ONLY if limit is None else limit
        while not isinstance(head := self._event(), h11.Response):
            pass  # interim answers (1xx): any number of them within deadline and limit
        headers: dict[str, list[str]] = {}
        for name, value in head.headers:
            headers.setdefault(name.decode("ascii"), []).append(value.decode("latin-1"))
        body = _Body(", ".join(headers.get("content-encoding", [])), self._limit)
        if limit is not None:
            self._check_length(headers)
            while isinstance(event := self._event(), h11.Data):
                body.take(event.data)
            body.end()
        location = "".join(headers.get("location", [])[:1])
        return HttpResponse(head.status_code, location, masked_bytes(bytes(body.decoded)))

    def _check_length(self, headers: Mapping[str, list[str]]) -> None:
        length = headers.get("content-length")
        if length and "transfer-encoding" in headers:
            raise HttpError("expected Content-Length or Transfer-Encoding but got both")
        if length and int(length[0]) > self._limit:
            raise HttpError(f"the answer announces {length[0]} bytes, {beyond(self._limit)}")

    def _event(self) -> object:
        while (event := self._http.next_event()) is h11.NEED_DATA:
            self.socket.settimeout(_left(self._until))
            data = self.socket.recv(PIECE)
            self.taken += len(data)
            if self.taken > HEAD_BYTES + self._limit:
                raise HttpError(f"more bytes came than {self._limit}, {beyond(self._limit)}")
            if not data and self._http.their_state is not h11.SEND_BODY and not self._http.trailing_data[0]:
                raise HttpError("the server closed the connection without an answer")
            self._http.receive_data(data)
        return event


class _Body:
    """A body that arrives in pieces: ``decoded`` is its content, at most ``limit`` bytes."""

    def __init__(self, codings: str, limit: int) -> None:
        self.decoded = bytearray()
        self._limit = limit
        self._coding = ", ".join(filter(None, (part.strip().lower() for part in codings.split(",")))) or "identity"
        self._inflate = None
        if self._coding in _CODINGS:
            self._inflate = zlib.decompressobj(_ZLIB_OR_GZIP)
        elif self._coding != "identity":
            raise HttpError(f"expected a body as it is or in gzip but its coding is {safe(self._coding, SHOWN)}")
        self._open = False

    def take(self, data: bytes) -> None:
        if self._inflate is None:
            self.decoded += data
            return
        self._open = True
        while data:
            if self._inflate.eof:  # gzip data may consist of several members (RFC 1952, section 2.2)
                self._inflate = zlib.decompressobj(_ZLIB_OR_GZIP)
            try:
                self.decoded += self._inflate.decompress(data, self._limit + 1 - len(self.decoded))
            except zlib.error as error:
                raise HttpError(f"the body is broken {self._coding} data: {error}") from None
            if len(self.decoded) > self._limit:
                raise HttpError(
                    f"the {self._coding} body decodes to more than {self._limit} bytes, {beyond(self._limit)}"
                )
            data = self._inflate.unconsumed_tail or self._inflate.unused_data

    def end(self) -> None:
        if self._inflate is not None and self._open and not self._inflate.eof:
            raise HttpError(f"the {self._coding} data of the body ends early")


def _left(until: float) -> float:
    left = until - time.monotonic()
    if left <= 0:
        raise TimeoutError
    return left


def beyond(limit: int) -> str:
    """The end of a sentence about an answer that is too long."""
    return f"and {limit} is the suite's own limit for this answer"
