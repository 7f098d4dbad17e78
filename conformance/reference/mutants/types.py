"""Mutants of types; the values are converted to them as far as possible."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.types as is_

from conformance.reference.register import fields_mutant
from conformance.reference.reshaping import Change, sql_type

_RECIDIVIZ_38 = "https://github.com/Recidiviz/bigquery-emulator/pull/38"
_RECIDIVIZ_45 = "https://github.com/Recidiviz/bigquery-emulator/pull/45"
_RECIDIVIZ_50 = "https://github.com/Recidiviz/bigquery-emulator/pull/50"
_VANTABOARD_ARROW = (
    "https://github.com/vantaboard/bigquery-emulator/blob/"
    "73f58d84a21edc6cf072619befec1b30fc7abb4a/gateway/handlers/bqstorage/arrow.go"
)

Test = Callable[[pa.Field], bool]


def _of(is_kind: Callable[[pa.DataType], bool]) -> Test:
    return lambda field: bool(is_kind(field.type))


def _is_plain_text(field: pa.Field) -> bool:
    return bool(is_.is_string(field.type)) and not sql_type(field)


def _is_timestamp(field: pa.Field) -> bool:
    return bool(is_.is_timestamp(field.type)) and field.type.tz == "UTC"


def _is_datetime(field: pa.Field) -> bool:
    return bool(is_.is_timestamp(field.type)) and field.type.tz is None


def _marked(name: str, is_kind: Callable[[pa.DataType], bool]) -> Test:
    """Fields whose metadata names the type ``name`` and whose Arrow type is the right one for it."""
    return lambda field: sql_type(field) == name and bool(is_kind(field.type))


def _of_bits(test: Test, kind: Callable[[pa.DataType], pa.DataType]) -> Change:
    """The fields that pass ``test`` under another type of the same width, bits kept."""

    def change(field: pa.Field, array: pa.Array) -> tuple[pa.Field, pa.Array]:
        if not test(field):
            return field, array
        other = kind(field.type)
        return field.with_type(other), pa.Array.from_buffers(other, len(array), array.buffers(), offset=array.offset)

    return change


def _of_values(test: Test, kind: pa.DataType, value: Callable[[Any], Any]) -> Change:
    """The values of the fields that pass ``test`` put through ``value`` one by one."""

    def change(field: pa.Field, array: pa.Array) -> tuple[pa.Field, pa.Array]:
        if not test(field):
            return field, array
        values = [None if item is None else value(item) for item in array.to_pylist()]
        return field.with_type(kind), pa.array(values, kind)

    return change


def _widened(wide: pa.DataType) -> Change:
    """Decimals of the width of ``wide`` become ``wide``."""

    def change(field: pa.Field, array: pa.Array) -> tuple[pa.Field, pa.Array]:
        if field.type.id != wide.id or field.type == wide:
            return field, array
        return field.with_type(wide), array.cast(wide)

    return change


@fields_mutant("type.int64-as-int32", kills="types.int64")
def int64_as_int32(field: pa.Field, array: pa.Array) -> tuple[pa.Field, pa.Array]:
    """INT64 arrives as int32, its low half."""
    if not is_.is_int64(field.type):
        return field, array
    low = array.fill_null(0).to_numpy(zero_copy_only=False).astype("<i8").view("<i4")[::2]
    return field.with_type(pa.int32()), pa.array(low, pa.int32(), mask=array.is_null().to_numpy(zero_copy_only=False))


@fields_mutant("type.float64-as-float32", kills="types.float64")
def float64_as_float32(field: pa.Field, array: pa.Array) -> tuple[pa.Field, pa.Array]:
    """FLOAT64 arrives as float32."""
    with np.errstate(over="ignore"):
        return _of_values(_of(is_.is_float64), pa.float32(), np.float32)(field, array)


@fields_mutant("type.date-as-date64", kills=("types.date", "types.known"), defects=("B-70",), source=_RECIDIVIZ_50)
def date_as_date64(field: pa.Field, array: pa.Array) -> tuple[pa.Field, pa.Array]:
    """DATE arrives in milliseconds instead of days."""
    if not is_.is_date32(field.type):
        return field, array
    days = array.cast(pa.int32()).cast(pa.int64())
    return field.with_type(pa.date64()), pa.compute.multiply(days, 86_400_000).view(pa.date64())


@fields_mutant("type.list-as-large", kills="types.repeated")
def list_as_large(field: pa.Field, array: pa.Array) -> tuple[pa.Field, pa.Array]:
    """REPEATED arrives as a list with 64-bit offsets."""
    if not is_.is_list(field.type):
        return field, array
    large = pa.large_list(field.type.value_field)
    offsets = array.offsets.cast(pa.int64())
    return field.with_type(large), pa.LargeListArray.from_arrays(offsets, array.values, type=large)


# Mutants that differ only in the fields and the type: the clause that each breaks, the text, and the change.
# fmt: off
fields_mutant("type.int64-as-uint64", kills="types.int64",
           fault="INT64 arrives as an unsigned integer of the same width.")(
    _of_bits(_of(is_.is_int64), lambda _kind: pa.uint64()))
fields_mutant("type.bool-as-int8", kills="types.bool", fault="BOOL arrives as int8.")(
    _of_values(_of(is_.is_boolean), pa.int8(), int))
fields_mutant("type.string-as-large", kills="types.string", fault="STRING arrives with 64-bit offsets.")(
    _of_values(_is_plain_text, pa.large_utf8(), str))
fields_mutant("type.datetime-nanoseconds", kills=("types.datetime", "types.known"),
           fault="DATETIME says nanoseconds and holds microseconds.")(
    _of_bits(_is_datetime, lambda _kind: pa.timestamp("ns")))
fields_mutant("type.time-in-nanoseconds", kills="types.time", fault="TIME says nanoseconds and holds microseconds.")(
    _of_bits(_of(is_.is_time64), lambda _kind: pa.time64("ns")))
fields_mutant("type.numeric-without-parameters", kills="types.numeric-parameters",
           fault="NUMERIC(P, S) arrives as NUMERIC.")(
    _widened(pa.decimal128(38, 9)))
fields_mutant("type.bignumeric-without-parameters", kills="types.bignumeric-parameters",
           fault="BIGNUMERIC(P, S) arrives as BIGNUMERIC.")(
    _widened(pa.decimal256(76, 38)))
fields_mutant("type.json-as-bytes", kills="types.json", fault="JSON arrives as binary.")(
    _of_bits(_marked("json", is_.is_string), lambda _kind: pa.binary()))
fields_mutant("type.geography-as-bytes", kills="types.geography", fault="GEOGRAPHY arrives as binary.")(
    _of_bits(_marked("geography", is_.is_string), lambda _kind: pa.binary()))
fields_mutant("type.interval-as-string", kills="types.interval", fault="INTERVAL arrives as text.")(
    _of_values(_of(is_.is_interval), pa.utf8(), str))
fields_mutant("type.bytes-as-string", kills="types.bytes", defects=("B-78",), source=_VANTABOARD_ARROW,
           fault="BYTES arrives as utf8.")(
    _of_values(_of(is_.is_binary), pa.utf8(), bytes.hex))
fields_mutant("type.date-as-string", kills="types.date", defects=("B-78",), source=_VANTABOARD_ARROW,
           fault="DATE arrives as text.")(
    _of_values(_of(is_.is_date32), pa.utf8(), str))
fields_mutant("type.datetime-in-utc", kills="types.datetime-without-zone", defects=("B-60",), source=_RECIDIVIZ_38,
           fault="DATETIME arrives with the time zone UTC, which it has not.")(
    _of_bits(_is_datetime, lambda kind: pa.timestamp(kind.unit, "UTC")))
fields_mutant("type.timestamp-naive", kills="types.timestamp-utc",
           defects=("B-61",), source="https://github.com/meztez/bigrquerystorage/issues/53",
           fault="TIMESTAMP arrives without a time zone.")(
    _of_bits(_is_timestamp, lambda kind: pa.timestamp(kind.unit)))
fields_mutant("type.timestamp-nanoseconds", kills=("types.timestamp", "types.known"),
           defects=("B-61",), source="https://github.com/apache/arrow-adbc/pull/3364",
           fault="TIMESTAMP says nanoseconds and holds microseconds.")(
    _of_bits(_is_timestamp, lambda kind: pa.timestamp("ns", kind.tz)))
fields_mutant("type.timestamp-offset-zone", kills=("types.timestamp-utc", "types.known"), defects=("I-93",),
           fault="TIMESTAMP names its zone +00:00, where the service says UTC.")(
    _of_bits(_is_timestamp, lambda kind: pa.timestamp(kind.unit, "+00:00")))
fields_mutant("type.numeric-as-float", kills="types.numeric", defects=("B-65",), source=_RECIDIVIZ_45,
           fault="NUMERIC arrives as float64.")(
    _of_values(_of(is_.is_decimal128), pa.float64(), float))
fields_mutant("type.bignumeric-as-string", kills="types.bignumeric", defects=("B-78",), source=_VANTABOARD_ARROW,
           fault="BIGNUMERIC arrives as text.")(
    _of_values(_of(is_.is_decimal256), pa.utf8(), str))
fields_mutant("type.range-as-string", kills="types.range", fault="RANGE arrives as text.", defects=("B-83",))(
    _of_values(_marked("range", is_.is_struct), pa.utf8(), str))
fields_mutant("type.record-as-string", kills="types.record", defects=("B-78",), source=_VANTABOARD_ARROW,
           fault="RECORD arrives as text.")(
    _of_values(_marked("", is_.is_struct), pa.utf8(), str))
# fmt: on
