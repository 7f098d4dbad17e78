"""Faults of ReadRows: offsets, response boundaries, cancelled and concurrent reads, late errors."""

# ruff: noqa: D102  # a step means what the docstring of the same step of the service says

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from conformance.contract import proto
from conformance.protocols.storage_read.reference.catalogue import Catalogue
from conformance.protocols.storage_read.reference.service import FIRST_RESPONSE_ROWS, ReadService
from conformance.protocols.storage_read.reference.session import OpenedSession, Stream
from conformance.records import BqType, Mode
from conformance.reference.statuses import Refusal
from tests.faults.register import fault
from tests.faults.steps import RUN, Placed, Stepwise, places

PAGE_ROWS: Final = 16


@fault(
    "reads.offset-in-table-rows",
    why="The offset is pushed into the scan, below the filter: LIMIT and OFFSET in the wrong query.",
    source="https://github.com/goccy/bigquery-emulator/issues/507",
    needs="restriction, offset",
)
class OffsetInTableRows(Placed):
    """With a restriction, an offset counts the rows that were scanned, not the rows that the restriction kept."""

    def rows_at_offset(self, stream: Stream, offset: int) -> pa.Table:
        rows = stream.rows
        scanned = places(rows) - places(rows, RUN)
        return rows.filter(pa.array(scanned >= offset))


@fault(
    "reads.page-without-match-ends",
    why="The loop `while page := next_page()` takes a page whose rows were all filtered out for the end of the data.",
    source="https://github.com/googleapis/python-bigquery-storage/issues/733",
    needs="restriction, large table",
)
class PageWithoutMatchEnds(Placed):
    """A stream ends in OK at the first page of 16 scanned rows of which the restriction keeps none."""

    def rows_at_offset(self, stream: Stream, offset: int) -> pa.Table:
        rows = stream.rows
        pages = (places(rows) - places(rows, RUN)) // PAGE_ROWS
        # Before the first page there is a page of no rows that is not taken for the end.
        after_gap = np.flatnonzero(np.diff(pages, prepend=-1) > 1)
        end = int(after_gap[0]) if len(after_gap) else rows.num_rows
        return rows.slice(0, end).slice(min(offset, end))


@fault(
    "reads.resume-at-boundary-ends",
    why="The loop that skips whole batches uses `<` for `<=`; the empty rest of the batch is taken for the end.",
    source="https://github.com/googleapis/google-cloud-python/issues/14900",
    needs="offset, response boundary",
)
class ResumeAtBoundaryEnds(ReadService):
    """A read from an offset that is exactly the end of an earlier response returns nothing and OK."""

    def rows_at_offset(self, stream: Stream, offset: int) -> pa.Table:
        end, size = 0, FIRST_RESPONSE_ROWS
        while end < offset:
            end, size = end + size, size * 2
        return stream.rows.slice(stream.rows.num_rows if end == offset > 0 else offset)


@fault(
    "reads.lz4-first-response-cached",
    why="The first response is asked for most and is expensive to compress, so it is cached by the stream alone.",
    source="",
    needs="response compression, offset",
)
class Lz4FirstResponseCached(ReadService):
    """With response compression, the first response of every later read of a stream is that of its first read."""

    def __init__(self, catalogue: Catalogue) -> None:
        super().__init__(catalogue)
        self._first: dict[str, Any] = {}

    def describe_rows(self, stream: Stream, part: pa.RecordBatch, *, start: int, first: bool) -> Any:
        made = super().describe_rows(stream, part, start=start, first=first)
        cached = first and stream.session.lz4_responses
        return self._first.setdefault(stream.name, made) if cached else made


@fault(
    "reads.row-count-before-restriction",
    why="The count of the scan's batch is sent, taken before the filter ran.",
    source="https://github.com/googleapis/google-cloud-java/pull/5658",
    needs="restriction, row_count",
)
class RowCountBeforeRestriction(Placed):
    """The row_count of a response includes the rows between its first and last row that the restriction dropped."""

    def describe_rows(self, stream: Stream, part: pa.RecordBatch, *, start: int, first: bool) -> Any:
        answer = super().describe_rows(stream, part, start=start, first=first)
        scanned = places(stream.rows.slice(start, part.num_rows))
        answer.row_count = int(scanned[-1] - scanned[0]) + 1
        return answer


