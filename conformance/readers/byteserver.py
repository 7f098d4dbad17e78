"""A loopback server of every protocol that answers with exactly the bytes that a target once sent.

It sends the recorded responses unchanged, without parsing and serializing them again, and answers only what was
recorded (:mod:`.tape`): any other request gets FAILED_PRECONDITION, because an invented continuation would hide the
target's behaviour. It answers CreateReadSession with the recorded session if the rows and columns are those that the
client asks for; the client chooses the other options itself, and the rows do not depend on them.

A :class:`Desk` chooses the recording, and may end a call early: that of :mod:`conformance.replay` has a fault plan.
Readers, to whose calls nothing happens, use the simpler server of :mod:`.oneread`.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Coroutine, Iterable
from typing import Any, Final, Protocol, TypeVar

import grpc
import grpc.aio

from conformance.contain.loops import says_plainly
from conformance.protocol import plugins
from conformance.readers.oneread import HOST, OPTIONS, EveryMethod
from conformance.readers.plugin import ReadersPlugin
from conformance.readers.tape import Answer, NotRecordedError
from conformance.records import MetadataEntry, Turn

__all__ = ["Desk", "Loop", "ReplayServer", "Visit"]

SECONDS: Final = 30.0
"""The most seconds that a step of the server's own takes."""

T = TypeVar("T")


class Visit(Protocol):
    """One call: its recorded answer, and what a fault plan lets happen to it."""

    answer: Answer

    def came(self, data: bytes) -> None:
        """Note a further message of the client."""

    async def end(self) -> bool:
        """True if the call ends before its first response, in what was set for the client."""

    async def passed(self, data: bytes) -> bool:
        """Note a response that was sent; True if the call ends behind it."""

    def over(self, status: str) -> None:
        """Note how the call ended: a status, or ``cancelled``."""


class Desk(Protocol):
    """Chooses what calls are answered with."""

    async def call(self, method: str, request: bytes, context: Any) -> Visit:
        """The answer to a call of the method with this bare name; raises :class:`NotRecordedError`."""


class Loop:
    """An event loop in a thread of its own."""

    def __init__(self, name: str) -> None:
        self._loop = says_plainly(asyncio.new_event_loop())
        self._thread = threading.Thread(target=self._loop.run_forever, name=name, daemon=True)
        self._thread.start()

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """The result of ``work``, which the loop does; for other threads than the loop's."""
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(SECONDS)

    def close(self) -> None:
        """End the thread."""
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


class ReplayServer:
    """A server from construction to :meth:`close`; ``address`` is ``host:port``.

    ``desk`` chooses what is answered, and ``loop`` is shared with others that belong to the server.
    """

    def __init__(self, desk: Desk, loop: Loop) -> None:
        self._desk = desk
        self._loop = loop
        self.address = self._loop.run(self._start())

    def close(self) -> None:
        """Stop the server and end the calls in progress."""
        self._loop.run(self._server.stop(None))

    async def _start(self) -> str:
        self._server = grpc.aio.server(options=OPTIONS)
        every = EveryMethod(self._handle, grpc.stream_stream_rpc_method_handler, _methods())
        self._server.add_generic_rpc_handlers((every,))
        address = f"{HOST}:{self._server.add_insecure_port(f'{HOST}:0')}"
        await self._server.start()
        return address

    async def _handle(self, method: str, requests: AsyncIterator[bytes], context: Any) -> None:
        first = await anext(aiter(requests), b"")
        try:
            visit = await self._desk.call(method, first, context)
        except NotRecordedError as error:
            await context.abort(grpc.StatusCode.FAILED_PRECONDITION, f"not recorded: {error}")
            raise AssertionError("abort raises") from None
        status = "cancelled"
        try:
            if await self._answer(visit, requests, context):
                ending = visit.answer[1]
                context.set_trailing_metadata(_pairs(ending.trailers))
                context.set_code(grpc.StatusCode[ending.status])
                context.set_details(ending.details)
            code = context.code()
            status = code.name if isinstance(code, grpc.StatusCode) else "OK"
        finally:
            visit.over(status)

    async def _answer(self, visit: Visit, requests: AsyncIterator[bytes], context: Any) -> bool:
        """Send the responses; False if the call ended before the recorded end.

        Where the client streams, a response waits for as many requests as it followed when it was recorded, or for the
        end of the client's messages.
        """
        if await visit.end():
            return False
        responses, ending = visit.answer
        if ending.initial:
            await context.send_initial_metadata(_pairs(ending.initial))
        following = iter(responses)
        further = aiter(requests)
        for turn in ending.order.removeprefix(Turn.REQUEST) or Turn.RESPONSE * len(responses):
            if turn != Turn.RESPONSE:
                await _take(visit, further, every=turn == Turn.HALF_CLOSE)
                continue
            data = next(following)
            await context.write(data)
            if await visit.passed(data):
                return False
        return True


def _methods() -> dict[str, str]:
    """The bare names of the methods of all protocols."""
    return {full: name for one in plugins(ReadersPlugin).values() for full, name in one.methods.items()}


async def _take(visit: Visit, requests: AsyncIterator[bytes], *, every: bool) -> None:
    """Take the next message of the client, if it sends one, or ``every`` further one."""
    async for data in requests:
        visit.came(data)
        if not every:
            return


def _pairs(entries: Iterable[MetadataEntry]) -> tuple[tuple[str, str | bytes], ...]:
    return tuple((one.key, _value(one.key, one.value)) for one in entries)


def _value(key: str, value: bytes) -> str | bytes:
    return value if key.endswith("-bin") else value.decode("utf-8", "replace")
