"""What each call to a replay server is answered with: the recorded answer, unless the recording's plan has a fault."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from conformance.readers import restanswers
from conformance.readers.byteserver import Visit
from conformance.readers.tape import Answer, NotRecordedError, RecordedEnding
from conformance.recording.meeting import Clock, Meeting, Meets
from conformance.recording.methods import stream_of
from conformance.records import FaultKind, PlannedFault
from conformance.replay.asked import AskedLog
from conformance.replay.shelf import Held, Shelf, spoken_of

__all__ = ["ReplayDesk"]

_KEPT: Final = ("user-agent", "x-goog-api-client", "x-goog-request-params")
"""The headers of clients that are logged; none of them holds a credential."""


_ENDS: Final = (FaultKind.STATUS, FaultKind.RESET)
"""The faults that end a call even if nothing was recorded that answers it."""


def _nothing(_fault: PlannedFault) -> None:
    """A call of no recording has no plan."""


class ReplayDesk:
    """The desk of a shelf: ``meeting`` lets faults happen, ``asked`` is the log, slow answers wait for ``clock``."""

    def __init__(self, shelf: Shelf, asked: AskedLog, meeting: Meeting, clock: Clock) -> None:
        self._shelf = shelf
        self._asked = asked
        self._meeting = meeting
        self._clock = clock

    async def call(self, method: str, request: bytes, context: Any) -> Visit:
        """The answer to a call, and what happens to it; raises :class:`NotRecordedError`."""
        facts = _facts(method, request, context)
        key = spoken_of(method).key(method, request)
        held = self._shelf.of_key(key)
        fault = None if held is None else held.faults.next(method, stream_of(method, request))
        come = held.happened.append if held is not None else _nothing
        meets = Meets(self._meeting, fault, context, on_come=come)
        try:
            answer = self._shelf.answer(method, key, request)[1]
        except NotRecordedError as error:
            if fault is None or fault.responses or fault.kind not in _ENDS:
                self._asked.say("call", **facts, responses=0, end="not recorded", why=str(error))
                raise
            answer = ((), RecordedEnding())
        return _Served(self, answer, meets, held, facts)

    def http(self, method: str, target: str, headers: Mapping[str, str], body: bytes) -> tuple[int, Any]:
        """Answer a REST request."""
        status, made = restanswers.answer(self._shelf.described, method, target, body, self._shelf)
        agent = headers.get("user-agent", "")
        self._asked.say("request", method=method, target=target, status=status, agent=agent)
        return status, made

    async def wait(self, seconds: float) -> None:
        """Wait on the clock of slow answers."""
        await self._clock(seconds)

    def over(self, facts: Mapping[str, Any]) -> None:
        """Log a call that has ended."""
        self._asked.say("call", **facts)


class _Served:
    """One call on its way."""

    def __init__(
        self, desk: ReplayDesk, answer: Answer, meets: Meets, held: Held | None, facts: dict[str, Any]
    ) -> None:
        self.answer = answer
        self._further = 0
        self._same = True
        self._desk = desk
        self._meets = meets
        self._held = held
        self._facts = facts
        self._count = 0
        if held is not None:
            held.begin(facts)

    def came(self, data: bytes) -> None:
        """Note a further message of the client, and whether it is the recorded one."""
        self._further += 1
        self._same &= self.answer[1].requests[self._further : self._further + 1] == (data,)

    async def end(self) -> bool:
        """True if a fault ends the call before its first response."""
        return await self._meets.end()

    async def passed(self, data: bytes) -> bool:
        """True if a fault ends the call behind this response."""
        self._count += 1
        if self._held is not None and self._held.slow:
            await self._desk.wait(self._held.slow)
        return await self._meets.passed(data)

    def over(self, status: str) -> None:
        """Log how the call ended."""
        fault = str(self._meets.fault) if self._meets.fault is not None else ""
        name = "" if self._held is None else self._held.name
        facts = self._facts | {"exchange": name, "responses": self._count, "end": status, "fault": fault}
        if self._facts["method"] in spoken_of(self._facts["method"]).streamed:
            same = self._same and self._further == max(0, len(self.answer[1].requests) - 1)
            facts |= {"further_requests": self._further, "as_recorded": same}
        self._desk.over(facts | {"fault_happened": self._meets.came})
        if self._held is not None:
            self._held.end(self._facts)


def _facts(method: str, request: bytes, context: Any) -> dict[str, Any]:
    """What a request asks for, for the log."""
    sent = {key: str(value) for key, value in context.invocation_metadata() or () if key in _KEPT}
    return {"method": method, **spoken_of(method).facts(method, request), "sent": sent}
