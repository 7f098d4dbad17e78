"""Whether a batch is the table to the bit, which spares its decoding."""

from __future__ import annotations

from typing import Final

import pyarrow as pa
import pytest

from conformance.contract.comparing.bitwise import bit_for_bit
from conformance.contract.comparing.received import serialized
from conformance.contract.view import View
from conformance.generate import materialise
from conformance.records import BqType, Call, Case, Column, Exchange, Mode, NullPattern, Recipe, Table, ValueProfile

COLUMNS: Final = (
    Column("text", BqType.STRING),
    Column("wide", BqType.BIGNUMERIC, Mode.REQUIRED),
    Column("list", BqType.RECORD, Mode.REPEATED, fields=(Column("a", BqType.STRING), Column("b", BqType.FLOAT64))),
)


def view_of(case: Case, table: pa.Table, batch: pa.RecordBatch) -> View:
    """The view of a serializer that made this batch of the case."""
    messages = [("SerializeSchema", table.schema.serialize()), ("SerializeBatch", batch.serialize())]
    calls = tuple(Call(0, "", method, b"", (data.to_pybytes(),), "OK") for method, data in messages)
    return View(case, Exchange(case.id, "t", calls), table)


def case_of(recipe: Recipe) -> Case:
    """A case of columns with text, decimals of 77 digits and lists."""
    return Case("c", "", Table(COLUMNS, recipe=recipe))


@pytest.mark.parametrize("nulls", list(NullPattern))
@pytest.mark.parametrize("values", list(ValueProfile))
def test_what_is_written_whole_need_not_be_decoded(nulls: NullPattern, values: ValueProfile) -> None:
    """Whatever is NULL, empty, or of 77 digits: the table itself stands for what came."""
    case = case_of(Recipe(9, seed=3, nulls=nulls, values=values))
    table = materialise(case.table)
    view = view_of(case, table, table.to_batches()[0])

    assert bit_for_bit(view)
    assert serialized(view)[0].got is table
    assert view.serialized[0].arrow() is not None


@pytest.mark.parametrize(("rows", "expected"), [(0, False), (1, True), (2, True)])
def test_a_batch_without_rows_is_decoded(rows: int, *, expected: bool) -> None:
    """It has no bits that could be those of the table; a single row has."""
    case = case_of(Recipe(rows, seed=3, nulls=NullPattern.NONE, values=ValueProfile.RANDOM))
    table = materialise(case.table)
    batches = table.to_batches() or [pa.RecordBatch.from_pylist([], schema=table.schema)]

    assert bit_for_bit(view_of(case, table, batches[0])) is expected


def test_rows_inside_of_larger_buffers_are_decoded() -> None:
    """A table that begins inside of its buffers, or is cut up, is compared by its values."""
    case = case_of(Recipe(9, seed=3, nulls=NullPattern.NONE, values=ValueProfile.RANDOM))
    table = materialise(case.table)
    first, rest = table.slice(0, 4), table.slice(4)

    assert not bit_for_bit(view_of(case, rest, rest.combine_chunks().to_batches()[0]))
    assert not bit_for_bit(view_of(case, rest, first.slice(0, rest.num_rows).combine_chunks().to_batches()[0]))
    halves = pa.concat_tables([first, rest])
    assert not bit_for_bit(view_of(case, halves, table.to_batches()[0]))


@pytest.mark.parametrize("size", [10, 10_000])
def test_a_buffer_of_any_size_is_compared_to_its_end(size: int) -> None:
    """The last byte of a small buffer and of a large one makes a difference, and so does a buffer that is not there."""
    columns = (Column("text", BqType.STRING),)
    case = Case("c", "", Table(columns, rows=()))
    table = pa.table({"text": ["x" * size, None]})

    def written(values: list[str | None]) -> View:
        return view_of(case, table, pa.table({"text": values}).to_batches()[0])

    assert bit_for_bit(written(["x" * size, None]))
    assert not bit_for_bit(written(["x" * (size - 1) + "y", None]))
    assert not bit_for_bit(written(["x" * (size - 1), None]))
    assert not bit_for_bit(written(["x" * size, ""]))
    assert not bit_for_bit(written([None, None]))


def test_another_bit_is_decoded() -> None:
    """A value, or a NULL in place of one, is seen in what comes out of the bytes."""
    case = case_of(Recipe(9, seed=3, nulls=NullPattern.NONE, values=ValueProfile.RANDOM))
    table = materialise(case.table)
    other = materialise(case_of(Recipe(9, seed=3, nulls=NullPattern.FIRST, values=ValueProfile.RANDOM)).table)
    view = view_of(case, table, other.to_batches()[0])

    assert not bit_for_bit(view)
    assert serialized(view)[0].got.equals(other)
