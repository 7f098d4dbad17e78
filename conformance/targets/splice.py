"""Passes TCP connections on, byte for byte: the REST API behind a proxy, and a connection that a fault plan breaks.

Either side may speak TLS. Nothing is recorded, and request lines, headers (``Host`` among them) and bodies stay as they
are; requests of web pages are refused where that is asked for. A splice that may break gRPC connections follows their
frames (:mod:`.frames`), which needs plain text.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
import ssl
import struct
from collections.abc import Callable
from typing import Final, Protocol

from conformance.targets.http1requests import REFUSAL, Requests
from conformance.targets.http2frames import GOAWAY, Frames

__all__ = ["Followed", "Splice"]

PIECE: Final = 1 << 16
"""Bytes read at a time: what a connection holds in each direction, if its reader is slow."""

RECEIVED: Final = 1 << 14
"""Bytes taken from the system at a time."""

SHUTDOWN_SECONDS: Final = 0.1
"""How long a broken connection of gRPC over TLS waits for its client to end TLS too."""

_AT_ONCE: Final = struct.pack("ii", 1, 0)
"""SO_LINGER of 0 seconds: closing sends RST, and drops what was not sent (socket(7))."""


class Followed(Protocol):
    """Sees what passes on one connection, in its order."""

    def asked(self, data: bytes, /) -> None:
        """Bytes of the client."""

    def answered(self, data: bytes, /) -> None:
        """Bytes of the server."""

    def ended(self) -> None:
        """No more bytes come."""


class Splice:
    """A listener whose connections go on to ``host:port``; ``secure`` is the TLS to there, ``name`` the name that the
    server's certificate must have.

    With ``requests``, which makes one for each connection, requests of web pages get a refusal and go nowhere. What
    passes is shown to what ``followed`` makes for each connection.
    With ``framed``, connections carry gRPC in plain text. Each breaks after ``cut`` bytes from the server, which are
    bytes of messages if it is framed. ``failed`` counts the connections that could not be passed on, ``reason`` is the
    reason of the last one, and ``broken`` counts those that a fault broke.
    """

    def __init__(
        self,
        host: str,
        port: int,
        *,
        secure: ssl.SSLContext | None = None,
        name: str = "",
        requests: Callable[[], Requests] | None = None,
        followed: Callable[[], Followed] | None = None,
        framed: bool = False,
        cut: int | None = None,
    ) -> None:
        self._host = host
        self.port = port
        self._secure = secure
        self._name = name or host
        self._requests = requests
        self._followed = followed
        self._framed = framed
        self.cut = cut
        self._servers: list[asyncio.Server] = []
        self._open: set[asyncio.Task[None]] = set()
        self._lines: dict[int, _Line] = {}
        self._closing = False
        self.connections = 0
        self.failed = 0
        self.reason = ""
        self.broken = 0

    async def listen(self, host: str, port: int, secure: ssl.SSLContext | None) -> int:
        """Listen at ``host:port`` too, with TLS if ``secure``; returns the port. Raises :class:`OSError`."""
        # gRPC does not answer the end of TLS on a connection that it has calls on, for which asyncio waits 30 s.
        end = SHUTDOWN_SECONDS if self._framed and secure is not None else None
        server = await asyncio.start_server(self.accept, host, port, ssl=secure, limit=PIECE, ssl_shutdown_timeout=end)
        self._servers.append(server)
        return int(server.sockets[0].getsockname()[1])

    async def close(self) -> None:
        """Stop listening and end every connection."""
        for server in self._servers:
            server.close()
        self._closing = True
        for task in list(self._open):
            task.cancel()
        await asyncio.gather(*self._open, return_exceptions=True)

    def reset(self) -> None:
        """Break every connection at once, on both sides; what was not delivered is lost."""
        for line in list(self._lines.values()):
            line.reset()

    def note(self, port: int, size: int) -> None:
        """Note that the server sent a message of ``size`` bytes, prefix included, to ``port``, from which a connection
        reaches it.
        """
        line = self._lines.get(port)
        if line is not None:
            line.messages += 1
            line.bytes += size

    def break_off(self, port: int, *, size: int | None, leave: bool) -> None:
        """Break the connection that reaches the server from ``port`` once all messages noted so far have passed, or
        ``size`` bytes more; to ``leave`` is to tell the client by GOAWAY instead. Does nothing if there is no such
        connection.
        """
        line = self._lines.get(port)
        if line is None:
            return
        if size is not None:
            line.at_byte(line.bytes + size)
        else:
            line.at_message(line.messages, leave=leave)

    async def accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Pass a connection of a client on until it ends; one that was taken before the end and is heard of after it is
        closed.
        """
        if self._closing:
            writer.close()
            return
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
                self._host, self.port, limit=PIECE, ssl=self._secure, server_hostname=name
            )
        except OSError as error:
            self.failed += 1
            self.reason = error.strerror or str(error)
            await self._end(writer)
            return
        for side in (writer, to_there):
            # asyncio takes 256 KiB at a time, whatever the limit: a thousand clients that only begin calls would hold
            # as many times that. Transports of other loops and of TLS do not look at it.
            side.transport.max_size = RECEIVED  # type: ignore[attr-defined]  # of the loops that read sockets
        port = int(to_there.get_extra_info("sockname")[1])
        line = self._lines[port] = _Line(self, writer, to_there, Frames() if self._framed else None)
        try:
            shown = None if self._followed is None else self._followed()
            try:
                await asyncio.gather(self._ask(reader, line, to_there, shown), self._answer(there, line, shown))
            finally:
                if shown is not None:
                    shown.ended()
        finally:
            del self._lines[port]
            await self._end(writer)
            await self._end(to_there)

    async def _end(self, writer: asyncio.StreamWriter) -> None:
        """Close one side; once nothing listens, what it has not taken is dropped, because it may never take it."""
        if self._closing and writer.transport.get_write_buffer_size():
            _abort(writer)
        else:
            writer.close()
        with contextlib.suppress(OSError, asyncio.CancelledError):
            await writer.wait_closed()

    async def _ask(
        self, reader: asyncio.StreamReader, line: _Line, to_there: asyncio.StreamWriter, shown: Followed | None
    ) -> None:
        """Pass on what the client says, except for requests of web pages."""
        requests = None if self._requests is None else self._requests()
        await _copy(reader, to_there, requests, None if shown is None else shown.asked)
        if requests is not None and requests.refused:
            with contextlib.suppress(OSError):
                line.writer.write(REFUSAL)
                await line.writer.drain()
            to_there.close()

    async def _answer(self, there: asyncio.StreamReader, line: _Line, shown: Followed | None) -> None:
        """Pass on what the server says, until it ends or the line breaks."""
        if line.frames is None and self.cut is None:
            await _copy(there, line.writer, seen=None if shown is None else shown.answered)
            return
        with contextlib.suppress(OSError):
            while data := await there.read(PIECE):
                line.answer(data)
                await line.writer.drain()
                if line.ended:
                    break
        line.writer.close()


