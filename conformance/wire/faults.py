"""The rules that Arrow bytes can break, as one closed set, and the fault that reports a broken rule.

Every rule states its requirement and the source of that requirement.
A rule is either a *violation* (the format forbids it) or a *note* (the format allows it, but a contract based on the
format may forbid it: legacy framing, metadata V4, buffers out of order, padding that is not zero).
This module decides the code and the severity of each rule; it does not read bytes.
Codes are permanent, because other packages, reports and expectation files refer to them.

The module is long because the format has this many rules; splitting the list would only hide that.
"""

from __future__ import annotations

import dataclasses
import enum
from typing import Final, Self

__all__ = ["Fault", "Rule", "Severity", "WireRule", "report"]

_COL: Final = "https://arrow.apache.org/docs/format/Columnar.html"
_SEC: Final = "https://arrow.apache.org/docs/format/Security.html"
_FLATBUFFERS: Final = "https://flatbuffers.dev/internals/"
_CPP_VERIFIER: Final = "https://github.com/apache/arrow/blob/main/cpp/src/arrow/ipc/metadata_internal.h"
_FRAMING: Final = f"{_COL}#encapsulated-message-format"
_BATCH: Final = f"{_COL}#recordbatch-message"
_COMPRESSION: Final = f"{_COL}#compression"
_LZ4_FRAME: Final = "https://github.com/lz4/lz4/blob/dev/doc/lz4_Frame_format.md"
_ALIGNMENT: Final = f"{_COL}#buffer-alignment-and-padding"
_VALIDITY: Final = f"{_COL}#validity-bitmaps"
_BINARY: Final = f"{_COL}#variable-size-binary-layout"
_VIEW: Final = f"{_COL}#variable-size-binary-view-layout"
_LIST_VIEW: Final = f"{_COL}#listview-layout"
_RUN_END: Final = f"{_COL}#run-end-encoded-layout"
_UNION: Final = f"{_COL}#union-layout"
_STREAM: Final = f"{_COL}#ipc-streaming-format"
_DICTIONARY: Final = f"{_COL}#dictionary-messages"
_ENCODED: Final = f"{_COL}#dictionary-encoded-layout"
_FILE: Final = f"{_COL}#ipc-file-format"
_CANONICAL: Final = "https://arrow.apache.org/docs/format/CanonicalExtensions.html"
_OTHER: Final = "https://arrow.apache.org/docs/format/Other.html"
_SCHEMA_FBS: Final = "Schema.fbs"
_MESSAGE_FBS: Final = "Message.fbs"
_FILE_FBS: Final = "File.fbs"
_TENSOR_FBS: Final = "Tensor.fbs"
_SPARSE_FBS: Final = "SparseTensor.fbs"


class Severity(enum.StrEnum):
    """The severity of a broken rule: forbidden by the Arrow format, or not."""

    VIOLATION = "violation"
    """The format, or the FlatBuffers encoding below it, forbids it."""
    NOTE = "note"
    """The format allows it or does not mention it; a contract based on the format may forbid it."""


_V = Severity.VIOLATION
_N = Severity.NOTE


class WireRule(enum.StrEnum):
    """One requirement on bytes, named by a permanent dotted code; each format has a closed set of them.

    ``requirement`` states what must be true, ``source`` the document that says so, and ``severity`` whether the format
    itself requires it.
    """

    _value_: str
    severity: Severity
    requirement: str
    source: str

    def __new__(cls, code: str, severity: Severity = _V, source: str = "", requirement: str = "") -> Self:
        """Make the member ``code``; the other values become its attributes."""
        member = str.__new__(cls, code)
        member._value_ = code
        member.severity = severity
        member.requirement = requirement
        member.source = source
        return member


