"""Single cells of Arrow arrays: as bits that can be compared exactly, and as text for people.

Two values are equal here if and only if their bits are: decimals as integers, times and intervals raw, -0.0
different from 0.0. The one exception is NaN, which is one value whatever its payload. Nothing here uses Python's
``decimal`` or ``datetime``, which cannot represent all values of Arrow.
"""

from __future__ import annotations

import datetime as dt
import functools
from collections.abc import Sequence
from typing import Final, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from conformance._pandas import to_numpy
from conformance.contain.text import told_apart

__all__ = [
    "has_float",
    "is_list",
    "is_text",
    "kind",
    "one_array",
    "same_floats",
    "string",
    "take",
    "texts",
    "valid",
    "widened",
    "without_floats",
    "words",
]

Words = npt.NDArray[np.integer]
"""Fixed-width values as a matrix: a row per value, its machine words as columns."""

Rows = TypeVar("Rows", pa.Array, pa.Table)

_FLOATS: Final = frozenset({pa.lib.Type_HALF_FLOAT, pa.lib.Type_FLOAT, pa.lib.Type_DOUBLE})
_TEXTS: Final = frozenset({pa.lib.Type_STRING, pa.lib.Type_BINARY, pa.lib.Type_LARGE_STRING, pa.lib.Type_LARGE_BINARY})
_LISTS: Final = frozenset({pa.lib.Type_LIST, pa.lib.Type_LARGE_LIST, pa.lib.Type_MAP})
_WORDS: Final = {
    pa.lib.Type_HALF_FLOAT: pa.uint16(),
    pa.lib.Type_FLOAT: pa.uint32(),
    pa.lib.Type_DOUBLE: pa.uint64(),
}
_INTERVALS: Final = frozenset({pa.lib.Type_INTERVAL_MONTH_DAY_NANO})
_MAX_TEXT: Final = 120
"""The most characters of one value in a message."""
_ONE_DAY: Final = 86_400
_TICKS: Final = {"s": 1, "ms": 1_000, "us": 1_000_000, "ns": 1_000_000_000}
_EPOCH: Final = dt.datetime(1970, 1, 1)  # noqa: DTZ001  # a calendar without zones; the zone is in the type


def is_text(arrow: pa.DataType) -> bool:
    """True if the values are strings of characters or bytes."""
    return arrow.id in _TEXTS


def is_list(arrow: pa.DataType) -> bool:
    """True if the values are lists with offsets; a map counts as a list of entries."""
    return arrow.id in _LISTS


def has_float(arrow: pa.DataType) -> bool:
    """True if values of the type contain a floating-point number at any depth."""
    return _holds(arrow, _FLOATS)


def without_floats(arrow: pa.DataType) -> pa.DataType | None:
    """Return the type with an unsigned integer for each floating-point number, so that arrays viewed as it compare
    by bits.

    Every field of it is nullable, because pyarrow does not view an array with a NULL in a required field as another
    type. The result is None if a part of the type cannot be viewed so.
    """
    if not arrow.num_fields:
        return _WORDS.get(arrow.id, arrow)
    children = [arrow.field(index) for index in range(arrow.num_fields)]
    types = [without_floats(child.type) for child in children]
    if any(found is None for found in types):
        return None
    fields = [pa.field(child.name, found) for child, found in zip(children, types, strict=True)]
    if pa.types.is_struct(arrow):
        return pa.struct(fields)
    if pa.types.is_list(arrow):
        return pa.list_(fields[0])
    return pa.large_list(fields[0]) if pa.types.is_large_list(arrow) else None


def _holds(arrow: pa.DataType, ids: frozenset[int]) -> bool:
    if not arrow.num_fields:
        return arrow.id in ids
    if pa.types.is_struct(arrow):
        return any(_holds(arrow.field(index).type, ids) for index in range(arrow.num_fields))
    if pa.types.is_map(arrow):
        return _holds(arrow.key_type, ids) or _holds(arrow.item_type, ids)
    if is_list(arrow) or pa.types.is_fixed_size_list(arrow):
        return _holds(arrow.value_type, ids)
    return False


