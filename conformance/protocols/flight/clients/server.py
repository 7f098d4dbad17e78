"""A Flight server that answers by a script, and remembers what it was asked.

Clients reach it through a :class:`~conformance.targets.splice.Splice`, which breaks their connection where the script
says so.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from types import TracebackType
from typing import Any, Final, Self

import grpc
import grpc.aio

from conformance.protocols.flight.clients.script import Reply, Script
from conformance.protocols.flight.contract.decoding import message_of
from conformance.protocols.flight.wire.messages import METHOD_PATHS
from conformance.readers.byteserver import Loop
from conformance.readers.oneread import HOST, OPTIONS, EveryMethod
from conformance.recording.meeting import Meeting, Meets
from conformance.records import FaultKind, PlannedFault
from conformance.targets.splice import Splice

__all__ = ["NO_METHOD", "ScriptedServer"]

NO_METHOD: Final = "UNIMPLEMENTED"
"""How a call ends for which the script has no reply."""

_PREFIX: Final = 5
_SQL: Final = (b"CommandGetSqlInfo", b"CreatePreparedStatement")
"""What a client of Flight SQL asks beside its query: no script answers, and it goes on."""


class ScriptedServer:
    """A running server, used as a context manager; ``address`` is ``host:port``, which clients ask.

    ``asked`` are the calls since the last :meth:`play`: method and requests, in the order in which they came.
    """

    def __init__(self) -> None:
        self.asked: list[tuple[str, tuple[bytes, ...]]] = []
        self.address = ""
        self._script = Script({})
        self._ends = contextlib.ExitStack()

    def __enter__(self) -> Self:
        with contextlib.ExitStack() as ends:
            self._loop = Loop("flight-script")
            ends.callback(self._loop.close)
            self._loop.run(self._start())
            ends.callback(lambda: self._loop.run(self._stop()))
            self._ends = ends.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ends.close()

    def play(self, script: Script) -> None:
        """Answer by this script from now on."""
        self._script = script
        self.asked = []

    async def _start(self) -> None:
        self._server = grpc.aio.server(options=OPTIONS)
        every = EveryMethod(self._handle, grpc.stream_stream_rpc_method_handler, METHOD_PATHS)
        self._server.add_generic_rpc_handlers((every,))
        port = self._server.add_insecure_port(f"{HOST}:0")
        await self._server.start()
        self._splice = Splice(HOST, port, framed=True)
        self._meeting = Meeting(asyncio.sleep, self._splice)
        self.address = f"{HOST}:{await self._splice.listen(HOST, 0, None)}"

    async def _stop(self) -> None:
        await self._splice.close()
        await self._server.stop(None)

    async def _handle(self, method: str, requests: AsyncIterator[bytes], context: Any) -> None:
        script, asked = self._script, self.asked
        came = [await anext(aiter(requests), b"")]
        if method in ("DoPut", "DoExchange"):
            came += [one async for one in requests]
        asked.append((method, tuple(came)))
        reply = _reply(script, method, came[0])
        if reply is None:
            await context.abort(grpc.StatusCode[NO_METHOD], "the script has no reply")
            raise AssertionError("abort raises")
        meets = Meets(self._meeting, _fault(reply), context)
        if await meets.end():
            return
        end = reply.end
        for data in reply.messages[: end.after] if end.kind == "status" and end.code != "OK" else reply.messages:
            await context.write(data)
            if await meets.passed(data):
                return
        context.set_trailing_metadata(end.trailers)
        if end.code != "OK":
            context.set_code(grpc.StatusCode[end.code])
            context.set_details(end.details)


def _reply(script: Script, method: str, request: bytes) -> Reply | None:
    if any(one in request for one in _SQL):
        return None
    if method == "DoGet" and script.tickets:
        asked = message_of("Ticket", request)
        ticket = bytes(asked.data("ticket")) if asked is not None else b""
        if ticket in script.tickets:
            return script.tickets[ticket]
    return script.replies.get(method)


def _fault(reply: Reply) -> PlannedFault | None:
    """What happens to the connection of a call."""
    end = reply.end
    match end.kind:
        case "reset":
            return PlannedFault(FaultKind.RESET, responses=end.after)
        case "inside":
            before = sum(_PREFIX + len(data) for data in reply.messages[: end.after])
            inside = reply.messages[end.after] if end.after < len(reply.messages) else b""
            return PlannedFault(FaultKind.RESET, bytes=before + _PREFIX + len(inside) // 2)
        case "goaway":
            return PlannedFault(FaultKind.GOAWAY, responses=end.after)
    return None
