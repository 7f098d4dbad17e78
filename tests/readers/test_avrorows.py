"""Rows in Avro for readers: from the responses of a session, through a library, to a table."""

from __future__ import annotations

import json
from decimal import Context, Decimal
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings

from conformance.formats.avro import avro_to_arrow, read_avro_rows, read_avro_schema
from conformance.readers import ReaderPool
from conformance.readers.agreement import differences
from conformance.readers.avrorows import NoAvroRows, avro_messages, avro_table
from conformance.readers.fullread import FullRead, full_reads
from conformance.readers.registry import MODULES, reader_module
from conformance.readers.tables import from_stream_bytes
from conformance.records import Reading, ReadingOutcome
from tests.formats.avro.breaking import decimal
from tests.formats.avro.samples import tables, written
from tests.readers.recorded import case, create, in_avro, of_calls, read, response, stream

fastavro_rows = reader_module(MODULES["fastavro.rows"]).load()
SCHEMA = {"type": "record", "name": "__root__", "fields": [{"name": "id", "type": ["null", "long"]}]}
ROWS = [{"id": 1}, {"id": None}, {"id": 3}]


def whole(schema: dict[str, Any], *payloads: bytes) -> FullRead:
    """A full read of a session in Avro."""
    (made,) = full_reads(case(), in_avro(json.dumps(schema).encode(), *payloads))
    return made


def decoded(schema: dict[str, Any], payload: bytes, count: int) -> pa.Table:
    """The rows as the suite decodes them."""
    known = read_avro_schema(json.dumps(schema).encode()).schema
    assert known is not None
    return pa.Table.from_batches([avro_to_arrow(read_avro_rows(payload, known, count))])


@given(drawn=tables())
@settings(max_examples=60)
def test_a_library_and_the_suite_find_the_same_rows(drawn: tuple[dict[str, Any], list[Any]]) -> None:
    """Of every type and mode, nested and repeated."""
    schema, rows = drawn
    payload = written(schema, rows)

    table = fastavro_rows(whole(schema, payload))

    expected = decoded(schema, payload, len(rows))
    reading = Reading("fastavro.rows", "case", "s", ReadingOutcome.TABLE, _stream(table))
    assert [str(one) for one in differences(reading, expected)] == []
    assert table.schema.equals(expected.schema)


def _stream(table: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    data: bytes = sink.getvalue().to_pybytes()
    return data


def test_a_decimal_may_have_77_digits() -> None:
    """No array is made of such a Decimal by pyarrow; its digits fit into 256 bits."""
    schema = {**SCHEMA, "fields": [{"name": "n", "type": ["null", decimal(77, 38)]}]}
    least = Decimal(-(1 << 255)).scaleb(-38, Context(prec=100))
    table = avro_table([{"n": least}, {"n": None}], json.dumps(schema).encode())

    assert table.column("n").null_count == 1
    assert table.column("n").chunk(0).buffers()[1].to_pybytes()[:32] == bytes(31) + b"\x80"


def test_several_responses_are_joined() -> None:
    """Each has whole rows."""
    table = fastavro_rows(whole(SCHEMA, written(SCHEMA, ROWS[:2]), written(SCHEMA, ROWS[2:])))

    assert table.to_pylist() == ROWS


def test_a_cut_row_is_an_error_of_the_library_and_lost_by_the_client(pool: ReaderPool) -> None:
    """google-cloud-bigquery-storage ends a response there without an error."""
    texts = {**SCHEMA, "fields": [{"name": "word", "type": "string"}]}
    payload = written(texts, [{"word": "one"}, {"word": "two"}])[:-1]
    found = {one.reader: one for one in pool.read(case(), in_avro(json.dumps(texts).encode(), payload))}

    assert found["fastavro.rows"].outcome is ReadingOutcome.ERROR
    assert from_stream_bytes(found["bqstorage.avro-rows"].table).to_pylist() == [{"word": "one"}]


def test_a_session_without_streams_has_no_rows(pool: ReaderPool) -> None:
    """The client is given no schema by any response; the library has that of the session."""
    empty = of_calls(create(json.dumps(SCHEMA).encode(), [], data_format="AVRO"))

    assert {one.reader: from_stream_bytes(one.table).column_names for one in pool.read(case(), empty)} == {
        "fastavro.rows": ["id"],
        "bqstorage.avro-rows": [],
    }


def test_rows_in_another_form_are_refused() -> None:
    """A server may answer in Arrow where Avro was asked for."""
    schema = json.dumps(SCHEMA).encode()
    (other,) = full_reads(
        case(), of_calls(create(schema, [stream()], data_format="AVRO"), read(stream(), [response(b"", 0)]))
    )

    with pytest.raises(NoAvroRows, match="expected rows in Avro in response 0"):
        avro_messages(other)


def test_a_session_needs_a_schema() -> None:
    """In the session, or in a response."""
    (bare,) = full_reads(case(), of_calls(create(b"", [], data_format="AVRO")))

    with pytest.raises(NoAvroRows, match="expected an Avro schema"):
        avro_messages(bare)


def test_a_schema_that_the_suite_cannot_read_gives_no_table() -> None:
    """The types of the columns are not known."""
    with pytest.raises(NoAvroRows, match="cannot read the Avro schema"):
        avro_table([], b"{}")
