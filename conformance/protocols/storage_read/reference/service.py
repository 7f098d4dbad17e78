"""The reference service: BigQueryRead according to the contract, one small overridable method per step.

Every step decides one thing and calls no other step than those it is made of, so that a mutant is a subclass that
replaces one method in a few lines; that makes the module a little long. It decides behaviour; transport is
:mod:`.server`'s, words of refusal are :mod:`conformance.reference.statuses`'.

Sources: googleapis ``google/cloud/bigquery/storage/v1/{storage,stream,arrow,avro}.proto`` and what public records show
of the service where the comments there are silent (:mod:`conformance.reference.statuses` names them).
"""

from __future__ import annotations

import datetime as dt
import itertools
import math
import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final, NoReturn

import pyarrow as pa
import pyarrow.compute as pc

from conformance.contract import mapping, proto
from conformance.contract.comparing.cellbits import take
from conformance.protocols.storage_read.reference import projection
from conformance.protocols.storage_read.reference.catalogue import Catalogue, MissingError, Snapshot, TableId
from conformance.protocols.storage_read.reference.queries import Queries
from conformance.protocols.storage_read.reference.session import OpenedSession, Sessions, Stream
from conformance.records import Column
from conformance.reference import encoding
from conformance.reference.statuses import REFUSALS, Reason, Refusal

if TYPE_CHECKING:
    from conformance.protocols.storage_read.reference.avro import AvroWriter

__all__ = ["ReadService"]

_SECOND: Final = 1_000_000
_HOUR: Final = 3600 * _SECOND
SESSION_LIFETIME: Final = 6 * _HOUR
"""Documented: a session expires six hours after its creation."""
TIME_TRAVEL: Final = 168 * _HOUR
"""Documented: the default time-travel window is seven days."""
MAX_RESTRICTION_BYTES: Final = 1 << 20
MAX_TRACE_ID_BYTES: Final = 256
MAX_STREAMS: Final = 1000
MAX_RESPONSE_BYTES: Final = 128 * 1000 * 1000
"""Documented: a response is at most 128 MB; a single row over that fails."""
RESPONSE_BYTES: Final = 8 << 20
"""The target size of a response: above gRPC's default limit of 4 MiB, as the service's responses are."""
FIRST_RESPONSE_ROWS: Final = 4
"""Rows of a read's first response; each next one may hold twice as many, so that small tables have several
responses and large ones few."""
ROWS_PER_STREAM: Final = 16
"""Rows that justify one more stream; the service splits at about 200 MB, which no test table reaches."""
DEFAULT_STREAMS: Final = 4
"""At most so many streams where the client sets no maximum."""

_BUFFER_CODECS: Final = {number: name for name, number in proto.COMPRESSION.items()}
_RESPONSE_CODECS: Final = {number: name for name, number in proto.RESPONSE_COMPRESSION.items()}
_TABLE: Final = re.compile(r"projects/([^/]+)/datasets/([^/]+)/tables/([^/]+)")
_PARENT: Final = re.compile(r"projects/[^/]+")


