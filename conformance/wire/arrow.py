"""The judge's own decoding: verified buffers to pyarrow objects, without any IPC reader.

Types are built field by field and arrays buffer by buffer, so that what a target's bytes say is read by this package
alone; pyarrow only gives the values a shape that others can compare.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa

from conformance.wire.layout import Layout, Op
from conformance.wire.messages import KeyValues
from conformance.wire.types import Endianness, Field, Schema, Type, TypeKind

if TYPE_CHECKING:
    from conformance.wire.batch import BatchMessage
    from conformance.wire.body import Body

__all__ = ["DecodingError", "UndecodableError", "UnsupportedHereError", "batch_to_arrow", "schema_to_arrow"]


class DecodingError(Exception):
    """Bytes cannot be made into pyarrow objects.

    ├── :class:`UndecodableError` - the bytes are at fault.
    └── :class:`UnsupportedHereError` - the installed pyarrow, or this decoder, lacks something that is legal.
    """


class UndecodableError(DecodingError):
    """The batch's buffers cannot be followed safely; its faults say why."""


class UnsupportedHereError(DecodingError):
    """The type is legal Arrow, but cannot be represented by the installed pyarrow."""


# --- schemas ----------------------------------------------------------------------------------------


def schema_to_arrow(schema: Schema) -> pa.Schema:
    """``schema`` as a :class:`pyarrow.Schema`; metadata pairs without key or value become empty strings."""
    try:
        return pa.schema([_field(field) for field in schema.fields], metadata=_metadata(schema.metadata))
    except (pa.ArrowException, ValueError, OverflowError, RecursionError) as error:
        raise UnsupportedHereError(f"pyarrow {pa.__version__} refuses the schema: {error}") from error


def _field(field: Field) -> pa.Field:
    return pa.field(field.name, _type(field), nullable=field.nullable, metadata=_metadata(field.metadata))


def _metadata(pairs: KeyValues) -> pa.KeyValueMetadata | None:
    return pa.KeyValueMetadata([(key or "", value or "") for key, value in pairs]) if pairs else None


def _type(field: Field) -> pa.DataType:
    made = _value_type(field)
    if field.dictionary is None:
        return made
    return pa.dictionary(_integer(field.dictionary.index_type), made, ordered=field.dictionary.ordered)


def _value_type(field: Field) -> pa.DataType:
    maker = _TYPES.get(field.type.kind)
    if maker is None:
        raise UnsupportedHereError(f"{field.type} is not supported")
    return maker(field.type, field.children)


def _lacking(name: str) -> Callable[..., Any]:
    """The type factory ``name`` of pyarrow; a typed error on use where this pyarrow has none."""

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
    if made.unit != "month-day-nano":
        raise UnsupportedHereError(f"pyarrow {pa.__version__} has no {made} in Python")
    return pa.month_day_nano_interval()


def _map(made: Type, children: tuple[Field, ...]) -> pa.DataType:
    key, value = children[0].children
    return pa.map_(_field(key), _field(value), keys_sorted=made.keys_sorted)


def _union(made: Type, children: tuple[Field, ...]) -> pa.DataType:
    return pa.union([_field(child) for child in children], mode=made.mode, type_codes=list(made.type_ids))


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
    TypeKind.LIST: lambda _, children: pa.list_(_field(children[0])),
    TypeKind.STRUCT: lambda _, children: pa.struct([_field(child) for child in children]),
    TypeKind.UNION: _union,
    TypeKind.FIXED_SIZE_BINARY: lambda made, _: pa.binary(made.byte_width),
    TypeKind.FIXED_SIZE_LIST: lambda made, children: pa.list_(_field(children[0]), made.list_size),
    TypeKind.MAP: _map,
    TypeKind.DURATION: lambda made, _: pa.duration(made.unit),
    TypeKind.LARGE_BINARY: lambda _, __: pa.large_binary(),
    TypeKind.LARGE_UTF8: lambda _, __: pa.large_utf8(),
    TypeKind.LARGE_LIST: lambda _, children: pa.large_list(_field(children[0])),
    TypeKind.RUN_END_ENCODED: _run_end_encoded,
    TypeKind.BINARY_VIEW: lambda _, __: _lacking("binary_view")(),
    TypeKind.UTF8_VIEW: lambda _, __: _lacking("string_view")(),
    TypeKind.LIST_VIEW: lambda _, children: _lacking("list_view")(_field(children[0])),
    TypeKind.LARGE_LIST_VIEW: lambda _, children: _lacking("large_list_view")(_field(children[0])),
}


# --- batches ----------------------------------------------------------------------------------------


