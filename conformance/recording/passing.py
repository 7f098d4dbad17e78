"""Passes gRPC calls on as they are: message bytes, metadata, deadline, cancellation, status and its details.

Every call is passed on as a stream in both directions, which on the wire includes the other three kinds. A message is
read from one side when the other side has taken the one before, so a slow client slows down its server, and memory
does not grow. gRPC's own layer is not passed on: the frames of HTTP/2, the compression of messages, pings and the
``user-agent``, which is the proxy's. A fault plan (:class:`Meeting`) lets faults happen to calls.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import time
from collections.abc import AsyncIterator
from typing import Any, Final

import grpc
import grpc.aio

from conformance.recording.journal import Ended, Journal
from conformance.recording.keeping import KeptMessages, Metadata
from conformance.recording.meeting import Meeting, Meets
from conformance.records import CallEnd
from conformance.targets.faulting import Faults
from conformance.targets.recordedcall import is_lost

__all__ = ["OPTIONS", "Passing"]

OPTIONS: Final = (
    ("grpc.max_send_message_length", -1),
    ("grpc.max_receive_message_length", -1),
    ("grpc.max_metadata_size", 1 << 20),
    ("grpc.absolute_max_metadata_size", 1 << 20),
    # A call is made as often as its client makes it.
    ("grpc.enable_retries", 0),
    ("grpc.enable_http_proxy", 0),
    ("grpc.use_local_subchannel_pool", 1),
    # Two servers on one port would share its connections; a taken port has to be an error instead.
    ("grpc.so_reuseport", 0),
    # The server's own limit on pings decides. A proxy that is stricter would end connections that it permits.
    ("grpc.http2.min_ping_interval_without_data_ms", 1),
    ("grpc.http2.max_ping_strikes", 0),
    ("grpc.keepalive_permit_without_calls", 1),
    # gRPC takes so many bytes of each stream in advance. Its own estimate grows to MiBs for each of many streams.
    ("grpc.http2.bdp_probe", 0),
    ("grpc.http2.lookahead_bytes", 256 << 10),
)
"""The options of both sides of the proxy."""

HEADERS_ALONE: Final = 0.05
"""Seconds to wait for a first message after empty headers, so that a refusal is passed on as one block (trailers only):
clients that repeat calls do so only if no headers came before.
"""

_LIBRARY: Final = "user-agent"
"""The one key of a client that gRPC replaces by its own."""


class Passing(grpc.GenericRpcHandler):  # type: ignore[type-arg]  # it is generic in the stubs alone
    """Handles every method: passes each call on to ``upstream``, and gives the calls to ``journal``, which keeps some.

    ``meeting`` lets ``faults`` happen to them; without it, everything is passed on unchanged.
    """

    def __init__(
        self,
        upstream: grpc.aio.Channel,
        journal: Journal,
        meeting: Meeting | None = None,
        faults: Faults | None = None,
    ) -> None:
        self._upstream = upstream
        self._journal = journal
        self._meeting = meeting
        self._faults = faults or Faults(())

    def service(self, details: grpc.HandlerCallDetails) -> Any:
        """The handler of a method, whatever its name."""
        # Without functions that parse and serialize, messages are bytes.
        return grpc.stream_stream_rpc_method_handler(functools.partial(self._pass, details.method))

    async def _pass(self, method: str, requests: AsyncIterator[bytes], context: Any) -> None:
        sent: Metadata = context.invocation_metadata() or ()
        kept = self._journal.keep(method, sent)
        # A remaining time of 0 or less would be no deadline at all for the library.
        remaining = context.time_remaining()
        timeout = None if remaining is None else max(remaining, 0.001)
        metadata = tuple((key, value) for key, value in sent if key != _LIBRARY)
        meets = None
        if self._meeting is not None:
            meets, requests = await self._meeting.begin(self._faults, method, requests, context)
        opened: Any = self._upstream.stream_stream(method, None, None)
        call = opened(metadata=metadata, timeout=timeout)
        passed = _Passed(call, context, kept, began=time.monotonic(), timeout=timeout, meets=meets)
        pushing = asyncio.ensure_future(passed.push(requests))
        try:
            if await passed.pull():
                await passed.conclude()
        finally:
            pushing.cancel()
            call.cancel()  # does nothing to a call that has ended
            if kept is not None:
                self._journal.end(kept, passed.ended())


class _Passed:
    """A call on its way: what came from either side so far, and how it ended."""

    def __init__(
        self,
        call: Any,
        context: Any,
        kept: KeptMessages | None,
        *,
        began: float,
        timeout: float | None,
        meets: Meets | None,
    ) -> None:
        self._call = call
        self._context = context
        self._kept = kept
        self._began = began
        self._timeout = timeout
        self._meets = meets
        self._initial: Metadata = ()
        self._end: tuple[grpc.StatusCode, str, Metadata] | None = None

    async def push(self, requests: AsyncIterator[bytes]) -> None:
        """Pass on the client's messages and its half-close."""
        # After the end of the call nobody takes further requests, and the answer says how it ended.
        with contextlib.suppress(grpc.aio.AioRpcError, asyncio.InvalidStateError, grpc.aio.InternalError):
            async for data in requests:
                if self._kept is not None:
                    self._kept.request(data)
                await self._write(data)
            if self._kept is not None:
                self._kept.half_close()
            await self._call.done_writing()

    async def pull(self) -> bool:
        """Pass on the server's headers and messages; False if a fault of the plan ended the call before its end."""
        if self._meets is not None and await self._meets.end():
            return False
        self._initial = _pairs(await self._call.initial_metadata())
        first = asyncio.ensure_future(self._read())
        try:
            if self._initial or not (await asyncio.wait({first}, timeout=HEADERS_ALONE))[0]:
                await self._context.send_initial_metadata(self._initial)
            data = await first
        finally:
            first.cancel()
        while data is not None:
            if self._kept is not None:
                self._kept.response(data)
            await self._context.write(data)
            if self._meets is not None and await self._meets.passed(data):
                return False
            data = await self._read()
        return True

    async def _write(self, data: bytes) -> None:
        """Send a message, which a server that has refused the call does not take.

        ``write`` of the library then ends the call in INTERNAL ("Internal error from Core") unless the status of the
        server has been read already, and that status is lost. What it calls only raises an exception.
        """
        await self._call.wait_for_connection()
        await self._call._cython_call.send_serialized_message(data)  # noqa: SLF001  # the docstring says why

    async def _read(self) -> bytes | None:
        """The next message, None after the last one."""
        try:
            data = await self._call.read()
        except grpc.aio.AioRpcError:
            return None
        return data if isinstance(data, bytes) else None

    async def conclude(self) -> None:
        """Pass on the status with its message and the trailers."""
        code, details = await self._call.code(), await self._call.details() or ""
        self._end = code, details, _pairs(await self._call.trailing_metadata())
        self._context.set_trailing_metadata(self._end[2])
        self._context.set_code(code)
        self._context.set_details(details)

    def ended(self) -> Ended:
        """How the call ended: by the server, by the client, or because the connection broke."""
        seconds = time.monotonic() - self._began
        if self._end is None and self._meets is not None and self._meets.happened:
            said = f"the fault plan broke the call off: {self._meets.fault}"
            return Ended("", said, CallEnd.CANCELLED, self._initial, (), seconds)
        if self._end is None:
            late = self._timeout is not None and seconds >= self._timeout
            said = "the client's deadline passed" if late else "the client cancelled the call"
            return Ended("", said, CallEnd.CANCELLED, self._initial, (), seconds)
        code, details, trailers = self._end
        if code is grpc.StatusCode.DEADLINE_EXCEEDED and self._timeout is not None and seconds >= self._timeout:
            return Ended("", "the client's deadline passed", CallEnd.CANCELLED, self._initial, trailers, seconds)
        if is_lost(code, details):
            return Ended("", f"the connection broke: {details}", CallEnd.CRASH, self._initial, trailers, seconds)
        return Ended(code.name, details, CallEnd.COMPLETE, self._initial, trailers, seconds)


def _pairs(metadata: Any) -> tuple[tuple[str, str | bytes], ...]:
    return tuple((key, value) for key, value in metadata or ())