@fault(
    "reads.resume-sorts-rows",
    why="OFFSET in SQL needs ORDER BY, so the query of a resumed read has one; the query of a full read has none.",
    source="https://www.postgresql.org/docs/current/queries-limit.html",
    needs="offset, unsorted rows",
)
class ResumeSortsRows(ReadService):
    """A read with an offset counts and returns rows in the order of the first column, a full read as stored."""

    def rows_at_offset(self, stream: Stream, offset: int) -> pa.Table:
        if not offset or not stream.rows.num_columns:
            return stream.rows.slice(offset)
        try:
            order = pc.sort_indices(stream.rows.column(0))
        except pa.ArrowException:
            return stream.rows.slice(offset)
        return stream.rows.take(order).slice(offset)


@fault(
    "reads.schema-only-at-offset-zero",
    why="'First response' is read as the first response of the stream, and tested as `offset == 0`.",
    source="https://github.com/googleapis/googleapis/blob/master/google/cloud/bigquery/storage/v1/storage.proto",
    needs="offset, schema",
)
class SchemaOnlyAtOffsetZero(ReadService):
    """A read that begins at an offset above 0 has no schema in its first response."""

    def describe_rows(self, stream: Stream, part: pa.RecordBatch, *, start: int, first: bool) -> Any:
        return super().describe_rows(stream, part, start=start, first=first and start == 0)


@fault(
    "reads.avro-ignores-offset",
    why="AVRO came later, with a loop of its own over the rows; offsets were added to the loop for ARROW only.",
    source="https://github.com/goccy/bigquery-emulator/issues/507",
    needs="AVRO, offset",
)
class AvroIgnoresOffset(ReadService):
    """An AVRO session reads every stream from its first row, whatever the offset."""

    def rows_at_offset(self, stream: Stream, offset: int) -> pa.Table:
        return stream.rows.slice(0 if stream.session.avro is not None else offset)


@fault(
    "reads.list-values-from-front",
    why="The offsets of a sliced list are rebased to 0, but the child values are not sliced with them.",
    source="https://github.com/apache/arrow/pull/46408",
    needs="array, second response",
)
class ListValuesFromFront(ReadService):
    """In a batch that is a later slice of the data, arrays of scalars hold the values of the data's first arrays."""

    def describe_rows(self, stream: Stream, part: pa.RecordBatch, *, start: int, first: bool) -> Any:
        if stream.session.avro is None:
            columns = zip(part.columns, stream.session.columns, strict=True)
            arrays = [
                _from_front(array) if column.mode is Mode.REPEATED and column.type is not BqType.RECORD else array
                for array, column in columns
            ]
            part = pa.RecordBatch.from_arrays(arrays, schema=part.schema)
        return super().describe_rows(stream, part, start=start, first=first)


def _from_front(array: pa.ListArray) -> pa.ListArray:
    if not len(array):
        return array
    return pa.ListArray.from_arrays(pc.subtract(array.offsets, array.offsets[0]), array.values, type=array.type)


@fault(
    "reads.validity-from-byte-boundary",
    why="Bitmaps are copied by bytes: the first bit of a slice that does not begin at a multiple of 8 is rounded down.",
    source="https://github.com/apache/arrow/pull/41144",
    needs="NULL, response boundary",
)
class ValidityFromByteBoundary(ReadService):
    """An INT64 column of a batch that begins within a byte of its bitmap has the NULLs of earlier rows."""

    def describe_rows(self, stream: Stream, part: pa.RecordBatch, *, start: int, first: bool) -> Any:
        if stream.session.avro is None:
            part = pa.RecordBatch.from_arrays(list(map(_shifted, part.columns)), schema=part.schema)
        return super().describe_rows(stream, part, start=start, first=first)


def _shifted(array: pa.Array) -> pa.Array:
    within = array.offset % 8
    if array.type != pa.int64() or not within or array.buffers()[0] is None:
        return array
    full = pa.Array.from_buffers(array.type, array.offset + len(array), array.buffers())
    valid = full.slice(array.offset - within, len(array)).is_valid()
    return pc.if_else(valid, array.fill_null(0), pa.scalar(None, pa.int64()))


