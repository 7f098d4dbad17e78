"""Building of arrays from a recipe, buffer by buffer, so that every version of pyarrow gets the same memory.

The module runs inside each version's interpreter: it needs the standard library and pyarrow 14 or newer, and no other
module of this package. pyarrow converts no Python values, except for views, because old versions cannot build views
from buffers.

Every buffer is placed between bytes of a known value, so that a writer that copies memory from outside a buffer writes
the same bytes in every run. Writing twice, between different bytes, detects that.
"""

from __future__ import annotations

import contextvars
import struct
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import pyarrow as pa

__all__ = ["LackingError", "build_batches", "build_schema"]


class LackingError(Exception):
    """This version of pyarrow lacks something that the recipe needs; the text names it."""


def build_schema(recipe: Mapping[str, Any]) -> pa.Schema:
    """The schema of a recipe; raises :class:`LackingError` if this version lacks a type."""
    fields = [_field(field) for field in recipe["fields"]]
    return pa.schema(fields, metadata=_metadata(recipe.get("metadata")))


def build_batches(recipe: Mapping[str, Any], schema: pa.Schema, *, around: int = 0) -> list[pa.RecordBatch]:
    """The record batches of a recipe, in the recipe's form (``whole`` or ``sliced``).

    ``around`` is the byte that fills the memory before and after every buffer.
    """
    _AROUND.set(around)
    return [
        _batch(recipe, schema, columns, rows) for columns, rows in zip(recipe["batches"], recipe["rows"], strict=True)
    ]


def _batch(recipe: Mapping[str, Any], schema: pa.Schema, columns: Sequence[Any], rows: int) -> pa.RecordBatch:
    types = [field["type"] for field in recipe["fields"]]
    if not columns:
        return pa.record_batch([pa.nulls(rows)], names=["rows"]).select([])
    if recipe.get("form", "whole") == "whole":
        arrays = [_array(kind, values, made) for kind, values, made in zip(types, columns, schema.types, strict=True)]
        return pa.RecordBatch.from_arrays(arrays, schema=schema)
    # The same rows as a slice of a longer array, with some of the rows repeated before and after them.
    arrays = []
    for kind, values, made in zip(types, columns, schema.types, strict=True):
        front, back = values[:SLICE_FRONT], values[:SLICE_BACK]
        arrays.append(_array(kind, [*front, *values, *back], made).slice(len(front), len(values)))
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


_AROUND: Final = contextvars.ContextVar("around", default=0)
_MARGIN: Final = 64
"""Bytes before and after a buffer: a writer copies at most padding to 64 bytes from outside a buffer."""


def _buffer(content: bytes) -> pa.Buffer:
    margin = bytes([_AROUND.get()]) * _MARGIN
    return pa.py_buffer(margin + content + margin).slice(_MARGIN, len(content))


SLICE_FRONT: Final = 3
"""Rows before a slice: not a multiple of 8, so that validity bitmaps and booleans have to be shifted."""
SLICE_BACK: Final = 2


# --- types ------------------------------------------------------------------------------------------


def _metadata(pairs: Mapping[str, str] | None) -> pa.KeyValueMetadata | None:
    return pa.KeyValueMetadata(list(pairs.items())) if pairs else None


def _field(field: Mapping[str, Any]) -> pa.Field:
    nullable, metadata = field.get("nullable", True), _metadata(field.get("metadata"))
    return pa.field(field["name"], _type(field["type"]), nullable=nullable, metadata=metadata)


def _has(name: str) -> Callable[..., Any]:
    made: Callable[..., Any] | None = getattr(pa, name, None)
    if made is None:
        raise LackingError(f"pyarrow {pa.__version__} has no {name}")
    return made


def _type(kind: Mapping[str, Any]) -> pa.DataType:
    name = kind["kind"]
    if name in _NESTED:
        return _NESTED[name](kind)
    arguments = [kind[key] for key in ("precision", "scale", "width", "unit", "zone") if key in kind]
    return _has(_NAMES.get(name, name))(*arguments)


_NAMES: Final = {"bool": "bool_", "fixed_size_binary": "binary", "interval": "month_day_nano_interval"}

_NESTED: Final[dict[str, Callable[[Mapping[str, Any]], pa.DataType]]] = {
    "list": lambda kind: pa.list_(_field(kind["item"])),
    "large_list": lambda kind: pa.large_list(_field(kind["item"])),
    "list_view": lambda kind: _has("list_view")(_field(kind["item"])),
    "large_list_view": lambda kind: _has("large_list_view")(_field(kind["item"])),
    "fixed_size_list": lambda kind: pa.list_(_field(kind["item"]), kind["size"]),
    "struct": lambda kind: pa.struct([_field(field) for field in kind["fields"]]),
    "map": lambda kind: pa.map_(_field(kind["key"]), _field(kind["value"]), keys_sorted=kind.get("sorted", False)),
    "sparse_union": lambda kind: pa.sparse_union([_field(field) for field in kind["fields"]], kind["codes"]),
    "dense_union": lambda kind: pa.dense_union([_field(field) for field in kind["fields"]], kind["codes"]),
    "dictionary": lambda kind: pa.dictionary(_type(kind["index"]), _type(kind["value"]), kind.get("ordered", False)),
    "run_end_encoded": lambda kind: _has("run_end_encoded")(_type(kind["ends"]), _type(kind["value"])),
}


