"""The Flight clients that are judged, and the scripted server that all of them ask."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, Self

from conformance.clients.givenrows import Compared, answer_of, compared_with
from conformance.clients.programs import ProgramPool
from conformance.clients.task import AGAIN
from conformance.contract.clientjudging import Situation
from conformance.protocols.flight.clients.script import Reply, Script
from conformance.protocols.flight.clients.server import ScriptedServer
from conformance.protocols.flight.clients.situations import FlightSet, default_script, put_to
from conformance.protocols.flight.clients.streams import NAME
from conformance.protocols.flight.clients.uploads import uploaded_wrongly
from conformance.protocols.flight.contract.clientread import FlightRead
from conformance.protocols.flight.contract.decoding import message_of, read_info, read_poll
from conformance.readers.info import ReaderInfo
from conformance.readers.ipc.job import JobAnswer, JobOutcome
from conformance.records import ReadingOutcome
from conformance.wire import PlainTable

__all__ = ["FlightPool"]

_NOTHING: Final = Reply()
_LEGAL: Final = (Situation.HEALTHY, Situation.EMPTY)
_ERRORS: Final = (JobOutcome.REFUSED, JobOutcome.UNSUPPORTED)


class FlightPool(ProgramPool):
    """Programs and a scripted server; use as a context manager."""

    def __enter__(self) -> Self:
        self._server = self._ends.enter_context(ScriptedServer())
        return super().__enter__()

    def put(self, name: str, asked: FlightSet) -> tuple[FlightSet, str]:
        """The situation as this path sees it, and the reason why it does not, if it does not."""
        return put_to(self.infos[name], asked)

    def served_digest(self, asked: FlightSet) -> str:
        """A digest of what a situation serves."""
        return asked.script.digest

    def compared(self, info: ReaderInfo, asked: FlightSet, got: PlainTable) -> Compared:
        """The rows that a client gave, compared with those that it had to give."""
        expected = asked.expected
        return compared_with(expected, got, info, case=asked.id, schema=expected.schema, ordered=asked.ordered)

    def read(
        self, info: ReaderInfo, asked: FlightSet, answer: JobAnswer, events: Sequence[Mapping[str, Any]]
    ) -> FlightRead:
        """What a client made of a situation; ``events`` are what it asked the server for it."""
        made = answer_of(info, answer, functools.partial(self.compared, info, asked))
        if answer.outcome is JobOutcome.UNSUPPORTED and asked.kind not in _LEGAL:
            # Which exception a library raises for a message that it cannot read is its choice.
            made = dataclasses.replace(made, outcome=ReadingOutcome.ERROR)
        calls = [one for one in events if one["event"] == "call"]
        tickets = tuple(_foreign_tickets(asked, calls))
        answered = dataclasses.replace(made, tickets=tickets, uploads=tuple(uploaded_wrongly(calls)))
        return FlightRead(asked.kind, asked.title, answered, metadata=asked.asks.endswith("metadata"))

    def fetch(self, name: str, asked: FlightSet) -> tuple[JobAnswer, Sequence[dict[str, Any]]]:
        """The answer of a client in a situation, the further tries, and the calls that it made in the last one. Where
        there are several tries, an error is permitted, and the first other answer tells more.

        Raises:
            Unavailable: the program cannot be started any more.
        """
        program, path = self._paths[name]
        request = {"op": "flight", "path": path, "grpc": self._server.address, "name": NAME}
        if not self.is_warm(program):
            self._server.play(Script(default_script()))
            self.warm_up(program, request)
        events: list[dict[str, Any]] = []
        for left in reversed(range(asked.tries)):
            self._server.play(asked.script)
            answer = self._runners[program].fetch(asked.id, request)
            if answer.outcome not in _ERRORS or not left:
                break
            events.append({"event": AGAIN})
        events += ({"event": "call", "method": method, "requests": sent} for method, sent in self._server.asked)
        return answer, events


def _foreign_tickets(asked: FlightSet, events: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Complaints about tickets that no info of the script has; a path that asks for data alone makes its own."""
    given = {endpoint.ticket for endpoint in _endpoints(asked)}
    if asked.asks not in ("flight", "poll"):
        return
    for event in events:
        if event["method"] == "DoGet":
            found = message_of("Ticket", event["requests"][0])
            sent = bytes(found.data("ticket")) if found is not None else b""
            if sent not in given:
                yield f"it asks for the ticket {sent!r}"


def _endpoints(asked: FlightSet) -> Iterator[Any]:
    for data in asked.script.replies.get("GetFlightInfo", _NOTHING).messages:
        found = read_info(data)
        yield from found.endpoints if found is not None else ()
    for data in asked.script.replies.get("PollFlightInfo", _NOTHING).messages:
        poll = read_poll(data)
        yield from poll.info.endpoints if poll is not None and poll.info is not None else ()
