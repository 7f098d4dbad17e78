"""The clients of Storage Read that are judged, and the server that all of them ask."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, Self

from conformance.clients.givenrows import Compared, answer_of, compared_with
from conformance.clients.programs import ProgramPool
from conformance.clients.replayed import NAME, request_of
from conformance.contract.clientjudging import ClientRead, Situation
from conformance.protocols.storage_read.clients.mutated import served_digest
from conformance.protocols.storage_read.clients.situations import Set, put_to
from conformance.readers.info import ReaderInfo
from conformance.readers.ipc.job import JobAnswer
from conformance.readers.programs.clienttable import sent_schema
from conformance.readers.programs.slot import warm_up_read
from conformance.readers.tape import Tape
from conformance.replay.certificates import CertificateError
from conformance.replay.server import Replay
from conformance.replay.sessions import SessionAnswers
from conformance.replay.shelf import Held
from conformance.wire import PlainTable

__all__ = ["ClientPool"]

CANCEL_SECONDS: Final = 20.0
"""Seconds in which a call that a client has cancelled reaches the server: generous, and waited for if it does not."""


class ClientPool(ProgramPool):
    """Programs and a replay server; use as a context manager."""

    def __enter__(self) -> Self:
        try:
            self._server = self._ends.enter_context(Replay(tls=bool(self._tls)))
        except CertificateError as error:
            self._no_tls = str(error)
            self._server = self._ends.enter_context(Replay(tls=False))
        return super().__enter__()

    def put(self, name: str, asked: Set) -> tuple[Set, str]:
        """The situation as this client asks for it, and the reason why it does not, if it does not."""
        return put_to(self.infos[name], asked)

    def served_digest(self, asked: Set) -> str:
        """A digest of what a situation serves."""
        return served_digest(asked)

    def compared(self, info: ReaderInfo, asked: Set, got: PlainTable) -> Compared:
        """The rows that a client gave, compared with those of the table."""
        return compared_with(
            asked.expected, got, info, case=asked.id, schema=sent_schema(asked.read), ordered=asked.ordered
        )

    def read(self, info: ReaderInfo, asked: Set, answer: JobAnswer, events: Sequence[Mapping[str, Any]]) -> ClientRead:
        """What a client made of a situation; ``events`` are what it asked the server for it."""
        made = answer_of(info, answer, functools.partial(self.compared, info, asked))
        offsets, left_open = tuple(_offsets(asked, events)), tuple(_left_open(events))
        return ClientRead(asked.kind, asked.title, dataclasses.replace(made, offsets=offsets, left_open=left_open))

    def fetch(self, name: str, asked: Set) -> tuple[JobAnswer, Sequence[dict[str, Any]]]:
        """The answer of a client in a situation, and what it asked the server; calls that are still open come last.

        Raises:
            Unavailable: the program cannot be started any more.
        """
        program, path = self._paths[name]
        if not self.is_warm(program):
            self._server.shelf.put(Held(NAME, SessionAnswers([Tape.of_read(warm_up_read())])))
            self.warm_up(program, self._request(program, path, warm_up_read().request))
        held = Held(NAME, SessionAnswers(asked.tapes), asked.plan)
        self._server.shelf.put(held)
        seen = self._server.asked.since(0)
        first = seen[-1]["number"] + 1 if seen else 0
        answer = self._runners[program].fetch(asked.id, self._request(program, path, asked.read.request))
        left = held.open_after(CANCEL_SECONDS) if asked.kind is Situation.ABANDONED else []
        return answer, [*self._server.asked.since(first), *({"event": "open", **call} for call in left)]

    def _request(self, program: str, path: str, request: bytes) -> dict[str, Any]:
        return {"path": path, **request_of(self._server, request, tls=program in self._tls)}


def _offsets(asked: Set, events: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Complaints about reads from an offset that the client had not reached."""
    tape = next(iter(asked.tapes))
    places = {stream.name: stream.places for stream in tape.streams}
    reached = dict.fromkeys(places, 0)
    for event in events:
        if event["event"] != "call" or event.get("method") != "ReadRows" or event.get("stream") not in places:
            continue
        name, offset = event["stream"], event["offset"]
        stops = places[name]
        if offset > reached[name] or offset not in stops:
            yield f"it reads stream {name.rpartition('/')[2]} from offset {offset} after it got {reached[name]} rows"
        else:
            reached[name] = max(reached[name], stops[min(stops.index(offset) + event["responses"], len(stops) - 1)])


def _left_open(events: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Complaints about calls that go on after the answer."""
    for event in events:
        if event["event"] == "open":
            stream = str(event.get("stream", "")).rpartition("/")[2]
            yield f"its {event['method']} of stream {stream} from offset {event.get('offset', 0)} is still open"
