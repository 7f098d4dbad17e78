"""Arrow's FlatBuffers metadata as data: tables, slots, structs, enumerations and unions, one row each.

Source: Schema.fbs, Message.fbs, File.fbs, Tensor.fbs and SparseTensor.fbs of the Arrow format.
The verifier, the schema reader and the annotated dump read these rows; no other module knows a slot's number.
A slot's number is its position in its table. FlatBuffers fixes these numbers, so that a row is only ever added at the
end of a table.
"""

from __future__ import annotations

import dataclasses
import enum
from typing import Final

from conformance.wire.faults import Rule

__all__ = ["ENUMS", "STRUCTS", "TABLES", "UNIONS", "EnumSpec", "Slot", "SlotKind", "StructSpec", "TableSpec"]


class SlotKind(enum.StrEnum):
    """The kind of value that a slot of a table contains."""

    SCALAR = "scalar"
    STRING = "string"
    TABLE = "table"
    STRUCT = "struct"
    UNION = "union"
    SCALARS = "vector of scalars"
    STRUCTS = "vector of structs"
    TABLES = "vector of tables"


WIDTHS: Final = {"bool": 1, "u8": 1, "i8": 1, "i16": 2, "i32": 4, "i64": 8}
"""The size in bytes of each scalar type, which is also its alignment."""

CODES: Final = {"bool": "B", "u8": "B", "i8": "b", "i16": "h", "i32": "i", "i64": "q"}
"""The :mod:`struct` format character of each scalar type."""


@dataclasses.dataclass(frozen=True, slots=True)
class Slot:
    """One slot of a table: the kind and type of its value, and the value that its absence means.

    ``of`` names the scalar type, table, struct or union. ``enum`` names the enumeration of a scalar.
    ``size`` and ``align`` are those of the slot itself; a reference has 4 bytes.
    """

    name: str
    kind: SlotKind
    of: str
    default: int | None = None
    enum: str = ""
    required: bool = False
    size: int = 4
    align: int = 4


@dataclasses.dataclass(frozen=True, slots=True)
class TableSpec:
    """A table's name and its slots in the order of their numbers; the other attributes are computed.

    ``index`` gives the number of each slot by name, ``defaults`` the slots' values if they are absent, and
    ``demanding`` the numbers of the slots that may not simply be absent: unions and required slots.
    """

    name: str
    slots: tuple[Slot, ...]
    index: dict[str, int] = dataclasses.field(init=False, compare=False)
    defaults: tuple[int | None, ...] = dataclasses.field(init=False, compare=False)
    demanding: tuple[int, ...] = dataclasses.field(init=False, compare=False)

    def __post_init__(self) -> None:
        numbered = list(enumerate(self.slots))
        demanding = tuple(number for number, slot in numbered if slot.required or slot.kind is SlotKind.UNION)
        object.__setattr__(self, "index", {slot.name: number for number, slot in numbered})
        object.__setattr__(self, "defaults", tuple(slot.default for slot in self.slots))
        object.__setattr__(self, "demanding", demanding)


@dataclasses.dataclass(frozen=True, slots=True)
class StructSpec:
    """A struct: of fixed size, inline, and 8-byte aligned; ``fields`` are (name, scalar type, byte offset)."""

    name: str
    size: int
    fields: tuple[tuple[str, str, int], ...]


@dataclasses.dataclass(frozen=True, slots=True)
class EnumSpec:
    """An enumeration whose values count from 0, and the rule that an unknown value breaks."""

    name: str
    names: tuple[str, ...]
    rule: Rule = Rule.FLATBUF_ENUM_UNKNOWN


def _scalar(name: str, of: str, default: int = 0, enum: str = "") -> Slot:
    return Slot(name, SlotKind.SCALAR, of, default, enum, size=WIDTHS[of], align=WIDTHS[of])


def _string(name: str) -> Slot:
    return Slot(name, SlotKind.STRING, "string")


def _table(name: str, of: str, *, required: bool = False) -> Slot:
    return Slot(name, SlotKind.TABLE, of, required=required)


def _struct(name: str, of: str, *, required: bool = False) -> Slot:
    return Slot(name, SlotKind.STRUCT, of, required=required, size=STRUCTS[of].size, align=8)


