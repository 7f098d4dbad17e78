"""Mutants of ReadRows: counts, schemas, progress, offsets, rows lost and repeated, snapshots.

The module is a little long, for each mutant is a few lines that share nothing with the others.
"""

from __future__ import annotations

import abc
from collections import Counter
from collections.abc import Iterator
from typing import Any, Final

import pyarrow as pa

from conformance.contract import proto
from conformance.protocols.storage_read.reference.catalogue import Snapshot
from conformance.protocols.storage_read.reference.mutants.changed import ChangedResponse, session_mutant
from conformance.protocols.storage_read.reference.register import behaviour_mutant
from conformance.protocols.storage_read.reference.service import ReadService
from conformance.protocols.storage_read.reference.session import OpenedSession, Stream
from conformance.reference.mutants.reasons import IN_CHILDREN, IN_EVERY_SESSION, IN_PARTS, IN_READS, IN_RESULTS
from conformance.reference.statuses import Reason

_NOWHERE: Final = 4_611_686_018_427_387_904
"""A number that no table of a case contains."""
_GOCCY_507: Final = "https://github.com/goccy/bigquery-emulator/issues/507"
_COUNTS: Final = "https://github.com/googleapis/google-cloud-java/pull/5658"
_LOST_TAILS: Final = "https://github.com/googleapis/google-cloud-python/issues/14900"
_BUNDLED: Final = "https://github.com/apache/beam/issues/26354"


@behaviour_mutant("rows.count-zero", kills="rows.row-count-is-true", also=IN_RESULTS, defects=("B-13",), source=_COUNTS)
class CountZero(ChangedResponse):
    """row_count is 0; only the deprecated field has the count."""

    def change(self, answer: Any, *, first: bool, start: int) -> None:  # noqa: ARG002  # the shape of a step
        answer.arrow_record_batch.row_count = answer.row_count
        answer.row_count = 0


@behaviour_mutant(
    "rows.count-of-the-stream", kills="rows.row-count-is-true", also=IN_READS, defects=("B-13",), source=_COUNTS
)
class CountOfStream(ReadService):
    """Every response's row_count is that of the whole stream."""

    def describe_rows(self, stream: Stream, part: pa.RecordBatch, *, start: int, first: bool) -> Any:
        answer = super().describe_rows(stream, part, start=start, first=first)
        answer.row_count = stream.rows.num_rows
        return answer


@behaviour_mutant("rows.deprecated-count-wrong", kills="rows.deprecated-count-is-zero-or-true")
class DeprecatedCountWrong(ChangedResponse):
    """The deprecated count is one too large."""

    def change(self, answer: Any, *, first: bool, start: int) -> None:  # noqa: ARG002  # the shape of a step
        answer.arrow_record_batch.row_count = answer.row_count + 1


@behaviour_mutant("rows.uncompressed-size-set", kills="rows.uncompressed-size-is-unset")
class UncompressedSizeSet(ChangedResponse):
    """uncompressed_byte_size is set although no response compression was asked for."""

    def change(self, answer: Any, *, first: bool, start: int) -> None:  # noqa: ARG002  # the shape of a step
        if not answer.HasField("uncompressed_byte_size"):
            answer.uncompressed_byte_size = -1


@behaviour_mutant("rows.other-schema", kills="rows.schema-is-the-sessions", also=IN_RESULTS)
class OtherSchema(ChangedResponse):
    """The schema in the responses of a full read is not that of the session."""

    def change(self, answer: Any, *, first: bool, start: int) -> None:  # noqa: ARG002  # the shape of a step
        if answer.WhichOneof("schema") and not start:
            schema = pa.ipc.read_schema(pa.py_buffer(answer.arrow_schema.serialized_schema))
            renamed = schema.set(0, schema.field(0).with_name(schema.field(0).name + "_")) if len(schema) else schema
            answer.arrow_schema.serialized_schema = self.encode_schema(renamed)


@behaviour_mutant("rows.schema-only-response", kills="rows.every-response-has-a-payload")
class SchemaOnlyResponse(ReadService):
    """A read begins with a response that carries the schema and no rows."""

    def read_rows(self, request: Any) -> Iterator[Any]:
        for index, answer in enumerate(super().read_rows(request)):
            if index == 0 and answer.HasField("arrow_schema"):
                yield proto.ReadRowsResponse(arrow_schema=answer.arrow_schema)
            yield answer


@behaviour_mutant(
    "rows.avro-payload",
    kills="rows.payload-is-of-the-format",
    also={"compression.payload-has-its-size": "a response that declares the size of its batch has none"},
)
class AvroPayload(ChangedResponse):
    """The second response of an ARROW session carries Avro rows."""

    def change(self, answer: Any, *, first: bool, start: int) -> None:  # noqa: ARG002  # the shape of a step
        if not first:
            answer.avro_rows.serialized_binary_rows = b"\x02"


