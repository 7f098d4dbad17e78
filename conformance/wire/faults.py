"""What can be wrong with Arrow bytes: the closed set of rules, and the fault that reports one broken.

Every rule says what is required and where that is written.
A rule is either a *violation* (the format forbids it) or a *note* (the format allows it, yet a contract built on the
format may not: legacy framing, metadata V4, buffers out of order, padding that is not zero).
This module decides what each rule is called and how grave it is; it looks at no bytes.
Codes are permanent: other rooms, reports and expectation files refer to them.

The list is long because the format has this many rules; splitting it would only hide that.
"""

from __future__ import annotations

import dataclasses
import enum
from typing import Final, Self

__all__ = ["Fault", "Rule", "Severity", "report"]

_COL: Final = "https://arrow.apache.org/docs/format/Columnar.html"
_SEC: Final = "https://arrow.apache.org/docs/format/Security.html"
_FLATBUFFERS: Final = "https://flatbuffers.dev/internals/"
_FRAMING: Final = f"{_COL}#encapsulated-message-format"
_BATCH: Final = f"{_COL}#recordbatch-message"
_COMPRESSION: Final = f"{_COL}#compression"
_ALIGNMENT: Final = f"{_COL}#buffer-alignment-and-padding"
_VALIDITY: Final = f"{_COL}#validity-bitmaps"
_BINARY: Final = f"{_COL}#variable-size-binary-layout"
_VIEW: Final = f"{_COL}#variable-size-binary-view-layout"
_LIST_VIEW: Final = f"{_COL}#listview-layout"
_RUN_END: Final = f"{_COL}#run-end-encoded-layout"
_UNION: Final = f"{_COL}#union-layout"
_SCHEMA_FBS: Final = "Schema.fbs"
_MESSAGE_FBS: Final = "Message.fbs"


class Severity(enum.StrEnum):
    """Whether the Arrow format forbids what was found."""

    VIOLATION = "violation"
    """The format, or the FlatBuffers encoding under it, forbids it."""
    NOTE = "note"
    """The format allows it or is silent; whoever builds on the format may decide otherwise."""


_V = Severity.VIOLATION
_N = Severity.NOTE


