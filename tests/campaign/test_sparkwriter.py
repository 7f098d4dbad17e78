from __future__ import annotations

import pyarrow as pa

from conformance.campaign.sparkwriter import _kept, _shortened, takes
from conformance.records import BqType, Column, Mode

REQUIRED = pa.struct([pa.field("a", pa.int64(), nullable=False)])
TABLE = pa.table([pa.array([None, {"a": 1}, {"a": 2}], REQUIRED)], schema=pa.schema([pa.field("r", REQUIRED)]))


def test_spark_is_not_given_what_it_has_no_type_for() -> None:
    """At any depth."""
    deep = Column("r", BqType.RECORD, Mode.NULLABLE, (Column("t", BqType.TIME),))

    assert takes([Column("a", BqType.INT64)])
    assert not takes([Column("a", BqType.INT64), deep])


def test_rows_are_kept_whatever_lies_below_a_null() -> None:
    """Java writes NULL there even for a field that is not nullable."""
    below, fields = pa.array([None, 1, 2], pa.int64()), list(REQUIRED)
    column = pa.StructArray.from_arrays([below], fields=fields, mask=pa.array([True, False, False]))
    batch = pa.record_batch([column], schema=TABLE.schema)

    assert _kept(TABLE, [batch.slice(0, 2), batch.slice(2)]) is True


def test_other_rows_are_not_kept() -> None:
    """Nor are too few, or none that can be decoded."""
    batch = TABLE.to_batches()[0]

    assert _kept(TABLE, [batch]) is True
    assert _kept(TABLE, [batch.slice(1), batch.slice(0, 1)]) is False
    assert _kept(TABLE, [batch.slice(1)]) is False
    assert _kept(TABLE, []) is False
    assert _kept(TABLE, None) is False


def test_in_other_types_nothing_is_said_of_values() -> None:
    """Rows are still counted."""
    batch = pa.record_batch([pa.array([1, 2, 3])], names=["r"])

    assert _kept(TABLE, [batch]) is None
    assert _kept(TABLE, [batch.slice(1)]) is False


def test_a_long_error_keeps_its_reason() -> None:
    """Pyarrow's text contains types of any length; short ones stay on one line."""
    said = f"Can't view {'struct<a: ' * 100}\nnulls in input cannot be viewed as non-nullable"

    assert _shortened(said).startswith("Can't view struct<a: ")
    assert _shortened(said).endswith(" nulls in input cannot be viewed as non-nullable")
    assert len(_shortened(said)) < len(said) / 2
    assert _shortened("no\n  such table") == "no such table"
