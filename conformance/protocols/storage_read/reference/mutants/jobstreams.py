"""Mutants of the streams of queries' jobs: their rows, schemas, codecs and places."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from conformance.contract import mapping
from conformance.protocols.storage_read.reference.mutants.queries import IN_ROWS, PAGES, PYTHON, STREAMS
from conformance.protocols.storage_read.reference.queries import RunOfQuery
from conformance.protocols.storage_read.reference.register import behaviour_mutant
from conformance.protocols.storage_read.reference.service import ReadService
from conformance.protocols.storage_read.reference.session import Stream


@behaviour_mutant("query-results.stream-absent", kills="query-results.stream-is-served", also=IN_ROWS, source=STREAMS)
class StreamAbsent(ReadService):
    """A job has no stream."""

    def is_location(self, location: str) -> bool:  # noqa: ARG002  # the shape of a step
        return False


@behaviour_mutant(
    "query-results.stream-from-the-page", kills="query-results.stream-has-the-rows-from-the-offset", also=IN_ROWS
)
class StreamFromPage(ReadService):
    """The stream begins behind the page, so that an offset counts other rows."""

    def stream_rows(self, asked: RunOfQuery) -> pa.Table:
        return asked.rows.slice(self.page_rows(asked))


@behaviour_mutant(
    "query-results.first-row-of-the-stream-lost",
    kills="query-results.page-and-stream-are-the-result",
    also=IN_ROWS,
    source=PAGES,
)
class FirstRowOfStreamLost(ReadService):
    """A read of the stream from behind its first row lacks the row at its offset."""

    def rows_at_offset(self, stream: Stream, offset: int) -> pa.Table:
        rows = super().rows_at_offset(stream, offset)
        return rows.slice(1) if offset and "/jobs/" in stream.name else rows


@behaviour_mutant("query-results.order-of-the-stream-lost", kills="query-results.reads-agree", also=IN_ROWS)
class OrderOfStreamLost(ReadService):
    """Each read of the stream has its rows in the reverse order of the one before."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.turn = 0

    def rows_at_offset(self, stream: Stream, offset: int) -> pa.Table:
        rows = super().rows_at_offset(stream, offset)
        if "/jobs/" not in stream.name:
            return rows
        self.turn += 1
        return rows.take(pa.array(range(rows.num_rows - 1, -1, -1))) if self.turn % 2 else rows


@behaviour_mutant("query-results.empty-message-at-the-end", kills="query-results.end-has-no-rows", also=IN_ROWS)
class EmptyMessageAtEnd(ReadService):
    """A read of a job's stream without rows has a message with an empty batch."""

    def cut_responses(self, stream: Stream, batch: pa.RecordBatch) -> Any:
        if "/jobs/" in stream.name and not batch.num_rows:
            return iter([batch])
        return super().cut_responses(stream, batch)


@behaviour_mutant(
    "query-results.schema-of-the-table",
    kills="query-results.stream-has-the-schema-of-the-page",
    also={**IN_ROWS, "schema.metadata-keys": "the metadata are none of those of a column"},
)
class OtherSchemaInStream(ReadService):
    """The schema of the stream has other metadata than that of the page."""

    def stream_schema(self, asked: RunOfQuery, form: int) -> bytes:
        schema = self.schema_in_form(asked, form)
        first = schema.field(0).with_metadata({"description": "of the stream"})
        return self.encode_schema(schema.set(0, first))


@behaviour_mutant(
    "query-results.later-schema-differs",
    kills="query-results.stream-has-the-schema-of-the-page",
    also={"schema.metadata-keys": "the metadata of later messages are none of those of a column"},
)
class LaterSchemaDiffers(ReadService):
    """Messages of a job's stream behind the first have a schema with other metadata."""

    def cut_responses(self, stream: Stream, batch: pa.RecordBatch) -> Any:
        if "/jobs/" not in stream.name:
            return super().cut_responses(stream, batch)
        return (batch.slice(place, 1) for place in range(batch.num_rows))

    def describe_rows(self, stream: Stream, part: pa.RecordBatch, *, start: int, first: bool) -> Any:
        answer = super().describe_rows(stream, part, start=start, first=first)
        if "/jobs/" in stream.name and not first:
            schema = mapping.arrow_schema(stream.session.columns)
            other = schema.set(0, schema.field(0).with_metadata({"description": "of a later message"}))
            answer.arrow_schema.serialized_schema = self.encode_schema(other)
        return answer


@behaviour_mutant(
    "query-results.stream-without-a-schema", kills="query-results.first-message-has-the-schema", also=IN_ROWS
)
class StreamWithoutSchema(ReadService):
    """No message of a job's stream has the schema."""

    def describe_rows(self, stream: Stream, part: pa.RecordBatch, *, start: int, first: bool) -> Any:
        return super().describe_rows(stream, part, start=start, first=first and "/jobs/" not in stream.name)


@behaviour_mutant("query-results.row-count-zero", kills="query-results.row-count-is-true")
class RowCountZero(ReadService):
    """row_count of the messages of a job's stream is 0."""

    def describe_rows(self, stream: Stream, part: pa.RecordBatch, *, start: int, first: bool) -> Any:
        answer = super().describe_rows(stream, part, start=start, first=first)
        if "/jobs/" in stream.name:
            answer.row_count = 0
        return answer


@behaviour_mutant("query-results.location-ignored", kills="query-results.other-location-is-not-found", source=STREAMS)
class LocationIgnored(ReadService):
    """The location in the name of a job's stream is ignored."""

    def is_location(self, location: str) -> bool:  # noqa: ARG002  # the shape of a step
        return True


