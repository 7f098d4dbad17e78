"""The recorded sessions of the Storage Read API, as a replay server answers with them."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from google.protobuf.message import DecodeError

from conformance.contract import proto
from conformance.readers.restanswers import RecordedQueries, RestTable
from conformance.readers.tape import Answer, Tape, Tapes

__all__ = ["SessionAnswers", "renamed"]


class SessionAnswers:
    """The answers of recorded sessions; ``tapes`` are the sessions."""

    def __init__(self, tapes: Iterable[Tape] = ()) -> None:
        self.tapes = tapes if isinstance(tapes, Tapes) else Tapes(tapes)

    @property
    def table(self) -> str:
        """The name of the first session's table; empty if there is no session."""
        return next((tape.table for tape in self.tapes if tape.query is None), "")

    def names(self) -> set[str]:
        """The names by which requests find these sessions: tables and streams; of queries, their jobs or texts."""
        tables = {tape.table for tape in self.tapes if tape.query is None}
        queries = {tape.query.name for tape in self.tapes if tape.query is not None}
        return tables | queries | {stream.name for stream in self.tapes.streams()}

    def answer(self, method: str, _key: str, request: bytes) -> Answer:
        """The recorded answer to a request; raises :class:`~conformance.readers.tape.NotRecordedError`."""
        return self.tapes.answer(method, request)

    def state(self) -> Mapping[str, Any]:
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
            if tape.query is None
        ]
        queries = [tape.query.state() for tape in self.tapes if tape.query is not None]
        return {"sessions": sessions} | ({"queries": queries} if queries else {})

    def described(self, project: str, dataset: str, table: str) -> RestTable | None:
        """The table as ``tables.get`` shows it."""
        return self.tapes.described(project, dataset, table)

    @property
    def queries(self) -> RecordedQueries:
        """The recorded queries."""
        return self.tapes

    def renamed(self, table: str, number: str) -> SessionAnswers:
        """The same sessions with another table, and with names that no other recording has.

        Queries stay as they are: a client finds them by their text.
        """
        return SessionAnswers(renamed(tape, table, number) for tape in self.tapes)


def renamed(tape: Tape, table: str, number: str) -> Tape:
    """The tape with another table, and with names of its session and streams that no other recording has.

    Only the session's own message is written again; the responses stay as they were recorded.
    """
    if tape.query is not None:
        return tape
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
