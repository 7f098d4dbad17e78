"""An HTTP server for JSON: each request is given to one function, and its answer is sent. It decides transport only.
A server without ``pages`` refuses the requests of web pages.

Bodies may have up to :data:`MOST_BYTES`, in chunks or compressed by gzip, as Java clients send them (RFC 9112, section
7.1).
"""

from __future__ import annotations

import contextlib
import http.server
import ipaddress
import json
import re
import ssl
import sys
import threading
import zlib
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, TypeAlias

__all__ = ["Answering", "JsonServer", "is_here", "is_loopback", "is_of_a_page"]

Answering: TypeAlias = Callable[[str, str, Mapping[str, str], bytes], tuple[int, Any]]
"""Gets the method, the target, the headers with names in small letters, and the body of a request; returns the status
and the JSON value of the answer.
"""

HANDSHAKE_SECONDS: Final = 60.0
"""Seconds for the handshake of a TLS client."""
_GZIP: Final = 16 + zlib.MAX_WBITS


MOST_BYTES: Final = 1 << 30
"""The longest body in bytes, also after decompression."""
MOST_LINE: Final = 1 << 16
MOST_TRAILERS: Final = 100
"""The limits of Python's http.server for header lines, kept for those behind a body in chunks."""


def _size(digits: str, base: int, *, most: int = MOST_BYTES) -> int:
    """A length, which has digits alone: ``int`` also takes signs, blanks, underscores and ``0x``."""
    if not re.fullmatch(r"[0-9A-Fa-f]{1,16}" if base == 16 else r"[0-9]{1,19}", digits, re.ASCII):
        raise ValueError(f"expected a length, got {digits[:20]!r}")
    size = int(digits, base)
    if size > most:
        raise ValueError(f"expected at most {most} bytes, got {size}")
    return size


def _unzipped(data: bytes) -> bytes:
    inflater = zlib.decompressobj(_GZIP)
    whole = inflater.decompress(data, MOST_BYTES)
    if not inflater.eof:
        raise ValueError(f"expected a whole gzip stream of at most {MOST_BYTES} bytes")
    return whole


def is_here(host: str) -> bool:
    """True for a ``Host`` that is an address or ``localhost``; no name that somebody else may lead here."""
    name = host.rpartition(":")[0] if re.search(r":[0-9]*$", host) else host
    with contextlib.suppress(ValueError):
        return bool(ipaddress.ip_address(name.strip("[]")))
    return name.lower() == "localhost"


def is_of_a_page(headers: Iterable[tuple[str, str]], *, named: bool) -> bool:
    """True for a request with these ``headers``, whose names are in small letters, that only a web page makes.

    A page of any site may send requests to this machine, and may read the answers if the name of its host leads here
    (DNS rebinding). Browsers send ``Origin``, and the name in ``Host``; a server that is ``named`` may have names of
    which it does not know.
    """
    return any(name == "origin" or (name == "host" and not named and not is_here(value)) for name, value in headers)


def is_loopback(host: str) -> bool:
    """True for an address that only this machine reaches."""
    with contextlib.suppress(ValueError):
        return ipaddress.ip_address(host).is_loopback
    return host == "localhost"


