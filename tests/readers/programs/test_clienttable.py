"""Plain values become the Arrow table that they were made from, under the types that the target sent."""

from __future__ import annotations

from decimal import Decimal

import pyarrow as pa
import pytest

from conformance.readers.programs.clienttable import plain_to_arrow, sent_schema
from conformance.readers.programs.slot import warm_up_read
from conformance.wire import PlainTable, plain_table

COLUMNS = {
    "int64": pa.array([1, None, -(2**63)], pa.int64()),
    "float64": pa.array([0.1, None, float("-inf")]),
    "bool": pa.array([True, None, False]),
    "string": pa.array(["a", None, ""]),
    "bytes": pa.array([b"\x00", None, b""]),
    "date": pa.array([-1, None, 3], pa.int32()).view(pa.date32()),
    "time": pa.array([1, None, 3], pa.int64()).view(pa.time64("us")),
    "timestamp": pa.array([1, None, -3], pa.int64()).view(pa.timestamp("us", "UTC")),
    "numeric": pa.array([Decimal("1.5"), None, Decimal(-2)], pa.decimal128(38, 9)),
    "bignumeric": pa.array([(2**255 - 1).to_bytes(32, "little"), None, bytes(32)], pa.binary(32)).view(
        pa.decimal256(76, 38)
    ),
    "interval": pa.array([pa.MonthDayNano([1, -2, 3]), None, pa.MonthDayNano([0, 0, 0])]),
    "list": pa.array([[1, None], [], None], pa.list_(pa.int64())),
    "struct": pa.array([{"a": 1, "b": ["x"]}, None, {"a": None, "b": []}]),
}


@pytest.mark.parametrize("kind", COLUMNS)
def test_a_table_survives_the_way_through_plain_values(kind: str) -> None:
    """Every type of the service comes back as it was."""
    batch = pa.record_batch({"x": COLUMNS[kind]})

    made = plain_to_arrow(plain_table([batch]), batch.schema)

    assert made.schema.field("x").type == COLUMNS[kind].type
    assert plain_table(made.to_batches()).columns == plain_table([batch]).columns


@pytest.mark.parametrize("value", [True, "1", {"f64": "nan"}, 2**64, [1]])
def test_a_value_that_does_not_fit_makes_its_column_text(value: object) -> None:
    """The comparison then reports another type."""
    made = plain_to_arrow(PlainTable(("x",), ([value],), 1), pa.schema([("x", pa.int64())]))

    assert made.schema.field("x").type == pa.string()


def test_the_schema_is_the_one_that_was_sent() -> None:
    """It comes from the session's message."""
    assert sent_schema(warm_up_read()) == pa.schema([("x", pa.int64())])