class ReadService(Queries):
    """BigQueryRead over a catalogue. Its three methods of the service take and give protobuf messages.

    Raises:
        Refusal: from every public method, where the call ends in a status other than OK.
    """

    def __init__(self, catalogue: Catalogue) -> None:
        self.catalogue = catalogue
        self.sessions = Sessions()
        self.results = {}
        self.inserted = {}
        self.failed = {}
        self.written = set()
        self.changes = {}
        self.tokens = {}

    def restore(self, streams: Sequence[Stream]) -> None:
        """Serve the streams of a server that was stopped."""
        self.sessions.add(streams)

    # --- CreateReadSession ----------------------------------------------------------------------------

    def create_read_session(self, request: Any) -> Any:
        """Open a session: check the request, fix the rows, plan the streams."""
        asked = request.read_session
        self.check_request(request)
        snapshot = self.take_snapshot(asked)
        self.check_kind(snapshot, asked.read_options.row_restriction)
        columns = self.resolve_columns(snapshot, asked.read_options.selected_fields)
        mask = self.restrict(snapshot, asked.read_options.row_restriction)
        codec, lz4 = self.resolve_compression(asked.read_options)
        schema_bytes, avro = self.resolve_schema(asked, columns)
        session = OpenedSession(
            name=self.name_session(request.parent),
            request=request,
            snapshot=snapshot,
            columns=columns,
            expires=self.catalogue.clock() + SESSION_LIFETIME,
            schema_bytes=schema_bytes,
            avro=avro,
            buffer_codec=codec,
            lz4_responses=lz4,
        )
        streams = [self.open_stream(session, mask, start, stop) for start, stop in self.plan_streams(snapshot, request)]
        old = self.catalogue.clock() - TIME_TRAVEL
        self.sessions.forget(expired_before=old, is_dropped=self.catalogue.is_dropped)
        self.sessions.add(streams)
        return self.describe_session(session, streams)

    def check_request(self, request: Any) -> None:
        """Refuse a request that is wrong whatever the table is."""
        asked = request.read_session
        if not _PARENT.fullmatch(request.parent) or not _TABLE.fullmatch(asked.table):
            self.refuse(Reason.BAD_RESOURCE)
        self.check_format(asked.data_format)
        self.check_stream_counts(request.max_stream_count, request.preferred_min_stream_count)
        size = len(asked.trace_id.encode())
        if size > MAX_TRACE_ID_BYTES:
            self.refuse(Reason.LONG_TRACE_ID, size=size)
        if len(asked.read_options.row_restriction.encode()) > MAX_RESTRICTION_BYTES:
            self.refuse(Reason.LONG_RESTRICTION, maximum=MAX_RESTRICTION_BYTES)
        percentage = asked.read_options.sample_percentage
        if not 0 <= percentage <= 100:
            self.refuse(Reason.SAMPLE_OUT_OF_RANGE, percentage=percentage)

    def check_format(self, data_format: int) -> None:
        """Refuse every format but ARROW and AVRO."""
        if data_format not in (proto.DATA_FORMAT["ARROW"], proto.DATA_FORMAT["AVRO"]):
            self.refuse(Reason.FORMAT_UNSPECIFIED)

    def check_stream_counts(self, maximum: int, preferred: int) -> None:
        """Refuse counts below zero, and a preferred count above the maximum."""
        for field, count in (("max_stream_count", maximum), ("preferred_min_stream_count", preferred)):
            if count < 0:
                self.refuse(Reason.NEGATIVE_STREAM_COUNT, field=field, count=count)
        if 0 < maximum < preferred:
            self.refuse(Reason.PREFERRED_OVER_MAX, preferred=preferred)

    def take_snapshot(self, asked: Any) -> Snapshot:
        """The table as of the snapshot time, or as of now."""
        match = _TABLE.fullmatch(asked.table)
        assert match is not None, "check_request let a malformed table through"
        table = TableId(*match.groups())
        at = self.snapshot_instant(asked)
        try:
            snapshot = self.catalogue.snapshot(table, at)
        except MissingError:
            self.refuse(Reason.MISSING_TABLE, table=table)
        if at is not None and at < snapshot.created:
            self.refuse(Reason.SNAPSHOT_BEFORE_TABLE, table=table)
        return snapshot

    def check_kind(self, snapshot: Snapshot, restriction: str) -> None:
        """Refuse what is no table, and a table that requires a filter on its partitions without one."""
        kind = self.catalogue.kinds.get(snapshot.table)
        if kind is None:
            return
        if "view" in kind:
            self.refuse(Reason.NOT_A_TABLE)
        column = kind.get("timePartitioning", {}).get("field", "_PARTITIONTIME")
        if kind.get("requirePartitionFilter") and not self.filters_on(column, snapshot, restriction):
            self.refuse(Reason.NO_PARTITION_FILTER, table=snapshot.table, column=column)

    def filters_on(self, column: str, snapshot: Snapshot, restriction: str) -> bool:
        """Whether a restriction names a column; a malformed one is refused elsewhere."""
        from conformance.protocols.storage_read.reference.restriction import columns_in  # noqa: PLC0415  # as below

        return bool(restriction) and column.lower() in columns_in(restriction, snapshot.columns, snapshot.rows)

    def snapshot_instant(self, asked: Any) -> int | None:
        """The snapshot time in microseconds since the Unix epoch, None where none was asked for."""
        if not asked.table_modifiers.HasField("snapshot_time"):
            return None
        time = asked.table_modifiers.snapshot_time
        at: int = time.seconds * _SECOND + time.nanos // 1000
        now = self.catalogue.clock()
        if at < now - TIME_TRAVEL:
            self.refuse(Reason.SNAPSHOT_TOO_OLD)
        if at > now:
            self.refuse(Reason.SNAPSHOT_IN_FUTURE)
        return at

    def resolve_columns(self, snapshot: Snapshot, selected: Sequence[str]) -> tuple[Column, ...]:
        """The columns that the selected fields mean, in table order."""
        try:
            return projection.prune(snapshot.columns, selected)
        except projection.UnknownFieldsError as error:
            self.refuse(Reason.UNKNOWN_FIELDS, fields=error)

    def restrict(self, snapshot: Snapshot, text: str) -> pa.BooleanArray | None:
        """Which rows the restriction keeps: true or false for each, or None where there is no restriction."""
        if not text:
            return None
        from conformance.protocols.storage_read.reference import restriction  # noqa: PLC0415  # most servers start without a SQL parser

        try:
            return restriction.keep(text, snapshot.columns, snapshot.rows)
        except restriction.RestrictionError:
            self.refuse(Reason.BAD_RESTRICTION, table=snapshot.table, restriction=text)

    def resolve_compression(self, options: Any) -> tuple[str, bool]:
        """The codec of buffers inside batches, and whether whole responses are compressed; never both."""
        buffers = options.arrow_serialization_options.buffer_compression
        responses = options.response_compression_codec
        for codec, known in ((buffers, _BUFFER_CODECS), (responses, _RESPONSE_CODECS)):
            if codec not in known:
                self.refuse(Reason.UNKNOWN_COMPRESSION, codec=codec)
        if buffers and responses:
            self.refuse(Reason.TWO_COMPRESSIONS)
        return _BUFFER_CODECS[buffers], bool(responses)

    def resolve_schema(self, asked: Any, columns: Sequence[Column]) -> tuple[bytes, AvroWriter | None]:
        """The schema as a session keeps it: bytes for ARROW, a writer for AVRO."""
        if asked.data_format != proto.DATA_FORMAT["AVRO"]:
            return self.encode_schema(self.served_schema(columns)), None
        from conformance.protocols.storage_read.reference.avro import AvroNameError  # noqa: PLC0415  # or without Avro

        options = asked.read_options.avro_serialization_options
        try:
            return b"", self.avro_writer(columns, display_names=options.enable_display_name_attribute)
        except AvroNameError as error:
            self.refuse(Reason.AVRO_NAME, name=error)

    def avro_writer(self, columns: Sequence[Column], *, display_names: bool) -> AvroWriter:
        """What writes the schema and the rows of a session in AVRO."""
        from conformance.protocols.storage_read.reference.avro import AvroWriter  # noqa: PLC0415  # or without Avro

        return AvroWriter(columns, display_names=display_names)

    def name_session(self, parent: str) -> str:
        """A fresh session name under the parent project."""
        return f"{parent}/locations/us/sessions/{self.catalogue.token()}"

    def name_stream(self, session: str) -> str:
        """A fresh stream name under a session."""
        return f"{session}/streams/{self.catalogue.token()}"

    def served_schema(self, columns: Sequence[Column]) -> pa.Schema:
        """The Arrow schema of a session."""
        return mapping.arrow_schema(columns)

    def plan_streams(self, snapshot: Snapshot, request: Any) -> list[tuple[int, int]]:
        """Runs of the table's rows before any restriction, one per stream; none for an empty table.

        A restriction may leave a stream without a row: such a stream ends in OK without a response.
        """
        rows = snapshot.rows.num_rows
        if rows == 0 or self.is_outside_sample(request.read_session.read_options):
            return []
        wanted = min(math.ceil(rows / ROWS_PER_STREAM), DEFAULT_STREAMS)
        wanted = max(wanted, min(request.preferred_min_stream_count, math.ceil(rows / FIRST_RESPONSE_ROWS)))
        count = min(wanted, request.max_stream_count or MAX_STREAMS, MAX_STREAMS)
        edges = [rows * index // count for index in range(count + 1)]
        return list(itertools.pairwise(edges))

    def is_outside_sample(self, options: Any) -> bool:
        """Whether a sample misses the table: sampling takes whole blocks, a table is one here, and 0 % takes none."""
        return bool(options.HasField("sample_percentage") and options.sample_percentage == 0)

    def open_stream(self, session: OpenedSession, mask: pa.BooleanArray | None, start: int, stop: int) -> Stream:
        """The stream of a run of the table's rows."""
        name = self.name_stream(session.name)
        return Stream(name, session, self.rows_of_run(session.snapshot.rows, mask, start, stop))

    def rows_of_run(self, rows: pa.Table, mask: pa.BooleanArray | None, start: int, stop: int) -> pa.Table:
        """The rows of one stream: a run of the table's, less those that the restriction drops."""
        run = rows.slice(start, stop - start)
        return run if mask is None else take(run, pc.indices_nonzero(mask.slice(start, stop - start)).to_numpy())

    def describe_session(self, session: OpenedSession, streams: Sequence[Stream]) -> Any:
        """The ReadSession of the answer: the echoed request, and the server's own fields."""
        asked = session.request.read_session
        answer = proto.ReadSession(
            name=session.name,
            data_format=asked.data_format,
            table=asked.table,
            trace_id=asked.trace_id,
            estimated_row_count=session.snapshot.rows.num_rows,
            estimated_total_bytes_scanned=self.estimate_bytes(session),
            streams=[proto.ReadStream(name=stream.name) for stream in streams],
        )
        for field in ("table_modifiers", "read_options"):
            if asked.HasField(field):
                getattr(answer, field).CopyFrom(getattr(asked, field))
        answer.expire_time.FromMicroseconds(session.expires)
        self.put_schema(answer, session)
        return answer

    def put_schema(self, answer: Any, session: OpenedSession) -> None:
        """Put the session's schema into an answer, in the session's format."""
        if session.avro is not None:
            answer.avro_schema.schema = session.avro.schema
        else:
            answer.arrow_schema.serialized_schema = session.schema_bytes

    def estimate_bytes(self, session: OpenedSession) -> int:
        """Bytes of the columns that the session touches, before any restriction."""
        return sum(session.snapshot.rows.column(column.name).nbytes for column in session.columns)

    # --- ReadRows -------------------------------------------------------------------------------------

    def read_rows(self, request: Any) -> Iterator[Any]:
        """The rows of a stream from an offset on, one response per run of rows; nothing at its end."""
        stream = self.stream_of(request)
        self.check_offset(stream, request.offset)
        rows = self.rows_at_offset(stream, request.offset)
        batch = self.serve(stream.session, rows)
        done = request.offset
        for index, part in enumerate(self.cut_responses(stream, batch)):
            yield self.describe_rows(stream, part, start=done, first=index == 0)
            done += part.num_rows

    def stream_of(self, request: Any) -> Stream:
        """The stream that a ReadRows request names: of a query's job, or of a session."""
        return self.result_stream(request) or self.find_stream(request.read_stream)

    def find_stream(self, name: str) -> Stream:
        """The live stream of that name."""
        stream = self.sessions.find(name)
        if stream is None:
            self.refuse(Reason.UNKNOWN_STREAM, stream=name)
        if self.catalogue.clock() > stream.session.expires:
            moment = dt.datetime.fromtimestamp(stream.session.expires // _SECOND, dt.UTC)
            self.refuse(Reason.SESSION_EXPIRED, stream=name, expired=moment.isoformat())
        return stream

    def check_offset(self, stream: Stream, offset: int) -> None:
        """Refuse an offset outside the stream; its very end is inside."""
        if offset < 0:
            self.refuse(Reason.OFFSET_NEGATIVE, stream=stream.name, offset=offset)
        if offset > stream.rows.num_rows:
            self.refuse(Reason.OFFSET_BEYOND_END, stream=stream.name, offset=offset)

    def rows_at_offset(self, stream: Stream, offset: int) -> pa.Table:
        """The stream's rows from the offset to its end, in stored form."""
        return stream.rows.slice(offset)

    def serve(self, session: OpenedSession, rows: pa.Table) -> pa.RecordBatch:
        """Stored rows as the session's schema has them; as they are stored for AVRO."""
        if session.avro is not None:
            return projection.pruned(rows, session.columns)
        options = session.request.read_session.read_options.arrow_serialization_options
        try:
            served = projection.served(rows, session.columns)
            # Sessions are of microseconds: no column of theirs has more digits.
            return self.in_form(served, options.picos_timestamp_precision) if "/jobs/" in session.name else served
        except projection.IntervalOverflowError as error:
            self.refuse(Reason.INTERVAL_OUT_OF_RANGE, micros=error)

    def cut_responses(self, stream: Stream, batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
        """Runs of rows, each for one response: never empty, growing in rows, bounded in bytes."""
        start, limit = 0, FIRST_RESPONSE_ROWS
        while start < batch.num_rows:
            part = batch.slice(start, limit)
            while part.nbytes > RESPONSE_BYTES and part.num_rows > 1:
                part = part.slice(0, part.num_rows // 2)
            if part.nbytes > MAX_RESPONSE_BYTES:
                self.refuse(Reason.ROW_TOO_LARGE, stream=stream.name, row=start, maximum=MAX_RESPONSE_BYTES)
            yield part
            start += part.num_rows
            limit *= 2

    def describe_rows(self, stream: Stream, part: pa.RecordBatch, *, start: int, first: bool) -> Any:
        """One ReadRowsResponse; ``start`` is the offset of its first row in the stream."""
        answer = proto.ReadRowsResponse(row_count=self.count_rows(part))
        session = stream.session
        payload = session.avro.rows(part) if session.avro else self.encode_batch(part, session.buffer_codec)
        if session.lz4_responses:
            payload, answer.uncompressed_byte_size = encoding.compress_response(payload)
        if session.avro is not None:
            answer.avro_rows.serialized_binary_rows = payload
        else:
            answer.arrow_record_batch.serialized_record_batch = payload
        at_start, at_end = self.progress(stream, start, start + part.num_rows)
        answer.stats.progress.at_response_start = at_start
        answer.stats.progress.at_response_end = at_end
        answer.throttle_state.throttle_percent = 0
        if self.carries_schema(first=first):
            self.put_schema(answer, session)
        return answer

    def carries_schema(self, *, first: bool) -> bool:
        """Whether a response carries the schema: the first of each call does."""
        return first

    def count_rows(self, part: pa.RecordBatch) -> int:
        """The row_count of a response."""
        return int(part.num_rows)

    def progress(self, stream: Stream, start: int, stop: int) -> tuple[float, float]:
        """How far into the stream a response begins and ends, in [0, 1]."""
        rows = max(stream.rows.num_rows, 1)
        return min(start / rows, 1.0), min(stop / rows, 1.0)

    def encode_schema(self, schema: pa.Schema) -> bytes:
        """The content of ``serialized_schema``."""
        return encoding.encode_schema(schema)

    def encode_batch(self, part: pa.RecordBatch, codec: str) -> bytes:
        """The content of ``serialized_record_batch``."""
        return encoding.encode_batch(part, codec)

    # --- SplitReadStream ------------------------------------------------------------------------------

    def split_read_stream(self, request: Any) -> Any:
        """Two streams that are the stream's rows back to back, or an empty answer where there is nothing to split."""
        stream = self.find_stream(request.name)
        if not 0.0 < request.fraction < 1.0:
            self.refuse(Reason.BAD_FRACTION, stream=stream.name, fraction=request.fraction)
        if stream.rows.num_rows <= 1:
            return proto.SplitReadStreamResponse()
        children = [
            Stream(self.name_stream(stream.session.name), stream.session, rows)
            for rows in self.split(stream, request.fraction)
        ]
        self.sessions.add(children)
        primary, remainder = (proto.ReadStream(name=child.name) for child in children)
        return proto.SplitReadStreamResponse(primary_stream=primary, remainder_stream=remainder)

    def split(self, stream: Stream, fraction: float) -> tuple[pa.Table, pa.Table]:
        """The rows of the primary and of the remainder, neither empty."""
        rows = stream.rows.num_rows
        at = min(max(round(rows * fraction), 1), rows - 1)
        return stream.rows.slice(0, at), stream.rows.slice(at)

    # --- refusing -------------------------------------------------------------------------------------

    def refuse(self, reason: Reason, **facts: object) -> NoReturn:
        """End the call for a reason; ``facts`` fill the reason's text."""
        code, text = REFUSALS[reason]
        raise Refusal(code, text.format(**facts))
