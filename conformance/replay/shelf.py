"""The recordings that a replay server holds: each with its own table, its plan of faults, and the calls that it saw."""

from __future__ import annotations

import dataclasses
import threading
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from conformance.protocol import plugin
from conformance.readers.queryread import SUCCESS
from conformance.readers.restanswers import RecordedQueries, RestTable
from conformance.readers.tape import Answer, NotRecordedError
from conformance.recording.methods import protocol_of
from conformance.records import PlannedFault
from conformance.replay.plugin import RecordedAnswers, ReplayPlugin
from conformance.targets.faulting import Faults

__all__ = ["Held", "Shelf", "spoken_of"]


def spoken_of(method: str) -> ReplayPlugin:
    """What the protocol of a method brings, whose bare name is given."""
    return plugin(ReplayPlugin, protocol_of(method))


@dataclasses.dataclass
class Held:
    """One recording.

    ``slow`` is the seconds behind each response, ``happened`` has the faults that came so far.
    """

    name: str
    answers: RecordedAnswers
    plan: tuple[PlannedFault, ...] = ()
    slow: float = 0.0

    def __post_init__(self) -> None:
        self.faults = Faults(self.plan)
        self.happened: list[PlannedFault] = []
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
        made = {"name": self.name, "table": self.table, "sessions": [], "faults": len(self.plan)}
        return made | dict(self.answers.state())

    @property
    def table(self) -> str:
        """The name of the first table; empty if the protocol has no tables."""
        return self.answers.table

    def names(self) -> set[str]:
        """The keys by which calls find this recording, such as tables and streams."""
        return self.answers.names()


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

    def plan(self, name: str, plan: Sequence[PlannedFault]) -> bool:
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
            said = spoken_of(method).described(method, key)
            raise NotRecordedError(f"{said}; GET /replay/exchanges of the REST port lists what is")
        return held, held.answers.answer(method, key, request)

    def queried(self, body: Mapping[str, Any]) -> tuple[int, bytes] | None:
        """The recorded answer of jobs.query to a request with this body, and its status; None if none was recorded.

        An error is the answer if no recording has a success.
        """
        found = (queries.queried(body) for queries in self._queries())
        return min(filter(None, found), key=lambda answer: answer[0] != SUCCESS, default=None)

    def job(self, name: str) -> dict[str, Any] | None:
        """The job with this id of a recorded query, as jobs.get answers; None if none was recorded."""
        return next((job for queries in self._queries() if (job := queries.job(name)) is not None), None)

    def _queries(self) -> Iterator[RecordedQueries]:
        found = (held.answers.queries for held in reversed(self.all()))
        return (queries for queries in found if queries is not None)

    def described(self, project: str, dataset: str, table: str) -> RestTable | None:
        """The table as ``tables.get`` shows it."""
        for held in reversed(self.all()):
            if (found := held.answers.described(project, dataset, table)) is not None:
                return found
        return None