class _Line:
    """A connection of both sides whose answers are followed; ``ended`` is True once a fault has ended it.

    ``messages`` and ``bytes`` count what the server was noted to have sent, of which a part may be on its way.
    """

    def __init__(
        self, splice: Splice, writer: asyncio.StreamWriter, to_there: asyncio.StreamWriter, frames: Frames | None
    ) -> None:
        self.writer = writer
        self.frames = frames
        self.ended = False
        self.messages = 0
        self.bytes = 0
        self._splice = splice
        self._to_there = to_there
        self._cut = splice.cut
        self._passed = 0
        self._message: int | None = None
        self._leave = False

    def answer(self, data: bytes) -> None:
        """Pass ``data`` on to the client as far as the plan says, and do what it says then."""
        if self.ended:
            return
        if self.frames is None:
            passed = len(data) if self._cut is None else min(len(data), self._cut - self._passed)
            self._passed += passed
        else:
            passed = self.frames.take(data, messages=self._message, size=self._cut)
        self.writer.write(data[:passed])
        if self._reached():
            self._happen(data[passed:])

    def at_message(self, count: int, *, leave: bool) -> None:
        """Break the line, or announce its end, once ``count`` messages have passed."""
        self._message, self._leave = count, leave
        if self._reached():
            self._happen(b"")

    def at_byte(self, size: int) -> None:
        """Break the line once ``size`` bytes of messages have passed."""
        self._cut = size
        if self._reached():
            self._happen(b"")

    def reset(self) -> None:
        """Break both sides at once."""
        self._end()
        _abort(self.writer)
        _abort(self._to_there)

    def _reached(self) -> bool:
        if self.frames is None:
            return self._cut is not None and self._passed >= self._cut
        if self._cut is not None and self.frames.bytes >= self._cut:
            return True
        return self._message is not None and self.frames.messages >= self._message and self.frames.between

    def _happen(self, rest: bytes) -> None:
        if self._leave:
            self._message, self._leave = None, False
            self.writer.write(GOAWAY)
            self.answer(rest)
            return
        # What has passed is sent to the client, so that the same bytes come each time; the server gets RST.
        self._end()
        if self.writer.get_extra_info("ssl_object") is not None:
            # For TLS behind CONNECT: StreamWriter.start_tls of Python 3.11 takes no limit for its end.
            held = self.writer.get_extra_info("socket")
            asyncio.get_running_loop().call_later(SHUTDOWN_SECONDS, _hang_up, held)
        self.writer.close()
        _abort(self._to_there)

    def _end(self) -> None:
        """Count the broken connection before either side can see it."""
        self.ended = True
        self._splice.broken += 1


async def _copy(
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    requests: Requests | None = None,
    seen: Callable[[bytes], None] | None = None,
) -> None:
    """Pass on bytes until the end of ``reader``, and then the end; or until a request is refused."""
    with contextlib.suppress(OSError):  # a side that hangs up ends its direction
        while data := await reader.read(PIECE):
            passed = data if requests is None else requests.take(data)
            writer.write(passed)
            if seen is not None:  # before anything that answers these bytes is read
                seen(passed)
            await writer.drain()
            if requests is not None and requests.refused:
                return
        if requests is not None:
            writer.write(requests.rest())
        if writer.can_write_eof():
            writer.write_eof()
            return
    writer.close()  # TLS has no end of one direction in asyncio


def _abort(writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(OSError):  # it may be closed already
        writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _AT_ONCE)
    writer.transport.abort()


def _hang_up(held: socket.socket) -> None:
    with contextlib.suppress(OSError):  # it may be closed already
        held.shutdown(socket.SHUT_RDWR)
