"""Mutants of results whose reads are cancelled or held open, whose table is removed, or comes of several insertions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyarrow as pa

from conformance.protocols.storage_read.reference.catalogue import MissingError
from conformance.protocols.storage_read.reference.mutants.queries import IN_ROWS, PYTHON, STREAMS
from conformance.protocols.storage_read.reference.queries import RunOfQuery
from conformance.protocols.storage_read.reference.register import behaviour_mutant
from conformance.protocols.storage_read.reference.service import ReadService
from conformance.protocols.storage_read.reference.session import Stream
from conformance.reference.statuses import Reason


@behaviour_mutant(
    "query-results.cancelled-read-ends-the-job",
    kills="query-results.cancelled-read-leaves-the-result",
    source=PYTHON,
)
class CancelledReadEndsJob(ReadService):
    """A read of the stream that its client cancels ends the job: later reads do not find it."""

    def read_rows(self, request: Any) -> Iterator[Any]:
        try:
            yield from super().read_rows(request)
        except GeneratorExit:
            job = request.read_stream.split("/")[5]
            self.results.pop(job, None)
            raise


@behaviour_mutant(
    "query-results.query-ends-running-reads",
    kills="query-results.held-open-has-its-rows",
    source=STREAMS,
)
class QueryEndsRunningReads(ReadService):
    """All results come over one connection to a database: a query ends the reads that run, in OK."""

    def cut_responses(self, stream: Stream, batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
        before = list(self.results)
        for part in super().cut_responses(stream, batch):
            if "/jobs/" in stream.name and list(self.results) != before:
                return
            yield part


@behaviour_mutant(
    "query-results.result-goes-with-its-table", kills="query-results.result-outlives-its-table", source=STREAMS
)
class ResultGoesWithTable(ReadService):
    """The stream of a query is a view of its table: when that is removed, the stream is not found."""

    def open_result(self, asked: RunOfQuery, request: Any) -> Stream:
        try:
            now = self.catalogue.snapshot(asked.result.table)
        except MissingError:
            now = None
        if now is None or now.created != asked.result.created:
            self.refuse(Reason.UNKNOWN_STREAM, stream=request.read_stream)
        return super().open_result(asked, request)


@behaviour_mutant(
    "query-results.message-for-each-insertion",
    kills="query-results.page-count-is-true",
    also={**IN_ROWS, "framing.batch-single-message": "the batches of the page are several messages"},
    source=PYTHON,
)
class MessageForEachInsertion(ReadService):
    """A page has a message for each insertion of which it has rows, one behind the other."""

    def page_batch(self, asked: RunOfQuery, page: pa.RecordBatch) -> bytes:
        parts, start = [], 0
        for chunk in asked.rows.slice(0, page.num_rows).to_batches():
            parts.append(self.encode_batch(page.slice(start, chunk.num_rows), asked.codec))
            start += chunk.num_rows
        return b"".join(parts) or super().page_batch(asked, page)


@behaviour_mutant(
    "query-results.stream-of-one-insertion",
    kills="query-results.stream-has-the-rows-from-the-offset",
    also=IN_ROWS,
    source=STREAMS,
)
class StreamOfOneInsertion(ReadService):
    """A read of the stream ends with the rows of the insertion in which it begins."""

    def rows_at_offset(self, stream: Stream, offset: int) -> pa.Table:
        rows = super().rows_at_offset(stream, offset)
        parts = rows.to_batches() if "/jobs/" in stream.name else []
        return pa.Table.from_batches(parts[:1]) if parts else rows
