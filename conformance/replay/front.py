"""A proxy for clients without an option for their endpoint: it answers CONNECT for the hosts of the service itself.

It ends TLS with the server's own certificate. The storage host speaks HTTP/2 and goes to the gRPC port, every other
known host speaks HTTP/1.1 and goes to the REST port. Every other CONNECT and every other request is refused with 403:
nothing leaves the machine.
"""

from __future__ import annotations

import asyncio
import contextlib
import ssl
from collections.abc import Callable
from typing import Final

from conformance.reference.guard import ServerTls
from conformance.replay.certificates import HOSTS, STORAGE
from conformance.targets.splice import PIECE, Splice

__all__ = ["Front"]

LARGEST: Final = 1 << 16
"""The most bytes of a request's head."""


class Front:
    """The proxy. ``grpc`` and ``rest`` pass the connections on; ``asked`` gets each host and whether it is known."""

    def __init__(self, tls: ServerTls, *, grpc: Splice, rest: Splice, asked: Callable[[str, bool], None]) -> None:
        self._grpc = grpc
        self._rest = rest
        self._asked = asked
        self._contexts = {"h2": _context(tls, "h2"), "http/1.1": _context(tls, "http/1.1")}
        self._server: asyncio.Server | None = None

    async def listen(self, host: str) -> int:
        """Listen at a free port of ``host``; returns it."""
        self._server = await asyncio.start_server(self._accept, host, 0, limit=PIECE)
        return int(self._server.sockets[0].getsockname()[1])

    async def close(self) -> None:
        """Stop listening; the connections end with the splices."""
        if self._server is not None:
            self._server.close()

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            line, _, _ = (await reader.readuntil(b"\r\n\r\n")).partition(b"\r\n")
            method, _, rest = line.decode("latin-1").partition(" ")
            host, _, port = rest.partition(" ")[0].rpartition(":")
            known = method == "CONNECT" and host in HOSTS and port == "443"
            self._asked(host if method == "CONNECT" else rest.partition(" ")[0], known)
            if known:
                writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
                await writer.drain()
                storage = host == STORAGE
                await writer.start_tls(self._contexts["h2" if storage else "http/1.1"])
                await (self._grpc if storage else self._rest).accept(reader, writer)
                return
            said = b"this proxy knows the hosts of BigQuery only, and passes nothing on\n"
            writer.write(b"HTTP/1.1 403 Forbidden\r\nContent-Length: %d\r\n\r\n%b" % (len(said), said))
            await writer.drain()
        writer.close()


def _context(tls: ServerTls, protocol: str) -> ssl.SSLContext:
    context = tls.context()
    context.set_alpn_protocols([protocol])
    return context
