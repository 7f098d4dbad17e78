"""An Arrow table of the plain values that a client program returned, under the types that the target sent.

Plain values do not depend on layout, so a client's own spelling of its types is not needed to compare them. A column
with a value that its type cannot hold becomes text, so that the comparison reports another type and shows the value.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import pyarrow as pa

from conformance.contract import proto
from conformance.contract.mapping import arrow_schema
from conformance.formats.messages import ARROW
from conformance.readers.fullread import FullRead
from conformance.wire import DecodingError, PlainTable, read_schema, schema_to_arrow

__all__ = ["plain_to_arrow", "sent_schema"]


def sent_schema(read: FullRead) -> pa.Schema:
    """The Arrow schema of the session, or of the first response with one; the case's if none can be decoded."""
    from google.protobuf.message import DecodeError  # noqa: PLC0415  # as the import of proto does, in the pool only

    try:
        data = ARROW.schema_in(proto.ReadSession.FromString(read.session))
        responses = (proto.ReadRowsResponse.FromString(one) for stream in read.streams for one in stream.responses[:1])
        data = data or next(map(ARROW.schema_in, responses), None)
        found = read_schema(data or b"").schema
        if found is not None:
            return _nullable(schema_to_arrow(found))
    except (DecodeError, DecodingError):
        pass
    return _nullable(arrow_schema(read.selected))


def _nullable(schema: pa.Schema) -> pa.Schema:
    """The schema with every field nullable: a field that is required has no value in a struct that is NULL."""
    return pa.schema([pa.field(field.name, _nullable_type(field.type)) for field in schema])


def _nullable_type(kind: pa.DataType) -> pa.DataType:
    if pa.types.is_struct(kind):
        return pa.struct([pa.field(field.name, _nullable_type(field.type)) for field in kind])
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return pa.list_(pa.field(kind.value_field.name, _nullable_type(kind.value_type)))
    return kind


def plain_to_arrow(table: PlainTable, schema: pa.Schema) -> pa.Table:
    """The table with the column types of ``schema``, where a column of that name is in it and its values fit."""
    if not table.names:
        return pa.table({})
    columns = []
    for name, values in zip(table.names, table.columns, strict=True):
        place = schema.get_field_index(name)
        columns.append(_column(values, schema.field(place).type if place >= 0 else None))
    return pa.Table.from_arrays(columns, names=list(table.names))


def _column(values: Sequence[Any], kind: pa.DataType | None) -> pa.Array:
    if kind is not None:
        try:
            return _array(values, kind)
        except (pa.ArrowException, ValueError, TypeError, KeyError, IndexError, OverflowError):
            pass
    return pa.array([None if value is None else json.dumps(value) for value in values], pa.string())


def _array(values: Sequence[Any], kind: pa.DataType) -> pa.Array:
    """An array of plain values; raises if one of them is not a value of this type."""
    if pa.types.is_struct(kind):
        return _structs(values, kind)
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return _lists(values, kind)
    if pa.types.is_temporal(kind) and not pa.types.is_interval(kind):
        width = pa.int32() if kind.bit_width == 32 else pa.int64()
        return _array(values, width).view(kind)
    if pa.types.is_decimal(kind):
        # Through bytes: pyarrow takes no Decimal of 77 digits, which a BIGNUMERIC at its ends has.
        width = kind.bit_width // 8
        return _built(
            values, lambda value: int(value["decimal"]).to_bytes(width, "little", signed=True), pa.binary(width)
        ).view(kind)
    return _built(values, next((convert for belongs, convert in _CONVERTERS if belongs(kind)), _text), kind)


def _structs(values: Sequence[Any], kind: pa.DataType) -> pa.Array:
    rows = [None if value is None else value["struct"] for value in values]
    if any(row is not None and len(row) != kind.num_fields for row in rows):
        raise ValueError("a struct has another number of fields than its type")
    children = [
        _array([None if row is None else row[place] for row in rows], kind.field(place).type)
        for place in range(kind.num_fields)
    ]
    mask = pa.array([row is None for row in rows], pa.bool_())
    return pa.StructArray.from_arrays(children, fields=list(kind), mask=mask)


def _lists(values: Sequence[Any], kind: pa.DataType) -> pa.Array:
    if any(value is not None and not isinstance(value, list) for value in values):
        raise TypeError("expected a list")
    offsets: list[int] = [0]
    items: list[Any] = []
    for value in values:
        items += value or []
        offsets.append(len(items))
    # An offset that is null makes its list null; the last one ends the last list.
    bounds = [None if value is None else begin for value, begin in zip(values, offsets, strict=False)]
    place = pa.array([*bounds, offsets[-1]], pa.int32())
    return pa.ListArray.from_arrays(place, _array(items, kind.value_type), type=pa.list_(kind.value_field))


def _built(values: Sequence[Any], convert: Callable[[Any], Any], kind: pa.DataType) -> pa.Array:
    return pa.array([None if value is None else convert(value) for value in values], kind)


def _text(value: Any) -> str:
    return str(_only(str, value))


def _only(kind: type, value: Any) -> Any:
    """The value, which has to be of exactly this type: pyarrow would convert True to 1."""
    if type(value) is not kind:
        raise TypeError(f"expected {kind.__name__}, got {value!r}")
    return value


def _float(value: Mapping[str, str]) -> float:
    bits = value["f64"]
    return float("nan") if bits == "nan" else float(struct.unpack(">d", bytes.fromhex(bits))[0])


_CONVERTERS: Final[Sequence[tuple[Callable[[pa.DataType], bool], Callable[[Any], Any]]]] = (
    (pa.types.is_floating, _float),
    (pa.types.is_binary, lambda value: bytes.fromhex(value["hex"])),
    (pa.types.is_large_binary, lambda value: bytes.fromhex(value["hex"])),
    (pa.types.is_interval, lambda value: pa.MonthDayNano([value["months"], value["days"], value["ns"]])),
    (pa.types.is_boolean, lambda value: _only(bool, value)),
    (pa.types.is_integer, lambda value: _only(int, value)),
)
