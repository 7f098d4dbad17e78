"""Mutants with values that their types do not have: nulls, excess digits, hours and years, bytes that are not text."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.types as is_

from conformance.reference.register import rows_mutant
from conformance.reference.reshaping import change_fields

_DAY_MICROS: Final = 86_400_000_000
_TEN_THOUSAND_YEARS: Final = 3_652_425
"""In days."""
_COMPARED: Final = "where values are compared, this one is another than the table's"

Test = Callable[[pa.Field], bool]
Words = np.ndarray[Any, np.dtype[Any]]


def _first_word(batch: pa.RecordBatch, test: Test, dtype: str, change: Callable[[Any], Any]) -> pa.RecordBatch:
    """``batch`` with the first word that is not null of each field that passes ``test`` changed."""

    def apply(field: pa.Field, array: pa.Array) -> tuple[pa.Field, pa.Array]:
        if not test(field) or array.null_count == len(array):
            return field, array
        validity, data = array.buffers()
        words = np.frombuffer(data, dtype, data.size // np.dtype(dtype).itemsize).copy()
        place = array.offset + int(np.flatnonzero(array.is_valid().to_numpy(zero_copy_only=False))[0])
        words[place] = change(words[place])
        return field, pa.Array.from_buffers(
            array.type, len(array), [validity, pa.py_buffer(words)], offset=array.offset
        )

    return change_fields(batch, apply)


@rows_mutant("value.time-of-the-next-day", kills="body.times-within-day", also={"values.time": _COMPARED})
def time_of_next_day(batch: pa.RecordBatch) -> pa.RecordBatch:
    """The first TIME is a day later than it should be, beyond midnight."""
    return _first_word(batch, lambda field: is_.is_time64(field.type), "<i8", lambda word: word + _DAY_MICROS)


@rows_mutant(
    "value.date-beyond-9999", kills="values.date-limits", also={"values.date": _COMPARED, "values.range": _COMPARED}
)
def date_beyond(batch: pa.RecordBatch) -> pa.RecordBatch:
    """The first DATE is ten thousand years later than it should be."""
    return _first_word(batch, lambda field: is_.is_date32(field.type), "<i4", lambda day: day + _TEN_THOUSAND_YEARS)


@rows_mutant(
    "value.timestamp-beyond-9999",
    kills="values.timestamp-limits",
    also=dict.fromkeys(("values.timestamp", "values.datetime"), _COMPARED),
)
def timestamp_beyond(batch: pa.RecordBatch) -> pa.RecordBatch:
    """The first TIMESTAMP or DATETIME is ten thousand years later than it should be."""
    later = _TEN_THOUSAND_YEARS * _DAY_MICROS
    return _first_word(batch, lambda field: is_.is_timestamp(field.type), "<i8", lambda word: word + later)


@rows_mutant("value.text-not-utf8", kills="body.text-utf8", also={"values.*": _COMPARED})
def text_not_utf8(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Every text begins with a byte that no UTF-8 text has."""

    def apply(field: pa.Field, array: pa.Array) -> tuple[pa.Field, pa.Array]:
        if not is_.is_string(field.type):
            return field, array
        spoilt = [None if text is None else b"\xff" + text.encode()[1:] for text in array.to_pylist()]
        made = pa.array(spoilt, pa.binary())
        return field, pa.Array.from_buffers(array.type, len(made), made.buffers())

    return change_fields(batch, apply)


@rows_mutant(
    "value.numeric-of-too-many-digits",
    kills="body.decimals-within-precision",
    also={"values.numeric": _COMPARED},
)
def too_many_digits(batch: pa.RecordBatch) -> pa.RecordBatch:
    """The first NUMERIC has one digit more than its precision."""

    def apply(field: pa.Field, array: pa.Array) -> tuple[pa.Field, pa.Array]:
        kind = field.type
        if not is_.is_decimal128(kind) or not len(array) or array.null_count:
            return field, array
        data = bytearray(array.buffers()[1].to_pybytes())
        at = array.offset * 16
        data[at : at + 16] = (10**kind.precision).to_bytes(16, "little", signed=True)
        return field, pa.Array.from_buffers(kind, len(array), [None, pa.py_buffer(data)], offset=array.offset)

    return change_fields(batch, apply)


@rows_mutant("value.null-in-required", kills="body.required-without-nulls", also={"values.nulls": _COMPARED})
def null_in_required(batch: pa.RecordBatch) -> pa.RecordBatch:
    """The last value of a REQUIRED column is NULL."""

    def apply(field: pa.Field, array: pa.Array) -> tuple[pa.Field, pa.Array]:
        if field.nullable or field.type.num_fields or len(array) < 2 or array.null_count:
            return field, array
        bitmap = np.packbits(np.arange(array.offset + len(array)) < array.offset + len(array) - 1, bitorder="little")
        buffers = [pa.py_buffer(bitmap), *array.buffers()[1:]]
        return field, pa.Array.from_buffers(field.type, len(array), buffers, offset=array.offset)

    return change_fields(batch, apply)