@behaviour_mutant("query-results.any-stream-of-a-job", kills="query-results.other-stream-is-not-found", source=STREAMS)
class AnyStreamOfJob(ReadService):
    """A job has a stream of every name: the server looks no further than the name of the job."""

    def result_stream(self, request: Any) -> Stream | None:
        job, streams, name = request.read_stream.partition("/streams/")
        if name != "_default" and "/jobs/" in job:
            request.read_stream = f"{job}{streams}_default"
        return super().result_stream(request)


@behaviour_mutant("query-results.stream-not-compressed", kills="query-results.stream-has-the-codec", source=PYTHON)
class StreamNotCompressed(ReadService):
    """The stream of a job is never compressed."""

    def stream_codec(self, _asked: RunOfQuery, codec: str) -> str:  # noqa: ARG002  # the shape of a step
        return ""


@behaviour_mutant("query-results.stream-always-zstd", kills="query-results.stream-has-no-other-codec")
class StreamAlwaysZstd(ReadService):
    """The stream of a job is compressed by ZSTD whatever the read names."""

    def stream_codec(self, _asked: RunOfQuery, codec: str) -> str:  # noqa: ARG002  # the shape of a step
        return "ZSTD"


@behaviour_mutant(
    "query-results.stream-forgets-the-form",
    kills="query-results.stream-has-the-schema-of-the-page",
    also={**IN_ROWS, "body.buffer-count": "a client reads the stream by the schema of the page"},
    source=PYTHON,
)
class StreamForgetsForm(ReadService):
    """The times of the stream have microseconds, whatever form the read names."""

    def stream_form(self, _asked: RunOfQuery, form: int) -> int:  # noqa: ARG002  # the shape of a step
        return 0


@behaviour_mutant("query-results.schema-at-the-start-only", kills="query-results.first-message-has-the-schema")
class SchemaAtStartOnly(ReadService):
    """The first message of a job's stream has the schema only if the read begins at the first row."""

    def describe_rows(self, stream: Stream, part: pa.RecordBatch, *, start: int, first: bool) -> Any:
        return super().describe_rows(
            stream, part, start=start, first=first and ("/jobs/" not in stream.name or not start)
        )


@behaviour_mutant(
    "query-results.unknown-job-is-empty", kills="query-results.unknown-job-is-not-found", also=IN_ROWS, source=STREAMS
)
class UnknownJobIsEmpty(ReadService):
    """The stream of a job that does not exist ends in OK, without a message."""

    def read_rows(self, request: Any) -> Any:
        parts = request.read_stream.split("/")
        if "jobs" in parts and not {*self.results, *self.inserted} & set(parts):
            return iter(())
        return super().read_rows(request)


@behaviour_mutant(
    "query-results.written-table-has-a-stream", kills="query-results.written-table-has-no-stream", source=STREAMS
)
class WrittenTableHasStream(ReadService):
    """The stream of a job that wrote into a table of its own is that of a job without rows."""

    def read_rows(self, request: Any) -> Any:
        parts = request.read_stream.split("/")
        if "jobs" in parts and parts[5] in self.written:
            return iter(())
        return super().read_rows(request)


@behaviour_mutant("query-results.stream-is-read-once", kills="query-results.stream-has-the-rows-from-the-offset",
                  also=IN_ROWS)  # fmt: skip
class StreamIsReadOnce(ReadService):
    """A job's stream has no rows when it is read again, as after a lost connection."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.seen: set[str] = set()

    def rows_at_offset(self, stream: Stream, offset: int) -> pa.Table:
        rows = super().rows_at_offset(stream, offset)
        again = stream.name in self.seen and "/jobs/" in stream.name
        self.seen.add(stream.name)
        return rows.slice(0, 0) if again else rows


@behaviour_mutant("query-results.offset-from-the-end", kills="query-results.negative-offset-is-refused")
class OffsetFromEnd(ReadService):
    """A negative offset counts the rows of a job's stream from its end."""

    def check_offset(self, stream: Stream, offset: int) -> None:
        if offset >= 0 or "/jobs/" not in stream.name:
            super().check_offset(stream, offset)

    def rows_at_offset(self, stream: Stream, offset: int) -> pa.Table:
        return super().rows_at_offset(stream, max(0, offset if offset >= 0 else stream.rows.num_rows + offset))


@behaviour_mutant("query-results.read-has-the-form-of-its-query", kills="query-results.read-has-its-form", also=IN_ROWS)
class ReadHasFormOfQuery(ReadService):
    """A read that names a form of times has the one that the query named: none, for a query of jobs.insert."""

    def stream_form(self, asked: RunOfQuery, form: int) -> int:
        return asked.form if form else form


@behaviour_mutant(
    "query-results.read-has-the-codec-of-its-query", kills="query-results.stream-has-the-codec", also=IN_ROWS
)
class ReadHasCodecOfQuery(ReadService):
    """A read that names a codec has the one that the query named: none, for a query of jobs.insert."""

    def stream_codec(self, asked: RunOfQuery, codec: str) -> str:
        return asked.codec if codec else codec


@behaviour_mutant(
    "query-results.zero-maximum-empties-the-stream",
    kills="query-results.stream-has-the-rows-from-the-offset",
    also=IN_ROWS,
    source=PYTHON,
)
class ZeroMaximumEmptiesStream(ReadService):
    """A query for a page of no rows has a result of no rows."""

    def stream_rows(self, asked: RunOfQuery) -> pa.Table:
        rows = super().stream_rows(asked)
        return rows.slice(rows.num_rows) if asked.body.get("maxResults") == 0 else rows

    def check_offset(self, stream: Stream, offset: int) -> None:
        if stream.rows.num_rows or "/jobs/" not in stream.name:
            super().check_offset(stream, offset)
