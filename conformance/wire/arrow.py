"""Conversion of schemas to pyarrow, field by field and without any IPC reader, and the errors of decoding."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any, Final

import pyarrow as pa

from conformance.wire.intervals import DAY_TIME, YEAR_MONTH
from conformance.wire.messages import KeyValues
from conformance.wire.types import Field, Schema, Type, TypeKind

__all__ = [
    "DecodingError",
    "UndecodableError",
    "UnsupportedHereError",
    "field_to_arrow",
    "schema_to_arrow",
    "schema_to_struct",
    "type_to_arrow",
]


class DecodingError(Exception):
    """The bytes cannot be converted to pyarrow objects.

    ├── :class:`UndecodableError` - the bytes are at fault.
    └── :class:`UnsupportedHereError` - the installed pyarrow, or this decoder, lacks something that is legal.
    """


class UndecodableError(DecodingError):
    """Following the batch's buffers would be unsafe; its faults give the reason."""


class UnsupportedHereError(DecodingError):
    """The type is legal Arrow, but the installed pyarrow cannot represent it."""


# --- schemas ----------------------------------------------------------------------------------------


def schema_to_arrow(schema: Schema) -> pa.Schema:
    """``schema`` as a :class:`pyarrow.Schema`; converted on first use and then remembered.

    A missing key or value of a metadata pair becomes an empty string, a dictionary-encoded field gets a dictionary
    type, and an interval for which pyarrow has no class becomes an :class:`~conformance.wire.intervals.IntervalType`.

    Raises:
        UnsupportedHereError: the installed pyarrow lacks a type.
    """
    made: pa.Schema | None = schema.memo.get(schema_to_arrow)
    if made is None:
        made = schema.memo[schema_to_arrow] = _schema(schema)
    return made


def schema_to_struct(schema: Schema) -> pa.DataType:
    """A struct type with the columns of ``schema`` as its fields, for building batches; remembered like a schema."""
    made: pa.DataType | None = schema.memo.get(schema_to_struct)
    if made is None:
        made = schema.memo[schema_to_struct] = pa.struct(list(schema_to_arrow(schema)))
    return made


def _schema(schema: Schema) -> pa.Schema:
    try:
        return pa.schema([field_to_arrow(field) for field in schema.fields], metadata=_metadata(schema.metadata))
    except (pa.ArrowException, ValueError, TypeError, OverflowError, RecursionError) as error:
        raise UnsupportedHereError(f"pyarrow {pa.__version__} refuses the schema: {error}") from error


def field_to_arrow(field: Field) -> pa.Field:
    """``field`` as a :class:`pyarrow.Field`; raises pyarrow's own exceptions if pyarrow refuses the field."""
    return pa.field(field.name, _type(field), nullable=field.nullable, metadata=_metadata(field.metadata))


def _metadata(pairs: KeyValues) -> pa.KeyValueMetadata | None:
    return pa.KeyValueMetadata([(key or "", value or "") for key, value in pairs]) if pairs else None


def _type(field: Field) -> pa.DataType:
    made = type_to_arrow(field)
    if field.dictionary is None:
        return made
    return pa.dictionary(_integer(field.dictionary.index_type), made, ordered=field.dictionary.ordered)


def type_to_arrow(field: Field) -> pa.DataType:
    """The type of ``field``'s values, ignoring a dictionary encoding.

    Raises :class:`UnsupportedHereError` if the installed pyarrow lacks the type.
    """
    maker = _TYPES.get(field.type.kind)
    if maker is None:
        raise UnsupportedHereError(f"{field.type} is not supported")
    return maker(field.type, field.children)


def _lacking(name: str) -> Callable[..., Any]:
    """The type factory ``name`` of pyarrow, looked up on use; raises :class:`UnsupportedHereError` if it is missing."""

    def make(*arguments: Any, **named: Any) -> Any:
        factory = getattr(pa, name, None)
        if factory is None:
            raise UnsupportedHereError(f"pyarrow {pa.__version__} has no {name}; a later version has")
        return factory(*arguments, **named)

    return make