def take(data: Rows, places: Sequence[int] | npt.NDArray[np.integer]) -> Rows:
    """Return the rows of an array or a table at ``places``, in that order.

    This is pyarrow's ``take``, except for intervals: ``take`` of pyarrow 14 returns only NULL for them, so with that
    version they are joined slice by slice.
    """
    if isinstance(data, pa.Table):
        columns = [take(one_array(column), places) for column in data.columns]
        if columns:
            return pa.Table.from_arrays(columns, schema=data.schema)
    elif len(places) and _holds(data.type, _INTERVALS) and not _takes_intervals():
        return pa.concat_arrays([data.slice(place, 1) for place in places])
    return data.take(pa.array(places, pa.int64()))


@functools.cache
def _takes_intervals() -> bool:
    """Whether this pyarrow takes intervals; tried when first needed, because making an array may import pandas."""
    made = pa.array([(1, 1, 1)], pa.month_day_nano_interval())
    return bool(made.take(pa.array([0], pa.int64()))[0].is_valid)


def one_array(column: pa.Array | pa.ChunkedArray) -> pa.Array:
    """Return the values of a column as one array; an array as it is."""
    if not isinstance(column, pa.ChunkedArray):
        return column
    if column.num_chunks == 1:
        return column.chunk(0)
    return pa.concat_arrays(column.chunks) if column.num_chunks else pa.array([], column.type)


def kind(arrow: pa.DataType) -> str:  # noqa: PLR0911  # one return per kind
    """Return a name for the meaning of a value's bits; two types with equal names can be compared bit by bit.

    Units, time zones, and the widths of offsets and decimals are left out: clauses on the schema judge them.
    """
    if is_text(arrow):
        return "bytes" if "binary" in str(arrow) else "text"
    if pa.types.is_decimal(arrow):
        return f"decimal with scale {arrow.scale}"
    if pa.types.is_floating(arrow):
        return f"float{arrow.bit_width}"
    if pa.types.is_boolean(arrow):
        return "bool"
    if is_list(arrow):
        return "list"
    if pa.types.is_struct(arrow):
        return "struct"
    if pa.types.is_dictionary(arrow) or pa.types.is_union(arrow):
        return str(arrow)
    try:
        return f"{arrow.bit_width} bits"
    except ValueError:
        return str(arrow)


def valid(array: pa.Array) -> npt.NDArray[np.bool_] | None:
    """Return a mask of the slots that hold a value, None if all do."""
    if array.null_count == 0:
        return None
    return to_numpy(array.is_valid())


