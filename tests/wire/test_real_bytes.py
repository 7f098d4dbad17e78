"""Bytes that others wrote: the service itself, the golden files of the Arrow project, other encoders."""

from __future__ import annotations

import datetime as dt
import io
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pytest

from conformance.wire import Fault, Header, Rule, Severity, batch_to_arrow, read_batch, read_messages, read_schema
from tests.fixtures import fixture, real_bigquery
from tests.wire.corpus import batches


def _judge(stream: bytes) -> Iterator[Fault]:
    """The faults of each Schema and RecordBatch message of a stream, each message taken alone."""
    schema = None
    for message in read_messages(stream):
        data = stream[message.start : message.end]
        if message.header is Header.SCHEMA:
            read = read_schema(data)
            schema = read.schema
            yield from read.faults
        elif message.header is Header.RECORD_BATCH:
            assert schema is not None
            yield from read_batch(data, schema).faults
        else:
            assert message.header in (Header.DICTIONARY_BATCH, Header.END_OF_STREAM)


@pytest.mark.parametrize(
    ("schema_file", "batch_file", "rows"),
    [("arrowDateTimeSchema", "arrowDateTimeRowsInBytes", 4), ("pekko_ten.arrowschema", "pekko_ten.arrow", 1)],
)
def test_bytes_of_the_service_have_no_fault(schema_file: str, batch_file: str, rows: int) -> None:
    """Captured answers of the v1 service come out clean, notes included."""
    schema = read_schema(real_bigquery(schema_file))
    assert schema.faults == []
    assert schema.schema is not None

    batch = read_batch(real_bigquery(batch_file), schema.schema)

    assert batch.faults == []
    assert batch_to_arrow(batch).num_rows == rows


def test_bytes_of_the_old_service_are_legacy_framing_only() -> None:
    """The v1beta1 capture is legal Arrow of its day: two notes, no violation, and the right values."""
    schema = read_schema(real_bigquery("alltypes.arrowschema"))
    assert schema.schema is not None

    batch = read_batch(real_bigquery("alltypes.arrow"), schema.schema)

    notes = [Rule.PREFIX_CONTINUATION_MISSING, Rule.MESSAGE_VERSION_V4]
    assert [fault.rule for fault in schema.faults] == notes
    assert [fault.rule for fault in batch.faults] == notes
    row: dict[str, Any] = batch_to_arrow(batch).to_pylist()[0]
    assert row["int_req"] == 42
    assert row["int_null"] is None
    assert row["str"] == "string"
    assert row["day"] == dt.date(2019, 3, 18)
    assert row["int_arr"] == [1, 2, 3]


QUIRKS = {Rule.DECIMAL_PRECISION, Rule.DATE64_WHOLE_DAYS, Rule.TIME_RANGE}
"""Violations of the golden files of 0.14.1 and 1.0.0, for which the Arrow project's own checks are disabled."""
OLD = {Rule.PREFIX_CONTINUATION_MISSING, Rule.MESSAGE_VERSION_V4}


@pytest.mark.parametrize(
    ("folder", "expected"), [("0.14.1", OLD), ("0.17.1", {Rule.MESSAGE_VERSION_V4}), ("1.0.0-littleendian", set())]
)
def test_golden_streams_have_no_fault_but_the_known(folder: str, expected: set[Rule]) -> None:
    """Messages of every golden stream are legal, but for values that the project knows to be out of range."""
    streams = sorted(fixture("arrow-testing", folder).glob("*.stream"))
    assert streams

    found = {fault.rule for stream in streams for fault in _judge(stream.read_bytes())}

    assert found - QUIRKS == expected


NAMES = [name for name in batches() if "sliced" not in name]


def _nanoarrow(batch: pa.RecordBatch, sink: io.BytesIO) -> None:
    ipc = pytest.importorskip("nanoarrow.ipc")
    with ipc.StreamWriter.from_writable(sink) as writer:
        writer.write_stream(pa.RecordBatchReader.from_batches(batch.schema, [batch]))


def _arro3(batch: pa.RecordBatch, sink: io.BytesIO) -> None:
    core, arro3_io = pytest.importorskip("arro3.core"), pytest.importorskip("arro3.io")
    arro3_io.write_ipc_stream(core.Table.from_arrow(pa.Table.from_batches([batch])), sink)


@pytest.mark.parametrize(
    ("writer", "broken"),
    [
        # It writes both children of an empty slice whole; arro3 0.9.1 refuses the stream.
        (_nanoarrow, [("sparse_union, no rows", Rule.UNION_CHILD_LONGER)] * 2),
        (_arro3, []),
    ],
    ids=["nanoarrow", "arro3"],
)
def test_other_encoders_break_no_rule(writer: Any, broken: list[tuple[str, Rule]]) -> None:
    """Other shapes of the same thing are legal: 64-byte padding, bitmaps without nulls, offsets left out."""
    judged, found = 0, []
    for name in NAMES:
        sink = io.BytesIO()
        try:
            writer(batches()[name], sink)
        except (NotImplementedError, RuntimeError, ValueError, TypeError):
            continue  # a type that this encoder does not write
        except Exception as error:
            if type(error).__module__.split(".")[0] not in ("nanoarrow", "arro3"):
                raise
            continue
        judged += 1
        found += [(name, fault.rule) for fault in _judge(sink.getvalue()) if fault.severity is Severity.VIOLATION]

    assert judged > 60
    assert found == broken