class Rule(enum.StrEnum):
    """One requirement on Arrow bytes, named by a permanent dotted code.

    ``requirement`` says what has to hold, ``source`` where that is written, ``severity`` whether the format itself
    demands it.
    """

    _value_: str
    severity: Severity
    requirement: str
    source: str

    def __new__(cls, code: str, severity: Severity = _V, requirement: str = "", source: str = "") -> Self:
        """Makes the member ``code``; the further values become its attributes."""
        member = str.__new__(cls, code)
        member._value_ = code
        member.severity = severity
        member.requirement = requirement
        member.source = source
        return member

    # --- the prefix of an encapsulated message ------------------------------------------------------

    PREFIX_EMPTY = (
        "prefix.empty",
        _V,
        "the bytes hold an encapsulated message, not nothing",
        _FRAMING,
    )
    PREFIX_TRUNCATED = (
        "prefix.truncated",
        _V,
        "a message starts with an 8-byte prefix: continuation word and metadata length",
        _FRAMING,
    )
    PREFIX_CONTINUATION_MISSING = (
        "prefix.continuation-missing",
        _N,
        "a message starts with the continuation word FF FF FF FF; before Arrow 0.15 it started with its length",
        _FRAMING,
    )
    PREFIX_LENGTH_NEGATIVE = (
        "prefix.length-negative",
        _V,
        "the metadata length is not negative",
        _FRAMING,
    )
    METADATA_TRUNCATED = (
        "metadata.truncated",
        _V,
        "as many metadata bytes follow the prefix as it announces",
        _FRAMING,
    )
    METADATA_LENGTH_NOT_MULTIPLE_OF_8 = (
        "metadata.length-not-multiple-of-8",
        _V,
        "prefix, metadata and padding end on a multiple of 8 bytes",
        _FRAMING,
    )
    METADATA_PADDING_NONZERO = (
        "metadata.padding-nonzero",
        _N,
        "padding after the metadata is zero, so that it publishes no stale memory",
        _SEC,
    )

    # --- the FlatBuffers encoding of the metadata ---------------------------------------------------

    FLATBUF_ROOT = (
        "flatbuf.root",
        _V,
        "the metadata starts with the offset of its root table, inside the metadata",
        _FLATBUFFERS,
    )
    FLATBUF_OFFSET_NULL = (
        "flatbuf.offset-null",
        _V,
        "a reference that is present is not zero",
        _FLATBUFFERS,
    )
    FLATBUF_OFFSET_OUT_OF_RANGE = (
        "flatbuf.offset-out-of-range",
        _V,
        "a reference leads to a place inside the metadata",
        _FLATBUFFERS,
    )
    FLATBUF_UNALIGNED = (
        "flatbuf.unaligned",
        _V,
        "every FlatBuffers value lies at a multiple of its own alignment from the start of the metadata",
        _FLATBUFFERS,
    )
    FLATBUF_VTABLE_OUT_OF_RANGE = (
        "flatbuf.vtable-out-of-range",
        _V,
        "a table's vtable lies inside the metadata",
        _FLATBUFFERS,
    )
    FLATBUF_VTABLE_SIZE = (
        "flatbuf.vtable-size",
        _V,
        "a vtable's size is even, at least 4, and inside the metadata",
        _FLATBUFFERS,
    )
    FLATBUF_TABLE_SIZE = (
        "flatbuf.table-size",
        _V,
        "a table's inline size is at least 4 and inside the metadata",
        _FLATBUFFERS,
    )
    FLATBUF_SLOT_OUT_OF_TABLE = (
        "flatbuf.slot-out-of-table",
        _V,
        "a slot's value lies inside its table, after the table's first 4 bytes",
        _FLATBUFFERS,
    )
    FLATBUF_UNKNOWN_SLOT = (
        "flatbuf.unknown-slot",
        _N,
        "a table has only the slots that its definition names; more belong to a later format",
        _FLATBUFFERS,
    )
    FLATBUF_VECTOR_OUT_OF_RANGE = (
        "flatbuf.vector-out-of-range",
        _V,
        "a vector's elements lie inside the metadata",
        _FLATBUFFERS,
    )
    FLATBUF_STRING_OUT_OF_RANGE = (
        "flatbuf.string-out-of-range",
        _V,
        "a string's bytes and its terminator lie inside the metadata",
        _FLATBUFFERS,
    )
    FLATBUF_STRING_NOT_TERMINATED = (
        "flatbuf.string-not-terminated",
        _V,
        "a string is followed by a zero byte",
        _FLATBUFFERS,
    )
    FLATBUF_STRING_NOT_UTF8 = (
        "flatbuf.string-not-utf8",
        _V,
        "a string is UTF-8",
        _FLATBUFFERS,
    )
    FLATBUF_BOOL_NOT_0_OR_1 = (
        "flatbuf.bool-not-0-or-1",
        _N,
        "a boolean is the byte 0 or 1",
        _FLATBUFFERS,
    )
    FLATBUF_ENUM_UNKNOWN = (
        "flatbuf.enum-unknown",
        _V,
        "an enumerated value is one that the format defines; others must be refused, not guessed",
        "https://arrow.apache.org/docs/format/Versioning.html#forward-compatibility",
    )
    FLATBUF_UNION_TYPE_UNKNOWN = (
        "flatbuf.union-type-unknown",
        _V,
        "a union's type byte names a member that the format defines",
        _FLATBUFFERS,
    )
    FLATBUF_UNION_VALUE_MISSING = (
        "flatbuf.union-value-missing",
        _V,
        "a union whose type is set has a value",
        _FLATBUFFERS,
    )
    FLATBUF_UNION_TYPE_MISSING = (
        "flatbuf.union-type-missing",
        _V,
        "a union that has a value has a type",
        _FLATBUFFERS,
    )
    FLATBUF_REQUIRED_MISSING = (
        "flatbuf.required-missing",
        _V,
        "a slot that its table's definition marks as required is present",
        "Tensor.fbs and SparseTensor.fbs",
    )
    FLATBUF_DEPTH = (
        "flatbuf.depth",
        _V,
        "tables nest at most 128 deep, the limit of the Arrow C++ verifier",
        _SEC,
    )
    FLATBUF_TABLES = (
        "flatbuf.tables",
        _V,
        "the metadata refers to no more tables and text than it has room for, as it would by sharing them without end",
        _SEC,
    )
    FLATBUF_OVERLAP = (
        "flatbuf.overlap",
        _N,
        "two different FlatBuffers objects do not share bytes",
        _FLATBUFFERS,
    )
    FLATBUF_UNACCOUNTED_BYTES = (
        "flatbuf.unaccounted-bytes",
        _N,
        "bytes of the metadata that belong to no object are zero",
        _SEC,
    )

    # --- the Message table and what surrounds the message ------------------------------------------

    MESSAGE_VERSION_UNKNOWN = (
        "message.version-unknown",
        _V,
        "the metadata version is one that the format defines",
        f"{_SCHEMA_FBS}, enum MetadataVersion",
    )
    MESSAGE_VERSION_BEFORE_V4 = (
        "message.version-before-v4",
        _V,
        "the metadata version is V4 or V5; absent means V1, and no library guarantees to read V1 to V3",
        f"{_SCHEMA_FBS}, enum MetadataVersion",
    )
    MESSAGE_VERSION_V4 = (
        "message.version-v4",
        _N,
        "the metadata version is V5, current since Arrow 1.0",
        f"{_SCHEMA_FBS}, enum MetadataVersion",
    )
    MESSAGE_VERSION_DIFFERS = (
        "message.version-differs",
        _N,
        "a batch has the metadata version of its schema",
        f"{_SCHEMA_FBS}, enum MetadataVersion",
    )
    MESSAGE_HEADER_MISSING = (
        "message.header-missing",
        _V,
        "a message has a header",
        f"{_MESSAGE_FBS}, table Message",
    )
    MESSAGE_HEADER_KIND = (
        "message.header-kind",
        _V,
        "the header is of the kind that belongs here",
        f"{_MESSAGE_FBS}, union MessageHeader",
    )
    MESSAGE_BODY_LENGTH_NEGATIVE = (
        "message.body-length-negative",
        _V,
        "the body length is not negative",
        f"{_MESSAGE_FBS}, table Message",
    )
    MESSAGE_BODY_LENGTH_NOT_MULTIPLE_OF_8 = (
        "message.body-length-not-multiple-of-8",
        _V,
        "the body length is a multiple of 8",
        _FRAMING,
    )
    MESSAGE_BODY_TRUNCATED = (
        "message.body-truncated",
        _V,
        "as many body bytes follow the metadata as the message announces",
        _FRAMING,
    )
    MESSAGE_SCHEMA_WITH_BODY = (
        "message.schema-with-body",
        _V,
        "a Schema message has no body",
        f"{_COL}#schema-message",
    )
    MESSAGE_SECOND_MESSAGE = (
        "message.second-message",
        _V,
        "the bytes hold one encapsulated message",
        _FRAMING,
    )
    MESSAGE_END_OF_STREAM = (
        "message.end-of-stream",
        _V,
        "an end-of-stream marker belongs to a stream, not to a single message",
        f"{_COL}#ipc-streaming-format",
    )
    MESSAGE_TRAILING_BYTES = (
        "message.trailing-bytes",
        _V,
        "nothing follows the message's body",
        _FRAMING,
    )
    KEY_VALUE_KEY_MISSING = (
        "key-value.key-missing",
        _N,
        "a metadata pair has a key",
        f"{_SCHEMA_FBS}, table KeyValue",
    )
    KEY_VALUE_VALUE_MISSING = (
        "key-value.value-missing",
        _N,
        "a metadata pair has a value",
        f"{_SCHEMA_FBS}, table KeyValue",
    )
    KEY_VALUE_KEY_REPEATED = (
        "key-value.key-repeated",
        _N,
        "a metadata key stands once; the format does not forbid repeating it",
        "https://arrow.apache.org/docs/format/Integration.html",
    )

    # --- the Schema header ---------------------------------------------------------------------------

    SCHEMA_FIELDS_MISSING = (
        "schema.fields-missing",
        _N,
        "a schema has a vector of fields, empty if it has no columns",
        f"{_SCHEMA_FBS}, table Schema",
    )
    SCHEMA_NAME_MISSING = (
        "schema.name-missing",
        _N,
        "a field has a name, which may be empty",
        f"{_SCHEMA_FBS}, table Field",
    )
    SCHEMA_FIELD_WITHOUT_TYPE = (
        "schema.field-without-type",
        _V,
        "a field has a type",
        f"{_SCHEMA_FBS}, table Field",
    )
    SCHEMA_ENDIANNESS_BIG = (
        "schema.endianness-big",
        _N,
        "bodies are little-endian; big-endian ones may be refused",
        f"{_COL}#byte-order-endianness",
    )
    SCHEMA_CHILD_COUNT = (
        "schema.child-count",
        _V,
        "a field has as many children as its type requires",
        f"{_SCHEMA_FBS}, union Type",
    )
    SCHEMA_INT_WIDTH = (
        "schema.int-width",
        _V,
        "an integer is 8, 16, 32 or 64 bits wide",
        f"{_SCHEMA_FBS}, table Int",
    )
    SCHEMA_DECIMAL_WIDTH = (
        "schema.decimal-width",
        _V,
        "a decimal is 32, 64, 128 or 256 bits wide",
        f"{_SCHEMA_FBS}, table Decimal",
    )
    SCHEMA_DECIMAL_PRECISION = (
        "schema.decimal-precision",
        _V,
        "a decimal's precision is between 1 and the number of digits that its width can hold (9, 18, 38, 76)",
        f"{_SCHEMA_FBS}, table Decimal",
    )
    SCHEMA_TIME_WIDTH = (
        "schema.time-width",
        _V,
        "a time is 32 bits wide in seconds and milliseconds, 64 in microseconds and nanoseconds",
        f"{_SCHEMA_FBS}, table Time",
    )
    SCHEMA_SIZE_NEGATIVE = (
        "schema.size-negative",
        _V,
        "the width of a fixed-size binary or the size of a fixed-size list is not negative",
        f"{_SCHEMA_FBS}, tables FixedSizeBinary and FixedSizeList",
    )
    SCHEMA_UNION_TYPE_IDS = (
        "schema.union-type-ids",
        _V,
        "a union names one type id per child, each once and between 0 and 127",
        f"{_SCHEMA_FBS}, table Union",
    )
    SCHEMA_MAP_ENTRIES = (
        "schema.map-entries",
        _V,
        "a map's child is a struct of two children, key and value",
        f"{_SCHEMA_FBS}, table Map",
    )
    SCHEMA_MAP_NULLABLE = (
        "schema.map-nullable",
        _V,
        "neither a map's entries nor its keys are nullable",
        f"{_SCHEMA_FBS}, table Map",
    )
    SCHEMA_RUN_ENDS_TYPE = (
        "schema.run-ends-type",
        _V,
        "run ends are signed integers of 16, 32 or 64 bits",
        _RUN_END,
    )

    # --- the RecordBatch header against the schema ---------------------------------------------------

    BATCH_LENGTH_NEGATIVE = (
        "batch.length-negative",
        _V,
        "a batch's length is not negative",
        f"{_MESSAGE_FBS}, table RecordBatch",
    )
    BATCH_NODE_COUNT = (
        "batch.node-count",
        _V,
        "a batch has one field node per field of the schema, children included",
        _BATCH,
    )
    BATCH_BUFFER_COUNT = (
        "batch.buffer-count",
        _V,
        "a batch has exactly the buffers that the layouts of its fields require",
        _BATCH,
    )
    BATCH_VARIADIC_COUNT = (
        "batch.variadic-count",
        _V,
        "variadicBufferCounts has one entry per view field, none negative",
        f"{_COL}#variadic-buffers",
    )
    BATCH_NODE_LENGTH_NEGATIVE = (
        "batch.node-length-negative",
        _V,
        "a field node's length is not negative",
        f"{_MESSAGE_FBS}, struct FieldNode",
    )
    BATCH_COLUMN_LENGTH = (
        "batch.column-length",
        _V,
        "every column is as long as the batch",
        f"{_MESSAGE_FBS}, table RecordBatch",
    )
    BATCH_NULL_COUNT_RANGE = (
        "batch.null-count-range",
        _V,
        "a field node's null count is between 0 and its length",
        f"{_MESSAGE_FBS}, struct FieldNode",
    )
    BATCH_NULL_COUNT_MISMATCH = (
        "batch.null-count-mismatch",
        _V,
        "a field node's null count is the number of nulls in the validity bitmap",
        f"{_MESSAGE_FBS}, struct FieldNode",
    )
    BATCH_NULLS_IN_NON_NULLABLE = (
        "batch.nulls-in-non-nullable",
        _V,
        "a field declared non-nullable has no null where its parent has a value",
        f"{_SCHEMA_FBS}, table Field",
    )

    # --- buffers in the body -------------------------------------------------------------------------

    BUFFER_OFFSET_NEGATIVE = (
        "buffer.offset-negative",
        _V,
        "a buffer's offset is not negative",
        f"{_SCHEMA_FBS}, struct Buffer",
    )
    BUFFER_LENGTH_NEGATIVE = (
        "buffer.length-negative",
        _V,
        "a buffer's length is not negative",
        f"{_SCHEMA_FBS}, struct Buffer",
    )
    BUFFER_OUT_OF_BODY = (
        "buffer.out-of-body",
        _V,
        "a buffer lies inside the body",
        _BATCH,
    )
    BUFFER_UNALIGNED = (
        "buffer.unaligned",
        _V,
        "a buffer starts at a multiple of 8 bytes from the start of the body",
        _ALIGNMENT,
    )
    BUFFER_OVERLAP = (
        "buffer.overlap",
        _V,
        "buffers are written end to end and share no bytes",
        _BATCH,
    )
    BUFFER_ORDER = (
        "buffer.order",
        _N,
        "buffers lie in the body in the order in which the batch lists them",
        _BATCH,
    )
    BODY_PADDING_NONZERO = (
        "body.padding-nonzero",
        _N,
        "padding between buffers is zero, so that it publishes no stale memory",
        _SEC,
    )
    BODY_UNACCOUNTED = (
        "body.unaccounted",
        _N,
        "bytes of the body that belong to no buffer are padding, fewer than 64 in a row",
        _ALIGNMENT,
    )
    VALIDITY_MISSING = (
        "validity.missing",
        _V,
        "a field with nulls has a validity bitmap",
        _VALIDITY,
    )
    VALIDITY_TOO_SMALL = (
        "validity.too-small",
        _V,
        "a validity bitmap has a bit for every slot",
        _VALIDITY,
    )
    OFFSETS_TOO_SMALL = (
        "offsets.too-small",
        _V,
        "an offsets buffer has one entry more than the field has slots (a list-view's or union's: one per slot)",
        _BINARY,
    )
    DATA_TOO_SMALL = (
        "data.too-small",
        _V,
        "a data buffer holds a value for every slot",
        f"{_COL}#fixed-size-primitive-layout",
    )

    # --- compressed bodies ---------------------------------------------------------------------------

    COMPRESSION_CODEC_UNKNOWN = (
        "compression.codec-unknown",
        _V,
        "the codec is LZ4_FRAME or ZSTD",
        f"{_MESSAGE_FBS}, enum CompressionType",
    )
    COMPRESSION_METHOD_UNKNOWN = (
        "compression.method-unknown",
        _V,
        "the compression method is BUFFER",
        f"{_MESSAGE_FBS}, enum BodyCompressionMethod",
    )
    COMPRESSION_PREFIX_TRUNCATED = (
        "compression.prefix-truncated",
        _V,
        "a compressed buffer that is not empty starts with its 8-byte uncompressed length",
        _COMPRESSION,
    )
    COMPRESSION_PREFIX_NEGATIVE = (
        "compression.prefix-negative",
        _V,
        "the uncompressed length is -1 (stored as it is) or not negative",
        _COMPRESSION,
    )
    COMPRESSION_EMPTY_WITHOUT_FRAME = (
        "compression.empty-without-frame",
        _N,
        "an uncompressed length of 0 is followed by a compressed frame, or the buffer is empty",
        _COMPRESSION,
    )
    COMPRESSION_FRAME = (
        "compression.frame",
        _V,
        "the bytes after the uncompressed length are a well-formed frame of the codec",
        _COMPRESSION,
    )
    COMPRESSION_TRAILING_BYTES = (
        "compression.trailing-bytes",
        _V,
        "a compressed buffer holds exactly one frame and nothing after it",
        _COMPRESSION,
    )
    COMPRESSION_PADDING_IN_LENGTH = (
        "compression.padding-in-length",
        _N,
        "the length of a compressed buffer leaves out the padding after its frame",
        _COMPRESSION,
    )
    COMPRESSION_SIZE_MISMATCH = (
        "compression.size-mismatch",
        _V,
        "a compressed buffer decompresses to the announced number of bytes",
        _COMPRESSION,
    )
    COMPRESSION_EXPANSION = (
        "compression.expansion",
        _N,
        "a message's buffers decompress to no more than the reader's limit; beyond it they are not judged",
        _SEC,
    )

    # --- values -------------------------------------------------------------------------------------

    OFFSETS_NEGATIVE = ("offsets.negative", _V, "offsets are not negative", _BINARY)
    OFFSETS_NOT_MONOTONIC = ("offsets.not-monotonic", _V, "offsets never decrease, over nulls too", _BINARY)
    OFFSETS_BEYOND_DATA = (
        "offsets.beyond-data",
        _V,
        "the last offset is at most the length of the data (bytes, or slots of the child)",
        _BINARY,
    )
    OFFSETS_FIRST_NONZERO = (
        "offsets.first-nonzero",
        _N,
        "the first offset is 0: a slice is rebased before it is written",
        _BINARY,
    )
    UTF8_INVALID = ("utf8.invalid", _V, "text is UTF-8 in every slot that is not null", _SEC)
    DECIMAL_PRECISION = (
        "decimal.precision",
        _V,
        "a decimal has at most as many digits as its type's precision",
        f"{_SCHEMA_FBS}, table Decimal",
    )
    TIME_RANGE = (
        "time.range",
        _V,
        "a time is at least 0 and less than one day",
        f"{_SCHEMA_FBS}, table Time",
    )
    DATE64_WHOLE_DAYS = (
        "date64.whole-days",
        _V,
        "a date in milliseconds is a multiple of 86400000",
        f"{_SCHEMA_FBS}, table Date",
    )
    NULL_NULL_COUNT = (
        "null.null-count",
        _V,
        "every slot of a Null field is null",
        f"{_COL}#null-layout",
    )
    STRUCT_CHILD_LENGTH = (
        "struct.child-length",
        _V,
        "a struct's children are at least as long as the struct",
        f"{_COL}#struct-layout",
    )
    STRUCT_CHILD_LONGER = (
        "struct.child-longer",
        _N,
        "a struct's children are as long as the struct",
        f"{_COL}#struct-layout",
    )
    FIXED_SIZE_LIST_CHILD_LENGTH = (
        "fixed-size-list.child-length",
        _V,
        "the child of a fixed-size list holds the list size for every slot, nulls included",
        f"{_COL}#fixed-size-list-layout",
    )
    LIST_VIEW_RANGE = (
        "list-view.range",
        _V,
        "every offset and size of a list-view, of null slots too, lies inside the child",
        _LIST_VIEW,
    )
    MAP_NULL_ENTRY = ("map.null-entry", _V, "a map's entries are not null", f"{_SCHEMA_FBS}, table Map")
    MAP_NULL_KEY = ("map.null-key", _V, "a map's keys are not null", f"{_SCHEMA_FBS}, table Map")
    VIEW_LENGTH_NEGATIVE = ("view.length-negative", _V, "a view's length is not negative", _VIEW)
    VIEW_BUFFER_INDEX = ("view.buffer-index", _V, "a view names one of its field's data buffers", _VIEW)
    VIEW_RANGE = ("view.range", _V, "a view's bytes lie inside its data buffer", _VIEW)
    VIEW_PREFIX = ("view.prefix", _V, "a view's prefix is the first 4 bytes of its value", _VIEW)
    VIEW_INLINE_PADDING = (
        "view.inline-padding",
        _V,
        "the bytes of a view after a short value are zero",
        _VIEW,
    )
    RUN_ENDS_NULLS = ("run-ends.nulls", _V, "run ends are not null", _RUN_END)
    RUN_ENDS_PARENT_NULL_COUNT = (
        "run-ends.parent-null-count",
        _V,
        "the null count of a run-end encoded field is 0",
        _RUN_END,
    )
    RUN_ENDS_NOT_INCREASING = ("run-ends.not-increasing", _V, "run ends are positive and strictly increase", _RUN_END)
    RUN_ENDS_SHORT = ("run-ends.short", _V, "the last run end is at least the field's length", _RUN_END)
    RUN_ENDS_CHILD_LENGTH = ("run-ends.child-length", _V, "there is a value for every run end", _RUN_END)
    UNION_NULL_COUNT = (
        "union.null-count",
        _N,
        "the null count of a union is 0, since only its children have nulls",
        _UNION,
    )
    UNION_VALIDITY_V4 = (
        "union.validity-v4",
        _N,
        "a union's validity bitmap, which only V4 has, is empty: most readers refuse it",
        f"{_SCHEMA_FBS}, enum MetadataVersion",
    )
    UNION_TYPE_ID = ("union.type-id", _V, "every type id is one that the union declares", _UNION)
    UNION_CHILD_LENGTH = (
        "union.child-length",
        _V,
        "the children of a sparse union are at least as long as the union",
        _UNION,
    )
    UNION_OFFSET_RANGE = (
        "union.offset-range",
        _V,
        "a dense union's offsets lie inside the child they belong to",
        _UNION,
    )
    UNION_OFFSET_ORDER = (
        "union.offset-order",
        _V,
        "a dense union's offsets never decrease per child",
        _UNION,
    )
    DICTIONARY_INDEX_NEGATIVE = (
        "dictionary.index-negative",
        _V,
        "a dictionary index is not negative in a slot that is not null",
        f"{_COL}#dictionary-encoded-layout",
    )


