"""Bytes captured from the real service: every reader takes them, and all are of one mind."""

from __future__ import annotations

import pyarrow as pa
import pytest

from conformance.formats.avro import avro_to_arrow, read_avro_rows, read_avro_schema
from conformance.readers import READERS, ReaderPool, Takes
from conformance.readers.agreement import differences, disagreements
from conformance.readers.decoders import pyarrow_slots
from conformance.readers.fullread import full_reads
from conformance.records import ReadingOutcome
from tests.fixtures import real_bigquery
from tests.readers.recorded import case, exchange, in_avro

PAIRS = [
    ("arrowDateTimeSchema", "arrowDateTimeRowsInBytes"),
    ("pekko_ten.arrowschema", "pekko_ten.arrow"),
    ("alltypes.arrowschema", "alltypes.arrow"),
]


@pytest.mark.parametrize(("schema", "batch"), PAIRS, ids=["v1 DATETIME", "v1", "v1beta1, legacy framing"])
def test_real_bytes_are_read_alike(pool: ReaderPool, schema: str, batch: str) -> None:
    """Every reader reads a captured pair, and none differs from another."""
    data = real_bigquery(batch)
    columns = pa.ipc.read_schema(pa.py_buffer(real_bigquery(schema)))
    rows = pa.ipc.read_record_batch(pa.py_buffer(data), columns).num_rows
    recorded = exchange(data, schema=real_bigquery(schema), counts=[rows])

    readings = pool.read(case(rows=rows), recorded)

    expected = pyarrow_slots.read(full_reads(case(rows=rows), recorded)[0])
    assert [reading.reader for reading in readings if reading.outcome is not ReadingOutcome.TABLE] == []
    assert [str(one) for reading in readings for one in differences(reading, expected)] == []
    assert disagreements(readings) == []
    assert len(readings) == sum(info.takes is not Takes.QUERY and not info.avro for info in READERS.values())


def test_real_rows_in_avro_are_read_alike(pool: ReaderPool) -> None:
    """Each reader of Avro reads a captured pair, and finds the rows that the suite decodes."""
    schema, rows = real_bigquery("alltypes.avroschema.json"), real_bigquery("alltypes.avro")
    known = read_avro_schema(schema).schema
    assert known is not None
    expected = pa.Table.from_batches([avro_to_arrow(read_avro_rows(rows, known, 1))])

    readings = pool.read(case(rows=1), in_avro(schema, rows))

    assert [(one.reader, one.outcome) for one in readings] == [
        (name, ReadingOutcome.TABLE) for name, info in READERS.items() if info.avro
    ]
    assert [str(one) for reading in readings for one in differences(reading, expected)] == []