def _child(made: pa.DataType, number: int) -> pa.DataType:
    """The type of a child of a nested type; a map's only child is the struct of its entries."""
    if pa.types.is_map(made):
        return pa.struct([made.key_field, made.item_field])
    if pa.types.is_struct(made) or pa.types.is_union(made):
        return made.field(number).type
    if pa.types.is_run_end_encoded(made):
        return (made.run_end_type, made.value_type)[number]
    return made.value_type


_WITH_OFFSETS: Final = frozenset({Layout.BINARY, Layout.LIST})
_UNLIKE_OTHERS: Final = frozenset(
    {Layout.SPARSE_UNION, Layout.DENSE_UNION, Layout.RUN_END_ENCODED, Layout.FIXED_SIZE_LIST}
)


@dataclasses.dataclass(slots=True)
class _Decoder:
    body: Body

    def array(self, op: Op, made: pa.DataType, length: int) -> pa.Array:
        if op.field.dictionary is not None:
            raise UnsupportedHereError(f"{op.path} is dictionary-encoded, and the dictionary is another message")
        layout, has_validity = op.layout, op.has_validity
        buffers = self.buffers(op)
        children = [
            self.array(child, _child(made, number), self.body.nodes[2 * child.index])
            for number, child in enumerate(op.children)
        ]
        if has_validity and not buffers[0].size:
            buffers[0] = None
        if layout in _WITH_OFFSETS and not buffers[1].size:
            buffers[1] = pa.py_buffer(bytes(op.width))
        if layout not in _UNLIKE_OTHERS:
            return pa.Array.from_buffers(made, length, buffers or [None], -1 if has_validity else length, 0, children)
        if layout is Layout.RUN_END_ENCODED:
            return pa.RunEndEncodedArray.from_buffers(made, length, [None], -1, 0, children)
        if layout is Layout.FIXED_SIZE_LIST:
            return self.fixed_size_list(op, made, length, buffers, children[0])
        return self.union(op, made, length, buffers, children)

    def buffers(self, op: Op) -> list[Any]:
        starts, contents = self.body.starts, self.body.contents
        first = starts[op.index]
        after = starts[op.index + 1] if op.index + 1 < len(starts) else len(contents)
        found = contents[first:after]
        if None in found:
            raise UndecodableError(f"{self.body.name(first + found.index(None))} cannot be read")
        return [pa.py_buffer(content) for content in found]

    def union(
        self, op: Op, made: pa.DataType, length: int, buffers: list[pa.Buffer | None], children: list[pa.Array]
    ) -> pa.Array:
        if op.has_validity:
            if buffers[0] is not None:
                raise UnsupportedHereError(f"{op.path} is a union with a validity bitmap, which only V4 allows")
            buffers = buffers[1:]
        return pa.Array.from_buffers(made, length, [None, *buffers], 0, 0, children)

    def fixed_size_list(
        self, op: Op, made: pa.DataType, length: int, buffers: list[pa.Buffer | None], child: pa.Array
    ) -> pa.Array:
        return pa.Array.from_buffers(made, length, buffers, -1, 0, [child[: length * op.field.type.list_size]])


def batch_to_arrow(batch: BatchMessage) -> pa.RecordBatch:
    """``batch`` as a :class:`pyarrow.RecordBatch`, of the schema that it was read with."""
    if batch.schema.endianness is Endianness.BIG:
        raise UnsupportedHereError("the batch is big-endian, which this decoder does not convert")
    if batch.body is None or not batch.decodable:
        raise UndecodableError("the batch cannot be decoded: " + "; ".join(map(str, batch.violations[:3])))
    schema, decoder = batch.schema.to_arrow(), _Decoder(batch.body)
    try:
        tops = [op for op in batch.body.plan.ops if op.parent is None]
        columns = [decoder.array(op, made, batch.length or 0) for op, made in zip(tops, schema.types, strict=True)]
        if not columns:
            return _without_columns(batch.length or 0)
        made = pa.Array.from_buffers(batch.schema.to_struct(), batch.length or 0, [None], 0, 0, columns)
        decoded = pa.RecordBatch.from_struct_array(made)
        return decoded.replace_schema_metadata(schema.metadata) if schema.metadata else decoded
    except (pa.ArrowException, ValueError, OverflowError, RecursionError) as error:
        raise UnsupportedHereError(f"pyarrow {pa.__version__} refuses the buffers: {error}") from error


def _without_columns(length: int) -> pa.RecordBatch:
    # Not pyarrow.nulls, which allocates for as many slots as the bytes care to announce.
    rows = pa.Array.from_buffers(pa.null(), length, [None])
    return pa.record_batch([rows], names=["rows"]).select([])