class Rule(WireRule):
    """One requirement on Arrow bytes."""

    # fmt: off
    # One rule per entry, without the formatter: code, severity and source, then the requirement.
    # --- the prefix of an encapsulated message ------------------------------------------------------

    PREFIX_EMPTY = ("prefix.empty", _V, _FRAMING,
        "the bytes hold an encapsulated message, not nothing")
    PREFIX_TRUNCATED = ("prefix.truncated", _V, _FRAMING,
        "a message starts with an 8-byte prefix: continuation word and metadata length")
    PREFIX_CONTINUATION_MISSING = ("prefix.continuation-missing", _N, _FRAMING,
        "a message starts with the continuation word FF FF FF FF; before Arrow 0.15 it started with its length")
    PREFIX_LENGTH_NEGATIVE = ("prefix.length-negative", _V, _FRAMING,
        "the metadata length is not negative")
    METADATA_TRUNCATED = ("metadata.truncated", _V, _FRAMING,
        "at least as many bytes follow the prefix as its metadata length declares")
    METADATA_LENGTH_NOT_MULTIPLE_OF_8 = ("metadata.length-not-multiple-of-8", _V, _FRAMING,
        "prefix, metadata and padding end on a multiple of 8 bytes")
    METADATA_PADDING_NONZERO = ("metadata.padding-nonzero", _N, _SEC,
        "padding after the metadata is zero, so that it publishes no stale memory")

    # --- the FlatBuffers encoding of the metadata ---------------------------------------------------

    FLATBUF_ROOT = ("flatbuf.root", _V, _FLATBUFFERS,
        "the metadata starts with the offset of its root table, inside the metadata")
    FLATBUF_OFFSET_NULL = ("flatbuf.offset-null", _V, _FLATBUFFERS,
        "a reference that is present is not zero")
    FLATBUF_OFFSET_OUT_OF_RANGE = ("flatbuf.offset-out-of-range", _V, _FLATBUFFERS,
        "a reference leads to a place inside the metadata")
    FLATBUF_UNALIGNED = ("flatbuf.unaligned", _V, _FLATBUFFERS,
        "every FlatBuffers value lies at a multiple of its own alignment from the start of the metadata")
    FLATBUF_VTABLE_OUT_OF_RANGE = ("flatbuf.vtable-out-of-range", _V, _FLATBUFFERS,
        "a table's vtable lies inside the metadata")
    FLATBUF_VTABLE_SIZE = ("flatbuf.vtable-size", _V, _FLATBUFFERS,
        "a vtable's size is even, at least 4, and inside the metadata")
    FLATBUF_TABLE_SIZE = ("flatbuf.table-size", _V, _FLATBUFFERS,
        "a table's inline size is at least 4 and inside the metadata")
    FLATBUF_SLOT_OUT_OF_TABLE = ("flatbuf.slot-out-of-table", _V, _FLATBUFFERS,
        "a slot's value lies inside its table, after the table's first 4 bytes")
    FLATBUF_UNKNOWN_SLOT = ("flatbuf.unknown-slot", _N, _FLATBUFFERS,
        "a table has only the slots that its definition names; more belong to a later format")
    FLATBUF_VECTOR_OUT_OF_RANGE = ("flatbuf.vector-out-of-range", _V, _FLATBUFFERS,
        "a vector's elements lie inside the metadata")
    FLATBUF_STRING_OUT_OF_RANGE = ("flatbuf.string-out-of-range", _V, _FLATBUFFERS,
        "a string's bytes and its terminator lie inside the metadata")
    FLATBUF_STRING_NOT_TERMINATED = ("flatbuf.string-not-terminated", _V, _FLATBUFFERS,
        "a string is followed by a zero byte")
    FLATBUF_STRING_NOT_UTF8 = ("flatbuf.string-not-utf8", _V, _FLATBUFFERS,
        "a string is UTF-8")
    FLATBUF_BOOL_NOT_0_OR_1 = ("flatbuf.bool-not-0-or-1", _N, _FLATBUFFERS,
        "a boolean is the byte 0 or 1")
    FLATBUF_ENUM_UNKNOWN = ("flatbuf.enum-unknown", _V, "https://arrow.apache.org/docs/format/Versioning.html#forward-compatibility",
        "an enumerated value is one that the format defines; others must be refused, not guessed")
    FLATBUF_UNION_TYPE_UNKNOWN = ("flatbuf.union-type-unknown", _V, _FLATBUFFERS,
        "a union's type byte names a member that the format defines")
    FLATBUF_UNION_VALUE_MISSING = ("flatbuf.union-value-missing", _V, _FLATBUFFERS,
        "a union whose type is set has a value")
    FLATBUF_UNION_TYPE_MISSING = ("flatbuf.union-type-missing", _V, _FLATBUFFERS,
        "a union that has a value has a type")
    FLATBUF_REQUIRED_MISSING = ("flatbuf.required-missing", _V, "Tensor.fbs and SparseTensor.fbs",
        "a slot that its table's definition marks as required is present")
    FLATBUF_DEPTH = ("flatbuf.depth", _N, _CPP_VERIFIER,
        "tables nest at most 128 deep, the limit of the Arrow C++ verifier; the format has none")
    FLATBUF_TABLES = ("flatbuf.tables", _V, _SEC,
        "the metadata refers to no more tables and text than it has room for, at most 262144 tables and 64 MiB of text")
    FLATBUF_OVERLAP = ("flatbuf.overlap", _N, _FLATBUFFERS,
        "two different FlatBuffers objects do not share bytes")
    FLATBUF_UNACCOUNTED_BYTES = ("flatbuf.unaccounted-bytes", _N, _SEC,
        "bytes of the metadata that belong to no object are zero")

    # --- the Message table and what surrounds the message ------------------------------------------

    MESSAGE_VERSION_UNKNOWN = ("message.version-unknown", _V, f"{_SCHEMA_FBS}, enum MetadataVersion",
        "the metadata version is one that the format defines")
    MESSAGE_VERSION_BEFORE_V4 = ("message.version-before-v4", _V, f"{_SCHEMA_FBS}, enum MetadataVersion",
        "the metadata version is V4 or V5; absent means V1, and no library guarantees to read V1 to V3")
    MESSAGE_VERSION_V4 = ("message.version-v4", _N, f"{_SCHEMA_FBS}, enum MetadataVersion",
        "the metadata version is V5, current since Arrow 1.0")
    MESSAGE_VERSION_DIFFERS = ("message.version-differs", _N, f"{_SCHEMA_FBS}, enum MetadataVersion",
        "a batch has the metadata version of its schema")
    MESSAGE_HEADER_MISSING = ("message.header-missing", _V, f"{_MESSAGE_FBS}, table Message",
        "a message has a header")
    MESSAGE_HEADER_KIND = ("message.header-kind", _V, f"{_MESSAGE_FBS}, union MessageHeader",
        "the header is of the kind that belongs here")
    MESSAGE_BODY_LENGTH_NEGATIVE = ("message.body-length-negative", _V, f"{_MESSAGE_FBS}, table Message",
        "the body length is not negative")
    MESSAGE_BODY_LENGTH_NOT_MULTIPLE_OF_8 = ("message.body-length-not-multiple-of-8", _V, _FRAMING,
        "the body length is a multiple of 8")
    MESSAGE_BODY_TRUNCATED = ("message.body-truncated", _V, _FRAMING,
        "as many body bytes follow the metadata as the message declares")
    MESSAGE_SCHEMA_WITH_BODY = ("message.schema-with-body", _V, f"{_COL}#schema-message",
        "a Schema message has no body")
    MESSAGE_SECOND_MESSAGE = ("message.second-message", _V, _FRAMING,
        "the bytes hold one encapsulated message")
    MESSAGE_END_OF_STREAM = ("message.end-of-stream", _V, f"{_COL}#ipc-streaming-format",
        "an end-of-stream marker belongs to a stream, not to a single message")
    MESSAGE_TRAILING_BYTES = ("message.trailing-bytes", _V, _FRAMING,
        "nothing follows the message's body")
    KEY_VALUE_KEY_MISSING = ("key-value.key-missing", _N, f"{_SCHEMA_FBS}, table KeyValue",
        "a metadata pair has a key")
    KEY_VALUE_VALUE_MISSING = ("key-value.value-missing", _N, f"{_SCHEMA_FBS}, table KeyValue",
        "a metadata pair has a value")
    KEY_VALUE_KEY_REPEATED = ("key-value.key-repeated", _N, "https://arrow.apache.org/docs/format/Integration.html",
        "a metadata key occurs once; the format does not forbid repeating it")

    # --- the Schema header ---------------------------------------------------------------------------

    SCHEMA_FIELDS_MISSING = ("schema.fields-missing", _N, f"{_SCHEMA_FBS}, table Schema",
        "a schema has a vector of fields, empty if it has no columns; the format lets it be absent")
    SCHEMA_NAME_MISSING = ("schema.name-missing", _N, f"{_SCHEMA_FBS}, table Field",
        "a field has a name, which may be empty")
    SCHEMA_FIELD_WITHOUT_TYPE = ("schema.field-without-type", _V, f"{_SCHEMA_FBS}, table Field",
        "a field has a type")
    SCHEMA_ENDIANNESS_BIG = ("schema.endianness-big", _N, f"{_COL}#byte-order-endianness",
        "bodies are little-endian; big-endian ones may be refused")
    SCHEMA_CHILD_COUNT = ("schema.child-count", _V, f"{_SCHEMA_FBS}, union Type",
        "a field has as many children as its type requires")
    SCHEMA_INT_WIDTH = ("schema.int-width", _V, f"{_SCHEMA_FBS}, table Int",
        "an integer is 8, 16, 32 or 64 bits wide")
    SCHEMA_DECIMAL_WIDTH = ("schema.decimal-width", _V, f"{_SCHEMA_FBS}, table Decimal",
        "a decimal is 32, 64, 128 or 256 bits wide")
    SCHEMA_DECIMAL_PRECISION = ("schema.decimal-precision", _V, f"{_SCHEMA_FBS}, table Decimal",
        "a decimal's precision is between 1 and the number of digits that its width can hold (9, 18, 38, 76)")
    SCHEMA_TIME_WIDTH = ("schema.time-width", _V, f"{_SCHEMA_FBS}, table Time",
        "a time is 32 bits wide in seconds and milliseconds, 64 in microseconds and nanoseconds")
    SCHEMA_SIZE_NEGATIVE = ("schema.size-negative", _V, f"{_SCHEMA_FBS}, tables FixedSizeBinary and FixedSizeList",
        "the width of a fixed-size binary or the size of a fixed-size list is not negative")
    SCHEMA_UNION_TYPE_IDS = ("schema.union-type-ids", _V, f"{_SCHEMA_FBS}, table Union",
        "a union names one type id per child, each once and between 0 and 127")
    SCHEMA_MAP_ENTRIES = ("schema.map-entries", _V, f"{_SCHEMA_FBS}, table Map",
        "a map's child is a struct of two children, key and value")
    SCHEMA_MAP_NULLABLE = ("schema.map-nullable", _V, f"{_SCHEMA_FBS}, table Map",
        "neither a map's entries nor its keys are nullable")
    SCHEMA_TIME_ZONE = ("schema.time-zone", _V, f"{_SCHEMA_FBS}, table Timestamp",
        "a time zone is a name of the time zone database, or an offset such as +07:30")
    SCHEMA_EXTENSION_STORAGE = ("schema.extension-storage", _V, _CANONICAL,
        "a field with the name of a canonical extension type has a storage type of that extension type")
    SCHEMA_EXTENSION_PARAMETERS = ("schema.extension-parameters", _V, _CANONICAL,
        "the parameters of a canonical extension type are serialized as its definition says")
    SCHEMA_RUN_ENDS_TYPE = ("schema.run-ends-type", _V, _RUN_END,
        "run ends are signed integers of 16, 32 or 64 bits")

    # --- the RecordBatch header against the schema ---------------------------------------------------

    BATCH_LENGTH_NEGATIVE = ("batch.length-negative", _V, f"{_MESSAGE_FBS}, table RecordBatch",
        "a batch's length is not negative")
    BATCH_NODE_COUNT = ("batch.node-count", _V, _BATCH,
        "a batch has one field node per field of the schema, children included")
    BATCH_BUFFER_COUNT = ("batch.buffer-count", _V, _BATCH,
        "a batch has exactly the buffers that the layouts of its fields require")
    BATCH_VARIADIC_COUNT = ("batch.variadic-count", _V, f"{_COL}#variadic-buffers",
        "variadicBufferCounts has one entry per view field, none negative")
    BATCH_NODE_LENGTH_NEGATIVE = ("batch.node-length-negative", _V, f"{_MESSAGE_FBS}, struct FieldNode",
        "a field node's length is not negative")
    BATCH_COLUMN_LENGTH = ("batch.column-length", _V, f"{_MESSAGE_FBS}, table RecordBatch",
        "every column is as long as the batch")
    BATCH_NULL_COUNT_RANGE = ("batch.null-count-range", _V, f"{_MESSAGE_FBS}, struct FieldNode",
        "a field node's null count is between 0 and its length")
    BATCH_NULL_COUNT_MISMATCH = ("batch.null-count-mismatch", _V, f"{_MESSAGE_FBS}, struct FieldNode",
        "a field node's null count is the number of nulls in the validity bitmap")
    BATCH_NULLS_IN_NON_NULLABLE = ("batch.nulls-in-non-nullable", _V, f"{_SCHEMA_FBS}, table Field",
        "a field declared non-nullable has no null where its parent has a value")

    # --- buffers in the body -------------------------------------------------------------------------

    BUFFER_OFFSET_NEGATIVE = ("buffer.offset-negative", _V, f"{_SCHEMA_FBS}, struct Buffer",
        "a buffer's offset is not negative")
    BUFFER_LENGTH_NEGATIVE = ("buffer.length-negative", _V, f"{_SCHEMA_FBS}, struct Buffer",
        "a buffer's length is not negative")
    BUFFER_OUT_OF_BODY = ("buffer.out-of-body", _V, _BATCH,
        "a buffer lies inside the body")
    BUFFER_UNALIGNED = ("buffer.unaligned", _V, _ALIGNMENT,
        "a buffer starts at a multiple of 8 bytes from the start of the body")
    BUFFER_OVERLAP = ("buffer.overlap", _V, _BATCH,
        "buffers are written end to end and share no bytes")
    BUFFER_ORDER = ("buffer.order", _N, _BATCH,
        "buffers lie in the body in the order in which the batch lists them")
    BODY_PADDING_NONZERO = ("body.padding-nonzero", _N, _SEC,
        "padding between buffers is zero, so that it publishes no stale memory")
    BODY_UNACCOUNTED = ("body.unaccounted", _N, _ALIGNMENT,
        "bytes of the body that belong to no buffer are padding, fewer than 64 in a row")
    VALIDITY_MISSING = ("validity.missing", _V, _VALIDITY,
        "a field with nulls has a validity bitmap")
    VALIDITY_TOO_SMALL = ("validity.too-small", _V, _VALIDITY,
        "a validity bitmap has a bit for every slot")
    OFFSETS_TOO_SMALL = ("offsets.too-small", _V, _BINARY,
        "an offsets buffer has one entry more than the field has slots (a list-view's or union's: one per slot)")
    DATA_TOO_SMALL = ("data.too-small", _V, f"{_COL}#fixed-size-primitive-layout",
        "a data buffer holds a value for every slot")

    # --- compressed bodies ---------------------------------------------------------------------------

    COMPRESSION_CODEC_UNKNOWN = ("compression.codec-unknown", _V, f"{_MESSAGE_FBS}, enum CompressionType",
        "the codec is LZ4_FRAME or ZSTD")
    COMPRESSION_METHOD_UNKNOWN = ("compression.method-unknown", _V, f"{_MESSAGE_FBS}, enum BodyCompressionMethod",
        "the compression method is BUFFER")
    COMPRESSION_PREFIX_TRUNCATED = ("compression.prefix-truncated", _V, _COMPRESSION,
        "a compressed buffer that is not empty starts with its 8-byte uncompressed length")
    COMPRESSION_PREFIX_NEGATIVE = ("compression.prefix-negative", _V, _COMPRESSION,
        "the uncompressed length is -1 (stored as it is) or not negative")
    COMPRESSION_EMPTY_WITHOUT_FRAME = ("compression.empty-without-frame", _N, _COMPRESSION,
        "an uncompressed length of 0 is followed by a compressed frame, or the buffer is empty")
    COMPRESSION_FRAME = ("compression.frame", _V, _COMPRESSION,
        "the bytes after the uncompressed length are a well-formed frame of the codec")
    COMPRESSION_CHECKSUM = ("compression.checksum", _V, _LZ4_FRAME,
        "the checksums and the content size that an LZ4 frame carries are those of its header, blocks and content")
    COMPRESSION_TRAILING_BYTES = ("compression.trailing-bytes", _V, _COMPRESSION,
        "a compressed buffer holds one frame of LZ4, or frames of ZSTD, and nothing after it")
    COMPRESSION_PADDING_IN_LENGTH = ("compression.padding-in-length", _N, _COMPRESSION,
        "the length of a compressed buffer leaves out the padding after its frame")
    COMPRESSION_SIZE_MISMATCH = ("compression.size-mismatch", _V, _COMPRESSION,
        "a compressed buffer decompresses to the declared number of bytes")
    COMPRESSION_EXPANSION = ("compression.expansion", _N, _SEC,
        "a message's buffers decompress to no more than the reader's limit; beyond it they are not judged")

    # --- values -------------------------------------------------------------------------------------

    OFFSETS_NEGATIVE = ("offsets.negative", _V, _BINARY,
        "offsets are not negative")
    OFFSETS_NOT_MONOTONIC = ("offsets.not-monotonic", _V, _BINARY,
        "offsets never decrease, over nulls too")
    OFFSETS_BEYOND_DATA = ("offsets.beyond-data", _V, _BINARY,
        "the last offset is at most the length of the data (bytes, or slots of the child)")
    OFFSETS_FIRST_NONZERO = ("offsets.first-nonzero", _N, _BINARY,
        "the first offset is 0: a slice is rebased before it is written")
    UTF8_INVALID = ("utf8.invalid", _V, _SEC,
        "text is UTF-8 in every slot that is not null")
    DECIMAL_PRECISION = ("decimal.precision", _V, f"{_SCHEMA_FBS}, table Decimal",
        "a decimal has at most as many digits as its type's precision")
    TIME_RANGE = ("time.range", _V, f"{_SCHEMA_FBS}, table Time",
        "a time is at least 0 and less than one day")
    DATE64_WHOLE_DAYS = ("date64.whole-days", _V, f"{_SCHEMA_FBS}, table Date",
        "a date in milliseconds is a multiple of 86400000")
    NULL_NULL_COUNT = ("null.null-count", _V, f"{_COL}#null-layout",
        "every slot of a Null field is null")
    STRUCT_CHILD_LENGTH = ("struct.child-length", _V, f"{_COL}#struct-layout",
        "a struct's children are at least as long as the struct")
    STRUCT_CHILD_LONGER = ("struct.child-longer", _N, f"{_COL}#struct-layout",
        "a struct's children are as long as the struct")
    FIXED_SIZE_LIST_CHILD_LENGTH = ("fixed-size-list.child-length", _V, f"{_COL}#fixed-size-list-layout",
        "the child of a fixed-size list holds the list size for every slot, nulls included")
    LIST_VIEW_RANGE = ("list-view.range", _V, _LIST_VIEW,
        "every offset and size of a list-view, of null slots too, lies inside the child")
    MAP_NULL_ENTRY = ("map.null-entry", _V, f"{_SCHEMA_FBS}, table Map",
        "a map's entries are not null")
    MAP_NULL_KEY = ("map.null-key", _V, f"{_SCHEMA_FBS}, table Map",
        "a map's keys are not null")
    VIEW_LENGTH_NEGATIVE = ("view.length-negative", _V, _VIEW,
        "a view's length is not negative")
    VIEW_BUFFER_INDEX = ("view.buffer-index", _V, _VIEW,
        "a view names one of its field's data buffers")
    VIEW_RANGE = ("view.range", _V, _VIEW,
        "a view's bytes lie inside its data buffer")
    VIEW_PREFIX = ("view.prefix", _V, _VIEW,
        "a view's prefix is the first 4 bytes of its value")
    VIEW_INLINE_PADDING = ("view.inline-padding", _V, _VIEW,
        "the bytes of a view after a short value are zero")
    RUN_ENDS_NULLS = ("run-ends.nulls", _V, _RUN_END,
        "run ends are not null")
    RUN_ENDS_PARENT_NULL_COUNT = ("run-ends.parent-null-count", _V, _RUN_END,
        "the null count of a run-end encoded field is 0")
    RUN_ENDS_NOT_INCREASING = ("run-ends.not-increasing", _V, _RUN_END,
        "run ends are positive and strictly increase")
    RUN_ENDS_SHORT = ("run-ends.short", _V, _RUN_END,
        "the last run end is at least the field's length")
    RUN_ENDS_CHILD_LENGTH = ("run-ends.child-length", _V, _RUN_END,
        "there is a value for every run end")
    UNION_NULL_COUNT = ("union.null-count", _N, _UNION,
        "the null count of a union is 0, since only its children have nulls")
    UNION_VALIDITY_V4 = ("union.validity-v4", _N, f"{_SCHEMA_FBS}, enum MetadataVersion",
        "a union's validity bitmap, which only V4 has, is empty")
    UNION_TYPE_ID = ("union.type-id", _V, _UNION,
        "every type id is one that the union declares")
    UNION_CHILD_LENGTH = ("union.child-length", _V, _UNION,
        "the children of a sparse union are at least as long as the union")
    UNION_CHILD_LONGER = ("union.child-longer", _V, _UNION,
        "the children of a sparse union are as long as the union")
    UNION_OFFSET_RANGE = ("union.offset-range", _V, _UNION,
        "a dense union's offsets lie inside the child they belong to")
    UNION_OFFSET_ORDER = ("union.offset-order", _V, _UNION,
        "a dense union's offsets never decrease per child")
    DICTIONARY_INDEX_NEGATIVE = ("dictionary.index-negative", _V, f"{_COL}#dictionary-encoded-layout",
        "a dictionary index is not negative in a slot that is not null")

    # --- dictionaries ---------------------------------------------------------------------------------

    DICTIONARY_TYPES_DIFFER = ("dictionary.types-differ", _V, _DICTIONARY,
        "fields that share a dictionary have the same type of values")
    DICTIONARY_ID_UNKNOWN = ("dictionary.id-unknown", _V, _DICTIONARY,
        "a dictionary batch is for a dictionary that a field of the schema names")
    DICTIONARY_DATA_MISSING = ("dictionary.data-missing", _V, f"{_MESSAGE_FBS}, table DictionaryBatch",
        "a dictionary batch has data")
    DICTIONARY_DELTA_WITHOUT_BASE = ("dictionary.delta-without-base", _V, _DICTIONARY,
        "a delta appends to a dictionary that an earlier dictionary batch has defined")
    DICTIONARY_MISSING = ("dictionary.missing", _V, _STREAM,
        "a dictionary is defined before the batch whose values point into it")
    DICTIONARY_LATE = ("dictionary.late", _N, _STREAM,
        "a dictionary is defined before the first batch, although one that is used by nulls alone may come later")
    DICTIONARY_INDEX_RANGE = ("dictionary.index-range", _V, _ENCODED,
        "a dictionary index is below the length of the dictionary in a slot that is not null")

    # --- streams --------------------------------------------------------------------------------------

    STREAM_SCHEMA_FIRST = ("stream.schema-first", _V, _STREAM,
        "the first message of a stream is its schema")
    STREAM_SECOND_SCHEMA = ("stream.second-schema", _V, _STREAM,
        "a stream has one schema, the same for every batch")
    STREAM_MESSAGE_KIND = ("stream.message-kind", _V, _STREAM,
        "dictionary batches and record batches follow the schema, and nothing else")
    STREAM_FRAMING_MIXED = ("stream.framing-mixed", _N, _FRAMING,
        "the messages of a stream and its end marker have the framing of its first message")
    STREAM_END_MISSING = ("stream.end-missing", _N, _STREAM,
        "a stream ends with a marker; to close the transport after a whole message ends it too")
    STREAM_BYTES_AFTER_END = ("stream.bytes-after-end", _N, _STREAM,
        "nothing follows the end-of-stream marker; the format does not say what a reader does with more")

    # --- files ----------------------------------------------------------------------------------------

    FILE_MAGIC_START = ("file.magic-start", _V, _FILE,
        "a file starts with the magic ARROW1, padded to 8 bytes")
    FILE_MAGIC_PADDING = ("file.magic-padding", _N, _SEC,
        "the 2 padding bytes after the leading magic are zero")
    FILE_STREAM_START = ("file.stream-start", _N, _FILE,
        "the stream in a file begins at byte 8; readers that go by the footer do not mind more padding before it")
    FILE_MAGIC_END = ("file.magic-end", _V, _FILE,
        "a file ends with the magic ARROW1, without which its writer has not finished it")
    FILE_END_MISSING = ("file.end-missing", _N, _FILE,
        "the stream in a file ends with its marker, and the footer follows")
    FILE_OVERWRITTEN = ("file.overwritten", _V, _FILE,
        "a file ends with its own footer: an older, longer file under it has been cut off")
    FILE_DICTIONARY_REPLACED = ("file.dictionary-replaced", _V, _FILE,
        "a file defines each dictionary once, and then only appends to it")
    FILE_DELTA_ORDER = ("file.delta-order", _N, _FILE,
        "the footer lists the dictionary batches of one dictionary in the order of the stream, as it is applied")
    FOOTER_LENGTH_NOT_POSITIVE = ("footer.length-not-positive", _V, _FILE,
        "the footer's length is positive")
    FOOTER_OUT_OF_RANGE = ("footer.out-of-range", _V, _FILE,
        "the footer lies between the leading magic and its own length")
    FOOTER_VERSION_DIFFERS = ("footer.version-differs", _V, _FILE,
        "the footer has the metadata version of the stream's first message; absent means V1")
    FOOTER_SCHEMA_MISSING = ("footer.schema-missing", _V, f"{_FILE_FBS}, table Footer",
        "the footer has a schema")
    FOOTER_SCHEMA_DIFFERS = ("footer.schema-differs", _V, _FILE,
        "the footer has the schema of the stream's first message")
    FOOTER_METADATA_DIFFERS = ("footer.metadata-differs", _N, _FILE,
        "the footer has the custom metadata of the stream's first message, and may have its own")
    BLOCK_OFFSET_NOT_MULTIPLE_OF_8 = ("block.offset-not-multiple-of-8", _V, _FILE,
        "a block starts at a multiple of 8 bytes from the start of the file")
    BLOCK_METADATA_LENGTH_NOT_MULTIPLE_OF_8 = ("block.metadata-length-not-multiple-of-8", _V, _FILE,
        "the metadata length of a block is a multiple of 8: it counts prefix, metadata and padding")
    BLOCK_OUT_OF_FILE = ("block.out-of-file", _V, f"{_FILE_FBS}, struct Block",
        "a block lies between the leading magic and the footer")
    BLOCK_NO_MESSAGE = ("block.no-message", _V, f"{_FILE_FBS}, struct Block",
        "a message starts where its block says")
    BLOCK_NOT_IN_STREAM = ("block.not-in-stream", _V, _FILE,
        "a block is one of the messages of the stream in the file")
    BLOCK_HEADER_KIND = ("block.header-kind", _V, f"{_FILE_FBS}, table Footer",
        "blocks of dictionaries are DictionaryBatch messages, blocks of record batches RecordBatch messages")
    BLOCK_METADATA_LENGTH_DIFFERS = ("block.metadata-length-differs", _V, f"{_FILE_FBS}, struct Block",
        "the metadata length of a block is that of its message, prefix and padding included")
    BLOCK_BODY_LENGTH_DIFFERS = ("block.body-length-differs", _V, f"{_FILE_FBS}, struct Block",
        "the body length of a block is that of its message")
    BLOCK_REPEATED = ("block.repeated", _V, _FILE,
        "the footer lists a message once")
    BLOCK_OVERLAP = ("block.overlap", _V, _FILE,
        "two blocks share no bytes")
    BLOCK_ORDER = ("block.order", _N, _FILE,
        "the footer lists messages in the order of the stream")
    BLOCK_UNLISTED = ("block.unlisted", _N, _FILE,
        "the footer lists every batch of the stream; random access passes over the others")

    # --- tensors --------------------------------------------------------------------------------------

    TENSOR_TYPE = ("tensor.type", _V, f"{_TENSOR_FBS}, table Tensor",
        "the type of a tensor's values has a fixed width")
    TENSOR_TYPE_BOOL = ("tensor.type-bool", _N, f"{_TENSOR_FBS}, table Tensor",
        "a value takes whole bytes, in which strides count; how booleans lie in a tensor is not said")
    TENSOR_SHAPE_NEGATIVE = ("tensor.shape-negative", _V, f"{_TENSOR_FBS}, table TensorDim",
        "the size of a dimension is not negative")
    TENSOR_STRIDES_COUNT = ("tensor.strides-count", _V, f"{_TENSOR_FBS}, table Tensor",
        "a tensor has one stride per dimension, or none for row-major order")
    TENSOR_STRIDE_NEGATIVE = ("tensor.stride-negative", _V, f"{_TENSOR_FBS}, table Tensor",
        "strides are not negative")
    TENSOR_DATA_OUT_OF_BODY = ("tensor.data-out-of-body", _V, f"{_TENSOR_FBS}, table Tensor",
        "the data of a tensor lies inside the body")
    TENSOR_DATA_TOO_SMALL = ("tensor.data-too-small", _V, f"{_TENSOR_FBS}, table Tensor",
        "the data holds every value that shape and strides reach")
    TENSOR_ALIGNMENT = ("tensor.alignment", _N, _OTHER,
        "the body of a tensor starts at a multiple of 64 bytes from the start of its message")
    SPARSE_LENGTH_NEGATIVE = ("sparse.length-negative", _V, f"{_SPARSE_FBS}, table SparseTensor",
        "the number of values that are not zero is not negative")
    SPARSE_DIMENSIONS = ("sparse.dimensions", _V, f"{_SPARSE_FBS}, union SparseTensorIndex",
        "an index of compressed rows or columns has 2 dimensions, one of compressed fibers at least 2")
    SPARSE_BUFFER_COUNT = ("sparse.buffer-count", _V, f"{_SPARSE_FBS}, table SparseTensorIndexCSF",
        "compressed fibers have one buffer of indices per dimension, and one of pointers per dimension but the last")
    SPARSE_BUFFER_OUT_OF_BODY = ("sparse.buffer-out-of-body", _V, f"{_SPARSE_FBS}, table SparseTensor",
        "the buffers of a sparse tensor lie inside the body")
    SPARSE_BUFFER_TOO_SMALL = ("sparse.buffer-too-small", _V, f"{_SPARSE_FBS}, union SparseTensorIndex",
        "index and data hold as many entries as shape and number of values require")
    SPARSE_BUFFER_OVERLAP = ("sparse.buffer-overlap", _N, f"{_SPARSE_FBS}, table SparseTensor",
        "the buffers of a sparse tensor share no bytes; where they do, the later one is not judged")
    SPARSE_ALIGNMENT = ("sparse.alignment", _N, _OTHER,
        "the buffers of a sparse tensor start at multiples of 64 bytes from the start of the message")
    SPARSE_STRIDES = ("sparse.strides", _V, f"{_SPARSE_FBS}, table SparseTensorIndexCOO",
        "the matrix of coordinates has two strides, neither negative, or none for row-major order")
    SPARSE_INDEX_RANGE = ("sparse.index-range", _V, f"{_SPARSE_FBS}, union SparseTensorIndex",
        "an index is inside its dimension")
    SPARSE_INDEX_ORDER = ("sparse.index-order", _V, f"{_SPARSE_FBS}, table SparseMatrixIndexCSX",
        "indices are sorted within each compressed row or column")
    SPARSE_NOT_CANONICAL = ("sparse.not-canonical", _V, f"{_SPARSE_FBS}, table SparseTensorIndexCOO",
        "coordinates flagged as canonical are sorted lexicographically and occur once")
    SPARSE_POINTERS = ("sparse.pointers", _V, f"{_SPARSE_FBS}, union SparseTensorIndex",
        "pointers start at 0, never decrease and end at the number of entries that they divide")
    SPARSE_AXIS_ORDER = ("sparse.axis-order", _V, f"{_SPARSE_FBS}, table SparseTensorIndexCSF",
        "the axis order names every dimension once")
    # fmt: on


