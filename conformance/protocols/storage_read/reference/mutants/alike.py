"""Mutants of sessions that are alike: what one session was given is found again for another by too little of it.

Each has a cache whose key leaves out one field of the request, so that every session is right which is not preceded by
one that is like it but for that field.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any, ClassVar

import pyarrow as pa

from conformance.contract import proto
from conformance.protocols.storage_read.reference.catalogue import Snapshot
from conformance.protocols.storage_read.reference.register import behaviour_mutant
from conformance.protocols.storage_read.reference.service import ReadService
from conformance.protocols.storage_read.reference.session import OpenedSession, Stream
from conformance.records import Column


class _Remembering(ReadService):
    """Knows the first session request that is like the one at hand in all fields but :attr:`without`."""

    without: ClassVar[str]

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.asked: dict[bytes, Any] = {}
        self.first = proto.CreateReadSessionRequest()

    def create_read_session(self, request: Any) -> Any:
        self.check_request(request)
        alike = proto.CreateReadSessionRequest()
        alike.CopyFrom(request)
        *path, field = self.without.split(".")
        place = alike
        for name in path:
            place = getattr(place, name)
        place.ClearField(field)
        self.first = self.asked.setdefault(alike.SerializeToString(deterministic=True), request)
        return super().create_read_session(request)


@behaviour_mutant(
    "alike.columns",
    kills="projection.nested-path-keeps-its-record",
    also={
        "projection.record-comes-whole": "the record that is asked for as a whole has the fields of before",
        "projection.path-inside-a-selected-record": "so has the one that is asked for beside one of its fields",
    },
)
class ColumnsOfFirst(ReadService):
    """A session has the columns of an earlier one that selected other fields of the same records."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.known: dict[Any, tuple[Column, ...]] = {}

    def resolve_columns(self, snapshot: Snapshot, selected: Sequence[str]) -> tuple[Column, ...]:
        columns = super().resolve_columns(snapshot, selected)
        key = (snapshot.table, snapshot.created, *((column.name, column.type, column.mode) for column in columns))
        return self.known.setdefault(key, columns)


@behaviour_mutant(
    "alike.buffers",
    kills="compression.codec-is-the-one-asked-for",
    also={
        "compression.none-without-asking": "the session without a codec has the one of before",
    },
)
class BuffersOfFirst(_Remembering):
    """A session has the compression of buffers of an earlier one that is like it in all other fields."""

    without = "read_session.read_options.arrow_serialization_options"

    def resolve_compression(self, _options: Any) -> tuple[str, bool]:
        return super().resolve_compression(self.first.read_session.read_options)


@behaviour_mutant("alike.restriction", kills="restriction.comparison")
class RestrictionOfFirst(ReadService):
    """A session has the rows of an earlier one whose restriction differs in the case of letters only."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.known: dict[Any, str] = {}

    def restrict(self, snapshot: Snapshot, text: str) -> pa.BooleanArray | None:
        return super().restrict(snapshot, self.known.setdefault((snapshot.table, snapshot.created, text.lower()), text))


@behaviour_mutant("alike.snapshot", kills="snapshot.time-is-honoured")
class SnapshotNotInKey(_Remembering):
    """A session with a snapshot time has the rows of an earlier one without, that is like it in all other fields."""

    without = "read_session.table_modifiers"

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.taken: dict[int, Snapshot] = {}

    def take_snapshot(self, asked: Any) -> Snapshot:
        snapshot = super().take_snapshot(asked)
        if not asked.table_modifiers.HasField("snapshot_time"):
            self.taken[id(self.first)] = snapshot
            return snapshot
        return self.taken.get(id(self.first), snapshot)


@behaviour_mutant(
    "alike.trace-id",
    kills="projection.only-the-selected",
    also={
        "projection.*": "the columns are those of another selection",
        "schema.columns-present": "the session without a selection has one",
        "session.read-options-are-echoed": "the options that come back are those of before",
    },
)
class TraceIdIsTheKey(ReadService):
    """A session with the trace id of an earlier one on its table has that one's columns and restriction."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.known: dict[Any, Any] = {}

    def create_read_session(self, request: Any) -> Any:
        asked = request.read_session
        if asked.trace_id:
            first = self.known.setdefault((asked.table, asked.trace_id), asked.read_options)
            request = proto.CreateReadSessionRequest.FromString(request.SerializeToString())
            request.read_session.read_options.CopyFrom(first)
        return super().create_read_session(request)


@behaviour_mutant("alike.maximum", kills="session.streams-stay-below-the-maximum")
class MaximumOfFirst(_Remembering):
    """A session has as many streams as an earlier one that is like it in all other fields."""

    without = "max_stream_count"

    def plan_streams(self, snapshot: Snapshot, _request: Any) -> list[tuple[int, int]]:
        return super().plan_streams(snapshot, self.first)


@behaviour_mutant("alike.parent", kills="session.name-is-in-the-parent")
class ParentOfFirst(_Remembering):
    """A session is named under the parent of an earlier one that is like it in all other fields."""

    without = "parent"

    def name_session(self, _parent: str) -> str:
        return super().name_session(self.first.parent)


class _Latest(ReadService):
    """Knows the latest session in ARROW on each table."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.latest: dict[Any, OpenedSession] = {}

    def describe_session(self, session: OpenedSession, streams: Sequence[Stream]) -> Any:
        if session.avro is None:
            self.latest[session.snapshot.table] = session
        return super().describe_session(session, streams)

    def stream_of(self, request: Any) -> Stream:
        stream = super().stream_of(request)
        latest = self.latest.get(stream.session.snapshot.table)
        if latest is None or stream.session.avro is not None:
            return stream
        return dataclasses.replace(stream, session=self.mixed(stream.session, latest))

    def mixed(self, session: OpenedSession, _latest: OpenedSession) -> OpenedSession:
        """The session as it is served after another was made."""
        return session


@behaviour_mutant(
    "alike.codec-of-latest",
    kills="framing.metadata-length",
    also={
        "rows.uncompressed-size-is-unset": "a session that asked for no compression has responses of one that did",
    },
)
class CodecOfLatest(_Latest):
    """The streams of a session have the compression that the latest session on the table asked for."""

    def mixed(self, session: OpenedSession, latest: OpenedSession) -> OpenedSession:
        return dataclasses.replace(session, buffer_codec=latest.buffer_codec, lz4_responses=latest.lz4_responses)


@behaviour_mutant(
    "alike.columns-of-latest",
    kills="rows.rereading-repeats",
    also={
        "values.*": "the values are those of other columns",
        "body.*": "a record has other fields",
    },
)
class ColumnsOfLatest(_Latest):
    """The streams of a session have the columns of the latest session on the table, if it has as many."""

    def mixed(self, session: OpenedSession, latest: OpenedSession) -> OpenedSession:
        as_many = session.snapshot.columns == latest.snapshot.columns and len(session.columns) == len(latest.columns)
        return dataclasses.replace(session, columns=latest.columns) if as_many else session
