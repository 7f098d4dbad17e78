"""The recordings that a replay server holds: each with its own table, its plan of faults, and the calls that it saw."""

from __future__ import annotations

import dataclasses
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from google.protobuf.message import DecodeError

from conformance.contract import proto
from conformance.readers.rest import RestTable
from conformance.readers.tape import Answer, NotRecordedError, Tape, Tapes
from conformance.records import Fault, FlightMethod
from conformance.replay.flighttape import FlightTapes
from conformance.targets.faulting import Faults

__all__ = ["FLIGHT", "Held", "Shelf", "renamed"]

FLIGHT: Final = frozenset(FlightMethod)
"""The methods of Flight by their bare names."""


@dataclasses.dataclass
class Held:
    """One recording, of Storage Read in ``tapes`` or of Flight in ``flight``.

    ``slow`` is the seconds behind each response, ``happened`` has the faults that came so far.
    """

    name: str
    tapes: Tapes
    plan: tuple[Fault, ...] = ()
    slow: float = 0.0
    flight: FlightTapes = dataclasses.field(default_factory=FlightTapes)

    def __post_init__(self) -> None:
        self.faults = Faults(self.plan)
        self.happened: list[Fault] = []
        self._open: list[Mapping[str, Any]] = []
        self._changed = threading.Condition()

    def begin(self, call: Mapping[str, Any]) -> None:
        """Note that a call has begun."""
        with self._changed:
            self._open.append(call)

    def end(self, call: Mapping[str, Any]) -> None:
        """Note that it is over."""
        with self._changed:
            self._open = [one for one in self._open if one is not call]
            self._changed.notify_all()

    def open_after(self, seconds: float) -> list[Mapping[str, Any]]:
        """The calls that go on; returns as soon as there are none, and at the latest after so many seconds."""
        with self._changed:
            self._changed.wait_for(lambda: not self._open, seconds)
            return list(self._open)

    def state(self) -> dict[str, Any]:
        """What it holds, as JSON."""
        sessions = [
            {
                "table": tape.table,
                "data_format": "AVRO" if tape.asked.data_format == proto.DATA_FORMAT["AVRO"] else "ARROW",
                "selected_fields": list(tape.asked.read_options.selected_fields),
                "row_restriction": tape.asked.read_options.row_restriction,
                "status": tape.ending.status,
                "streams": [
                    {"name": stream.name, "status": stream.ending.status, "offsets": list(stream.places)}
                    for stream in tape.streams
                ],
            }
            for tape in self.tapes
        ]
        made = {"name": self.name, "table": self.table, "sessions": sessions, "faults": len(self.plan)}
        return made | {"calls": calls} if (calls := self.flight.state()) else made

    @property
    def table(self) -> str:
        """The name of the first session's table; empty for a recording of Flight."""
        return next((tape.table for tape in self.tapes), "")

    def names(self) -> set[str]:
        """The names by which requests find this recording: tables and streams, and calls of Flight."""
        streams = {stream.name for stream in self.tapes.streams()}
        return {tape.table for tape in self.tapes} | streams | self.flight.names()


class Shelf:
    """The recordings by name; threads may share it. A later one takes the tables and streams of an earlier one."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._held: dict[str, Held] = {}
        self._by_key: dict[str, Held] = {}

    def put(self, held: Held) -> None:
        """Add a recording, or replace that of its name."""
        with self._lock:
            self._held[held.name] = held
            self._index()

    def drop(self, name: str) -> bool:
        """Remove a recording; False if there is none of this name."""
        with self._lock:
            found = self._held.pop(name, None)
            self._index()
        return found is not None

    def plan(self, name: str, plan: Sequence[Fault]) -> bool:
        """Give a recording another plan, whose counts begin again; False if there is no such recording."""
        with self._lock:
            held = self._held.get(name)
            if held is not None:
                held.plan, held.faults, held.happened = tuple(plan), Faults(plan), []
        return held is not None

    def _index(self) -> None:
        self._by_key = {key: held for held in self._held.values() for key in held.names()}

    def get(self, name: str) -> Held | None:
        """The recording of this name."""
        return self._held.get(name)

    def all(self) -> list[Held]:
        """Every recording."""
        with self._lock:
            return list(self._held.values())

    def of_key(self, key: str) -> Held | None:
        """The recording of a table or a stream."""
        return self._by_key.get(key)

    def answer(self, method: str, key: str, request: bytes) -> tuple[Held, Answer]:
        """The recording that a request asks for, and its answer.

        Raises:
            NotRecordedError: there is none.
        """
        held = self._by_key.get(key)
        if held is None:
            said = key if method in FLIGHT else f"{method} of {key!r}"
            raise NotRecordedError(f"{said}; GET /replay/exchanges of the REST port lists what is")
        return held, held.flight.answer(key) if method in FLIGHT else held.tapes.answer(method, request)

    def described(self, project: str, dataset: str, table: str) -> RestTable | None:
        """The table as ``tables.get`` shows it."""
        for held in reversed(self.all()):
            if (found := held.tapes.described(project, dataset, table)) is not None:
                return found
        return None


def renamed(tape: Tape, table: str, number: str) -> Tape:
    """The tape with another table, and with names of its session and streams that no other recording has.

    Only the session's own message is written again; the responses stay as they were recorded.
    """
    request = proto.CreateReadSessionRequest.FromString(tape.request)
    request.read_session.table = table
    if tape.ending.status != "OK":
        return dataclasses.replace(tape, table=table, request=request.SerializeToString())
    try:
        session = proto.ReadSession.FromString(tape.session)
    except DecodeError:  # it is answered as it came; nothing in it can have another name
        return dataclasses.replace(tape, table=table, request=request.SerializeToString())
    before, after = session.name, f"{session.name}-{number}"

    def other(name: str) -> str:
        return after + name.removeprefix(before) if name.startswith(before) else f"{name}-{number}"

    session.name, session.table = after, table
    for stream in session.streams:
        stream.name = other(stream.name)
    streams = tuple(dataclasses.replace(stream, name=other(stream.name)) for stream in tape.streams)
    made = (request.SerializeToString(), session.SerializeToString())
    splits = tuple(_split(*split, other) for split in tape.splits)
    return dataclasses.replace(tape, table=table, request=made[0], session=made[1], streams=streams, splits=splits)


def _split(request: bytes, answer: bytes, other: Callable[[str], str]) -> tuple[bytes, bytes]:
    """A recorded split with other names."""
    asked = proto.SplitReadStreamRequest.FromString(request)
    made = proto.SplitReadStreamResponse.FromString(answer)
    asked.name = other(asked.name)
    for child in (made.primary_stream, made.remainder_stream):
        if child.name:
            child.name = other(child.name)
    return asked.SerializeToString(), made.SerializeToString()
