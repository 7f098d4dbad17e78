"""Mutants of sessions and streams: names, echoes, lifetime, stream counts, valid requests that are refused."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import pyarrow as pa

from conformance.contract import proto
from conformance.protocols.storage_read.reference import instants
from conformance.protocols.storage_read.reference.catalogue import Snapshot
from conformance.protocols.storage_read.reference.mutants.changed import session_mutant
from conformance.protocols.storage_read.reference.register import behaviour_mutant
from conformance.protocols.storage_read.reference.service import ReadService
from conformance.protocols.storage_read.reference.session import OpenedSession, Stream
from conformance.records import Column
from conformance.reference.mutants.reasons import IN_RESULTS
from conformance.reference.statuses import Reason

if TYPE_CHECKING:
    from conformance.protocols.storage_read.reference.avro import AvroWriter

_GOCCY_29 = "https://github.com/goccy/bigquery-emulator/issues/29"
_GOCCY_382 = "https://github.com/goccy/bigquery-emulator/issues/382"
_GOCCY_409 = "https://github.com/goccy/bigquery-emulator/issues/409"
_BEAM_38007 = "https://github.com/apache/beam/issues/38007"
_VANTABOARD_PARENT = "https://github.com/vantaboard/bigquery-emulator/commit/35d2d3b2"
_BQEMULATOR_SESSION = (
    "https://github.com/jjviscomi/bqemulator/blob/"
    "a8fcd56f5676b232d18ec611eb8fb7963a18a6b8/src/bqemulator/streaming/read_session.py"
)

Change = Callable[[Any, OpenedSession], None]


@behaviour_mutant(
    "session.plain-refused",
    kills="session.plain-request-is-served",
    also={
        "session.query-result-is-served": "the result of a query is refused too",
        "columns.changed-table-is-served": "a table whose columns have changed is refused too",
        "session.partitioned-table-is-served": "a partitioned table is refused too",
        "errors.table-kind-has-its-code": "a table of another kind is refused as one that does not exist",
    },
)
class PlainRefused(ReadService):
    """A CreateReadSession without options is refused as if the table did not exist."""

    def check_request(self, request: Any) -> None:
        super().check_request(request)
        asked = request.read_session
        special = (
            asked.HasField("table_modifiers") or asked.read_options.ByteSize() or not asked.HasField("read_options")
        )
        counted = request.max_stream_count > 1 or request.preferred_min_stream_count
        foreign = not asked.table.startswith(request.parent + "/")
        if not special and not counted and not foreign:
            self.refuse(Reason.MISSING_TABLE, table=asked.table)


@behaviour_mutant("session.long-names-refused", kills="session.plain-request-is-served")
class LongNamesRefused(ReadService):
    """A table with a column whose name has more than 128 characters is refused."""

    def resolve_columns(self, snapshot: Snapshot, selected: Sequence[str]) -> tuple[Column, ...]:
        columns = super().resolve_columns(snapshot, selected)
        if any(len(column.name) > 128 for column in columns):
            self.refuse(Reason.BAD_RESOURCE)
        return columns


@behaviour_mutant(
    "session.options-required", kills="session.options-may-be-absent", defects=("B-15",), source=_GOCCY_382
)
class OptionsRequired(ReadService):
    """A session without read_options is refused."""

    def check_request(self, request: Any) -> None:
        super().check_request(request)
        if not request.read_session.HasField("read_options"):
            self.refuse(Reason.BAD_RESOURCE)


@behaviour_mutant("session.preferred-refused", kills="session.preferred-count-may-be-asked")
class PreferredRefused(ReadService):
    """Any preferred_min_stream_count is refused."""

    def check_stream_counts(self, maximum: int, preferred: int) -> None:
        super().check_stream_counts(maximum, preferred)
        if preferred:
            self.refuse(Reason.PREFERRED_OVER_MAX, preferred=preferred)


@behaviour_mutant(
    "session.foreign-parent-refused",
    kills="session.parent-may-be-another-project",
    defects=("B-32",),
    source=_VANTABOARD_PARENT,
)
class ForeignParentRefused(ReadService):
    """A table in another project than the parent is refused."""

    def check_request(self, request: Any) -> None:
        super().check_request(request)
        if not request.read_session.table.startswith(request.parent + "/"):
            self.refuse(Reason.BAD_RESOURCE)


@behaviour_mutant("session.name-not-a-resource", kills="session.name-has-the-pattern")
class NameNotResource(ReadService):
    """A session's name lacks its location."""

    def name_session(self, parent: str) -> str:
        return f"{parent}/sessions/{self.catalogue.token()}"


