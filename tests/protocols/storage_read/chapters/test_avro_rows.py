"""The chapter on rows in Avro: one wrong encoding of a value at a time."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pyarrow as pa
import pytest

from conformance.contract.mapping import arrow_schema
from conformance.protocols.storage_read.reference.avro import AvroWriter
from conformance.protocols.storage_read.reference.avrowriters import Cell, FieldWriter
from conformance.records import BqType, Column, CreateSession, Mode, ReadRows, Recipe, Table
from tests.contract.exchanges import Answer, Deviation, case_of, prove, read

COLUMNS = (
    Column("row_id", BqType.INT64, Mode.REQUIRED),
    Column("flag", BqType.BOOL, Mode.REQUIRED),
    Column("day", BqType.DATE, Mode.REQUIRED),
    Column("at", BqType.DATETIME, Mode.REQUIRED),
    Column("word", BqType.STRING),
    Column("price", BqType.NUMERIC, Mode.REQUIRED),
    Column("marks", BqType.INT64, Mode.REPEATED),
)
CASE = case_of(CreateSession(data_format="AVRO"), ReadRows(), table=Table(COLUMNS, recipe=Recipe(6)))


def lie(clause: str, name: str, made: bytes, *others: str) -> Deviation:
    """A read in which every value of a column has these bytes."""

    def cell(column: Column, _value: Any, right: bytes) -> bytes:
        return made if column.name == name else right

    return Deviation(clause, CASE, written(cell), others)


def padded(column: Column, _value: Any, right: bytes) -> bytes:
    """The branch of a union takes two bytes."""
    return bytes([right[0] | 0x80, 0]) + right[1:] if column.name == "word" else right


def written(cell: Cell) -> Any:
    """The rows of the read are written by another writer."""

    def spoil(answers: list[Answer]) -> None:
        answer = read(answers)
        answer.coding = {**answer.coding, "avro": FieldWriter(COLUMNS, display_names=False, cell=cell)}
        answer.send(answer.table)

    return spoil


def cut(answers: list[Answer]) -> None:
    """The last byte of a response is missing."""
    rows = read(answers).responses[-1].avro_rows
    rows.serialized_binary_rows = rows.serialized_binary_rows[:-1]


DEVIATIONS = (
    Deviation("avro-rows.are-whole", CASE, cut),
    lie("avro-rows.booleans-are-0-or-1", "flag", b"\x02"),
    lie("avro-rows.numbers-have-their-width", "day", b"\x80\x80\x80\x80\x80\x01"),
    Deviation("avro-rows.numbers-are-minimal", CASE, written(padded)),
    lie("avro-rows.datetimes-are-texts-of-their-form", "at", b"\x262019-03-18 01:23:45"),
    lie("avro-rows.texts-are-utf-8", "word", b"\x02\x02\xe9"),
    lie("avro-rows.branches-exist", "word", b"\x04"),
    lie("avro-rows.lengths-are-not-negative", "word", b"\x02\x01"),
    lie("avro-rows.decimals-fit", "price", b"\x00"),
    lie("avro-rows.blocks-are-as-declared", "marks", b"\x01\x06\x02\x00"),
)


@pytest.mark.parametrize("deviation", DEVIATIONS, ids=str)
def test_one_lie_is_told_by_its_clause_alone(deviation: Deviation) -> None:
    """A single deviation from an obedient answer fails the clause on it, and no other."""
    prove(deviation)


def test_a_writer_of_single_values_knows_the_types_that_come_again_in_a_record() -> None:
    """A RANGE comes twice in one column, and once before it: it is defined once, and every row is written."""
    days = Column("days", BqType.RANGE, range_of=BqType.DATE)
    spans = Column("spans", BqType.RANGE, Mode.REPEATED, range_of=BqType.DATE)
    columns = (days, Column("value", BqType.RECORD, fields=(days, spans)))
    span = {"start": None, "end": dt.date(1970, 1, 2)}
    rows = [{"days": span, "value": {"days": span, "spans": [span, span]}}]
    batch = pa.RecordBatch.from_pylist(rows, schema=arrow_schema(columns))
    writer = FieldWriter(columns, display_names=False, cell=lambda _column, _value, right: right)
    assert writer.rows(batch) == AvroWriter(columns).rows(batch)