MAX_FAULTS: Final = 256
"""The number of faults kept per message: hostile bytes may break a rule many times."""
MAX_TEXT: Final = 240
"""The number of characters kept of a path or an observation: a name or value may be as long as the bytes."""


@dataclasses.dataclass(frozen=True, slots=True)
class Fault:
    """One rule, broken at one position.

    ``start`` and ``end`` are offsets in the bytes that were read, ``end`` exclusive. The position of a value inside a
    compressed buffer is that of the stored buffer.
    ``path`` names the part: a field path (``items.item.price``) with a role (``items offsets``), or a position in the
    metadata (``Message.header.fields[2].type``).
    """

    rule: WireRule
    start: int
    end: int
    path: str
    required: str
    observed: str

    @property
    def severity(self) -> Severity:
        """The severity of the fault's rule."""
        return self.rule.severity

    def __str__(self) -> str:
        where = f"{self.path}, " if self.path else ""
        return f"{self.rule}: {where}bytes {self.start} to {self.end}: expected {self.required}; found {self.observed}"


def report(faults: list[Fault], rule: WireRule, place: tuple[int, int], path: str, observed: str) -> None:
    """Append a fault to ``faults``, unless there are :data:`MAX_FAULTS` already; long texts are cut."""
    if len(faults) < MAX_FAULTS:
        faults.append(Fault(rule, *place, _cut(path), rule.requirement, _cut(observed)))


def _cut(text: str) -> str:
    return text if len(text) <= MAX_TEXT else text[: MAX_TEXT - 3] + "..."
