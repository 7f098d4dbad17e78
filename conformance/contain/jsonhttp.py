"""An HTTP server for JSON: each request is given to one function, and its answer is sent. It decides transport only.

Bodies may be of any length, in chunks or compressed by gzip, as Java clients send them (RFC 9112, section 7.1).
"""

from __future__ import annotations

import http.server
import json
import ssl
import sys
import threading
import zlib
from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias

__all__ = ["Answering", "JsonServer"]

Answering: TypeAlias = Callable[[str, str, Mapping[str, str], bytes], tuple[int, Any]]
"""Gets the method, the target, the headers with names in small letters, and the body of a request; returns the status
and the JSON value of the answer.
"""

HANDSHAKE_SECONDS: Final = 60.0
"""Seconds for the handshake of a TLS client."""
_GZIP: Final = 16 + zlib.MAX_WBITS


class _Handler(http.server.BaseHTTPRequestHandler):
    """One connection: bodies of any size, answers written at once so that no delayed acknowledgement waits."""

    protocol_version = "HTTP/1.1"
    wbufsize = -1
    disable_nagle_algorithm = True
    answering: Answering

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
        headers = {key.lower(): value for key, value in self.headers.items()}
        self._send(*type(self).answering(self.command, self.path, headers, body))

    def _body(self) -> bytes:
        if "chunked" in self.headers.get("Transfer-Encoding", "").lower():
            data = self._chunks()
        else:
            data = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        return zlib.decompress(data, _GZIP) if self.headers.get("Content-Encoding", "").lower() == "gzip" else data

    def _chunks(self) -> bytes:
        parts = []
        while size := int(self.rfile.readline().partition(b";")[0], 16):
            parts.append(self.rfile.read(size))
            self.rfile.readline()
        while self.rfile.readline().strip():
            continue
        return b"".join(parts)

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

    Raises:
        OSError: ``host`` cannot be bound.
    """

    def __init__(self, answering: Answering, *, host: str = "127.0.0.1", context: ssl.SSLContext | None = None) -> None:
        self._http = _Listener((host, 0), type("Handler", (_Handler,), {"answering": staticmethod(answering)}))
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