@behaviour_mutant("session.name-elsewhere", kills="session.name-is-in-the-parent")
class NameElsewhere(ReadService):
    """A session's name is in another project than its parent."""

    def name_session(self, parent: str) -> str:  # noqa: ARG002  # left out: that is the fault
        return f"projects/another/locations/us/sessions/{self.catalogue.token()}"


@behaviour_mutant("session.name-reused", kills="session.names-differ")
class NameReused(ReadService):
    """Every session has the same name."""

    def name_session(self, parent: str) -> str:
        return f"{parent}/locations/us/sessions/the-only-one"


@behaviour_mutant("session.stream-elsewhere", kills="session.streams-are-below-it")
class StreamElsewhere(ReadService):
    """A stream's name is not below its session's."""

    def name_stream(self, session: str) -> str:
        return f"{session.rpartition('/')[0]}/another/streams/{self.catalogue.token()}"


def _without(field: str) -> Change:
    return lambda answer, _session: answer.ClearField(field)


def _earlier(*, hours: int) -> Change:
    return lambda answer, session: answer.expire_time.FromMicroseconds(session.expires - hours * 3600 * 1_000_000)


# fmt: off
session_mutant("session.table-not-echoed", kills="session.table-is-echoed",
            fault="The session does not say of which table it is.")(_without("table"))
session_mutant("session.format-not-echoed", kills="session.data-format-is-echoed",
            fault="The session does not say its data format.")(_without("data_format"))
session_mutant("session.trace-id-lost", kills="session.trace-id-is-echoed",
            fault="The trace id does not come back.")(_without("trace_id"))
session_mutant("session.without-schema", kills="session.carries-a-schema",
            fault="The session carries no schema.")(_without("schema"))
session_mutant("session.no-expire-time", kills="session.expire-time-is-set",
            fault="The session does not say when it expires.",
            defects=("B-28",), source=_BQEMULATOR_SESSION)(_without("expire_time"))
session_mutant("session.expired-at-birth", kills="session.expire-time-is-ahead",
            fault="The session's expire_time lies a day back.")(_earlier(hours=30))
session_mutant("session.expires-in-an-hour", kills="session.expire-time-is-six-hours-ahead",
            also={"errors.expired-session-is-refused": "the session is served after the end that it says"},
            fault="The session lives one hour instead of six.")(_earlier(hours=5))
# fmt: on


@session_mutant("session.options-not-as-sent", kills="session.read-options-are-echoed")
def options_changed(answer: Any, _session: OpenedSession) -> None:
    """The read_options that come back are not those that were sent."""
    if answer.HasField("read_options"):
        answer.read_options.row_restriction += " "


@session_mutant(
    "session.expires-at-no-instant",
    kills="session.expire-time-is-an-instant",
    also={"errors.expired-session-is-refused": "what it says is no time that can be waited for"},
)
def expires_at_no_instant(answer: Any, _session: OpenedSession) -> None:
    """The session's expire_time has its last second in its nanoseconds."""
    answer.expire_time.seconds -= 1
    answer.expire_time.nanos += 1_000_000_000


@session_mutant("session.expires-after-its-snapshot", kills="snapshot.time-leaves-the-expiry")
def expires_after_its_snapshot(answer: Any, _session: OpenedSession) -> None:
    """The six hours of a session with a snapshot time begin at that time."""
    if answer.table_modifiers.HasField("snapshot_time"):
        answer.expire_time.CopyFrom(answer.table_modifiers.snapshot_time)
        answer.expire_time.seconds += 6 * 3600


@session_mutant("session.estimate-negative", kills="session.estimates-are-not-negative")
def negative_estimate(answer: Any, _session: OpenedSession) -> None:
    """The estimated row count is -1, for unknown."""
    answer.estimated_row_count = -1


@session_mutant("session.avro-schema", kills="session.schema-is-of-the-format")
def avro_schema(answer: Any, session: OpenedSession) -> None:
    """An ARROW session carries an Avro schema."""
    if session.avro is None:
        answer.avro_schema.schema = '{"type":"record","name":"__root__","fields":[]}'


@behaviour_mutant("session.max-ignored", kills="session.streams-stay-below-the-maximum")
class MaxIgnored(ReadService):
    """max_stream_count is ignored."""

    def plan_streams(self, snapshot: Snapshot, request: Any) -> list[tuple[int, int]]:  # noqa: ARG002  # the fault
        rows = snapshot.rows.num_rows
        return [(row, row + 1) for row in range(rows)]


