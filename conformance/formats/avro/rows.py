"""Rows that were read, as a record batch of Arrow.

Each array is made from its buffers, so that a value keeps its bits whether or not Arrow considers it valid: a time
after midnight of the next day, a NaN with a payload, a decimal with a digit too many.
"""

from __future__ import annotations

from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from conformance.contain.text import many
from conformance.formats.avro.columnbuilders import AvroColumn, LeafColumn
from conformance.formats.avro.datum import AvroRowsReading
from conformance.formats.avro.mapped import avro_arrow_schema, corresponds
from conformance.formats.avro.nested import ArrayColumn, NullableColumn, RecordColumn
from conformance.formats.avro.sized import DecimalColumn
from conformance.formats.avro.types import PrimitiveKind
from conformance.wire.arrow import UndecodableError, UnsupportedHereError

__all__ = ["avro_to_arrow"]

Mask: TypeAlias = npt.NDArray[np.bool_]

_LARGEST: Final = (1 << 31) - 1
"""The largest offset in an array of 32-bit offsets."""
_LEAST_SLOTS: Final = 1 << 24
_SLOTS_PER_BYTE: Final = 64
"""Slots of arrays that a batch may have for each byte: a null record takes a byte, and a slot in each of its fields."""
_NANOS: Final = 1000
_MONTH_DAY_NANO: Final = np.dtype([("months", "<i4"), ("days", "<i4"), ("nanos", "<i8")])


def avro_to_arrow(reading: AvroRowsReading, wanted: pa.Schema | None = None) -> pa.RecordBatch:
    """The rows that were read in full, with the schema ``wanted`` or that of :func:`avro_arrow_schema`.

    Raises:
        UndecodableError: A value has no Arrow form (``reading.unreadable``, or an INTERVAL outside of 64 bits of
            nanoseconds), or ``wanted`` has other columns or types.
        UnsupportedHereError: The arrays would be much larger than the bytes.
    """
    derived = avro_arrow_schema(reading.schema)
    schema = derived if wanted is None else wanted
    if not corresponds(pa.struct(list(derived)), pa.struct(list(schema))):
        raise UndecodableError(f"the Avro schema has the columns {derived}, not {schema}")
    if reading.unreadable:
        raise UndecodableError(f"{many(reading.unreadable, 'value')} cannot be read; the faults say why")
    slots = sum(_slots(column, reading.rows) for column in reading.columns)
    if slots > _LEAST_SLOTS + _SLOTS_PER_BYTE * reading.size:
        raise UnsupportedHereError(f"{many(slots, 'slot')} in arrays for {many(reading.size, 'byte')} of rows")
    made = [
        _array(column, field.type, reading.rows, None) for column, field in zip(reading.columns, schema, strict=True)
    ]
    if not made:  # from no arrays, a batch of no rows would be made
        return pa.RecordBatch.from_struct_array(pa.Array.from_buffers(pa.struct([]), reading.rows, [None]))
    return pa.RecordBatch.from_arrays(made, schema=schema)


def _slots(column: AvroColumn, count: int) -> int:
    """The slots of all arrays that a column of ``count`` slots becomes."""
    if isinstance(column, NullableColumn):
        return _slots(column.values, count)
    if isinstance(column, ArrayColumn):
        return count + _slots(column.items, sum(column.lengths))
    if isinstance(column, RecordColumn):
        return count + sum(_slots(child, count) for child in column.children)
    return count


def _array(column: AvroColumn, made: pa.DataType, count: int, present: Mask | None) -> pa.Array:
    """An array of ``count`` slots; the dense values of ``column`` belong to those that are ``present``, by default all.

    A slot that is not present lies in a record that is null.
    """
    if not isinstance(column, NullableColumn):
        return _values(column, made, count, present, None)
    valid: Mask = np.frombuffer(bytes(column.valid), np.bool_)
    if present is not None:
        there = present.copy()
        there[present] = valid
        valid = there
    return _values(column.values, made, count, valid, valid)


