"""Passes TCP connections on, byte for byte: the REST API behind a proxy. Nothing is parsed, and nothing is recorded.

Either side may speak TLS. Request lines, headers (``Host`` among them) and bodies stay as they are.
"""

from __future__ import annotations

import asyncio
import contextlib
import ssl
from typing import Final

__all__ = ["Splice"]

PIECE: Final = 1 << 16
"""Bytes read at a time: what a connection holds in each direction, if its reader is slow."""


class Splice:
    """A listener whose connections go on to ``host:port``; ``secure`` is the TLS to there, ``name`` the name that the
    server's certificate must have.

    ``failed`` counts the connections that could not be passed on, ``reason`` is the reason of the last one.
    """

    def __init__(self, host: str, port: int, *, secure: ssl.SSLContext | None = None, name: str = "") -> None:
        self._host = host
        self._port = port
        self._secure = secure
        self._name = name or host
        self._server: asyncio.Server | None = None
        self._open: set[asyncio.Task[None]] = set()
        self.connections = 0
        self.failed = 0
        self.reason = ""

    async def listen(self, host: str, port: int, secure: ssl.SSLContext | None) -> int:
        """Listen at ``host:port``, with TLS if ``secure``; returns the port. Raises :class:`OSError`."""
        self._server = await asyncio.start_server(self._accept, host, port, ssl=secure, limit=PIECE)
        return int(self._server.sockets[0].getsockname()[1])

    async def close(self) -> None:
        """Stop listening and end every connection."""
        if self._server is not None:
            self._server.close()
        for task in list(self._open):
            task.cancel()
        await asyncio.gather(*self._open, return_exceptions=True)

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.ensure_future(self._pass(reader, writer))
        self._open.add(task)
        task.add_done_callback(self._open.discard)
        self.connections += 1
        with contextlib.suppress(asyncio.CancelledError):
            await task

    async def _pass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            name = None if self._secure is None else self._name
            there, to_there = await asyncio.open_connection(
                self._host, self._port, limit=PIECE, ssl=self._secure, server_hostname=name
            )
        except OSError as error:
            self.failed += 1
            self.reason = error.strerror or str(error)
            await _close(writer)
            return
        try:
            await asyncio.gather(_copy(reader, to_there), _copy(there, writer))
        finally:
            await _close(writer)
            await _close(to_there)


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Pass on bytes until the end of ``reader``, and then the end."""
    with contextlib.suppress(OSError):  # a side that hangs up ends its direction
        while data := await reader.read(PIECE):
            writer.write(data)
            await writer.drain()
        if writer.can_write_eof():
            writer.write_eof()
            return
    writer.close()  # TLS has no end of one direction in asyncio


async def _close(writer: asyncio.StreamWriter) -> None:
    writer.close()
    with contextlib.suppress(OSError, asyncio.CancelledError):
        await writer.wait_closed()
