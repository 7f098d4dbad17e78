"""The Arrow data of requests: bare messages, and the forms that public programs and servers confuse with them."""

from __future__ import annotations

import pyarrow as pa
import pytest

from conformance import wire
from conformance.generate import materialise
from conformance.protocols.storage_write.records import Framing, RowsAppend, WriteRows
from conformance.protocols.storage_write.targets.rows import EXTRA, ArrowMessages, arrow_messages
from conformance.records import BqType, Column, Mode, Recipe, Table

COLUMNS = (
    Column("row_id", BqType.INT64, Mode.REQUIRED),
    Column("json", BqType.JSON),
    Column("instant", BqType.TIMESTAMP),
    Column("words", BqType.STRING, Mode.REPEATED),
)
TABLE = materialise(Table(COLUMNS, recipe=Recipe(rows=10)))


def _made(append: RowsAppend, **step: object) -> ArrowMessages:
    return arrow_messages(TABLE, WriteRows((append,), **step), append)  # type: ignore[arg-type]  # fields of the step


def _read(made: ArrowMessages) -> pa.RecordBatch:
    return pa.ipc.read_record_batch(pa.py_buffer(made.batch), pa.ipc.read_schema(pa.py_buffer(made.schema)))


def test_bare_messages_have_no_fault() -> None:
    """The strict reader finds one message in each field, without metadata of fields."""
    made = _made(RowsAppend(2, 3))
    schema = wire.read_schema(made.schema)
    assert schema.schema is not None
    batch = wire.read_batch(made.batch, schema.schema)

    assert (schema.faults, batch.faults, batch.length) == ([], [], 3)
    assert [field.metadata for field in pa.ipc.read_schema(pa.py_buffer(made.schema))] == [None] * 4
    assert _read(made).column("row_id").to_pylist() == [2, 3, 4]


def test_columns_are_left_out_and_added() -> None:
    """By the step, for all of its requests."""
    assert _read(_made(RowsAppend(0), omit=("json",))).schema.names == ["row_id", "instant", "words"]
    assert _read(_made(RowsAppend(0), extra=True)).schema.names[-1] == EXTRA


def test_columns_come_in_reverse_behind_the_one_that_counts() -> None:
    """Each with its own values."""
    there, back = (_read(_made(RowsAppend(2, 3), backwards=backwards)) for backwards in (False, True))

    assert back.schema.names == ["row_id", "words", "instant", "json"]
    assert back.to_pylist() == there.to_pylist()


def test_a_bad_row_has_an_instant_that_bigquery_does_not_have() -> None:
    """The other rows of the request are those of the table."""
    instants = _read(_made(RowsAppend(0, 3, bad=(1,)))).column("instant").cast(pa.int64()).to_pylist()
    right = TABLE.column("instant").cast(pa.int64()).to_pylist()

    assert instants == [right[0], -(1 << 63), right[2]]


def test_times_without_a_zone_have_the_same_numbers() -> None:
    """As Google's sample for Python writes them."""
    column = _read(_made(RowsAppend(0, 5), plain_times=True)).column("instant")

    assert column.type == pa.timestamp("us")
    assert column.cast(pa.int64()).equals(TABLE.column("instant").slice(0, 5).combine_chunks().cast(pa.int64()))


@pytest.mark.parametrize("framing", [one for one in Framing if one not in (Framing.BARE, Framing.NO_SCHEMA)])
def test_other_forms_are_no_bare_messages(framing: Framing) -> None:
    """The strict reader finds a fault in one of the two fields."""
    bare, made = _made(RowsAppend(0, 4)), _made(RowsAppend(0, 4, framing=framing))
    schema = wire.read_schema(bare.schema).schema
    assert schema is not None

    assert wire.read_schema(made.schema).faults or wire.read_batch(made.batch, schema).faults


@pytest.mark.parametrize("framing", [Framing.STREAM_AS_BATCH, Framing.STREAMS])
def test_a_full_stream_is_what_a_stream_reader_takes(framing: Framing) -> None:
    """It has the rows, but not in the form for the field."""
    assert pa.ipc.open_stream(_made(RowsAppend(0, 4, framing=framing)).batch).read_all().num_rows == 4


def test_two_batches_have_all_rows() -> None:
    """A reader of one message gets half of them."""
    made = _made(RowsAppend(0, 6, framing=Framing.TWO_BATCHES))

    assert _read(made).num_rows == 3
    assert pa.ipc.open_stream(made.schema + made.batch).read_all().num_rows == 6