def _values(column: AvroColumn, made: pa.DataType, count: int, present: Mask | None, valid: Mask | None) -> pa.Array:
    """An array with these values and this validity, None if every slot is valid."""
    bitmap = None if valid is None or valid.all() else _bits(valid)
    if isinstance(column, RecordColumn) and not pa.types.is_struct(made):
        return pa.Array.from_buffers(made, count, [bitmap, _buffer(_spread(_intervals(column), count, present))])
    if isinstance(column, RecordColumn):
        pairs = ((child, made.field(place).type) for place, child in enumerate(column.children))
        children = [_array(child, type_, count, present) for child, type_ in pairs]
        return pa.Array.from_buffers(made, count, [bitmap], children=children)
    if isinstance(column, ArrayColumn):
        offsets = _offsets(column.lengths, count, present)
        items = _array(column.items, made.value_type, int(offsets[-1]), None)
        return pa.Array.from_buffers(made, count, [bitmap, _buffer(offsets)], children=[items])
    assert isinstance(column, LeafColumn)
    return _leaf(column, made, count, present, bitmap)


def _leaf(
    column: LeafColumn, made: pa.DataType, count: int, present: Mask | None, bitmap: pa.Buffer | None
) -> pa.Array:
    values = column.values
    if pa.types.is_null(made):
        return pa.nulls(count)
    if pa.types.is_boolean(made):
        return pa.Array.from_buffers(made, count, [bitmap, _bits(_spread(np.array(values, np.bool_), count, present))])
    if pa.types.is_binary(made) or pa.types.is_string(made):
        offsets = _offsets([len(value) for value in values], count, present)
        return pa.Array.from_buffers(made, count, [bitmap, _buffer(offsets), pa.py_buffer(b"".join(values))])
    width = made.bit_width // 8
    dense: npt.NDArray[Any]
    if isinstance(column, DecimalColumn):
        dense = np.frombuffer(b"".join(value.to_bytes(width, "little", signed=True) for value in values), f"V{width}")
    elif column.type.kind in (PrimitiveKind.DOUBLE, PrimitiveKind.FLOAT):
        dense = np.frombuffer(b"".join(values), f"<u{width}")
    else:
        dense = np.array(values, f"<i{width}")
    return pa.Array.from_buffers(made, count, [bitmap, _buffer(_spread(dense, count, present))])


def _intervals(column: RecordColumn) -> npt.NDArray[Any]:
    """The values of an INTERVAL: months, days and nanoseconds."""
    months, days, micros = (child.values for child in column.children if isinstance(child, LeafColumn))
    made = np.zeros(len(months), _MONTH_DAY_NANO)
    made["months"], made["days"] = months, days
    try:
        made["nanos"] = np.array([value * _NANOS for value in micros], np.int64)
    except OverflowError:
        raise UndecodableError("an INTERVAL has more microseconds than 64 bits of nanoseconds hold") from None
    return made


def _spread(dense: npt.NDArray[Any], count: int, present: Mask | None) -> npt.NDArray[Any]:
    """Dense values at the slots that are present, and zeros at the others."""
    if present is None:
        return dense
    made = np.zeros(count, dense.dtype)
    made[present] = dense
    return made


def _offsets(lengths: list[int], count: int, present: Mask | None) -> npt.NDArray[np.int32]:
    """The offsets of lists or texts with these lengths."""
    made = np.zeros(count + 1, np.int64)
    np.cumsum(_spread(np.array(lengths, np.int64), count, present), out=made[1:])
    if made[-1] > _LARGEST:
        raise UnsupportedHereError(f"an array with an offset of {made[-1]}, for which 32 bits are not enough")
    return made.astype(np.int32)


def _bits(mask: Mask) -> pa.Buffer:
    return pa.py_buffer(np.packbits(mask, bitorder="little").tobytes())


def _buffer(values: npt.NDArray[Any]) -> pa.Buffer:
    return pa.py_buffer(values.tobytes())