MAX_FAULTS: Final = 256
"""Faults kept per message: hostile bytes can break a rule as often as they are long."""
MAX_TEXT: Final = 240
"""Characters kept of a path or an observation: names and values may be as long as the bytes."""


@dataclasses.dataclass(frozen=True, slots=True)
class Fault:
    """One rule broken at one place.

    ``start`` and ``end`` are byte offsets in the bytes that were read, ``end`` exclusive; for a value inside a
    compressed buffer they span the buffer as it is stored.
    ``path`` names the part: a field path (``items.item.price``) with a role (``items offsets``), or a place in the
    metadata (``Message.header.fields[2].type``).
    """

    rule: Rule
    start: int
    end: int
    path: str
    required: str
    observed: str

    @property
    def severity(self) -> Severity:
        """Whether the format itself forbids what was found."""
        return self.rule.severity

    def __str__(self) -> str:
        where = f"{self.path}, " if self.path else ""
        return f"{self.rule}: {where}bytes {self.start} to {self.end}: expected {self.required}; found {self.observed}"


def report(faults: list[Fault], rule: Rule, start: int, end: int, path: str, observed: str) -> None:
    """Adds a fault to ``faults`` unless there are enough; long texts are cut."""
    if len(faults) < MAX_FAULTS:
        faults.append(Fault(rule, start, end, _cut(path), rule.requirement, _cut(observed)))


def _cut(text: str) -> str:
    return text if len(text) <= MAX_TEXT else text[: MAX_TEXT - 3] + "..."