# --- arrays -----------------------------------------------------------------------------------------


def _array(kind: Mapping[str, Any], values: Any, made: pa.DataType) -> pa.Array:
    name = kind["kind"]
    if name == "null":
        return pa.nulls(len(values))
    if name in _BUILDERS:
        return _BUILDERS[name](kind, values, made)
    packed = b"".join(_packed(kind, value) for value in values)
    return _made(made, values, packed)


def _made(made: pa.DataType, values: Sequence[Any], *buffers: bytes, children: Sequence[pa.Array] = ()) -> pa.Array:
    nulls = sum(value is None for value in values)
    parts = [_buffer(_bits([value is not None for value in values])) if nulls else None]
    return pa.Array.from_buffers(made, len(values), parts + list(map(_buffer, buffers)), nulls, 0, list(children))


def _bits(flags: Sequence[bool]) -> bytes:
    number = sum(1 << place for place, flag in enumerate(flags) if flag)
    return number.to_bytes((len(flags) + 7) // 8, "little")


def _packed(kind: Mapping[str, Any], value: Any) -> bytes:
    """One value of fixed width as little-endian bytes; a null becomes zeros."""
    name = kind["kind"]
    if name.startswith("decimal"):
        width = int(name.removeprefix("decimal")) // 8
        return int(value["decimal"] if value is not None else 0).to_bytes(width, "little", signed=True)
    if name == "fixed_size_binary":
        return bytes.fromhex(value["hex"]) if value is not None else bytes(kind["width"])
    if name == "interval":
        return struct.pack("<iiq", value["months"], value["days"], value["ns"]) if value is not None else bytes(16)
    if name.startswith("float"):
        code = {"float16": "<e", "float32": "<f", "float64": "<d"}[name]
        return struct.pack(code, _double(value))
    width = _WIDTHS[name] if name in _WIDTHS else _INTEGER[name]
    return int(value or 0).to_bytes(width, "little", signed=not name.startswith("uint"))


def _double(value: Mapping[str, str] | None) -> float:
    if value is None:
        return 0.0
    if value["f64"] == "nan":
        return float("nan")
    (number,) = struct.unpack(">d", bytes.fromhex(value["f64"]))
    return float(number)


_WIDTHS: Final = {"date32": 4, "date64": 8, "time32": 4, "time64": 8, "timestamp": 8, "duration": 8}
_INTEGER: Final = {f"{sign}int{bits}": bits // 8 for sign in ("", "u") for bits in (8, 16, 32, 64)}


def _encoded(value: Any) -> bytes:
    if value is None:
        return b""
    return value.encode() if isinstance(value, str) else bytes.fromhex(value["hex"])


def _offsets(sizes: Sequence[int], width: int) -> bytes:
    total, out = 0, [0]
    for size in sizes:
        total += size
        out.append(total)
    return struct.pack(f"<{len(out)}{'i' if width == 4 else 'q'}", *out)


def _bool(_: Mapping[str, Any], values: Sequence[Any], made: pa.DataType) -> pa.Array:
    return _made(made, values, _bits([bool(value) for value in values]))


def _binary(kind: Mapping[str, Any], values: Sequence[Any], made: pa.DataType) -> pa.Array:
    contents = [_encoded(value) for value in values]
    width = 8 if kind["kind"].startswith("large") else 4
    return _made(made, values, _offsets([len(content) for content in contents], width), b"".join(contents))


def _view(kind: Mapping[str, Any], values: Sequence[Any], made: pa.DataType) -> pa.Array:
    text = kind["kind"] == "string_view"
    return pa.array(values if text else [None if value is None else _encoded(value) for value in values], made)


def _items(field: Mapping[str, Any], lists: Sequence[Any], made: pa.DataType) -> pa.Array:
    return _array(field["type"], [value for items in lists for value in items or ()], made)


def _list(kind: Mapping[str, Any], values: Sequence[Any], made: pa.DataType) -> pa.Array:
    child = _items(kind["item"], values, made.value_type)
    sizes = [len(items or ()) for items in values]
    return _made(made, values, _offsets(sizes, 8 if kind["kind"].startswith("large") else 4), children=[child])


def _list_view(kind: Mapping[str, Any], values: Sequence[Any], made: pa.DataType) -> pa.Array:
    # In reverse order, which only a list view allows: the first list's items are the last of the child.
    child = _items(kind["item"], values[::-1], made.value_type)
    sizes = [len(items or ()) for items in values]
    starts = [sum(sizes[number + 1 :]) for number in range(len(sizes))]
    code = f"<{len(sizes)}{'q' if kind['kind'].startswith('large') else 'i'}"
    return _made(made, values, struct.pack(code, *starts), struct.pack(code, *sizes), children=[child])


def _fixed_size_list(kind: Mapping[str, Any], values: Sequence[Any], made: pa.DataType) -> pa.Array:
    blank = _blank(kind["item"]["type"])
    filled = [items if items is not None else [blank] * kind["size"] for items in values]
    return _made(made, values, children=[_items(kind["item"], filled, made.value_type)])


def _blank(kind: Mapping[str, Any]) -> Any:
    """The value below a null parent: null, or for a union, which has no nulls, a null of its first child."""
    return None if "union" not in kind["kind"] else [kind["codes"][0], None]


def _struct(kind: Mapping[str, Any], values: Sequence[Any], made: pa.DataType) -> pa.Array:
    children = []
    for number, field in enumerate(kind["fields"]):
        blank = _blank(field["type"])
        column = [value["struct"][number] if value is not None else blank for value in values]
        children.append(_array(field["type"], column, made.field(number).type))
    return _made(made, values, children=children)


def _map(kind: Mapping[str, Any], values: Sequence[Any], made: pa.DataType) -> pa.Array:
    pairs = [pair for value in values if value is not None for pair in value["map"]]
    keys = _array(kind["key"]["type"], [pair[0] for pair in pairs], made.key_type)
    items = _array(kind["value"]["type"], [pair[1] for pair in pairs], made.item_type)
    entries = pa.Array.from_buffers(
        pa.struct([made.key_field, made.item_field]), len(pairs), [None], 0, 0, [keys, items]
    )
    sizes = [len(value["map"]) if value is not None else 0 for value in values]
    return _made(made, values, _offsets(sizes, 4), children=[entries])


def _union(kind: Mapping[str, Any], values: Sequence[Any], made: pa.DataType) -> pa.Array:
    """A union's values are pairs of a type id and a value."""
    codes = kind["codes"]
    ids = bytes(code for code, _ in values)
    dense = kind["kind"] == "dense_union"
    children, offsets, counts = [], [], dict.fromkeys(codes, 0)
    for code, _ in values:
        offsets.append(counts[code])
        counts[code] += 1
    for number, (code, field) in enumerate(zip(codes, kind["fields"], strict=True)):
        column = [value if chosen == code else None for chosen, value in values if chosen == code or not dense]
        children.append(_array(field["type"], column, made.field(number).type))
    buffers = [ids, struct.pack(f"<{len(offsets)}i", *offsets)] if dense else [ids]
    parts = [None, *map(_buffer, buffers)]
    return pa.Array.from_buffers(made, len(values), parts, 0, 0, children)


def _dictionary(kind: Mapping[str, Any], values: Sequence[Any], made: pa.DataType) -> pa.Array:
    """A dictionary-encoded array; the type's ``growth`` determines its dictionary.

    ``fixed`` is the full ``pool``, ``growing`` the pool up to the last used value, ``own`` the distinct used values.
    """
    used = [value for value in values if value is not None]
    if kind["growth"] == "own":
        pool = [value for place, value in enumerate(used) if value not in used[:place]]
    else:
        pool = kind["pool"]
        if kind["growth"] == "growing":
            pool = pool[: 1 + max((pool.index(value) for value in used), default=-1)]
    places = [None if value is None else pool.index(value) for value in values]
    indices = _array(kind["index"], places, made.index_type)
    dictionary = _array(kind["value"], pool, made.value_type)
    return pa.DictionaryArray.from_arrays(indices, dictionary, ordered=made.ordered, safe=False)


def _run_end_encoded(kind: Mapping[str, Any], values: Sequence[Any], made: pa.DataType) -> pa.Array:
    ends: list[int] = []
    runs: list[Any] = []
    for place, value in enumerate(values, start=1):
        if runs and runs[-1] == value:
            ends[-1] = place
        else:
            ends.append(place)
            runs.append(value)
    children = [_array(kind["ends"], ends, made.run_end_type), _array(kind["value"], runs, made.value_type)]
    return pa.RunEndEncodedArray.from_buffers(made, len(values), [None], 0, 0, children)


_Builder = Callable[[Mapping[str, Any], Sequence[Any], pa.DataType], pa.Array]
_BUILDERS: Final[dict[str, _Builder]] = {
    "bool": _bool,
    "binary": _binary,
    "utf8": _binary,
    "large_binary": _binary,
    "large_utf8": _binary,
    "binary_view": _view,
    "string_view": _view,
    "list": _list,
    "large_list": _list,
    "list_view": _list_view,
    "large_list_view": _list_view,
    "fixed_size_list": _fixed_size_list,
    "struct": _struct,
    "map": _map,
    "sparse_union": _union,
    "dense_union": _union,
    "dictionary": _dictionary,
    "run_end_encoded": _run_end_encoded,
}
