"""The Arrow types to which the types of a session's Avro schema correspond.

They are those in which the Storage Read API sends the same columns in Arrow
(https://cloud.google.com/bigquery/docs/reference/storage#arrow_schema_details), without metadata of fields.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

import pyarrow as pa

from conformance.formats.avro.types import (
    AvroArray,
    AvroField,
    AvroPrimitive,
    AvroRecord,
    AvroSchema,
    AvroType,
    AvroUnion,
    PrimitiveKind,
)

__all__ = ["avro_arrow_schema", "avro_arrow_type", "corresponds", "is_interval"]

_ITEM: Final = "item"
_DIGITS: Final = 76
"""The most digits of an Arrow decimal: a BIGNUMERIC has 77 in Avro, the first of them incomplete."""
_INTERVAL: Final = (
    ("months", AvroPrimitive(PrimitiveKind.INT)),
    ("days", AvroPrimitive(PrimitiveKind.INT)),
    ("microseconds", AvroPrimitive(PrimitiveKind.LONG)),
)
_KINDS: Final[Mapping[PrimitiveKind, pa.DataType]] = MappingProxyType(
    {
        PrimitiveKind.NULL: pa.null(),
        PrimitiveKind.BOOLEAN: pa.bool_(),
        PrimitiveKind.INT: pa.int32(),
        PrimitiveKind.LONG: pa.int64(),
        PrimitiveKind.FLOAT: pa.float32(),
        PrimitiveKind.DOUBLE: pa.float64(),
        PrimitiveKind.BYTES: pa.binary(),
        PrimitiveKind.STRING: pa.utf8(),
    }
)
_LOGICAL: Final[Mapping[str, pa.DataType]] = MappingProxyType(
    {
        "date": pa.date32(),
        "time-micros": pa.time64("us"),
        "timestamp-micros": pa.timestamp("us", tz="UTC"),
        "timestamp-nanos": pa.timestamp("ns", tz="UTC"),
        "datetime": pa.timestamp("us"),
    }
)


def avro_arrow_schema(schema: AvroSchema) -> pa.Schema:
    """The Arrow schema of the rows: a field is nullable if its type is null, or a union with it."""
    return pa.schema([_field(field, schema) for field in schema.root.fields])


def is_interval(record: AvroRecord) -> bool:
    """True if a record is the one in which an INTERVAL arrives: no STRUCT has fields of the type int."""
    return tuple((field.name, field.type) for field in record.fields) == _INTERVAL


def corresponds(derived: pa.DataType, wanted: pa.DataType) -> bool:
    """True if values of ``derived`` can be put into an array of ``wanted`` as they are.

    Metadata, nullability and the name of a list's child may differ, and so may the width of a decimal.
    """
    if pa.types.is_struct(derived):
        return pa.types.is_struct(wanted) and _all_correspond(derived, wanted)
    if pa.types.is_list(derived):
        return pa.types.is_list(wanted) and corresponds(derived.value_type, wanted.value_type)
    if pa.types.is_decimal(derived):
        known = pa.types.is_decimal128(wanted) or pa.types.is_decimal256(wanted)
        return known and (derived.precision, derived.scale) == (wanted.precision, wanted.scale)
    return bool(derived == wanted)


def _all_correspond(derived: pa.DataType, wanted: pa.DataType) -> bool:
    if derived.num_fields != wanted.num_fields:
        return False
    pairs = [(derived.field(place), wanted.field(place)) for place in range(derived.num_fields)]
    return all(one.name == other.name and corresponds(one.type, other.type) for one, other in pairs)


def _field(field: AvroField, schema: AvroSchema) -> pa.Field:
    made = avro_arrow_type(field.type, schema)
    own = field.display or field.name
    name = own.encode(errors="backslashreplace").decode()  # JSON may escape half a character
    return pa.field(name, made, nullable=isinstance(field.type, AvroUnion) or pa.types.is_null(made))


def avro_arrow_type(made: AvroType, schema: AvroSchema) -> pa.DataType:
    """The Arrow type of a value, without what says that it may be null."""
    if isinstance(made, AvroUnion):
        return avro_arrow_type(made.value, schema)
    if isinstance(made, AvroArray):
        return pa.list_(pa.field(_ITEM, avro_arrow_type(made.items, schema), nullable=True))
    if isinstance(made, AvroPrimitive):
        return _primitive(made)
    record = schema.record(made)
    if is_interval(record):
        return pa.month_day_nano_interval()
    return pa.struct([_field(field, schema) for field in record.fields])


def _primitive(made: AvroPrimitive) -> pa.DataType:
    if made.logical != "decimal":
        return _LOGICAL.get(made.logical, _KINDS[made.kind])
    if made.precision <= 38:
        return pa.decimal128(made.precision, made.scale)
    return pa.decimal256(min(made.precision, _DIGITS), made.scale)
