"""For every rule, bytes that break it: the table behind the test that no rule is dead.

Each entry makes the faults of one reading. Where a rule cannot be broken alone, the entry breaks what it must.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any

import pyarrow as pa

from conformance.wire.batch import read_batch
from conformance.wire.faults import Fault, Rule
from conformance.wire.schema import read_schema
from conformance.wire.stream import read_stream
from tests.wire import breaking_files
from tests.wire.forge import (
    SAME,
    SCHEMA,
    TENSOR,
    Forge,
    Values,
    batch_message,
    column,
    dictionary_message,
    encapsulate,
    field,
    i1,
    i2,
    i4,
    i8,
    schema_message,
    schema_of,
    type_code,
)

Case = Callable[[], list[Fault]]
BREAKING: dict[Rule, Case] = {}

INT = field("x", "Int", bitWidth=32, is_signed=1)
GOOD_SCHEMA = schema_message(INT)
GOOD_BATCH = batch_message(2, [(2, 0)], [b"", i4(1, 2)])
END = bytes.fromhex("ffffffff00000000")


def breaks(rule: Rule) -> Callable[[Case], Case]:
    """Registers a case under the rule that it breaks."""

    def register(case: Case) -> Case:
        assert rule not in BREAKING, f"{rule} has a case already"
        BREAKING[rule] = case
        return case

    return register


def _schema(rule: Rule, data: bytes) -> None:
    breaks(rule)(lambda: read_schema(data).faults)


def _fields(rule: Rule, *fields: Values, **schema: Any) -> None:
    _schema(rule, schema_message(*fields, schema=schema))


def _batch(rule: Rule, kind: pa.DataType, data: bytes, *, nullable: bool = True) -> None:
    breaks(rule)(lambda: read_batch(data, column(kind, nullable=nullable)).faults)


def _column(rule: Rule, kind: pa.DataType, nodes: list[tuple[int, int]], buffers: list[bytes], **more: Any) -> None:
    _batch(rule, kind, batch_message(nodes[0][0] if nodes else 0, nodes, buffers, **more))


def _patched(path: str, form: str, *values: Any, shift: int = 0) -> bytes:
    """A schema message with bytes of its metadata overwritten at ``path`` (see :class:`Forge`)."""
    forge = Forge()
    pairs = [{"key": "k", "value": "v"}]
    header = {"endianness": 0, "fields": [INT | {"custom_metadata": pairs}], "custom_metadata": pairs}
    forge.root("Message", {"version": 4, "header_type": SCHEMA, "header": header, "bodyLength": 0})
    forge.patch(forge.places[path] + shift, form, *values)
    return encapsulate(bytes(forge.out))


# --- prefix and metadata --------------------------------------------------------------------------------

_schema(Rule.PREFIX_EMPTY, b"")
_schema(Rule.PREFIX_TRUNCATED, GOOD_SCHEMA[:6])
_schema(Rule.PREFIX_CONTINUATION_MISSING, GOOD_SCHEMA[4:])
_schema(Rule.PREFIX_LENGTH_NEGATIVE, b"\xff\xff\xff\xff" + i4(-8) + GOOD_SCHEMA[8:])
_schema(Rule.METADATA_TRUNCATED, GOOD_SCHEMA[:-8])
_schema(Rule.METADATA_LENGTH_NOT_MULTIPLE_OF_8, encapsulate(GOOD_SCHEMA[8:] + bytes(4)))
_schema(Rule.METADATA_PADDING_NONZERO, encapsulate(GOOD_SCHEMA[8:] + b"12345678"))

# --- FlatBuffers ----------------------------------------------------------------------------------------

_FIELD = "Message.header.fields[0]"
_schema(Rule.FLATBUF_ROOT, encapsulate(struct.pack("<I", 1 << 20) + GOOD_SCHEMA[12:]))
_schema(Rule.FLATBUF_OFFSET_NULL, _patched(f"{_FIELD}.name", "<I", 0))
_schema(Rule.FLATBUF_OFFSET_OUT_OF_RANGE, _patched(f"{_FIELD}.name", "<I", 1 << 20))
_schema(Rule.FLATBUF_UNALIGNED, _patched(f"{_FIELD}.name", "<I", 5))
_schema(Rule.FLATBUF_VTABLE_OUT_OF_RANGE, _patched(f"{_FIELD}()", "<i", 1 << 20))
_schema(Rule.FLATBUF_VTABLE_SIZE, _patched(f"{_FIELD}.vtable", "<H", 3))
_schema(Rule.FLATBUF_TABLE_SIZE, _patched(f"{_FIELD}.vtable", "<H", 0xFFF0, shift=2))
_schema(Rule.FLATBUF_SLOT_OUT_OF_TABLE, _patched(f"{_FIELD}.vtable", "<H", 0x0800, shift=4))
_schema(Rule.FLATBUF_UNKNOWN_SLOT, _patched("Message.header.custom_metadata[0].vtable", "<H", 12))
_schema(Rule.FLATBUF_VECTOR_OUT_OF_RANGE, _patched("Message.header.fields()", "<I", 1 << 30))
_schema(Rule.FLATBUF_STRING_OUT_OF_RANGE, _patched(f"{_FIELD}.name()", "<I", 1 << 30))
_schema(Rule.FLATBUF_STRING_NOT_TERMINATED, _patched(f"{_FIELD}.name()", "<B", 1, shift=5))
_fields(Rule.FLATBUF_STRING_NOT_UTF8, INT | {"name": b"\xff"})
_fields(Rule.FLATBUF_BOOL_NOT_0_OR_1, INT | {"nullable": 2})
_fields(Rule.FLATBUF_ENUM_UNKNOWN, field("x", "Timestamp", unit=7))
_fields(Rule.FLATBUF_UNION_TYPE_UNKNOWN, {"name": "x", "type_type": 99})
_fields(Rule.FLATBUF_UNION_VALUE_MISSING, {"name": "x", "type_type": type_code("Utf8")})
_schema(Rule.FLATBUF_UNION_TYPE_MISSING, _patched(f"{_FIELD}.type_type", "<B", 0))
_schema(
    Rule.FLATBUF_REQUIRED_MISSING,
    schema_message(message={"header_type": TENSOR, "header": {"type_type": type_code("Bool"), "type": {}}}),
)
_schema(Rule.FLATBUF_OVERLAP, _patched("Message.header.fields()", "<I", 3))
_schema(Rule.FLATBUF_UNACCOUNTED_BYTES, _patched(f"{_FIELD}.vtable", "<H", 0x1234, shift=-2))


@breaks(Rule.FLATBUF_DEPTH)
def _deep() -> list[Fault]:
    nested = INT
    for _ in range(130):
        nested = field("x", "List", [nested])
    return read_schema(schema_message(nested)).faults


_fields(Rule.FLATBUF_TABLES, INT, *[SAME] * 200)

# --- the message ------------------------------------------------------------------------------------------

_schema(Rule.MESSAGE_VERSION_UNKNOWN, schema_message(INT, message={"version": 5}))
_schema(Rule.MESSAGE_VERSION_BEFORE_V4, schema_message(INT, message={"version": 2}))
_schema(Rule.MESSAGE_VERSION_V4, schema_message(INT, message={"version": 3}))
_column(Rule.MESSAGE_VERSION_DIFFERS, pa.int32(), [(1, 0)], [b"", i4(1)], message={"version": 3})
_schema(Rule.MESSAGE_HEADER_MISSING, encapsulate(Forge().root("Message", {"version": 4, "bodyLength": 0})))
_schema(Rule.MESSAGE_HEADER_KIND, GOOD_BATCH)
_column(Rule.MESSAGE_BODY_LENGTH_NEGATIVE, pa.int32(), [(1, 0)], [b"", i4(1)], message={"bodyLength": -8})
_column(Rule.MESSAGE_BODY_LENGTH_NOT_MULTIPLE_OF_8, pa.int32(), [(1, 0)], [b"", i4(1)], body=i4(1))
_batch(Rule.MESSAGE_BODY_TRUNCATED, pa.int32(), GOOD_BATCH[:-4])
_schema(Rule.MESSAGE_SCHEMA_WITH_BODY, schema_message(INT, message={"bodyLength": 8}) + bytes(8))
_batch(Rule.MESSAGE_SECOND_MESSAGE, pa.int32(), GOOD_BATCH * 2)
_schema(Rule.MESSAGE_END_OF_STREAM, GOOD_SCHEMA + END)
_batch(Rule.MESSAGE_TRAILING_BYTES, pa.int32(), GOOD_BATCH + b"stray bytes")
_fields(Rule.KEY_VALUE_KEY_MISSING, INT, custom_metadata=[{"value": "v"}])
_fields(Rule.KEY_VALUE_VALUE_MISSING, INT, custom_metadata=[{"key": "k"}])
_fields(Rule.KEY_VALUE_KEY_REPEATED, INT, custom_metadata=[{"key": "k", "value": "1"}, {"key": "k", "value": "2"}])

# --- the schema ---------------------------------------------------------------------------------------------

_schema(
    Rule.SCHEMA_FIELDS_MISSING,
    encapsulate(Forge().root("Message", {"version": 4, "header_type": SCHEMA, "header": {}, "bodyLength": 0})),
)
_fields(Rule.SCHEMA_NAME_MISSING, {key: value for key, value in INT.items() if key != "name"})
_fields(Rule.SCHEMA_FIELD_WITHOUT_TYPE, {"name": "x"})
_fields(Rule.SCHEMA_ENDIANNESS_BIG, INT, endianness=1)
_fields(Rule.SCHEMA_CHILD_COUNT, field("x", "List"))
_fields(Rule.SCHEMA_INT_WIDTH, field("x", "Int", bitWidth=24))
_fields(Rule.SCHEMA_DECIMAL_WIDTH, field("x", "Decimal", precision=5, scale=2, bitWidth=96))
_fields(Rule.SCHEMA_DECIMAL_PRECISION, field("x", "Decimal", precision=39, scale=2))
_fields(Rule.SCHEMA_TIME_WIDTH, field("x", "Time", unit=2, bitWidth=32))
_fields(Rule.SCHEMA_SIZE_NEGATIVE, field("x", "FixedSizeBinary", byteWidth=-1))
_fields(Rule.SCHEMA_TIME_ZONE, field("x", "Timestamp", unit=2, timezone="UTC+3"))
_fields(
    Rule.SCHEMA_EXTENSION_STORAGE,
    {**field("x", "Binary"), "custom_metadata": [{"key": "ARROW:extension:name", "value": "arrow.uuid"}]},
)
_fields(
    Rule.SCHEMA_EXTENSION_PARAMETERS,
    {**field("x", "Utf8"), "custom_metadata": [{"key": "ARROW:extension:name", "value": "arrow.opaque"}]},
)
_fields(Rule.SCHEMA_UNION_TYPE_IDS, field("x", "Union", [INT, INT], mode=0, typeIds=[3, 3]))
_fields(Rule.SCHEMA_MAP_ENTRIES, field("x", "Map", [INT]))
_fields(Rule.SCHEMA_MAP_NULLABLE, field("x", "Map", [field("entries", "Struct_", [INT, INT])]))
_fields(
    Rule.SCHEMA_RUN_ENDS_TYPE, field("x", "RunEndEncoded", [field("run_ends", "Int", bitWidth=8, is_signed=1), INT])
)

# --- the batch against the schema ------------------------------------------------------------------------------

_batch(Rule.BATCH_LENGTH_NEGATIVE, pa.int32(), batch_message(-1, [(0, 0)], [b"", b""]))
_column(Rule.BATCH_NODE_COUNT, pa.int32(), [(1, 0), (1, 0)], [b"", i4(1)])
_column(Rule.BATCH_BUFFER_COUNT, pa.int32(), [(1, 0)], [b"", i4(1), b""])
_column(Rule.BATCH_VARIADIC_COUNT, pa.int32(), [(1, 0)], [b"", i4(1)], batch={"variadicBufferCounts": [0]})
_batch(Rule.BATCH_NODE_LENGTH_NEGATIVE, pa.int32(), batch_message(1, [(-1, 0)], [b"", i4(1)]))
_batch(Rule.BATCH_COLUMN_LENGTH, pa.int32(), batch_message(2, [(1, 0)], [b"", i4(1)]))
_column(Rule.BATCH_NULL_COUNT_RANGE, pa.int32(), [(1, 2)], [b"\0", i4(1)])
_column(Rule.BATCH_NULL_COUNT_MISMATCH, pa.int32(), [(2, 0)], [b"\1", i4(1, 2)])
_batch(Rule.BATCH_NULLS_IN_NON_NULLABLE, pa.int32(), batch_message(2, [(2, 1)], [b"\1", i4(1, 2)]), nullable=False)

# --- buffers ------------------------------------------------------------------------------------------------------

_column(Rule.BUFFER_OFFSET_NEGATIVE, pa.int32(), [(2, 0)], [b"", i4(1, 2)], places=[(0, 0), (-8, 8)])
_column(Rule.BUFFER_LENGTH_NEGATIVE, pa.int32(), [(2, 0)], [b"", i4(1, 2)], places=[(0, 0), (0, -8)])
_column(Rule.BUFFER_OUT_OF_BODY, pa.int32(), [(2, 0)], [b"", i4(1, 2)], places=[(0, 0), (0, 16)])
_column(Rule.BUFFER_UNALIGNED, pa.int32(), [(1, 0)], [b"", i4(1, 2)], places=[(0, 0), (4, 4)])
_column(Rule.BUFFER_OVERLAP, pa.int32(), [(2, 0)], [b"\3", i4(1, 2)], places=[(8, 1), (8, 8)])
_column(Rule.BUFFER_ORDER, pa.int32(), [(2, 0)], [i4(1, 2), b"\3"], places=[(8, 1), (0, 8)])
_column(Rule.BODY_PADDING_NONZERO, pa.int32(), [(1, 0)], [b"", i4(1)], body=i4(1, 7))
_column(Rule.BODY_UNACCOUNTED, pa.int32(), [(1, 0)], [b"", i4(1)], body=i4(1) + bytes(100))
_column(Rule.VALIDITY_MISSING, pa.int32(), [(2, 1)], [b"", i4(1, 2)])
_column(Rule.VALIDITY_TOO_SMALL, pa.int8(), [(9, 1)], [b"\1", bytes(9)])
_column(Rule.OFFSETS_TOO_SMALL, pa.utf8(), [(2, 0)], [b"", i4(0, 1), b"a"])
_column(Rule.DATA_TOO_SMALL, pa.int32(), [(2, 0)], [b"", i4(1)])

# --- compression ----------------------------------------------------------------------------------------------------

_VALUES = i4(*range(100))


def _compressed(rule: Rule, buffer: bytes, *, codec: int = 0, method: int = 0) -> None:
    nodes, compression = [(100, 0)], {"compression": {"codec": codec, "method": method}}
    _column(rule, pa.int32(), nodes, [b"", buffer], batch=compression)


def lz4(data: bytes) -> bytes:
    """An LZ4 frame."""
    return bytes(pa.Codec("lz4").compress(data, asbytes=True))


def wrong_checksum(frame: bytes) -> bytes:
    """The same LZ4 frame with another header checksum."""
    return frame[:6] + bytes((frame[6] ^ 1,)) + frame[7:]


def zstd(data: bytes) -> bytes:
    """A ZSTD frame."""
    return bytes(pa.Codec("zstd").compress(data, asbytes=True))


_compressed(Rule.COMPRESSION_CODEC_UNKNOWN, i8(400) + lz4(_VALUES), codec=2)
_compressed(Rule.COMPRESSION_METHOD_UNKNOWN, i8(400) + lz4(_VALUES), method=1)
_compressed(Rule.COMPRESSION_PREFIX_TRUNCATED, b"\0\0\0\0")
_compressed(Rule.COMPRESSION_PREFIX_NEGATIVE, i8(-2) + lz4(_VALUES))
_compressed(Rule.COMPRESSION_EMPTY_WITHOUT_FRAME, i8(0))
_compressed(Rule.COMPRESSION_FRAME, i8(400) + b"not a frame at all")
_compressed(Rule.COMPRESSION_CHECKSUM, i8(400) + wrong_checksum(lz4(_VALUES)))
_compressed(Rule.COMPRESSION_TRAILING_BYTES, i8(400) + lz4(_VALUES) + lz4(_VALUES))
_compressed(Rule.COMPRESSION_PADDING_IN_LENGTH, i8(400) + lz4(_VALUES) + bytes(3))
_compressed(Rule.COMPRESSION_SIZE_MISMATCH, i8(399) + lz4(_VALUES))
_compressed(Rule.COMPRESSION_EXPANSION, i8(1 << 32) + zstd(bytes(1 << 20)) * 4096, codec=1)

# --- values ----------------------------------------------------------------------------------------------------------

_column(Rule.OFFSETS_NEGATIVE, pa.utf8(), [(1, 0)], [b"", i4(-1, 1), b"a"])
_column(Rule.OFFSETS_NOT_MONOTONIC, pa.utf8(), [(3, 0)], [b"", i4(0, 2, 1, 3), b"abc"])
_column(Rule.OFFSETS_BEYOND_DATA, pa.list_(pa.int8()), [(1, 0), (1, 0)], [b"", i4(0, 2), b"", b"\1"])
_column(Rule.OFFSETS_FIRST_NONZERO, pa.utf8(), [(1, 0)], [b"", i4(1, 2), b"ab"])
_column(Rule.UTF8_INVALID, pa.utf8(), [(1, 0)], [b"", i4(0, 1), b"\xff"])
_column(Rule.DECIMAL_PRECISION, pa.decimal128(3, 0), [(1, 0)], [b"", i8(1000, 0)])
_column(Rule.TIME_RANGE, pa.time32("s"), [(1, 0)], [b"", i4(86_400)])
_column(Rule.DATE64_WHOLE_DAYS, pa.date64(), [(1, 0)], [b"", i8(1)])
_column(Rule.NULL_NULL_COUNT, pa.null(), [(2, 1)], [])
_STRUCT = pa.struct([("a", pa.int8())])
_column(Rule.STRUCT_CHILD_LENGTH, _STRUCT, [(2, 0), (1, 0)], [b"", b"", i1(1)])
_column(Rule.STRUCT_CHILD_LONGER, _STRUCT, [(1, 0), (2, 0)], [b"", b"", i1(1, 2)])
_column(Rule.FIXED_SIZE_LIST_CHILD_LENGTH, pa.list_(pa.int8(), 2), [(2, 0), (3, 0)], [b"", b"", i1(1, 2, 3)])
_MAP = pa.map_(pa.utf8(), pa.int8())
_ENTRY = i4(0, 1), b"k", b"", i1(1)
_column(Rule.MAP_NULL_ENTRY, _MAP, [(1, 0), (1, 1), (1, 0), (1, 0)], [b"", i4(0, 1), b"\0", b"", *_ENTRY])
_column(Rule.MAP_NULL_KEY, _MAP, [(1, 0), (1, 0), (1, 1), (1, 0)], [b"", i4(0, 1), b"", b"\0", *_ENTRY])
_SPARSE = pa.sparse_union([pa.field("a", pa.int8())])
_DENSE = pa.dense_union([pa.field("a", pa.int8())])
_column(Rule.UNION_NULL_COUNT, _SPARSE, [(1, 1), (1, 0)], [i1(0), b"", i1(1)])
_column(Rule.UNION_TYPE_ID, _SPARSE, [(1, 0), (1, 0)], [i1(1), b"", i1(1)])
_column(Rule.UNION_CHILD_LENGTH, _SPARSE, [(2, 0), (1, 0)], [i1(0, 0), b"", i1(1)])
_column(Rule.UNION_CHILD_LONGER, _SPARSE, [(1, 0), (2, 0)], [i1(0), b"", i1(1, 2)])
_column(Rule.UNION_OFFSET_RANGE, _DENSE, [(1, 0), (1, 0)], [i1(0), i4(1), b"", i1(1)])
_column(Rule.UNION_OFFSET_ORDER, _DENSE, [(2, 0), (2, 0)], [i1(0, 0), i4(1, 0), b"", i1(1, 2)])


@breaks(Rule.UNION_VALIDITY_V4)
def _union_validity() -> list[Fault]:
    schema = read_schema(schema_message(field("x", "Union", [INT], mode=0), message={"version": 3})).schema
    assert schema is not None
    data = batch_message(1, [(1, 0), (1, 0)], [b"\1", i1(0), b"", i4(1)], message={"version": 3})
    return read_batch(data, schema).faults


@breaks(Rule.DICTIONARY_INDEX_NEGATIVE)
def _negative_index() -> list[Fault]:
    schema = schema_of(pa.field("x", pa.dictionary(pa.int8(), pa.utf8())))
    return read_batch(batch_message(2, [(2, 0)], [b"", i1(0, -1)]), schema).faults


def _forged(rule: Rule, made: dict[str, Any], nodes: list[tuple[int, int]], buffers: list[bytes], **more: Any) -> None:
    """A case whose type pyarrow may not have: the schema is forged as well."""

    def case() -> list[Fault]:
        schema = read_schema(schema_message(made)).schema
        assert schema is not None
        return read_batch(batch_message(nodes[0][0], nodes, buffers, **more), schema).faults

    breaks(rule)(case)


_LIST_VIEW = field("x", "ListView", [field("item", "Int", bitWidth=8, is_signed=1)])
_forged(Rule.LIST_VIEW_RANGE, _LIST_VIEW, [(1, 0), (1, 0)], [b"", i4(1), i4(1), b"", i1(1)])

_TEXT = b"thirteen bytes and more"


def _view(rule: Rule, view: bytes, *data: bytes) -> None:
    counts = {"variadicBufferCounts": [len(data)]}
    _forged(rule, field("x", "Utf8View"), [(1, 0)], [b"", view, *data], batch=counts)


_view(Rule.VIEW_LENGTH_NEGATIVE, i4(-1, 0, 0, 0))
_view(Rule.VIEW_BUFFER_INDEX, i4(13) + _TEXT[:4] + i4(1, 0), _TEXT)
_view(Rule.VIEW_RANGE, i4(13) + _TEXT[:4] + i4(0, 20), _TEXT)
_view(Rule.VIEW_PREFIX, i4(13) + b"nope" + i4(0, 0), _TEXT)
_view(Rule.VIEW_INLINE_PADDING, i4(1) + b"ab" + bytes(10))

_RUNS = field(
    "x",
    "RunEndEncoded",
    [field("run_ends", "Int", bitWidth=16, is_signed=1), field("values", "Int", bitWidth=8, is_signed=1)],
)


def _runs(rule: Rule, ends: bytes, *, nulls: int = 0, values: int = 2, bitmap: bytes = b"", of: int = 0) -> None:
    nodes = [(4, nulls), (len(ends) // 2, of), (values, 0)]
    _forged(rule, _RUNS, nodes, [bitmap, ends, b"", bytes(values)])


_runs(Rule.RUN_ENDS_NULLS, i2(2, 4), bitmap=b"\1", of=1)
_runs(Rule.RUN_ENDS_PARENT_NULL_COUNT, i2(2, 4), nulls=1)
_runs(Rule.RUN_ENDS_NOT_INCREASING, i2(4, 4))
_runs(Rule.RUN_ENDS_SHORT, i2(1, 3))
_runs(Rule.RUN_ENDS_CHILD_LENGTH, i2(2, 4), values=1)

# --- dictionaries and streams ---------------------------------------------------------------------------

ENCODED = INT | {"dictionary": {"id": 7}}
ENCODED_SCHEMA = schema_message(ENCODED)
VALUES = dictionary_message(7, [10, 20])
INDICES = GOOD_BATCH
"""The indices 1 and 2, the second of them beyond ``VALUES``."""
SOUND = batch_message(2, [(2, 0)], [b"", i4(0, 1)])
NULLS = batch_message(2, [(2, 2)], [b"\0", i4(0, 0)])


def _stream(rule: Rule, *messages: bytes) -> None:
    breaks(rule)(lambda: read_stream(b"".join(messages)).faults)


_stream(Rule.DICTIONARY_TYPES_DIFFER, schema_message(ENCODED, field("y", "Utf8") | {"dictionary": {"id": 7}}), END)
_stream(Rule.DICTIONARY_ID_UNKNOWN, ENCODED_SCHEMA, dictionary_message(8, [10]), END)
_stream(Rule.DICTIONARY_DATA_MISSING, ENCODED_SCHEMA, dictionary_message(7, [], dictionary={"id": 7}), END)
_stream(Rule.DICTIONARY_DELTA_WITHOUT_BASE, ENCODED_SCHEMA, dictionary_message(7, [10], delta=True), END)
_stream(Rule.DICTIONARY_MISSING, ENCODED_SCHEMA, SOUND, VALUES, END)
_stream(Rule.DICTIONARY_LATE, ENCODED_SCHEMA, NULLS, VALUES, SOUND, END)
_stream(Rule.DICTIONARY_INDEX_RANGE, ENCODED_SCHEMA, VALUES, INDICES, END)
_stream(Rule.STREAM_SCHEMA_FIRST, GOOD_BATCH, GOOD_SCHEMA, END)
_stream(Rule.STREAM_SECOND_SCHEMA, GOOD_SCHEMA, GOOD_BATCH, GOOD_SCHEMA, END)
_stream(
    Rule.STREAM_MESSAGE_KIND,
    GOOD_SCHEMA,
    schema_message(message={"header_type": TENSOR, "header": {"type_type": type_code("Bool"), "type": {}}}),
    END,
)
_stream(Rule.STREAM_FRAMING_MIXED, GOOD_SCHEMA, GOOD_BATCH, bytes(4))
_stream(Rule.STREAM_END_MISSING, GOOD_SCHEMA, GOOD_BATCH)
_stream(Rule.STREAM_BYTES_AFTER_END, GOOD_SCHEMA, END, GOOD_BATCH)

BREAKING |= breaking_files.cases()
