"""The result batches of Spark Connect: assembled from the chunks in its responses, judged, and decoded.

Each is an IPC stream, which Spark 4.1 and newer may send in chunks: ``ExecutePlanResponse.ArrowBatch`` in
https://github.com/apache/spark/blob/master/sql/connect/common/src/main/protobuf/spark/connect/base.proto.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence

import pyarrow as pa

from conformance import wire
from conformance.contract.ipc.judging import judge_ipc
from conformance.records import Verdict

__all__ = ["BatchChunk", "ResultBatch", "join", "judge_results", "rows_of"]


@dataclasses.dataclass(frozen=True, slots=True)
class BatchChunk:
    """One response's part of a result batch: chunk ``index`` out of ``count``.

    ``rows`` is the number of rows in the batch, ``offset`` is the position of its first row (None if not given).
    """

    data: bytes
    rows: int
    offset: int | None = None
    index: int = 0
    count: int = 1


@dataclasses.dataclass(frozen=True, slots=True)
class ResultBatch:
    """One complete result batch: an IPC stream, and the number of rows that the server declares for it."""

    data: bytes
    rows: int


def join(chunks: Iterable[BatchChunk]) -> list[ResultBatch]:
    """The result batches assembled from chunks, in the order of the rows.

    Raises:
        ValueError: a chunk is missing, out of place or of another batch, or a batch does not begin at the row after
        the previous batch.
    """
    batches: list[ResultBatch] = []
    parts: list[BatchChunk] = []
    rows = 0
    for chunk in chunks:
        count = parts[0].count if parts else chunk.count
        if (chunk.index, chunk.count) != (len(parts), count):
            raise ValueError(f"expected chunk {len(parts)} of {count} but got chunk {chunk.index} of {chunk.count}")
        if not parts and chunk.offset not in (None, rows):
            raise ValueError(f"expected a batch that begins at row {rows} but got one that begins at {chunk.offset}")
        parts.append(chunk)
        if len(parts) == count:
            batches.append(ResultBatch(b"".join(part.data for part in parts), chunk.rows))
            rows += chunk.rows
            parts = []
    if parts:
        raise ValueError(f"the result ends after {len(parts)} of the {parts[0].count} chunks of a batch")
    return batches


def judge_results(batches: Sequence[ResultBatch]) -> list[Verdict]:
    """One verdict for each clause of profile ``ipc-stream``; if a clause fails on several batches, the first
    failure.
    """
    verdicts: dict[str, Verdict] = {}
    for batch in batches:
        for verdict in judge_ipc(batch.data, wire.Kind.STREAM, writer=True):
            known = verdicts.get(verdict.clause)
            if known is None or (verdict.outcome.fails_run and not known.outcome.fails_run):
                verdicts[verdict.clause] = verdict
    return list(verdicts.values())


def rows_of(batches: Sequence[ResultBatch]) -> list[pa.RecordBatch] | None:
    """The rows, decoded by the suite; None if not all can be decoded.

    Raises:
        ValueError: the server declares a wrong number of rows, or batches with different schemas.
    """
    rows: list[pa.RecordBatch] = []
    for number, batch in enumerate(batches):
        try:
            found = wire.read_stream(batch.data).to_batches()
        except wire.DecodingError:
            return None
        held = sum(one.num_rows for one in found)
        if held != batch.rows:
            raise ValueError(f"batch {number} is declared with {batch.rows} rows but has {held}")
        rows += found
        if any(one.schema != rows[0].schema for one in found):
            raise ValueError(f"batch {number} has another schema than the first of the result")
    return rows