@behaviour_mutant(
    "session.a-thousand-and-one",
    kills="session.streams-stay-below-a-thousand",
    also={"calls.stay-within-reason": "a driver that stops reading at the service's own cap says so"},
)
class TooManyStreams(ReadService):
    """A session without read_options gets 1,001 streams, most of them without rows."""

    def plan_streams(self, snapshot: Snapshot, request: Any) -> list[tuple[int, int]]:
        runs = super().plan_streams(snapshot, request)
        stop = snapshot.rows.num_rows
        few = request.read_session.HasField("read_options") or not stop
        return runs if few else [*runs, *[(stop, stop)] * (1001 - len(runs))]


@session_mutant(
    "session.same-stream-twice",
    kills="session.stream-names-differ",
    also={"session.streams-stay-below-the-maximum": "a stream counts as often as it is listed"},
)
def same_stream_twice(answer: Any, session: OpenedSession) -> None:
    """The first stream is listed twice."""
    if len(answer.streams) and not session.request.read_session.trace_id:
        answer.streams.insert(0, proto.ReadStream(name=answer.streams[0].name))


@behaviour_mutant(
    "session.empty-table-response",
    kills="rows.every-batch-has-rows",
    also=IN_RESULTS,
    defects=("B-20", "B-57"),
    source=_BEAM_38007,
)
class EmptyTableResponse(ReadService):
    """An empty table has a stream, and the stream a response whose batch has no rows."""

    def plan_streams(self, snapshot: Snapshot, request: Any) -> list[tuple[int, int]]:
        return super().plan_streams(snapshot, request) or [(0, 0)]

    def cut_responses(self, stream: Stream, batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
        if stream.session.snapshot.rows.num_rows == 0:
            yield batch
        yield from super().cut_responses(stream, batch)

    def progress(self, stream: Stream, start: int, stop: int) -> tuple[float, float]:
        return super().progress(stream, start, stop) if stream.rows.num_rows else (0.0, 1.0)


@behaviour_mutant(
    "session.empty-table-row",
    kills="session.empty-table-yields-nothing",
    also={
        "body.required-without-nulls": "the row holds nothing but NULL",
        "values.*": "the row is none of the table's",
    },
)
class EmptyTableRow(ReadService):
    """An empty table yields one row of NULLs."""

    def plan_streams(self, snapshot: Snapshot, request: Any) -> list[tuple[int, int]]:
        return super().plan_streams(snapshot, request) or [(0, 0)]

    def rows_of_run(self, rows: pa.Table, mask: pa.BooleanArray | None, start: int, stop: int) -> pa.Table:
        if rows.num_rows or any(not field.nullable for field in rows.schema):
            return super().rows_of_run(rows, mask, start, stop)
        return pa.table([pa.nulls(1, field.type) for field in rows.schema], schema=rows.schema)


class _InAskedPrecision(ReadService):
    """The TIMESTAMP columns of a session in ARROW have a precision of :mod:`.instants`, whatever their type is."""

    precision: ClassVar[int]

    def resolve_schema(self, asked: Any, columns: Sequence[Column]) -> tuple[bytes, AvroWriter | None]:
        schema, avro = super().resolve_schema(asked, columns)
        if self._is_asked(asked):
            schema = self.encode_schema(instants.formed_schema(self.served_schema(columns), self.precision))
        return schema, avro

    def serve(self, session: OpenedSession, rows: pa.Table) -> pa.RecordBatch:
        batch = super().serve(session, rows)
        return instants.formed(batch, self.precision) if self._is_asked(session.request.read_session) else batch

    def _is_asked(self, asked: Any) -> bool:
        return bool(asked.read_options.arrow_serialization_options.picos_timestamp_precision == self.precision)


@behaviour_mutant(
    "session.timestamps-in-picos",
    kills="session.timestamp-precision-spares-other-columns",
    also={"types.timestamp": "the column has a type of no session without the option"},
)
class TimestampsInPicos(_InAskedPrecision):
    """A session that asks for picoseconds has its TIMESTAMP columns as texts."""

    precision = proto.TIMESTAMP_PRECISION["PICOS"]


@behaviour_mutant(
    "session.timestamps-in-nanos",
    kills="session.timestamp-precision-spares-other-columns",
    also={"types.timestamp": "the column has a type of no session without the option"},
)
class TimestampsInNanos(_InAskedPrecision):
    """A session that asks for nanoseconds has its TIMESTAMP columns in nanoseconds."""

    precision = proto.TIMESTAMP_PRECISION["NANOS"]