def words(array: pa.Array) -> Words:
    """Return the bits of every slot of a fixed-width or boolean array, nulls included; every NaN has the same bits."""
    if pa.types.is_boolean(array.type):
        return _words(array.cast(pa.uint8()), np.dtype(np.uint8), 1)
    width = array.type.bit_width // 8
    if pa.types.is_floating(array.type):
        return _float_words(_words(array, np.dtype(f"<f{width}"), 1))
    if width in (1, 2, 4):
        return _words(array, np.dtype(f"<i{width}"), 1)
    if width % 8 == 0:
        return _words(array, np.dtype("<i8"), width // 8)
    return _words(array, np.dtype(np.uint8), width)


def widened(matrix: Words, count: int) -> Words:
    """Return the same two's complement integers in ``count`` words each, to compare a decimal128 with a decimal256."""
    missing = count - matrix.shape[1]
    if missing <= 0:
        return matrix
    sign = np.repeat(matrix[:, -1:] >> 63, missing, axis=1)  # sign extension: all ones for a negative value
    return np.hstack([matrix, sign])


def same_floats(left: pa.Array, right: pa.Array) -> bool:
    """True if two arrays of one float type hold the same values; NaN equals NaN, and -0.0 differs from 0.0."""
    integer = {16: pa.int16(), 32: pa.int32(), 64: pa.int64()}[left.type.bit_width]
    if left.view(integer).equals(right.view(integer)):
        return True
    differ = (words(left) != words(right)).any(axis=1)
    return bool(left.is_valid().equals(right.is_valid())) and not (differ & to_numpy(left.is_valid())).any()


def _words(array: pa.Array, dtype: np.dtype[np.generic], count: int) -> Words:
    data = array.buffers()[1]
    if data is None or len(array) == 0:
        return np.zeros((len(array), count), dtype)
    flat = np.frombuffer(data, dtype, (array.offset + len(array)) * count)
    matrix: Words = flat.reshape(-1, count)[array.offset :]
    return matrix


def _float_words(floats: npt.NDArray[np.generic]) -> Words:
    canonical = np.where(np.isnan(floats.astype(np.float64)), np.array(np.nan, floats.dtype), floats)
    bits: Words = canonical.view(f"<i{floats.dtype.itemsize}")
    return bits


# --- text -------------------------------------------------------------------------------------------


def texts(one: pa.Array, place: int, other: pa.Array, index: int) -> tuple[str, str]:
    """Return two different values for people: SQL-like, exact, and cut after 120 characters; never as the same text."""
    return told_apart(_text(one, place), _text(other, index), _MAX_TEXT)


def string(value: pa.Scalar) -> str | None:
    """Return a text that may not be UTF-8, with escapes for bytes that are not; None for NULL."""
    return value.as_buffer().to_pybytes().decode(errors="backslashreplace") if value.is_valid else None


def _text(array: pa.Array, index: int) -> str:  # noqa: PLR0911  # one return per kind of value
    arrow = array.type
    if not array[index].is_valid:
        return "NULL"
    if pa.types.is_struct(arrow):
        parts = (f"{arrow.field(i).name}: {_text(array.field(i), index)}" for i in range(arrow.num_fields))
        return "{" + ", ".join(parts) + "}"
    if is_list(arrow):
        items = array[index].values
        return "[" + ", ".join(_text(items, i) for i in range(min(len(items), _MAX_TEXT))) + "]"
    if is_text(arrow):
        data = array[index].as_buffer().to_pybytes()
        return repr(data) if "binary" in str(arrow) else repr(string(array[index]))
    if pa.types.is_boolean(arrow) or pa.types.is_floating(arrow):
        return repr(array[index].as_py())
    try:
        row = words(array.slice(index, 1))[0]
    except (ValueError, AttributeError):
        return str(array[index])
    return _fixed_text(arrow, row)


def _fixed_text(arrow: pa.DataType, row: Words) -> str:
    value = int.from_bytes(row.tobytes(), "little", signed=not pa.types.is_unsigned_integer(arrow))
    if pa.types.is_decimal(arrow):
        return _decimal_text(value, arrow.scale)
    if pa.types.is_date32(arrow):
        return f"{_moment(value * _ONE_DAY, 0, 1).removesuffix(' 00:00:00')} (day {value})"
    if pa.types.is_time64(arrow):
        second, ticks = divmod(value, _TICKS[arrow.unit])
        clock = _moment(second, ticks, _TICKS[arrow.unit]).removeprefix("1970-01-01 ")
        return f"{clock} ({value} {arrow.unit})"
    if pa.types.is_timestamp(arrow):
        second, ticks = divmod(value, _TICKS[arrow.unit])
        zone = f" {arrow.tz}" if arrow.tz else ""
        return f"{_moment(second, ticks, _TICKS[arrow.unit])}{zone} ({value} {arrow.unit})"
    if pa.types.is_interval(arrow):
        parts = int(row[0])
        return f"{_low(parts)} months, {parts >> 32} days, {int(row[1])} ns"
    return str(value)


def _low(word: int) -> int:
    """Return the low half of a 64-bit word as a signed integer."""
    return (word & 0xFFFFFFFF ^ 0x80000000) - 0x80000000


def _decimal_text(value: int, scale: int) -> str:
    digits = str(abs(value)).rjust(scale + 1, "0")
    sign = "-" if value < 0 else ""
    return f"{sign}{digits[:-scale]}.{digits[-scale:]}" if scale > 0 else f"{sign}{digits}{'0' * -scale}"


def _moment(seconds: int, ticks: int, per_second: int) -> str:
    try:
        when = str(_EPOCH + dt.timedelta(seconds=seconds))
    except OverflowError:
        return "outside the calendar"
    return f"{when}.{ticks:0{len(str(per_second)) - 1}d}" if ticks else when
