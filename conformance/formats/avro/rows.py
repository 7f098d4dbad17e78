"""Rows that were read, as a record batch of Arrow.

Each array is made from its buffers, so that a value keeps its bits whether or not Arrow considers it valid: a time
after midnight of the next day, a NaN with a payload, a decimal with a digit too many.
"""

from __future__ import annotations

import array
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from conformance.contain.text import many
from conformance.formats.avro.columnbuilders import AvroColumn, LeafColumn
from conformance.formats.avro.datum import AvroRowsReading
from conformance.formats.avro.mapped import avro_arrow_schema, corresponds
from conformance.formats.avro.nested import ArrayColumn, NullableColumn, RecordColumn
from conformance.formats.avro.numbers import BooleanColumn, NullColumn, NumberColumn, RealColumn
from conformance.formats.avro.sized import DateTimeColumn, DecimalColumn, SizedColumn
from conformance.wire.arrow import UndecodableError, UnsupportedHereError

__all__ = ["avro_to_arrow", "slots_of"]

Mask: TypeAlias = npt.NDArray[np.bool_]

_LARGEST: Final = (1 << 31) - 1
"""The largest offset in an array of 32-bit offsets."""
_LEAST_SLOTS: Final = 1 << 24
_SLOTS_PER_BYTE: Final = 64
"""Slots of arrays that a batch may have for each byte: a null record takes a byte, and a slot in each of its fields."""
_NANOS: Final = 1000
_MOST_MICROS: Final = ((1 << 63) - 1) // _NANOS
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


def slots_of(table: pa.Table) -> int:
    """The slots of all arrays of a table."""
    return sum(_slots_in(chunk) for column in table.columns for chunk in column.chunks)


def _slots_in(array_: pa.Array) -> int:
    made = array_.type
    if pa.types.is_struct(made):
        return len(array_) + sum(_slots_in(array_.field(place)) for place in range(made.num_fields))
    return len(array_) + (_slots_in(array_.values) if pa.types.is_list(made) else 0)


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
    valid: Mask = np.frombuffer(column.valid, np.bool_)
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
    if isinstance(column, NullColumn):
        return pa.nulls(count)
    if isinstance(column, BooleanColumn):
        flags = _spread(np.frombuffer(column.values, np.bool_), count, present)
        return pa.Array.from_buffers(made, count, [bitmap, _bits(flags)])
    if isinstance(column, SizedColumn):
        offsets = _offsets(column.lengths, count, present)
        return pa.Array.from_buffers(made, count, [bitmap, _buffer(offsets), pa.py_buffer(column.data)])
    width = made.bit_width // 8
    dense: npt.NDArray[Any]
    if isinstance(column, DecimalColumn):
        dense = _decimals(column, width)
    elif isinstance(column, RealColumn):
        dense = np.frombuffer(column.values, f"<u{width}")
    else:
        assert isinstance(column, NumberColumn | DateTimeColumn)
        dense = np.frombuffer(column.values, "<i8").astype(f"<i{width}", copy=False)
    return pa.Array.from_buffers(made, count, [bitmap, _buffer(_spread(dense, count, present))])


def _intervals(column: RecordColumn) -> npt.NDArray[Any]:
    """The values of an INTERVAL: months, days and nanoseconds."""
    parts = (np.frombuffer(child.values, "<i8") for child in column.children if isinstance(child, NumberColumn))
    months, days, micros = parts
    if ((micros > _MOST_MICROS) | (micros < -_MOST_MICROS)).any():
        raise UndecodableError("an INTERVAL has more microseconds than 64 bits of nanoseconds hold")
    made = np.zeros(len(months), _MONTH_DAY_NANO)
    made["months"], made["days"], made["nanos"] = months, days, micros * _NANOS
    return made


def _decimals(column: DecimalColumn, width: int) -> npt.NDArray[Any]:
    """The values of decimals in so many bytes, which are enough for the precision of the column."""
    words = np.frombuffer(column.values, "<i8").reshape(-1, column.width // 8)
    if width > column.width:
        wide = np.repeat(words[:, -1:] >> 63, width // 8, axis=1)  # the sign, in every word
        wide[:, : words.shape[1]] = words
        words = wide
    return np.frombuffer(words.tobytes(), f"V{width}")


def _spread(dense: npt.NDArray[Any], count: int, present: Mask | None) -> npt.NDArray[Any]:
    """Dense values at the slots that are present, and zeros at the others."""
    if present is None:
        return dense
    made = np.zeros(count, dense.dtype)
    made[present] = dense
    return made


def _offsets(lengths: array.array[int], count: int, present: Mask | None) -> npt.NDArray[np.int32]:
    """The offsets of lists or texts with these lengths."""
    made = np.zeros(count + 1, np.int64)
    np.cumsum(_spread(np.frombuffer(lengths, "<i8"), count, present), out=made[1:])
    if made[-1] > _LARGEST:
        raise UnsupportedHereError(f"an array with an offset of {made[-1]}, for which 32 bits are not enough")
    return made.astype(np.int32)


def _bits(mask: Mask) -> pa.Buffer:
    return pa.py_buffer(np.packbits(mask, bitorder="little").tobytes())


def _buffer(values: npt.NDArray[Any]) -> pa.Buffer:
    return pa.py_buffer(np.ascontiguousarray(values))
