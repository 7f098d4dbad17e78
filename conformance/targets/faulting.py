"""A fault plan in use: which calls meet a fault, and a connection in between that breaks when the plan says so.

The plan is data (:class:`~conformance.records.PlannedFault`). Two parties carry it out: the suite's driver, which is
itself the client, and the proxy of :mod:`conformance.recording`, behind which any client may be. Both ask
:class:`Faults`, and both break connections through :mod:`.splice`.
"""

from __future__ import annotations

import asyncio
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, Final, Self

import grpc

from conformance.contain.loops import says_plainly
from conformance.records import FaultKind, PlannedFault
from conformance.targets.splice import Splice

__all__ = ["BreakableLine", "Faults", "Met"]

HOST: Final = "127.0.0.1"
SECONDS: Final = 10.0
"""The most seconds that a step of a line takes, which is work of this process alone."""


class Faults:
    """The plan in use. It counts the calls of each method and stream; threads may share it."""

    def __init__(self, plan: Sequence[PlannedFault]) -> None:
        self._plan = tuple(plan)
        self._calls: Counter[tuple[str, str]] = Counter()
        self._streams: dict[str, int] = {}
        self._lock = threading.Lock()

    def next(self, method: str, stream: str) -> PlannedFault | None:
        """Return what happens to the call of ``method`` that begins now, None if nothing does; ``stream`` is the name
        of the stream that it asks for, empty if it asks for none.
        """
        with self._lock:
            number = self._calls[method, stream]
            self._calls[method, stream] += 1
            place = self._streams.setdefault(stream, len(self._streams)) if stream else None
        for fault in self._plan:
            if (fault.method, fault.call) == (method, number) and fault.stream in (None, place):
                return fault
        return None

    def calls(self) -> Counter[tuple[str, str]]:
        """The number of calls so far of each method and stream."""
        with self._lock:
            return self._calls.copy()


class BreakableLine:
    """A connection to ``endpoint`` that can be broken, in a thread of its own; use it as a context manager.

    ``endpoint`` of the line is where clients connect. ``framed`` says that gRPC is spoken in plain text. ``cut`` breaks
    each connection after so many bytes (:class:`~conformance.targets.splice.Splice`).
    """

    def __init__(self, endpoint: str, *, framed: bool, cut: int | None = None) -> None:
        host, _, port = endpoint.rpartition(":")
        self._splice = Splice(host.strip("[]"), int(port), framed=framed, cut=cut)
        self._loop = says_plainly(asyncio.new_event_loop())
        self._thread = threading.Thread(target=self._loop.run_forever, name="line", daemon=True)
        self.endpoint = ""

    def __enter__(self) -> Self:
        self._thread.start()
        port = asyncio.run_coroutine_threadsafe(self._splice.listen(HOST, 0, None), self._loop).result(SECONDS)
        self.endpoint = f"{HOST}:{port}"
        return self

    def __exit__(self, *_error: object) -> None:
        asyncio.run_coroutine_threadsafe(self._splice.close(), self._loop).result(SECONDS)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    @property
    def broke(self) -> bool:
        """True if a fault has broken a connection of this line."""
        return self._splice.broken > 0

    def reset(self) -> None:
        """Break the connection, on both sides; returns when that is done."""

        async def reset() -> None:
            self._splice.reset()

        asyncio.run_coroutine_threadsafe(reset(), self._loop).result(SECONDS)


class Met:
    """A fault that a call of the suite's driver meets; ``line`` is its connection, ``wait`` ends with a DELAY."""

    def __init__(self, fault: PlannedFault, *, line: BreakableLine, wait: Callable[[], None]) -> None:
        self.fault = fault
        self._line = line
        self._wait = wait

    def timeout(self, seconds: float) -> float:
        """The call's own deadline, where ``seconds`` are permitted without a fault."""
        return min(seconds, self.fault.seconds) if self.fault.kind is FaultKind.DEADLINE else seconds

    def longest(self, seconds: float) -> float:
        """The most seconds of the whole call, where ``seconds`` are permitted without a fault: a pause may take them
        once, and what follows again.
        """
        return 2 * seconds if self.fault.kind is FaultKind.DELAY else seconds

    def comes(self, responses: int) -> bool:
        """True if the fault happens now that so many responses have come."""
        return self.fault.bytes is None and responses == self.fault.responses

    def ends(self, running: Any) -> bool:
        """Let the fault happen to a running call; False if the call goes on."""
        match self.fault.kind:
            case FaultKind.RESET:
                self._line.reset()
            case FaultKind.DELAY:
                self._wait()
                return False
            case FaultKind.DEADLINE:
                running.code()  # it waits for the end of the call, which the library's timer brings
        return True

    def explains(self, code: grpc.StatusCode) -> bool:
        """True if a call ended in ``code`` because of the fault, and not because of the target."""
        if self.fault.kind is FaultKind.DEADLINE:
            return code is grpc.StatusCode.DEADLINE_EXCEEDED
        return self._line.broke and code is not grpc.StatusCode.OK
