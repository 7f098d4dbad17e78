from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import pyarrow as pa
import pytest

from conformance.campaign.resultbatches import BatchChunk, ResultBatch, join, judge_results, rows_of

SCHEMA = pa.schema([pa.field("a", pa.int64())])


def stream(*values: int, schema: pa.Schema = SCHEMA) -> bytes:
    """A result batch as a server makes it."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, schema) as writer:
        writer.write_batch(pa.record_batch([pa.array(values, schema.field(0).type)], schema))
    data: bytes = sink.getvalue().to_pybytes()
    return data


def cut(data: bytes, count: int, *, rows: int, offset: int | None = None) -> list[BatchChunk]:
    """The chunks of one batch, all but the last of one size."""
    size = -(-len(data) // count)
    return [BatchChunk(data[index * size : (index + 1) * size], rows, offset, index, count) for index in range(count)]


TWO = [*cut(stream(1, 2, 3), 3, rows=3, offset=0), *cut(stream(4), 2, rows=1, offset=3)]


@pytest.mark.parametrize("counts", [(1, 1), (2, 1), (1, 5), (4, 3)])
@pytest.mark.parametrize("offsets", [(0, 3), (None, None)])
def test_chunks_make_the_batches_they_were_cut_from(counts: Sequence[int], offsets: Sequence[int | None]) -> None:
    """However many they are, and whether or not the server says where a batch begins."""
    batches = [ResultBatch(stream(1, 2, 3), 3), ResultBatch(stream(4), 1)]
    chunks = [
        chunk
        for batch, count, offset in zip(batches, counts, offsets, strict=True)
        for chunk in cut(batch.data, count, rows=batch.rows, offset=offset)
    ]

    assert join(chunks) == batches


def test_no_chunks_are_no_batches() -> None:
    """Whether a result may be that is not decided here."""
    assert join([]) == []


@pytest.mark.parametrize(
    ("chunks", "said"),
    [
        (TWO[1:], "expected chunk 0 of 3 but got chunk 1 of 3"),
        ([TWO[0], *TWO[2:]], "expected chunk 1 of 3 but got chunk 2 of 3"),
        ([TWO[0], TWO[0]], "expected chunk 1 of 3 but got chunk 0 of 3"),
        ([TWO[0], TWO[4]], "expected chunk 1 of 3 but got chunk 1 of 2"),
        (TWO[:4], "the result ends after 1 of the 2 chunks of a batch"),
        (TWO[3:], "expected a batch that begins at row 0 but got one that begins at 3"),
        ([*TWO[:3], *TWO[:3]], "expected a batch that begins at row 3 but got one that begins at 0"),
    ],
    ids=["first lost", "lost between", "twice", "of another batch", "last lost", "batch lost", "batch twice"],
)
def test_what_is_lost_or_misplaced_is_told(chunks: Sequence[BatchChunk], said: str) -> None:
    """Rather than joined into bytes that nobody sent."""
    with pytest.raises(ValueError, match=said):
        join(chunks)


def test_every_batch_is_judged_as_a_stream() -> None:
    """The first failure of a clause stands for those of later batches."""
    good, cut_off = ResultBatch(stream(1), 1), ResultBatch(stream(2)[:-24], 1)
    clean = judge_results([good, good])
    failed = [one for one in judge_results([good, cut_off, cut_off]) if one.outcome.fails_run]

    assert len(clean) == len({one.clause for one in clean}) > 50
    assert not [one for one in clean if one.outcome.fails_run]
    assert [one.clause for one in failed] == ["stream.whole"]


def test_rows_come_from_all_batches() -> None:
    """In their order."""
    rows = rows_of(join(TWO))

    assert rows is not None
    assert pa.Table.from_batches(rows).to_pydict() == {"a": [1, 2, 3, 4]}


def test_what_cannot_be_decoded_has_no_rows() -> None:
    """It says so without an error: the verdicts give the reason."""
    assert rows_of([ResultBatch(stream(1), 1), ResultBatch(b"\0" * 64, 1)]) is None


def test_rows_are_counted() -> None:
    """The server has to count them as they are."""
    miscounted = dataclasses.replace(join(TWO)[1], rows=2)

    with pytest.raises(ValueError, match="batch 1 is declared with 2 rows but has 1"):
        rows_of([join(TWO)[0], miscounted])


def test_a_result_has_one_schema() -> None:
    """Every batch repeats it."""
    other = stream(1, schema=pa.schema([pa.field("a", pa.int32())]))

    with pytest.raises(ValueError, match="batch 1 has another schema"):
        rows_of([ResultBatch(stream(1), 1), ResultBatch(other, 1)])
