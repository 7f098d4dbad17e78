"""Reading of the integration form: from its lists of numbers and texts to buffers, and from buffers to arrays."""

from __future__ import annotations

import itertools
import struct
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple

import numpy as np
import pyarrow as pa

from conformance.wire.arrow import UnsupportedHereError, schema_to_arrow, type_to_arrow
from conformance.wire.integration.form import IntegrationError, Json, schema_from
from conformance.wire.intervals import IntervalType
from conformance.wire.types import Field, Type, TypeKind

__all__ = ["Integration", "read_integration"]


class Integration(NamedTuple):
    """The schema and the record batches of a document."""

    schema: pa.Schema
    batches: list[pa.RecordBatch]


def read_integration(document: Json) -> Integration:
    """The schema and record batches of a document of the integration form.

    Raises :class:`IntegrationError` if the document does not have the form, and
    :class:`~conformance.wire.arrow.UnsupportedHereError` if the installed pyarrow lacks a type.
    """
    schema = schema_from(document.get("schema") or {})
    arrow = schema_to_arrow(schema)
    reader = _DocumentReader({each["id"]: each["data"] for each in document.get("dictionaries") or ()})
    batches = []
    for number, batch in enumerate(document.get("batches") or ()):
        try:
            pairs = zip(schema.fields, batch["columns"], strict=True)
            columns = [reader.column(field, column) for field, column in pairs]
            if any(len(column) != batch["count"] for column in columns):
                raise IntegrationError(f"batch {number} has columns that are not of its count, {batch['count']}")
            batches.append(_batch(arrow, columns, batch["count"]))
        except (KeyError, TypeError, ValueError, struct.error, OverflowError, pa.ArrowException) as error:
            if isinstance(error, IntegrationError):
                raise
            raise IntegrationError(f"batch {number} is not of the integration form: {error!r}") from error
    return Integration(arrow, batches)


def _batch(schema: pa.Schema, columns: list[pa.Array], count: int) -> pa.RecordBatch:
    if not columns:
        return pa.record_batch([pa.nulls(count)], names=["rows"]).select([])
    return pa.RecordBatch.from_arrays(columns, schema=schema)


class _DocumentReader:
    def __init__(self, dictionaries: Mapping[int, Json]) -> None:
        self.dictionaries = dictionaries
        self.made: dict[tuple[int, Field], pa.Array] = {}

    def column(self, field: Field, column: Json) -> pa.Array:
        """The array of one column, made from its own buffers and those of its children."""
        length: int = column["count"]
        if field.dictionary is None:
            return self.values(field, column, length)
        index = Field("", field.dictionary.index_type)
        indices = self.values(index, column, length)
        values = self.dictionary(field)
        return pa.DictionaryArray.from_arrays(indices, values, ordered=field.dictionary.ordered)

    def dictionary(self, field: Field) -> pa.Array:
        if field.dictionary is None or field.dictionary.id not in self.dictionaries:
            raise IntegrationError(f"{field} points into a dictionary that the document does not contain")
        key = field.dictionary.id, field
        if key not in self.made:
            (column,) = self.dictionaries[field.dictionary.id]["columns"]
            plain = Field(field.name, field.type, field.nullable, field.metadata, field.children)
            self.made[key] = self.column(plain, column)
        return self.made[key]

    def values(self, field: Field, column: Json, length: int) -> pa.Array:
        made, kind = type_to_arrow(field), field.type.kind
        children = [
            self.column(child, below) for child, below in zip(field.children, column.get("children") or (), strict=True)
        ]
        if kind is TypeKind.RUN_END_ENCODED:
            return pa.RunEndEncodedArray.from_buffers(made, length, [None], 0, 0, children)
        if kind is TypeKind.UNION:
            if not all(column.get("VALIDITY") or ()):
                raise UnsupportedHereError(f"{field} is a union with nulls of its own, which only V4 allows")
            buffers = [None, _pack("b", column["TYPE_ID"])]
            if field.type.mode == "dense":
                buffers.append(_pack("i", column["OFFSET"]))
            return pa.Array.from_buffers(made, length, buffers, 0, 0, children)
        if kind is TypeKind.MAP and (children[0].null_count or children[0].field(0).null_count):
            raise IntegrationError(f"{field} has null entries or keys, which a map cannot have")
        if kind is TypeKind.NULL:
            return pa.Array.from_buffers(made, length, [None])
        if len(column["VALIDITY"]) != length:
            raise IntegrationError(f"{field} has {len(column['VALIDITY'])} slots in VALIDITY, not {length}")
        buffers = [_bitmap(column["VALIDITY"]), *_buffers(field.type, column, length)]
        if isinstance(made, IntervalType):
            storage = pa.Array.from_buffers(made.storage_type, length, buffers)
            return pa.ExtensionArray.from_storage(made, storage)
        if all(column["VALIDITY"]):
            buffers[0] = None  # pyarrow then knows that the entries and keys of a map have no nulls
        return pa.Array.from_buffers(made, length, buffers, 0 if buffers[0] is None else -1, 0, children)