def _integer(made: Type) -> pa.DataType:
    return getattr(pa, f"{'' if made.signed else 'u'}int{made.bit_width}")()


def _decimal(made: Type, _: tuple[Field, ...]) -> pa.DataType:
    return _lacking(f"decimal{made.bit_width}")(made.precision, made.scale)


def _interval(made: Type, _: tuple[Field, ...]) -> pa.DataType:
    if made.unit == "month-day-nano":
        return pa.month_day_nano_interval()
    return YEAR_MONTH if made.unit == "year-month" else DAY_TIME


def _map(made: Type, children: tuple[Field, ...]) -> pa.DataType:
    key, value = children[0].children
    # pyarrow has no map with nullable keys; a schema that declares them has a fault already (schema.map-nullable).
    held = field_to_arrow(dataclasses.replace(key, nullable=False))
    return pa.map_(held, field_to_arrow(value), keys_sorted=made.keys_sorted)


def _union(made: Type, children: tuple[Field, ...]) -> pa.DataType:
    return pa.union([field_to_arrow(child) for child in children], mode=made.mode, type_codes=list(made.type_ids))


def _run_end_encoded(_: Type, children: tuple[Field, ...]) -> pa.DataType:
    return _lacking("run_end_encoded")(_type(children[0]), _type(children[1]))


Maker = Callable[[Type, tuple[Field, ...]], pa.DataType]

_TYPES: Final[dict[TypeKind, Maker]] = {
    TypeKind.NULL: lambda _, __: pa.null(),
    TypeKind.INT: lambda made, _: _integer(made),
    TypeKind.FLOATING_POINT: lambda made, _: getattr(pa, f"float{made.bit_width}")(),
    TypeKind.BINARY: lambda _, __: pa.binary(),
    TypeKind.UTF8: lambda _, __: pa.utf8(),
    TypeKind.BOOL: lambda _, __: pa.bool_(),
    TypeKind.DECIMAL: _decimal,
    TypeKind.DATE: lambda made, _: pa.date32() if made.unit == "day" else pa.date64(),
    TypeKind.TIME: lambda made, _: getattr(pa, f"time{made.bit_width}")(made.unit),
    TypeKind.TIMESTAMP: lambda made, _: pa.timestamp(made.unit, made.timezone),
    TypeKind.INTERVAL: _interval,
    TypeKind.LIST: lambda _, children: pa.list_(field_to_arrow(children[0])),
    TypeKind.STRUCT: lambda _, children: pa.struct([field_to_arrow(child) for child in children]),
    TypeKind.UNION: _union,
    TypeKind.FIXED_SIZE_BINARY: lambda made, _: pa.binary(made.byte_width),
    TypeKind.FIXED_SIZE_LIST: lambda made, children: pa.list_(field_to_arrow(children[0]), made.list_size),
    TypeKind.MAP: _map,
    TypeKind.DURATION: lambda made, _: pa.duration(made.unit),
    TypeKind.LARGE_BINARY: lambda _, __: pa.large_binary(),
    TypeKind.LARGE_UTF8: lambda _, __: pa.large_utf8(),
    TypeKind.LARGE_LIST: lambda _, children: pa.large_list(field_to_arrow(children[0])),
    TypeKind.RUN_END_ENCODED: _run_end_encoded,
    TypeKind.BINARY_VIEW: lambda _, __: _lacking("binary_view")(),
    TypeKind.UTF8_VIEW: lambda _, __: _lacking("string_view")(),
    TypeKind.LIST_VIEW: lambda _, children: _lacking("list_view")(field_to_arrow(children[0])),
    TypeKind.LARGE_LIST_VIEW: lambda _, children: _lacking("large_list_view")(field_to_arrow(children[0])),
}
