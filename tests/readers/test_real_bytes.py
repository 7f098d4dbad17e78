"""Bytes captured from the real service: every reader takes them, and all are of one mind."""

from __future__ import annotations

import pyarrow as pa
import pytest

from conformance.readers import READERS, ReaderPool, Takes
from conformance.readers.agreement import differences, disagreements
from conformance.readers.decoders import pyarrow_slots
from conformance.readers.fullread import full_reads
from conformance.records import ReadingOutcome
from tests.fixtures import real_bigquery
from tests.readers.recorded import case, exchange

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
    assert len(readings) == sum(info.takes is not Takes.QUERY for info in READERS.values())
