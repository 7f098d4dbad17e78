"""Lies about types; the values follow them as far as they can."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.types as is_

from conformance.reference.mutants.register import rows_lie
from conformance.reference.mutants.reshaping import change_fields, sql_type

_RECIDIVIZ_38 = "https://github.com/Recidiviz/bigquery-emulator/pull/38"
_RECIDIVIZ_45 = "https://github.com/Recidiviz/bigquery-emulator/pull/45"
_RECIDIVIZ_50 = "https://github.com/Recidiviz/bigquery-emulator/pull/50"
_VANTABOARD_ARROW = (
    "https://github.com/vantaboard/bigquery-emulator/blob/"
    "73f58d84a21edc6cf072619befec1b30fc7abb4a/gateway/handlers/bqstorage/arrow.go"
)

Test = Callable[[pa.Field], bool]


def _retyped(batch: pa.RecordBatch, test: Test, kind: Callable[[pa.DataType], pa.DataType]) -> pa.RecordBatch:
    """``batch`` with the fields that pass ``test`` under another type of the same width, bits kept."""

    def change(field: pa.Field, array: pa.Array) -> tuple[pa.Field, pa.Array]:
        if not test(field):
            return field, array
        other = kind(field.type)
        return field.with_type(other), pa.Array.from_buffers(other, len(array), array.buffers(), offset=array.offset)

    return change_fields(batch, change)


def _converted(batch: pa.RecordBatch, test: Test, kind: pa.DataType, value: Callable[[Any], Any]) -> pa.RecordBatch:
    """``batch`` with the values of the fields that pass ``test`` put through ``value`` one by one."""

    def change(field: pa.Field, array: pa.Array) -> tuple[pa.Field, pa.Array]:
        if not test(field):
            return field, array
        values = [None if item is None else value(item) for item in array.to_pylist()]
        return field.with_type(kind), pa.array(values, kind)

    return change_fields(batch, change)


def _is_plain_text(field: pa.Field) -> bool:
    return bool(is_.is_string(field.type)) and not sql_type(field)


def _is_timestamp(field: pa.Field) -> bool:
    return bool(is_.is_timestamp(field.type)) and field.type.tz == "UTC"


def _is_datetime(field: pa.Field) -> bool:
    return bool(is_.is_timestamp(field.type)) and field.type.tz is None


@rows_lie("type.int64-as-int32", kills="types.int64")
def int64_as_int32(batch: pa.RecordBatch) -> pa.RecordBatch:
    """INT64 arrives as int32, its low half."""

    def change(field: pa.Field, array: pa.Array) -> tuple[pa.Field, pa.Array]:
        if not is_.is_int64(field.type):
            return field, array
        low = array.fill_null(0).to_numpy(zero_copy_only=False).astype("<i8").view("<i4")[::2]
        return field.with_type(pa.int32()), pa.array(
            low, pa.int32(), mask=array.is_null().to_numpy(zero_copy_only=False)
        )

    return change_fields(batch, change)


@rows_lie("type.int64-as-uint64", kills="types.int64")
def int64_as_uint64(batch: pa.RecordBatch) -> pa.RecordBatch:
    """INT64 arrives as an unsigned integer of the same width."""
    return _retyped(batch, lambda field: is_.is_int64(field.type), lambda _kind: pa.uint64())


@rows_lie("type.float64-as-float32", kills="types.float64")
def float64_as_float32(batch: pa.RecordBatch) -> pa.RecordBatch:
    """FLOAT64 arrives as float32."""
    with np.errstate(over="ignore"):
        return _converted(batch, lambda field: is_.is_float64(field.type), pa.float32(), np.float32)


@rows_lie("type.bool-as-int8", kills="types.bool")
def bool_as_int8(batch: pa.RecordBatch) -> pa.RecordBatch:
    """BOOL arrives as int8."""
    return _converted(batch, lambda field: is_.is_boolean(field.type), pa.int8(), int)


@rows_lie("type.string-as-large", kills="types.string")
def string_as_large(batch: pa.RecordBatch) -> pa.RecordBatch:
    """STRING arrives with 64-bit offsets."""
    return _converted(batch, _is_plain_text, pa.large_utf8(), str)


@rows_lie("type.bytes-as-string", kills="types.bytes", defects=("B-78",), source=_VANTABOARD_ARROW)
def bytes_as_string(batch: pa.RecordBatch) -> pa.RecordBatch:
    """BYTES arrives as utf8."""
    return _converted(batch, lambda field: is_.is_binary(field.type), pa.utf8(), bytes.hex)


@rows_lie("type.date-as-date64", kills="types.date", defects=("B-70",), source=_RECIDIVIZ_50)
def date_as_date64(batch: pa.RecordBatch) -> pa.RecordBatch:
    """DATE arrives in milliseconds instead of days."""

    def change(field: pa.Field, array: pa.Array) -> tuple[pa.Field, pa.Array]:
        if not is_.is_date32(field.type):
            return field, array
        days = array.cast(pa.int32()).cast(pa.int64())
        return field.with_type(pa.date64()), pa.compute.multiply(days, 86_400_000).view(pa.date64())

    return change_fields(batch, change)


@rows_lie("type.date-as-string", kills="types.date", defects=("B-78",), source=_VANTABOARD_ARROW)
def date_as_string(batch: pa.RecordBatch) -> pa.RecordBatch:
    """DATE arrives as text."""
    return _converted(batch, lambda field: is_.is_date32(field.type), pa.utf8(), str)


@rows_lie("type.datetime-in-utc", kills="types.datetime-without-zone", defects=("B-60",), source=_RECIDIVIZ_38)
def datetime_in_utc(batch: pa.RecordBatch) -> pa.RecordBatch:
    """DATETIME arrives with the time zone UTC, which it has not."""
    return _retyped(batch, _is_datetime, lambda kind: pa.timestamp(kind.unit, "UTC"))


@rows_lie("type.datetime-nanoseconds", kills="types.datetime")
def datetime_nanoseconds(batch: pa.RecordBatch) -> pa.RecordBatch:
    """DATETIME says nanoseconds and holds microseconds."""
    return _retyped(batch, _is_datetime, lambda _kind: pa.timestamp("ns"))


@rows_lie(
    "type.timestamp-naive",
    kills="types.timestamp-utc",
    defects=("B-61",),
    source="https://github.com/meztez/bigrquerystorage/issues/53",
)
def timestamp_naive(batch: pa.RecordBatch) -> pa.RecordBatch:
    """TIMESTAMP arrives without a time zone."""
    return _retyped(batch, _is_timestamp, lambda kind: pa.timestamp(kind.unit))


@rows_lie(
    "type.timestamp-nanoseconds",
    kills="types.timestamp",
    defects=("B-61",),
    source="https://github.com/apache/arrow-adbc/pull/3364",
)
def timestamp_nanoseconds(batch: pa.RecordBatch) -> pa.RecordBatch:
    """TIMESTAMP says nanoseconds and holds microseconds."""
    return _retyped(batch, _is_timestamp, lambda kind: pa.timestamp("ns", kind.tz))


@rows_lie("type.timestamp-offset-zone", kills="types.timestamp-utc", defects=("I-93",))
def timestamp_offset_zone(batch: pa.RecordBatch) -> pa.RecordBatch:
    """TIMESTAMP names its zone +00:00, where the service says UTC."""
    return _retyped(batch, _is_timestamp, lambda kind: pa.timestamp(kind.unit, "+00:00"))


@rows_lie("type.time-in-nanoseconds", kills="types.time")
def time_in_nanoseconds(batch: pa.RecordBatch) -> pa.RecordBatch:
    """TIME says nanoseconds and holds microseconds."""
    return _retyped(batch, lambda field: is_.is_time64(field.type), lambda _kind: pa.time64("ns"))


@rows_lie("type.numeric-as-float", kills="types.numeric", defects=("B-65",), source=_RECIDIVIZ_45)
def numeric_as_float(batch: pa.RecordBatch) -> pa.RecordBatch:
    """NUMERIC arrives as float64."""
    return _converted(batch, lambda field: is_.is_decimal128(field.type), pa.float64(), float)


@rows_lie("type.numeric-without-parameters", kills="types.numeric-parameters")
def numeric_without_parameters(batch: pa.RecordBatch) -> pa.RecordBatch:
    """NUMERIC(P, S) arrives as NUMERIC."""
    return _widened(batch, pa.decimal128(38, 9))


@rows_lie("type.bignumeric-as-string", kills="types.bignumeric", defects=("B-78",), source=_VANTABOARD_ARROW)
def bignumeric_as_string(batch: pa.RecordBatch) -> pa.RecordBatch:
    """BIGNUMERIC arrives as text."""
    return _converted(batch, lambda field: is_.is_decimal256(field.type), pa.utf8(), str)


@rows_lie("type.bignumeric-without-parameters", kills="types.bignumeric-parameters")
def bignumeric_without_parameters(batch: pa.RecordBatch) -> pa.RecordBatch:
    """BIGNUMERIC(P, S) arrives as BIGNUMERIC."""
    return _widened(batch, pa.decimal256(76, 38))


def _widened(batch: pa.RecordBatch, wide: pa.DataType) -> pa.RecordBatch:
    """Decimals of the width of ``wide`` become ``wide``."""

    def rescaled(field: pa.Field, array: pa.Array) -> tuple[pa.Field, pa.Array]:
        if field.type.id != wide.id or field.type == wide:
            return field, array
        return field.with_type(wide), array.cast(wide)

    return change_fields(batch, rescaled)


def _is_named(name: str) -> Test:
    return lambda field: sql_type(field) == name


def _as_binary(batch: pa.RecordBatch, name: str) -> pa.RecordBatch:
    return _retyped(
        batch, lambda field: _is_named(name)(field) and is_.is_string(field.type), lambda _kind: pa.binary()
    )


@rows_lie("type.json-as-bytes", kills="types.json")
def json_as_bytes(batch: pa.RecordBatch) -> pa.RecordBatch:
    """JSON arrives as binary."""
    return _as_binary(batch, "json")


@rows_lie("type.geography-as-bytes", kills="types.geography")
def geography_as_bytes(batch: pa.RecordBatch) -> pa.RecordBatch:
    """GEOGRAPHY arrives as binary."""
    return _as_binary(batch, "geography")


@rows_lie("type.interval-as-string", kills="types.interval")
def interval_as_string(batch: pa.RecordBatch) -> pa.RecordBatch:
    """INTERVAL arrives as text."""
    return _converted(batch, lambda field: is_.is_interval(field.type), pa.utf8(), str)


@rows_lie("type.range-as-string", kills="types.range", defects=("B-83",))
def range_as_string(batch: pa.RecordBatch) -> pa.RecordBatch:
    """RANGE arrives as text."""
    return _converted(batch, lambda field: sql_type(field) == "range" and is_.is_struct(field.type), pa.utf8(), str)


@rows_lie("type.record-as-string", kills="types.record", defects=("B-78",), source=_VANTABOARD_ARROW)
def record_as_string(batch: pa.RecordBatch) -> pa.RecordBatch:
    """RECORD arrives as text."""
    return _converted(batch, lambda field: is_.is_struct(field.type) and not sql_type(field), pa.utf8(), str)


@rows_lie("type.list-as-large", kills="types.repeated")
def list_as_large(batch: pa.RecordBatch) -> pa.RecordBatch:
    """REPEATED arrives as a list with 64-bit offsets."""

    def change(field: pa.Field, array: pa.Array) -> tuple[pa.Field, pa.Array]:
        if not is_.is_list(field.type):
            return field, array
        large = pa.large_list(field.type.value_field)
        offsets = array.offsets.cast(pa.int64())
        return field.with_type(large), pa.LargeListArray.from_arrays(offsets, array.values, type=large)

    return change_fields(batch, change)
