"""Mutants of sessions in Avro: a second loop over the rows, with mistakes that the first one does not have."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from conformance.protocols.storage_read.reference.register import behaviour_mutant
from conformance.protocols.storage_read.reference.service import ReadService
from conformance.protocols.storage_read.reference.session import Stream


@behaviour_mutant(
    "avro.counts-once-more",
    kills="avro.counts-are-the-rows",
    also={
        "avro.offset-leaves-the-rest": "where a read has fewer responses than the full stream, its sum is another",
        "rows.row-count-is-true": "the count is compared with the rows of the response too",
    },
)
class CountsOnceMore(ReadService):
    """The row_count of a response in Avro is one more than its rows."""

    def describe_rows(self, stream: Stream, part: pa.RecordBatch, *, start: int, first: bool) -> Any:
        answer = super().describe_rows(stream, part, start=start, first=first)
        answer.row_count += stream.session.avro is not None
        return answer


@behaviour_mutant(
    "avro.offset-counts-from-one",
    kills="avro.offset-leaves-the-rest",
    also={"offsets.*": "the rows are compared with those of the whole read too"},
)
class OffsetCountsFromOne(ReadService):
    """An offset into a stream in Avro counts from one: the row before it comes too."""

    def rows_at_offset(self, stream: Stream, offset: int) -> pa.Table:
        return super().rows_at_offset(stream, offset - (stream.session.avro is not None and offset > 0))