def _union(name: str, of: str, *, required: bool = False) -> tuple[Slot, Slot]:
    """The two slots of a union: FlatBuffers puts a slot with the type byte before the slot of the value."""
    return _scalar(f"{name}_type", "u8"), Slot(name, SlotKind.UNION, of, required=required)


def _scalars(name: str, of: str, enum: str = "", *, required: bool = False) -> Slot:
    return Slot(name, SlotKind.SCALARS, of, enum=enum, required=required)


def _structs(name: str, of: str, *, required: bool = False) -> Slot:
    return Slot(name, SlotKind.STRUCTS, of, required=required)


def _tables(name: str, of: str, *, required: bool = False) -> Slot:
    return Slot(name, SlotKind.TABLES, of, required=required)


STRUCTS: Final = {
    spec.name: spec
    for spec in (
        StructSpec("Buffer", 16, (("offset", "i64", 0), ("length", "i64", 8))),
        StructSpec("FieldNode", 16, (("length", "i64", 0), ("null_count", "i64", 8))),
        StructSpec("Block", 24, (("offset", "i64", 0), ("metaDataLength", "i32", 8), ("bodyLength", "i64", 16))),
    )
}

ENUMS: Final = {
    spec.name: spec
    for spec in (
        EnumSpec("MetadataVersion", ("V1", "V2", "V3", "V4", "V5"), Rule.MESSAGE_VERSION_UNKNOWN),
        EnumSpec("Feature", ("UNUSED", "DICTIONARY_REPLACEMENT", "COMPRESSED_BODY")),
        EnumSpec("Endianness", ("Little", "Big")),
        EnumSpec("UnionMode", ("Sparse", "Dense")),
        EnumSpec("Precision", ("HALF", "SINGLE", "DOUBLE")),
        EnumSpec("DateUnit", ("DAY", "MILLISECOND")),
        EnumSpec("TimeUnit", ("SECOND", "MILLISECOND", "MICROSECOND", "NANOSECOND")),
        EnumSpec("IntervalUnit", ("YEAR_MONTH", "DAY_TIME", "MONTH_DAY_NANO")),
        EnumSpec("DictionaryKind", ("DenseArray",)),
        EnumSpec("CompressionType", ("LZ4_FRAME", "ZSTD"), Rule.COMPRESSION_CODEC_UNKNOWN),
        EnumSpec("BodyCompressionMethod", ("BUFFER",), Rule.COMPRESSION_METHOD_UNKNOWN),
        EnumSpec("SparseMatrixCompressedAxis", ("Row", "Column")),
    )
}

UNIONS: Final = {
    "MessageHeader": ("NONE", "Schema", "DictionaryBatch", "RecordBatch", "Tensor", "SparseTensor"),
    "Type": (
        *("NONE", "Null", "Int", "FloatingPoint", "Binary", "Utf8", "Bool", "Decimal", "Date", "Time", "Timestamp"),
        *("Interval", "List", "Struct_", "Union", "FixedSizeBinary", "FixedSizeList", "Map", "Duration"),
        *("LargeBinary", "LargeUtf8", "LargeList", "RunEndEncoded", "BinaryView", "Utf8View"),
        *("ListView", "LargeListView"),
    ),
    "SparseTensorIndex": ("NONE", "SparseTensorIndexCOO", "SparseMatrixIndexCSX", "SparseTensorIndexCSF"),
}
"""The tables of each union by its type byte; 0 is no table."""