@fault(
    "reads.late-error-ends-ok",
    why="The handler logs an exception in the loop and returns, since headers and rows are on their way already.",
    source="https://github.com/googleapis/google-cloud-go/issues/8660",
    needs="row that cannot be served, second response",
)
class LateErrorEndsOk(Stepwise):
    """A row that cannot be served ends the stream in OK, without it and all later rows, unless it is in the first
    response.
    """

    def read_rows(self, request: Any) -> Iterator[Any]:
        stream = self.find_stream(request.read_stream)
        self.check_offset(stream, request.offset)
        done, limit = request.offset, FIRST_RESPONSE_ROWS
        while done < stream.rows.num_rows:
            try:
                part = self.part_at(stream, done, limit)
            except Refusal:
                if done == request.offset:
                    raise
                return
            yield self.describe_rows(stream, part, start=done, first=done == request.offset)
            done, limit = done + part.num_rows, limit * 2


@fault(
    "reads.progress-of-remaining-rows",
    why="The denominator is the length of the result set at hand, which after a resume is the rest of the stream.",
    source="https://github.com/googleapis/googleapis/blob/master/google/cloud/bigquery/storage/v1/storage.proto",
    needs="offset, progress",
)
class ProgressOfRemainingRows(ReadService):
    """After a read from an offset, progress is the place in the stream divided by the rows left at the offset."""

    def __init__(self, catalogue: Catalogue) -> None:
        super().__init__(catalogue)
        self._begins: dict[str, int] = {}

    def describe_rows(self, stream: Stream, part: pa.RecordBatch, *, start: int, first: bool) -> Any:
        if first:
            self._begins[stream.name] = start
        return super().describe_rows(stream, part, start=start, first=first)

    def progress(self, stream: Stream, start: int, stop: int) -> tuple[float, float]:
        left = stream.rows.num_rows - self._begins[stream.name]
        return start / left, stop / left


@fault(
    "reads.shared-cursor",
    why="The cursor is kept with the stream, not with the call: one reader for each stream is the normal case.",
    source="https://github.com/apache/beam/issues/26354",
    needs="concurrency, same stream",
)
class SharedCursor(Stepwise):
    """Two reads of one stream at the same time share a cursor, so that each gets what the other has not had."""

    def __init__(self, catalogue: Catalogue) -> None:
        super().__init__(catalogue)
        self._cursors: dict[str, int] = {}

    def read_rows(self, request: Any) -> Iterator[Any]:
        stream = self.find_stream(request.read_stream)
        self.check_offset(stream, request.offset)
        self._cursors[stream.name] = request.offset
        for turn in itertools.count():
            start = self._cursors[stream.name]
            if start >= stream.rows.num_rows:
                return
            part = self.part_at(stream, start, FIRST_RESPONSE_ROWS << min(turn, 24))
            self._cursors[stream.name] = start + part.num_rows
            yield self.describe_rows(stream, part, start=start, first=turn == 0)


@fault(
    "reads.abandoned-read-continues",
    why="The server remembers how far a stream was delivered, and takes offset 0 (unset in proto3) for 'go on'.",
    source="https://github.com/googleapis/java-bigquerystorage/pull/419",
    needs="cancellation, repeated read",
)
class AbandonedReadContinues(ReadService):
    """A read from offset 0 continues where an abandoned read of the same stream has ended."""

    def __init__(self, catalogue: Catalogue) -> None:
        super().__init__(catalogue)
        self._delivered: dict[str, int] = {}

    def read_rows(self, request: Any) -> Iterator[Any]:
        offset = request.offset or self._delivered.pop(request.read_stream, 0)
        for answer in super().read_rows(proto.ReadRowsRequest(read_stream=request.read_stream, offset=offset)):
            offset += answer.row_count
            self._delivered[request.read_stream] = offset
            yield answer
        self._delivered.pop(request.read_stream, None)


@fault(
    "reads.null-record-lost-in-pruning",
    why="A pruned struct is built again from its children, and nobody passes the parent's validity on.",
    source="https://github.com/GoogleCloudDataproc/spark-bigquery-connector/pull/1510",
    needs="projection, nesting, NULL",
)
class NullRecordLostInPruning(ReadService):
    """A RECORD of which only some fields are selected is never NULL: its fields are NULL instead."""

    def serve(self, session: OpenedSession, rows: pa.Table) -> pa.RecordBatch:
        batch = super().serve(session, rows)
        whole = {column.name: column for column in session.snapshot.columns}
        arrays = []
        for array, column in zip(batch.columns, session.columns, strict=True):
            pruned = column.type is BqType.RECORD and column.mode is Mode.NULLABLE and column != whole[column.name]
            arrays.append(pa.StructArray.from_arrays(array.flatten(), fields=list(array.type)) if pruned else array)
        return pa.RecordBatch.from_arrays(arrays, schema=batch.schema)
