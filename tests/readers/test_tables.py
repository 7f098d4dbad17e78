"""Validating the table of a reader."""

from __future__ import annotations

import decimal

import pyarrow as pa
import pytest

from conformance.readers.tables import InvalidTable, validate

NUMBERS = pa.list_(pa.field("item", pa.decimal256(76, 38), nullable=False))


def under_a_null(child: pa.Array) -> pa.Table:
    """A table with one NULL record, whose child is not nullable and holds a physical null all the same."""
    kind = pa.struct([pa.field("name", child.type, nullable=False)])
    record = pa.Array.from_buffers(kind, len(child), [pa.py_buffer(b"\x02")], 1, 0, [child])
    return pa.table({"c": record})


@pytest.mark.parametrize(
    "child",
    [
        pa.array([None, [decimal.Decimal("1.5")]], NUMBERS),
        pa.array([None, [decimal.Decimal("1.5")]], pa.large_list(NUMBERS.value_field)),
        pa.array([None, decimal.Decimal("1.5")], pa.decimal256(76, 38)),
    ],
    ids=["list", "large list", "decimal"],
)
def test_a_null_below_a_null_record_is_valid(child: pa.Array) -> None:
    """arrow-go writes it so; a field that is not nullable has a value where its parent has one."""
    validate(under_a_null(child))


def test_a_decimal_of_77_digits_is_valid() -> None:
    """The extremes of BIGNUMERIC need them, and pyarrow declares 76 at most."""
    highest = (2**255 - 1).to_bytes(32, "little")
    column = pa.Array.from_buffers(pa.decimal256(76, 38), 1, [None, pa.py_buffer(highest)])

    validate(pa.table({"n": column}))


def test_a_text_that_is_not_utf8_is_invalid_beside_decimals() -> None:
    """Every value is checked, in a record with a relaxed type too."""
    text = pa.array([b"\xff"]).view(pa.utf8())
    record = pa.StructArray.from_arrays([text, pa.array([None], pa.decimal256(76, 38))], names=["t", "n"])

    with pytest.raises(InvalidTable, match="UTF8"):
        validate(pa.table({"r": record}))