class _Handler(http.server.BaseHTTPRequestHandler):
    """One connection: bodies of any size, answers written at once so that no delayed acknowledgement waits."""

    protocol_version = "HTTP/1.1"
    wbufsize = -1
    disable_nagle_algorithm = True
    answering: Answering
    pages: bool
    """True if web pages are answered."""
    named: bool
    """True if the server may have names of which it does not know."""

    def setup(self) -> None:
        """Shake hands in the thread of the connection, so that a silent client keeps nobody waiting."""
        if isinstance(self.request, ssl.SSLSocket):
            self.request.settimeout(HANDSHAKE_SECONDS)
            self.request.do_handshake()
            self.request.settimeout(None)
        super().setup()

    def _handle(self) -> None:
        try:
            body = self._body()
        except (ValueError, zlib.error) as error:
            self.close_connection = True
            self._send(400, {"error": {"code": 400, "message": f"unreadable body: {error}"}})
            return
        sent = [(key.lower(), value) for key, value in self.headers.items()]
        if not type(self).pages and is_of_a_page(sent, named=type(self).named):
            said = "expected a request of a program, got one of a web page"
            self._send(403, {"error": {"code": 403, "message": said}})
            return
        try:
            status, made = type(self).answering(self.command, self.path, dict(sent), body)
        except RecursionError:
            status, made = 400, {"error": {"code": 400, "message": "unreadable body: it nests too deeply"}}
        self._send(status, made)

    def _body(self) -> bytes:
        if "chunked" in self.headers.get("Transfer-Encoding", "").lower():
            data = self._chunks()
        else:
            data = self._exactly(_size(self.headers.get("Content-Length") or "0", 10))
        return _unzipped(data) if self.headers.get("Content-Encoding", "").lower() == "gzip" else data

    def _chunks(self) -> bytes:
        parts: list[bytes] = []
        left = MOST_BYTES
        while size := _size(self._line().partition(b";")[0].decode("latin-1").strip(), 16, most=left):
            parts.append(self._exactly(size))
            left -= size
            if self._line().strip():
                raise ValueError("a chunk is longer than it says")
        for _ in range(MOST_TRAILERS):
            if not self._line().strip():
                return b"".join(parts)
        raise ValueError(f"expected at most {MOST_TRAILERS} trailers")

    def _exactly(self, size: int) -> bytes:
        data = self.rfile.read(size)
        if len(data) != size:
            raise ValueError(f"expected {size} bytes, got {len(data)} before the connection ended")
        return data

    def _line(self) -> bytes:
        line = self.rfile.readline(MOST_LINE)
        if not line.endswith(b"\n"):
            raise ValueError(f"expected a line of at most {MOST_LINE} bytes, got {line[:20]!r}")
        return line

    def _send(self, status: int, answer: Any) -> None:
        data = json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json; charset=UTF-8")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = _handle  # noqa: N815  # names that http.server looks for

    def log_message(self, *_: object) -> None:
        """Say nothing: standard output carries the ports."""


class _Listener(http.server.ThreadingHTTPServer):
    """Connections that break, in a handshake for example, are silent: standard error is the user's."""

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing if the client went away; a defect of ours is shown."""
        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, client_address)  # type: ignore[arg-type]  # it prints the address only


class JsonServer:
    """The HTTP listener: bound from construction, serving from :meth:`start` to :meth:`stop`.

    Without ``pages`` it answers no web page: no request with ``Origin``, and, if only this machine reaches it in plain
    text, none whose ``Host`` is a name other than ``localhost``. With TLS, a page of another name fails at the
    certificate.

    Raises:
        OSError: ``host`` cannot be bound.
    """

    def __init__(
        self,
        answering: Answering,
        *,
        host: str = "127.0.0.1",
        context: ssl.SSLContext | None = None,
        pages: bool = True,
    ) -> None:
        named = context is not None or not is_loopback(host)
        handler = {"answering": staticmethod(answering), "pages": pages, "named": named}
        self._http = _Listener((host, 0), type("Handler", (_Handler,), handler))
        if context is not None:
            self._http.socket = context.wrap_socket(self._http.socket, server_side=True, do_handshake_on_connect=False)
        self._http.daemon_threads = True
        self._http.block_on_close = False
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.05,), name="http", daemon=True)
        self.port = int(self._http.server_address[1])

    def start(self) -> None:
        """Begin to answer."""
        self._thread.start()

    def stop(self) -> None:
        """Close the listener; open connections end with their requests."""
        if self._thread.is_alive():
            self._http.shutdown()
            self._thread.join()
        self._http.server_close()
