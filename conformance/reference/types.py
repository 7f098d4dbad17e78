"""Arrow types and fields as the trees of Schema.fbs, one row a type."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

import pyarrow as pa
import pyarrow.types as is_

from conformance.wire.intervals import DAY_TIME, IntervalType
from conformance.wire.tables import UNIONS

__all__ = ["children_of", "field_tree", "metadata_tree", "type_tree"]

_UNITS: Final = {"s": 0, "ms": 1, "us": 2, "ns": 3}

# pyarrow type id -> (table of the Type union, function from the type to that table's slots)
_Row = tuple[str, Callable[[Any], dict[str, Any]]]


def _plain(_kind: Any) -> dict[str, Any]:
    return {}


def _int(kind: Any) -> dict[str, Any]:
    return {"bitWidth": kind.bit_width, "is_signed": str(kind).startswith("int")}


def _decimal(kind: Any) -> dict[str, Any]:
    return {"precision": kind.precision, "scale": kind.scale, "bitWidth": kind.bit_width}


def _time(kind: Any) -> dict[str, Any]:
    return {"unit": _UNITS[kind.unit], "bitWidth": kind.bit_width}


def _timestamp(kind: Any) -> dict[str, Any]:
    return {"unit": _UNITS[kind.unit], **({"timezone": kind.tz} if kind.tz else {})}


def _float(kind: Any) -> dict[str, Any]:
    return {"precision": {16: 0, 32: 1, 64: 2}[kind.bit_width]}


def _union(kind: Any) -> dict[str, Any]:
    return {"mode": int(kind.mode == "dense"), "typeIds": list(kind.type_codes)}


_ROWS: Final[Mapping[int, _Row]] = {
    pa.null().id: ("Null", _plain),
    pa.bool_().id: ("Bool", _plain),
    **{kind.id: ("Int", _int) for kind in (pa.int8(), pa.int16(), pa.int32(), pa.int64())},
    **{kind.id: ("Int", _int) for kind in (pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64())},
    **{kind.id: ("FloatingPoint", _float) for kind in (pa.float16(), pa.float32(), pa.float64())},
    pa.utf8().id: ("Utf8", _plain),
    pa.binary().id: ("Binary", _plain),
    pa.large_utf8().id: ("LargeUtf8", _plain),
    pa.large_binary().id: ("LargeBinary", _plain),
    pa.binary(1).id: ("FixedSizeBinary", lambda kind: {"byteWidth": kind.byte_width}),
    pa.decimal128(1).id: ("Decimal", _decimal),
    pa.decimal256(1).id: ("Decimal", _decimal),
    pa.date32().id: ("Date", lambda _kind: {"unit": 0}),
    pa.date64().id: ("Date", lambda _kind: {"unit": 1}),
    pa.time32("s").id: ("Time", _time),
    pa.time64("us").id: ("Time", _time),
    pa.timestamp("us").id: ("Timestamp", _timestamp),
    pa.duration("s").id: ("Duration", lambda kind: {"unit": _UNITS[kind.unit]}),
    pa.month_day_nano_interval().id: ("Interval", lambda _kind: {"unit": 2}),
    pa.list_(pa.null()).id: ("List", _plain),
    pa.large_list(pa.null()).id: ("LargeList", _plain),
    pa.list_(pa.null(), 1).id: ("FixedSizeList", lambda kind: {"listSize": kind.list_size}),
    pa.struct([]).id: ("Struct_", _plain),
    pa.run_end_encoded(pa.int16(), pa.null()).id: ("RunEndEncoded", _plain),
    pa.sparse_union([]).id: ("Union", _union),
    pa.dense_union([]).id: ("Union", _union),
    pa.map_(pa.int8(), pa.int8()).id: ("Map", lambda kind: {"keysSorted": bool(kind.keys_sorted)}),
}

# Types that older releases of pyarrow lack.
_NEWER: Final[Mapping[str, tuple[str, tuple[Any, ...]]]] = {
    "string_view": ("Utf8View", ()),
    "binary_view": ("BinaryView", ()),
    "list_view": ("ListView", (pa.null(),)),
    "large_list_view": ("LargeListView", (pa.null(),)),
    "decimal32": ("Decimal", (1,)),
    "decimal64": ("Decimal", (1,)),
}


def _all_rows() -> dict[int, _Row]:
    newer = {
        getattr(pa, maker)(*arguments).id: (table, _decimal if table == "Decimal" else _plain)
        for maker, (table, arguments) in _NEWER.items()
        if hasattr(pa, maker)
    }
    return {**_ROWS, **newer}


_ALL_ROWS: Final = _all_rows()


def type_tree(kind: pa.DataType) -> dict[str, Any]:
    """The two union slots ``type_type`` and ``type`` of a field of that type.

    Raises:
        TypeError: the reference does not write this type.
    """
    if isinstance(kind, IntervalType):
        return {"type_type": UNIONS["Type"].index("Interval"), "type": {"unit": int(kind == DAY_TIME)}}
    row = _ALL_ROWS.get(kind.id)
    if row is None:
        raise TypeError(f"expected a type that the reference writes, got {kind}")
    table, slots = row
    return {"type_type": UNIONS["Type"].index(table), "type": slots(kind)}


def children_of(kind: pa.DataType) -> list[pa.Field]:
    """The child fields of a type as a schema lists them: a map has one, its entries."""
    if kind.id == pa.map_(pa.int8(), pa.int8()).id:
        entries = pa.struct([kind.key_field, kind.item_field])
        return [pa.field("entries", entries, nullable=False)]
    return [kind.field(index) for index in range(kind.num_fields)]


def field_tree(field: pa.Field, ids: Iterator[int] | None = None) -> dict[str, Any]:
    """The ``Field`` table of ``field``, children and metadata included.

    ``ids`` gives each dictionary-encoded field its dictionary's id, in pre-order.

    Raises:
        TypeError: the reference does not write this type, or there are dictionaries and no ids.
    """
    kind, metadata = field.type, dict(field.metadata or {})
    if isinstance(kind, pa.BaseExtensionType) and not isinstance(kind, IntervalType):
        metadata = {**metadata, **_extension(kind)}
        kind = kind.storage_type
    tree: dict[str, Any] = {"name": field.name, "nullable": int(field.nullable)}
    if is_.is_dictionary(kind) and ids is not None:
        tree["dictionary"] = {"id": next(ids), "indexType": _int(kind.index_type), "isOrdered": int(kind.ordered)}
        kind = kind.value_type
    tree |= {**type_tree(kind), "children": [field_tree(child, ids) for child in children_of(kind)]}
    if metadata:
        tree["custom_metadata"] = metadata_tree(metadata)
    return tree


def _extension(kind: pa.BaseExtensionType) -> dict[bytes, bytes]:
    """The two pairs by which a field says that it is an extension."""
    serialized = kind.__arrow_ext_serialize__()
    return {b"ARROW:extension:name": kind.extension_name.encode(), b"ARROW:extension:metadata": serialized}


def metadata_tree(metadata: Mapping[bytes, bytes]) -> list[dict[str, bytes]]:
    """Key-value metadata as a vector of ``KeyValue`` tables, in order."""
    return [{"key": key, "value": value} for key, value in metadata.items()]