_ROWS: Final[dict[str, tuple[Slot, ...]]] = {
    "Message": (
        _scalar("version", "i16", enum="MetadataVersion"),
        *_union("header", "MessageHeader"),
        _scalar("bodyLength", "i64"),
        _tables("custom_metadata", "KeyValue"),
    ),
    "KeyValue": (_string("key"), _string("value")),
    "Schema": (
        _scalar("endianness", "i16", enum="Endianness"),
        _tables("fields", "Field"),
        _tables("custom_metadata", "KeyValue"),
        _scalars("features", "i64", enum="Feature"),
    ),
    "Field": (
        _string("name"),
        _scalar("nullable", "bool"),
        *_union("type", "Type"),
        _table("dictionary", "DictionaryEncoding"),
        _tables("children", "Field"),
        _tables("custom_metadata", "KeyValue"),
    ),
    "DictionaryEncoding": (
        _scalar("id", "i64"),
        _table("indexType", "Int"),
        _scalar("isOrdered", "bool"),
        _scalar("dictionaryKind", "i16", enum="DictionaryKind"),
    ),
    "RecordBatch": (
        _scalar("length", "i64"),
        _structs("nodes", "FieldNode"),
        _structs("buffers", "Buffer"),
        _table("compression", "BodyCompression"),
        _scalars("variadicBufferCounts", "i64"),
    ),
    "BodyCompression": (
        _scalar("codec", "i8", enum="CompressionType"),
        _scalar("method", "i8", enum="BodyCompressionMethod"),
    ),
    "DictionaryBatch": (_scalar("id", "i64"), _table("data", "RecordBatch"), _scalar("isDelta", "bool")),
    "Footer": (
        _scalar("version", "i16", enum="MetadataVersion"),
        _table("schema", "Schema"),
        _structs("dictionaries", "Block"),
        _structs("recordBatches", "Block"),
        _tables("custom_metadata", "KeyValue"),
    ),
    "Null": (),
    "Int": (_scalar("bitWidth", "i32"), _scalar("is_signed", "bool")),
    "FloatingPoint": (_scalar("precision", "i16", enum="Precision"),),
    "Binary": (),
    "Utf8": (),
    "Bool": (),
    "Decimal": (_scalar("precision", "i32"), _scalar("scale", "i32"), _scalar("bitWidth", "i32", 128)),
    "Date": (_scalar("unit", "i16", 1, enum="DateUnit"),),
    "Time": (_scalar("unit", "i16", 1, enum="TimeUnit"), _scalar("bitWidth", "i32", 32)),
    "Timestamp": (_scalar("unit", "i16", enum="TimeUnit"), _string("timezone")),
    "Interval": (_scalar("unit", "i16", enum="IntervalUnit"),),
    "List": (),
    "Struct_": (),
    "Union": (_scalar("mode", "i16", enum="UnionMode"), _scalars("typeIds", "i32")),
    "FixedSizeBinary": (_scalar("byteWidth", "i32"),),
    "FixedSizeList": (_scalar("listSize", "i32"),),
    "Map": (_scalar("keysSorted", "bool"),),
    "Duration": (_scalar("unit", "i16", 1, enum="TimeUnit"),),
    "LargeBinary": (),
    "LargeUtf8": (),
    "LargeList": (),
    "RunEndEncoded": (),
    "BinaryView": (),
    "Utf8View": (),
    "ListView": (),
    "LargeListView": (),
    "TensorDim": (_scalar("size", "i64"), _string("name")),
    "Tensor": (
        *_union("type", "Type", required=True),
        _tables("shape", "TensorDim", required=True),
        _scalars("strides", "i64"),
        _struct("data", "Buffer", required=True),
    ),
    "SparseTensor": (
        *_union("type", "Type", required=True),
        _tables("shape", "TensorDim", required=True),
        _scalar("non_zero_length", "i64"),
        *_union("sparseIndex", "SparseTensorIndex", required=True),
        _struct("data", "Buffer", required=True),
    ),
    "SparseTensorIndexCOO": (
        _table("indicesType", "Int", required=True),
        _scalars("indicesStrides", "i64"),
        _struct("indicesBuffer", "Buffer", required=True),
        _scalar("isCanonical", "bool"),
    ),
    "SparseMatrixIndexCSX": (
        _scalar("compressedAxis", "i16", enum="SparseMatrixCompressedAxis"),
        _table("indptrType", "Int", required=True),
        _struct("indptrBuffer", "Buffer", required=True),
        _table("indicesType", "Int", required=True),
        _struct("indicesBuffer", "Buffer", required=True),
    ),
    "SparseTensorIndexCSF": (
        _table("indptrType", "Int", required=True),
        _structs("indptrBuffers", "Buffer", required=True),
        _table("indicesType", "Int", required=True),
        _structs("indicesBuffers", "Buffer", required=True),
        _scalars("axisOrder", "i32", required=True),
    ),
}

TABLES: Final = {name: TableSpec(name, slots) for name, slots in _ROWS.items()}
"""Every table by name."""
