"""Times of a result in three forms, nested ones too."""

from __future__ import annotations

import datetime as dt

import pyarrow as pa
import pytest

from conformance.protocols.storage_read.reference.instants import FORMS, formed, formed_schema

MICROS = pa.timestamp("us", "UTC")
AT = dt.datetime(1, 2, 3, 4, 5, 6, 7, tzinfo=dt.UTC)
BATCH = pa.RecordBatch.from_pydict(
    {
        "at": pa.array([AT, None], MICROS),
        "local": pa.array([None, None], pa.timestamp("us")),
        "seen": pa.array([[{"at": AT}], []], pa.list_(pa.struct([("at", MICROS)]))),
    }
)


@pytest.mark.parametrize("form", [0, FORMS["TIMESTAMP_PRECISION_MICROS"]])
def test_microseconds_are_the_stored_form(form: int) -> None:
    """No form, and the one of microseconds, change nothing."""
    assert formed(BATCH, form).equals(BATCH)


def test_picoseconds_are_text() -> None:
    """Each time that has a zone is ISO 8601 with twelve digits, and one that has none stays."""
    rows = formed(BATCH, FORMS["TIMESTAMP_PRECISION_PICOS"])

    text = "0001-02-03T04:05:06.000007000000Z"
    assert rows.to_pylist() == [
        {"at": text, "local": None, "seen": [{"at": text}]},
        {"at": None, "local": None, "seen": []},
    ]
    assert rows.schema.field("local").type == pa.timestamp("us")


def test_nanoseconds_do_not_hold_every_year() -> None:
    """The types are 64 bits of them, and the year 1 is an error."""
    form = FORMS["TIMESTAMP_PRECISION_NANOS"]

    assert formed_schema(BATCH.schema, form).field("at").type == pa.timestamp("ns", "UTC")
    with pytest.raises((pa.ArrowException, OverflowError)):
        formed(BATCH, form)
