"""Judge one path of a client in every situation, and turn its answers into the events of a run."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, Generic, Protocol, TypeVar

from conformance.contract.clause import Clause
from conformance.contract.clientjudging import ClientRead, Situation, judge_client
from conformance.contract.raised import reason_of
from conformance.engine.answerers import ONCE, Chosen, Putting, answerer_events
from conformance.engine.events import CLIENT_PROFILE, CaseJudged, Event, RunStarted
from conformance.engine.outcomes import WHOLE_CASE
from conformance.engine.selection import LeftOut, all_clauses
from conformance.engine.smoke import SMOKE
from conformance.engine.started import implementation_started
from conformance.protocol import DEFAULT_PROTOCOL
from conformance.readers.info import ReaderInfo
from conformance.readers.ipc.implementation import Hello
from conformance.readers.ipc.job import JobAnswer
from conformance.records import Level, Outcome, ReadingOutcome, Verdict

__all__ = ["AGAIN", "ClientTask", "JudgedPool", "Situated", "client_clauses"]


AGAIN: Final = "again"
"""The event that a client is asked once more in the same situation, because its error there may be chance."""


def client_clauses(protocol: str = DEFAULT_PROTOCOL) -> tuple[Clause, ...]:
    """The clauses on the clients of a protocol."""
    return tuple(clause for clause in all_clauses().values() if clause.clients_of == protocol)


class Situated(Protocol):
    """What every situation has, whatever its protocol: a name, the server's behaviour, and a sentence about it."""

    @property
    def id(self) -> str: ...  # noqa: D102  # see the class

    @property
    def kind(self) -> Situation: ...  # noqa: D102  # as above

    @property
    def title(self) -> str: ...  # noqa: D102  # as above


S = TypeVar("S", bound=Situated)


class JudgedPool(Protocol[S]):
    """Programs and a server that puts them into situations of one protocol."""

    infos: dict[str, ReaderInfo]

    @property
    def names(self) -> tuple[str, ...]: ...  # noqa: D102  # see ProgramPool

    def absent(self) -> dict[str, str]: ...  # noqa: D102  # as above

    def hello(self, name: str) -> Hello: ...  # noqa: D102  # see ProgramPool

    def put(self, name: str, asked: S) -> tuple[S, str]: ...  # noqa: D102  # see ClientPool

    def fetch(self, name: str, asked: S) -> tuple[JobAnswer, Sequence[dict[str, Any]]]: ...  # noqa: D102  # as above

    def read(  # noqa: D102  # as above
        self, info: ReaderInfo, asked: S, answer: JobAnswer, events: Sequence[Mapping[str, Any]]
    ) -> ClientRead: ...


@dataclasses.dataclass(frozen=True, slots=True)
class ClientTask(Generic[S]):
    """A path of a client, the situations, and the clauses under which its answers are judged; the ``file`` of a program
    of the user's own.
    """

    pool: JudgedPool[S]
    client: str
    situations: Sequence[S]
    clauses: Sequence[Clause]
    select: tuple[str, ...] = ()
    level: Level = Level.MAY
    left_out: tuple[LeftOut, ...] = ()
    file: str = ""
    putting: Putting = ONCE

    def events(self) -> Iterator[Event]:
        """Put the client into each situation, judge what it makes of it, and yield the events.

        Raises:
            Unavailable: the client is not built here; the text says what is missing.
        """
        return answerer_events(_Asking(self, self.pool.hello(self.client)), self.putting)

    def started(self, hello: Hello) -> RunStarted:
        """The first event of a run that puts the client into each situation once."""
        return implementation_started(
            CLIENT_PROFILE,
            name=self.client,
            title=f"{hello.title}, {self.client.partition('.')[2]}",
            version=hello.version,
            file=self.file,
            select=self.select,
            level=self.level,
            cases=[one.id for one in self.situations],
            all_cases=len(self.situations),
            clauses=self.clauses,
            left_out=self.left_out,
        )

    def judged(self, asked: S, tries: dict[str, int]) -> CaseJudged:
        """The verdicts in one situation; ``tries`` gets its name if the client was asked more than once."""
        began = time.monotonic()
        rows, calls = 0, 0
        asked, refusal = self.pool.put(self.client, asked)
        if refusal:
            verdicts = [Verdict(asked.id, WHOLE_CASE, Outcome.UNSUPPORTED, reason=refusal)]
        else:
            answer, events = self.pool.fetch(self.client, asked)
            rows, calls = answer.rows, sum(one["event"] == "call" for one in events)
            if more := sum(one["event"] == AGAIN for one in events):
                tries[asked.id] = 1 + more
            verdicts = self.verdicts(asked, answer, events)
        return CaseJudged(
            case_id=asked.id,
            title=asked.title,
            replay=asked.id,
            verdicts=tuple(verdicts),
            calls=calls,
            received=rows,
            seconds=time.monotonic() - began,
            generated=False,
        )

    def verdicts(self, asked: S, answer: JobAnswer, events: Sequence[Mapping[str, Any]]) -> list[Verdict]:
        """The verdicts on one answer; ``events`` are what the client asked the server for it."""
        info = self.pool.infos[self.client]
        try:
            made = self.pool.read(info, asked, answer, events)
        except Exception as error:  # noqa: BLE001  # an error of the suite costs this situation only
            return [Verdict(asked.id, WHOLE_CASE, Outcome.ERROR, reason=reason_of(error))]
        if made.answer.outcome is ReadingOutcome.UNAVAILABLE:
            return [Verdict(asked.id, WHOLE_CASE, Outcome.UNSUPPORTED, reason=made.answer.text)]
        known = {clause.id for clause in self.clauses}
        judged = judge_client(made, case_id=asked.id)
        return [verdict for verdict in judged if verdict.clause in known]


class _Asking(Generic[S]):
    """One run of a path of a client."""

    def __init__(self, task: ClientTask[S], hello: Hello) -> None:
        self._task = task
        self._hello = hello
        self._tries: dict[str, int] = {}

    def started(self) -> RunStarted:
        return self._task.started(self._hello)

    @property
    def whole(self) -> bool:
        return not self._task.select

    def plain(self) -> Sequence[str]:
        return SMOKE

    def judged(self, chosen: Chosen) -> Iterator[CaseJudged]:
        return (self._task.judged(one, self._tries) for one in self._task.situations if chosen(one.id))

    def remarks(self) -> Iterator[str]:
        info = self._task.pool.infos[self._task.client]
        yield f"written in {self._hello.language}"
        if self._tries:
            counts = ", ".join(f"{name} ({count} tries)" for name, count in self._tries.items())
            yield f"asked more than once, because an error may be chance there: {counts}"
        yield from (f"documented loss: {one.kind}, {one.change} ({one.source})" for one in info.losses)
        yield from (f"cannot read {kind}: {reason}" for kind, reason in info.cannot.items())
        yield from (f"documented gap: {kind} ({source})" for kind, source in info.gaps.items())
