"""Judge one path of a client in every situation, and turn its answers into the events of a run."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import pyarrow as pa

from conformance.clients.pool import ClientPool
from conformance.clients.situations import Set, put_to
from conformance.contract.clause import Clause, Role
from conformance.contract.clients import ClientAnswer, ClientRead, judge_client
from conformance.contract.raised import reason_of
from conformance.engine.events import CLIENT_PROFILE, CaseJudged, Event, RunEnded
from conformance.engine.outcomes import WHOLE_CASE
from conformance.engine.selection import LeftOut, all_clauses
from conformance.engine.started import implementation_started
from conformance.readers.compare import DifferenceKind, ReadingDifference, differences
from conformance.readers.info import ReaderInfo
from conformance.readers.ipc.job import JobAnswer
from conformance.readers.losses import as_read_with
from conformance.readers.programs.arrow import plain_to_arrow, sent_schema
from conformance.readers.programs.slot import outcome_of
from conformance.readers.tables import to_stream_bytes
from conformance.records import Level, Outcome, Reading, ReadingOutcome, Verdict
from conformance.wire import PlainTable, plain_table

__all__ = ["ClientTask", "client_clauses"]

SHOWN: Final = 3
"""The most differences of one answer that are kept."""


def client_clauses() -> tuple[Clause, ...]:
    """The clauses on clients."""
    return tuple(clause for clause in all_clauses().values() if clause.role is Role.CLIENT)


@dataclasses.dataclass(frozen=True, slots=True)
class ClientTask:
    """A path of a client, the situations, and the clauses under which its answers are judged."""

    pool: ClientPool
    client: str
    situations: Sequence[Set]
    clauses: Sequence[Clause]
    select: tuple[str, ...] = ()
    level: Level = Level.MAY
    left_out: tuple[LeftOut, ...] = ()

    def events(self) -> Iterator[Event]:
        """Put the client into each situation, judge what it makes of it, and yield the events.

        Raises:
            Unavailable: the client is not built here; the text says what is missing.
        """
        hello = self.pool.hello(self.client)
        info = self.pool.infos[self.client]
        began = time.monotonic()
        yield implementation_started(
            CLIENT_PROFILE,
            name=self.client,
            title=f"{hello.title}, {self.client.partition('.')[2]}",
            version=hello.version,
            select=self.select,
            level=self.level,
            cases=[one.id for one in self.situations],
            all_cases=len(self.situations),
            clauses=self.clauses,
            left_out=self.left_out,
        )
        for asked in self.situations:
            yield self._judged(asked, info)
        remarks = [f"written in {hello.language}"]
        remarks += [f"documented loss: {one.kind}, {one.change} ({one.source})" for one in info.losses]
        remarks += [f"cannot read {kind}: {reason}" for kind, reason in info.cannot.items()]
        yield RunEnded(time.monotonic() - began, tuple(remarks))

    def _judged(self, asked: Set, info: ReaderInfo) -> CaseJudged:
        began = time.monotonic()
        rows, calls = 0, 0
        asked, refusal = put_to(info, asked)
        if refusal:
            verdicts = [Verdict(asked.id, WHOLE_CASE, Outcome.UNSUPPORTED, reason=refusal)]
        else:
            answer, events = self.pool.fetch(self.client, asked)
            rows, calls = answer.rows, sum(one["event"] == "call" for one in events)
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

    def verdicts(self, asked: Set, answer: JobAnswer, events: Sequence[Mapping[str, Any]]) -> list[Verdict]:
        """The verdicts on one answer; ``events`` are what the client asked the server for it."""
        info = self.pool.infos[self.client]
        try:
            made = examined(info, asked, answer, events)
        except Exception as error:  # noqa: BLE001  # an error of the suite costs this situation only
            return [Verdict(asked.id, WHOLE_CASE, Outcome.ERROR, reason=reason_of(error))]
        if made.outcome is ReadingOutcome.UNAVAILABLE:
            return [Verdict(asked.id, WHOLE_CASE, Outcome.UNSUPPORTED, reason=made.text)]
        known = {clause.id for clause in self.clauses}
        judged = judge_client(ClientRead(asked.kind, asked.title, made), case_id=asked.id)
        return [verdict for verdict in judged if verdict.clause in known]


def examined(info: ReaderInfo, asked: Set, answer: JobAnswer, events: Sequence[Mapping[str, Any]]) -> ClientAnswer:
    """What a client made of a situation, compared with what it should have made of it."""
    outcome, text = outcome_of(answer)
    offsets, left_open = tuple(_offsets(asked, events)), tuple(_left_open(events))
    if answer.table is None:
        return ClientAnswer(info.name, outcome, text, offsets=offsets, left_open=left_open)
    rows, differ, order = compared(info, asked, answer.table)
    bare = info.schemaless_when_empty and not rows
    columns = "" if bare else next((one.observed for one in differ if one.kind is DifferenceKind.COLUMNS), "")
    found = () if columns else tuple(map(str, differ))[:SHOWN]
    said = f"got the columns {columns}" if columns else ""
    return ClientAnswer(info.name, outcome, text, found, said, order, offsets, left_open)


def compared(info: ReaderInfo, asked: Set, got: PlainTable) -> tuple[int, list[ReadingDifference], str]:
    """The rows that a client gave, their differences from those of the table, and a sentence about their order, which
    is compared if nothing else differs.
    """
    table = plain_to_arrow(got, sent_schema(asked.read))
    reading = Reading(info.name, asked.id, "s", ReadingOutcome.TABLE, to_stream_bytes(table))
    found = differences(reading, asked.expected, readers={info.name: info})
    bare = info.schemaless_when_empty and not table.num_rows
    order = "" if found or bare or not asked.ordered else _order(info, asked.expected, table)
    return table.num_rows, found, order


def _order(info: ReaderInfo, expected: pa.Table, got: pa.Table) -> str:
    """A sentence about the first row that is not in its place; the two tables have the same rows."""
    # Plain values, because a loss can make a timestamp that Python's own type cannot hold.
    lost, had = (plain_table(one.to_batches()) for one in (as_read_with(info.losses, expected), got))
    for row in range(got.num_rows):
        wanted, found = ([column[row] for column in one.columns] for one in (lost, had))
        if wanted != found:
            return f"got row {found} in place {row}, where {wanted} belongs"
    return ""


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