@behaviour_mutant("rows.empty-batch", kills="rows.every-batch-has-rows")
class EmptyBatch(ReadService):
    """A batch without rows ends each read."""

    def cut_responses(self, stream: Stream, batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
        yield from super().cut_responses(stream, batch)
        if batch.num_rows:
            yield batch.slice(0, 0)


@behaviour_mutant("rows.progress-percent", kills="rows.progress-is-a-fraction")
class ProgressPercent(ReadService):
    """Progress counts to 100."""

    def progress(self, stream: Stream, start: int, stop: int) -> tuple[float, float]:
        first, last = super().progress(stream, start, stop)
        return 100 * first, 100 * last


@behaviour_mutant("rows.progress-swapped", kills="rows.progress-starts-before-it-ends")
class ProgressSwapped(ReadService):
    """A response's progress ends before it starts."""

    def progress(self, stream: Stream, start: int, stop: int) -> tuple[float, float]:
        first, last = super().progress(stream, start, stop)
        return last, first


@behaviour_mutant("rows.progress-falls", kills="rows.progress-does-not-fall")
class ProgressFalls(ReadService):
    """Progress counts down from response to response."""

    def progress(self, stream: Stream, start: int, stop: int) -> tuple[float, float]:
        first, last = super().progress(stream, start, stop)
        return 1 - last, 1 - first


@behaviour_mutant("rows.progress-of-each-response", kills="rows.progress-goes-on")
class ProgressOfEachResponse(ReadService):
    """Every response reports progress from 0 to 1."""

    def progress(self, stream: Stream, start: int, stop: int) -> tuple[float, float]:  # noqa: ARG002  # the fault
        return 0.0, 1.0


@behaviour_mutant("rows.throttle-above-hundred", kills="rows.throttling-is-a-percentage")
class ThrottleTooHigh(ChangedResponse):
    """throttle_percent is 250."""

    def change(self, answer: Any, *, first: bool, start: int) -> None:  # noqa: ARG002  # the shape of a step
        answer.throttle_state.throttle_percent = 250


@behaviour_mutant(
    "rows.tail-lost",
    kills="rows.none-is-missing",
    also={**IN_EVERY_SESSION, **IN_CHILDREN},
    defects=("B-14",),
    source=_LOST_TAILS,
)
class TailLost(ReadService):
    """The last row of each stream of more than one row never arrives."""

    def rows_at_offset(self, stream: Stream, offset: int) -> pa.Table:
        rows = super().rows_at_offset(stream, offset)
        last = stream.rows.num_rows - 1
        return rows.slice(0, max(last - offset, 0)) if last else rows


@behaviour_mutant("rows.streams-overlap", kills="rows.streams-are-disjoint", also=IN_PARTS)
class StreamsOverlap(ReadService):
    """Each stream begins with the last row of the one before it."""

    def plan_streams(self, snapshot: Snapshot, request: Any) -> list[tuple[int, int]]:
        return [(max(start - 1, 0), stop) for start, stop in super().plan_streams(snapshot, request)]


@behaviour_mutant(
    "rows.only-first-stream", kills="rows.none-is-missing", also=IN_PARTS, defects=("B-19",), source=_BUNDLED
)
class OnlyFirstStream(ReadService):
    """Only the first stream of a session yields its rows."""

    def plan_streams(self, snapshot: Snapshot, request: Any) -> list[tuple[int, int]]:
        runs = super().plan_streams(snapshot, request)
        return [*runs[:1], *((start, start) for start, _ in runs[1:])]


@behaviour_mutant(
    "rows.order-changes",
    kills="rows.rereading-repeats",
    also={
        **IN_PARTS,
        **IN_CHILDREN,
        "offsets.*": "a resumed read is compared with the first one",
        "snapshot.rereading-repeats": "an append between two reads makes no difference to it",
    },
)
class OrderChanges(ReadService):
    """Each ReadRows of a stream gives its rows in another order."""

    calls = 0

    def serve(self, session: Any, rows: pa.Table) -> pa.RecordBatch:
        self.calls += 1
        turn = self.calls % max(rows.num_rows, 1)
        return super().serve(session, pa.concat_tables([rows.slice(turn), rows.slice(0, turn)]))


@behaviour_mutant("offset.rounded-down", kills="offsets.inside-a-response", also={**IN_PARTS, **IN_CHILDREN})
class OffsetRoundedDown(ReadService):
    """An offset inside a response starts at that response's first row."""

    def rows_at_offset(self, stream: Stream, offset: int) -> pa.Table:
        start, length = 0, 4
        while start + length <= offset:
            start, length = start + length, 2 * length
        inside = offset < stream.rows.num_rows - 1
        return super().rows_at_offset(stream, start if inside else offset)


@behaviour_mutant("offset.boundary-skips", kills="offsets.between-responses", also=IN_READS)
class BoundarySkips(ReadService):
    """A read from the first row of a response skips that row."""

    def rows_at_offset(self, stream: Stream, offset: int) -> pa.Table:
        skipped = offset + 1 if offset == 4 and stream.rows.num_rows > 5 else offset
        return super().rows_at_offset(stream, skipped)


@behaviour_mutant("offset.last-skipped", kills="offsets.last-row", also={**IN_READS, **IN_CHILDREN})
class LastSkipped(ReadService):
    """A read from the last row yields nothing."""

    def rows_at_offset(self, stream: Stream, offset: int) -> pa.Table:
        rows = super().rows_at_offset(stream, offset)
        return rows.slice(0, 0) if offset and rows.num_rows == 1 else rows


@behaviour_mutant("offset.end-refused", kills="offsets.end-is-served", also=IN_RESULTS)
class EndRefused(ReadService):
    """A read from exactly the end is refused like one beyond it."""

    def check_offset(self, stream: Stream, offset: int) -> None:
        super().check_offset(stream, offset)
        if offset and offset == stream.rows.num_rows:
            self.refuse(Reason.OFFSET_BEYOND_END, stream=stream.name, offset=offset)


@behaviour_mutant("offset.end-repeats", kills="offsets.end-yields-nothing", also=IN_READS)
class EndRepeats(ReadService):
    """A read from exactly the end yields the last row again."""

    def rows_at_offset(self, stream: Stream, offset: int) -> pa.Table:
        at_end = offset and offset == stream.rows.num_rows
        return super().rows_at_offset(stream, offset - 1 if at_end else offset)


@behaviour_mutant(
    "offset.negative-accepted",
    kills="offsets.negative-is-refused",
    also={"query-results.negative-offset-is-refused": "the stream of a job is read by the same call"},
)
class NegativeAccepted(ReadService):
    """A negative offset reads from the start."""

    def read_rows(self, request: Any) -> Iterator[Any]:
        accepted = proto.ReadRowsRequest()
        accepted.CopyFrom(request)
        accepted.offset = max(request.offset, 0)
        return super().read_rows(accepted)


@behaviour_mutant("offset.resumed-refused", kills="offsets.resumed-read-is-served", also={**IN_RESULTS, **IN_CHILDREN})
class ResumedRefused(ReadService):
    """Every offset inside a stream is refused."""

    def check_offset(self, stream: Stream, offset: int) -> None:
        super().check_offset(stream, offset)
        if 0 < offset < stream.rows.num_rows:
            self.refuse(Reason.OFFSET_BEYOND_END, stream=stream.name, offset=offset)


@behaviour_mutant(
    "snapshot.live-table",
    kills=("snapshot.later-rows-stay-out", "snapshot.streams-share-one", "snapshot.rereading-repeats"),
    also={**IN_PARTS, "columns.*": "what is read is the table of now, which has other columns"},
)
class LiveTable(ReadService):
    """A session reads the table as it is at the read, not as it was at its creation."""

    def rows_at_offset(self, stream: Stream, offset: int) -> pa.Table:
        session = stream.session
        now = self.catalogue.snapshot(session.snapshot.table, None).rows
        grown = now.num_rows > session.snapshot.rows.num_rows
        restricted = session.request.read_session.read_options.row_restriction
        timed = session.request.read_session.table_modifiers.HasField("snapshot_time")
        last = stream.rows.num_rows and stream.rows.slice(stream.rows.num_rows - 1).equals(
            session.snapshot.rows.slice(session.snapshot.rows.num_rows - 1)
        )
        rows = stream.rows
        if grown and last and not restricted and not timed:
            rows = pa.concat_tables([rows, now.slice(session.snapshot.rows.num_rows)])
        return rows.slice(offset)


@behaviour_mutant(
    "snapshot.stale-table",
    kills="snapshot.earlier-rows-are-there",
    also={
        **IN_PARTS,
        "values.*": "the rows of a table that was made again have the values of the dropped one",
        "columns.*": "the first snapshot of a table has its first columns, too",
        "schema.*": "the same, asked of the bytes",
        "avro-schema.*": "the same, asked of a schema in AVRO",
        "types.*": "a column that got a wider type has the one of before",
    },
)
class StaleTable(ReadService):
    """A session sees the table as it was when the first session of it was made."""

    def take_snapshot(self, asked: Any) -> Snapshot:
        fresh = super().take_snapshot(asked)
        kept: dict[str, Snapshot] = self.__dict__.setdefault("kept", {})
        return kept.setdefault(asked.table, fresh)


@behaviour_mutant("snapshot.time-ignored", kills=("snapshot.time-is-honoured", "session.snapshot-time-is-not-ignored"))
class TimeIgnored(ReadService):
    """snapshot_time is ignored."""

    def snapshot_instant(self, asked: Any) -> int | None:
        super().snapshot_instant(asked)
        return None


@behaviour_mutant("snapshot.window-ignored", kills="snapshot.time-outside-the-window-is-refused")
class WindowIgnored(ReadService):
    """A snapshot_time outside the time-travel window reads the table as of now."""

    def snapshot_instant(self, asked: Any) -> int | None:
        time = asked.table_modifiers.snapshot_time
        old = time.seconds * 1_000_000 < self.catalogue.clock() - 168 * 3600 * 1_000_000
        return None if old else super().snapshot_instant(asked)


@behaviour_mutant("snapshot.time-refused", kills="snapshot.time-is-served")
class TimeRefused(ReadService):
    """A snapshot_time is refused, whatever it is."""

    def snapshot_instant(self, asked: Any) -> int | None:
        at = super().snapshot_instant(asked)
        if at is not None:
            self.refuse(Reason.SNAPSHOT_IN_FUTURE)
        return at


@session_mutant("snapshot.time-not-as-sent", kills="snapshot.time-is-echoed")
def time_not_as_sent(answer: Any, _session: OpenedSession) -> None:
    """The snapshot_time that comes back is a second later than the one that was sent."""
    if answer.HasField("table_modifiers"):
        answer.table_modifiers.snapshot_time.seconds += 1


@behaviour_mutant("rows.not-a-message", kills="rows.response-is-a-message", also=IN_RESULTS)
class ResponseIsNoMessage(ReadService):
    """A read ends with a response that is no protobuf message."""

    def read_rows(self, request: Any) -> Iterator[Any]:
        yield from super().read_rows(request)
        if not request.offset:
            yield b"\x0a\xff"


@behaviour_mutant("session.not-a-message", kills="session.answer-is-a-session")
class SessionIsNoMessage(ReadService):
    """The answer to CreateReadSession is no protobuf message."""

    def create_read_session(self, request: Any) -> Any:
        super().create_read_session(request)
        return b"\x0a\xff"


@behaviour_mutant(
    "rows.third-reader-short",
    kills="rows.reading-together-repeats",
    also={"history.no-lost-row": "which of the reads at one time comes third is a matter of chance"},
)
class ThirdReaderShort(ReadService):
    """From its third reader on a stream lacks its first row."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.readers: Counter[str] = Counter()

    def rows_at_offset(self, stream: Stream, offset: int) -> pa.Table:
        self.readers[stream.name] += not offset
        return super().rows_at_offset(stream, 1 if self.readers[stream.name] > 2 and not offset else offset)


class _Rows(ReadService, abc.ABC):
    """A service whose unrestricted streams hold other rows than the table."""

    @abc.abstractmethod
    def change_rows(self, rows: pa.Table) -> pa.Table:
        """The rows of the last stream, in stored form."""

    def rows_of_run(self, rows: pa.Table, mask: pa.BooleanArray | None, start: int, stop: int) -> pa.Table:
        run = super().rows_of_run(rows, mask, start, stop)
        return self.change_rows(run) if mask is None and stop == rows.num_rows else run


@behaviour_mutant(
    "rows.foreign",
    kills="rows.none-is-foreign",
    also={
        **IN_EVERY_SESSION,
        "rows.none-is-repeated": "where its number is not selected, the row is one that there is",
    },
)
class ForeignRow(_Rows):
    """A row that the table does not have comes after its last."""

    def change_rows(self, rows: pa.Table) -> pa.Table:
        numbers = [index for index, kind in enumerate(rows.schema.types) if pa.types.is_int64(kind)]
        if not numbers or not rows.num_rows:
            return rows
        last = rows.slice(rows.num_rows - 1)
        other = last.set_column(numbers[0], rows.schema.field(numbers[0]), pa.array([_NOWHERE], pa.int64()))
        return pa.concat_tables([rows, other])


@behaviour_mutant("rows.repeated", kills="rows.none-is-repeated", also=IN_EVERY_SESSION)
class RowRepeated(_Rows):
    """The last row of the table comes twice."""

    def change_rows(self, rows: pa.Table) -> pa.Table:
        return pa.concat_tables([rows, rows.slice(max(rows.num_rows - 1, 0))])
