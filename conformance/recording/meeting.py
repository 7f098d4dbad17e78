"""Lets the faults of a plan happen to calls that the proxy passes on: statuses, delays, and connections that break.

A call meets its fault after the responses that the plan says. These responses are sent to its client, and the call
upstream is cancelled. Connections of clients lead through a :class:`~conformance.targets.splice.Splice`, which sees
when the last of these responses has passed. So the same bytes come in each run. Where a connection breaks, gRPC may
drop responses that its program has not taken yet.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any, Final, TypeAlias

import grpc

from conformance.contract.rpcstatus import TRAILER, retry_status
from conformance.recording.methods import recorded_methods, stream_of
from conformance.records import FaultKind, PlannedFault
from conformance.targets.faulting import Faults
from conformance.targets.splice import Splice

__all__ = ["Clock", "Meeting", "Meets"]

Clock: TypeAlias = Callable[[float], Awaitable[None]]
"""What a DELAY waits for: given seconds, it returns when they have passed."""

_PREFIX: Final = 5
"""The bytes of a message's prefix in gRPC."""


class Meeting:
    """Lets faults happen to calls. ``splice`` is what the connections of clients lead through, None if no fault breaks
    one.
    """

    def __init__(self, clock: Clock, splice: Splice | None) -> None:
        self._clock = clock
        self._splice = splice

    async def begin(
        self, faults: Faults, method: str, requests: AsyncIterator[bytes], context: Any
    ) -> tuple[Meets, AsyncIterator[bytes]]:
        """Return what a call of ``method`` meets, and its requests, of which the first was read to know that."""
        first: bytes | None = None
        _, name = recorded_methods().get(method, (None, ""))
        if name:
            first = await anext(aiter(requests), None)
        fault = None if first is None else faults.next(name, stream_of(name, first))
        return Meets(self, fault, context), _again(first, requests)

    async def wait(self, seconds: float) -> None:
        """Wait on the plan's clock."""
        await self._clock(seconds)

    def note(self, port: int, data: bytes) -> None:
        """Note that a message was passed on over the connection from ``port``."""
        if self._splice is not None:
            self._splice.note(port, _PREFIX + len(data))

    def break_off(self, port: int, fault: PlannedFault) -> None:
        """Break the connection, or announce its end, when all messages so far have passed, or bytes of a message."""
        assert self._splice is not None
        self._splice.break_off(port, size=fault.bytes, leave=fault.kind is FaultKind.GOAWAY)


class Meets:
    """What one call meets: ``fault`` is None for most. ``came`` is True once it was time for the fault, and
    ``happened`` once the fault has ended the call. ``on_come`` gets the fault before the client can see it.
    """

    def __init__(
        self,
        meeting: Meeting,
        fault: PlannedFault | None,
        context: Any,
        *,
        on_come: Callable[[PlannedFault], None] = lambda _fault: None,
    ) -> None:
        self.fault = fault
        self.came = False
        self._on_come = on_come
        self.happened = False
        self._meeting = meeting
        self._context = context
        self._port = int(context.peer().rpartition(":")[2]) if ":" in context.peer() else 0
        self._count = 0
        if fault is not None and fault.bytes is not None:
            self.happened = True  # unless the call ends before
            self._come(fault)
            meeting.break_off(self._port, fault)

    async def passed(self, data: bytes) -> bool:
        """Note a response that was passed on; True if the call ends here."""
        self._count += 1
        self._meeting.note(self._port, data)
        return await self.end()

    def _come(self, fault: PlannedFault) -> None:
        self.came = True
        self._on_come(fault)

    async def end(self) -> bool:
        """Let the fault happen if it is time; True if the call ends with it."""
        fault = self.fault
        if fault is None or fault.bytes is not None or fault.responses != self._count:
            return False
        self._come(fault)
        match fault.kind:
            case FaultKind.DELAY:
                await self._meeting.wait(fault.seconds)
                return False
            case FaultKind.GOAWAY:
                self._meeting.break_off(self._port, fault)
                return False
            case FaultKind.RESET:
                self.happened = True
                self._meeting.break_off(self._port, fault)
                await asyncio.Event().wait()  # the library cancels the handler when it loses the connection
        self.happened = True
        self._context.set_trailing_metadata(_trailers(fault))
        self._context.set_code(grpc.StatusCode[fault.code])
        self._context.set_details(fault.details)
        return True


def _trailers(fault: PlannedFault) -> tuple[tuple[str, bytes], ...]:
    if fault.retry_after is None:
        return ()
    code = grpc.StatusCode[fault.code].value[0]
    return ((TRAILER, retry_status(code, fault.details, retry=fault.retry_after)),)


async def _again(first: bytes | None, rest: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    if first is not None:
        yield first
    async for data in rest:
        yield data
