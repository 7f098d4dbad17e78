"""The forms that times of TIMESTAMP have in the result of a query: microseconds, nanoseconds, or ISO 8601.

Source: ``PicosTimestampPrecision`` in
https://github.com/googleapis/googleapis/blob/master/google/cloud/bigquery/storage/v1/arrow.proto.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import pyarrow as pa

__all__ = ["FORMS", "formed", "formed_schema"]

FORMS: Final[Mapping[str, int]] = {
    "TIMESTAMP_PRECISION_MICROS": 1,
    "TIMESTAMP_PRECISION_NANOS": 2,
    "TIMESTAMP_PRECISION_PICOS": 3,
}
_TYPES: Final[Mapping[int, pa.DataType]] = {2: pa.timestamp("ns", "UTC"), 3: pa.utf8()}


def formed_schema(schema: pa.Schema, form: int) -> pa.Schema:
    """The schema with its times in a form of :data:`FORMS`; any other number is that of microseconds."""
    return schema if form not in _TYPES else pa.schema([_field(field, _TYPES[form]) for field in schema])


def formed(batch: pa.RecordBatch, form: int) -> pa.RecordBatch:
    """The rows with their times in a form; raises ``pa.ArrowInvalid`` if it cannot express one."""
    schema = formed_schema(batch.schema, form)
    columns = [
        column
        if column.type == field.type
        else pa.array([_value(value, column.type, form) for value in column.to_pylist()], field.type)
        for column, field in zip(batch.columns, schema, strict=True)
    ]
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def _field(field: pa.Field, of_times: pa.DataType) -> pa.Field:
    return field.with_type(_type(field.type, of_times))


def _type(kind: pa.DataType, of_times: pa.DataType) -> pa.DataType:
    if pa.types.is_timestamp(kind) and kind.tz is not None:
        return of_times
    if pa.types.is_list(kind):
        return pa.list_(_field(kind.value_field, of_times))
    return pa.struct([_field(field, of_times) for field in kind]) if pa.types.is_struct(kind) else kind


def _value(value: Any, kind: pa.DataType, form: int) -> Any:
    if value is None:
        return None
    if pa.types.is_list(kind):
        return [_value(one, kind.value_type, form) for one in value]
    if pa.types.is_struct(kind):
        return {field.name: _value(value[field.name], field.type, form) for field in kind}
    if form == FORMS["TIMESTAMP_PRECISION_PICOS"] and pa.types.is_timestamp(kind) and kind.tz is not None:
        return f"{value.replace(tzinfo=None).isoformat(timespec='microseconds')}000000Z"
    return value