_LISTS: Final = {TypeKind.LIST: "i", TypeKind.MAP: "i", TypeKind.LARGE_LIST: "q"}
_LIST_VIEWS: Final = {TypeKind.LIST_VIEW: "i", TypeKind.LARGE_LIST_VIEW: "q"}
_VARIABLE: Final = {
    TypeKind.BINARY: "i", TypeKind.UTF8: "i", TypeKind.LARGE_BINARY: "q", TypeKind.LARGE_UTF8: "q"
}  # fmt: skip
_TEXTS: Final = (TypeKind.UTF8, TypeKind.LARGE_UTF8, TypeKind.UTF8_VIEW)
_CODES: Final = {8: "b", 16: "h", 32: "i", 64: "q"}


def _buffers(made: Type, column: Json, length: int) -> list[pa.Buffer]:
    """The buffers of a column except for its validity bitmap."""
    kind = made.kind
    if kind in (TypeKind.STRUCT, TypeKind.FIXED_SIZE_LIST):
        return []
    if kind in _LISTS:
        return [_pack(_LISTS[kind], column["OFFSET"], length + 1)]
    if kind in _LIST_VIEWS:
        return [_pack(_LIST_VIEWS[kind], column[key], length) for key in ("OFFSET", "SIZE")]
    if kind in (TypeKind.BINARY_VIEW, TypeKind.UTF8_VIEW):
        views = b"".join(_view(each, is_text=kind is TypeKind.UTF8_VIEW) for each in column["VIEWS"])
        data = [pa.py_buffer(bytes.fromhex(each)) for each in column["VARIADIC_DATA_BUFFERS"]]
        return [pa.py_buffer(views), *data]
    values: Sequence[Any] = column["DATA"]
    if len(values) != length:
        raise IntegrationError(f"{column['name']!r} has {len(values)} values in DATA, not {length}")
    if kind in _VARIABLE:
        return _variable(column["OFFSET"], [_raw(value, is_text=kind in _TEXTS) for value in values], _VARIABLE[kind])
    return [_fixed(made, values)]


def _fixed(made: Type, values: Sequence[Any]) -> pa.Buffer:
    spelled = _SPELLED.get(made.kind)
    if spelled is not None:
        return spelled(made, values)
    code = _CODES[made.bit_width]
    return _pack(code.upper() if made.kind is TypeKind.INT and not made.signed else code, values)


def _floats(made: Type, values: Sequence[Any]) -> pa.Buffer:
    return pa.py_buffer(np.array([float(value) for value in values], f"<f{made.bit_width // 8}").tobytes())


def _decimals(made: Type, values: Sequence[Any]) -> pa.Buffer:
    width = made.bit_width // 8
    return pa.py_buffer(b"".join(int(value).to_bytes(width, "little", signed=True) for value in values))


def _intervals(made: Type, values: Sequence[Any]) -> pa.Buffer:
    if made.unit == "year-month":
        return _pack("i", values)
    if made.unit == "day-time":
        return pa.py_buffer(b"".join(struct.pack("<ii", each["days"], each["milliseconds"]) for each in values))
    parts = ((each["months"], each["days"], int(each["nanoseconds"])) for each in values)
    return pa.py_buffer(b"".join(struct.pack("<iiq", *each) for each in parts))


_SPELLED: Final[dict[TypeKind, Callable[[Type, Sequence[Any]], pa.Buffer]]] = {
    TypeKind.BOOL: lambda _, values: _bitmap(values),
    TypeKind.FIXED_SIZE_BINARY: lambda _, values: pa.py_buffer(b"".join(map(bytes.fromhex, values))),
    TypeKind.FLOATING_POINT: _floats,
    TypeKind.DECIMAL: _decimals,
    TypeKind.INTERVAL: _intervals,
}
"""The converters of values that the form does not write as integers."""


def _pack(code: str, values: Sequence[Any], length: int | None = None) -> pa.Buffer:
    """A buffer of integers; the form writes those as text that JavaScript's numbers could not represent exactly."""
    if length is not None and len(values) != length and (values or length != 1):
        raise IntegrationError(f"{len(values)} offsets or sizes, {length} needed")
    listed = [int(value) for value in values] or [0] * (length or 0)
    return pa.py_buffer(struct.pack(f"<{len(listed)}{code}", *listed))


def _bitmap(values: Sequence[Any]) -> pa.Buffer:
    return pa.py_buffer(np.packbits(np.array(values, np.bool_), bitorder="little").tobytes())


def _raw(value: str, *, is_text: bool) -> bytes:
    return value.encode() if is_text else bytes.fromhex(value)


def _variable(declared: Sequence[Any], values: list[bytes], code: str) -> list[pa.Buffer]:
    offsets = list(itertools.accumulate(map(len, values), initial=0))
    if declared and [int(offset) for offset in declared] != offsets:
        raise IntegrationError("OFFSET does not fit the lengths of DATA")
    return [_pack(code, offsets), pa.py_buffer(b"".join(values))]


def _view(view: Json, *, is_text: bool) -> bytes:
    size = view["SIZE"]
    if "INLINED" in view:
        return struct.pack("<i12s", size, _raw(view["INLINED"], is_text=is_text))
    prefix = bytes.fromhex(view["PREFIX_HEX"])
    return struct.pack("<i4sii", size, prefix, view["BUFFER_INDEX"], view["OFFSET"])
