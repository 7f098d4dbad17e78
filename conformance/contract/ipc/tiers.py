"""The duty of readers for each rule that bytes can break: to refuse, or to refuse or accept as they like.

Structure is the data that a reader needs to find the values: lengths, references, places, counts, offsets, and the
values of enums and unions. A reader that ignores a fault of these returns other memory, or other rows, than were
written. A fault of content (text that is not UTF-8, a decimal beyond its precision) leaves every value in its place;
the format's page on security leaves the validation of arrays to the user. A table's inline size is treated as
content, because no reader needs it: the place of a value follows from the vtable's entries, and the metadata bounds
these.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from conformance.wire import Rule, WireRule

__all__ = ["REFUSED", "ROWS_CERTAIN", "UNDECIDED"]

_GROUPS: Final[Mapping[str, tuple[Rule, ...]]] = {
    "truncated": (
        Rule.PREFIX_EMPTY,
        Rule.PREFIX_TRUNCATED,
        Rule.METADATA_TRUNCATED,
        Rule.MESSAGE_BODY_TRUNCATED,
    ),
    "framing": (Rule.PREFIX_LENGTH_NEGATIVE, Rule.MESSAGE_BODY_LENGTH_NEGATIVE),
    "flatbuffers": (
        Rule.FLATBUF_ROOT,
        Rule.FLATBUF_OFFSET_OUT_OF_RANGE,
        Rule.FLATBUF_VTABLE_OUT_OF_RANGE,
        Rule.FLATBUF_VTABLE_SIZE,
        Rule.FLATBUF_VECTOR_OUT_OF_RANGE,
        Rule.FLATBUF_STRING_OUT_OF_RANGE,
        Rule.FLATBUF_UNION_VALUE_MISSING,
        Rule.FLATBUF_UNION_TYPE_MISSING,
        Rule.FLATBUF_REQUIRED_MISSING,
    ),
    "unknown": (
        Rule.MESSAGE_VERSION_UNKNOWN,
        Rule.FLATBUF_ENUM_UNKNOWN,
        Rule.FLATBUF_UNION_TYPE_UNKNOWN,
        Rule.COMPRESSION_CODEC_UNKNOWN,
        Rule.COMPRESSION_METHOD_UNKNOWN,
    ),
    "schema": (
        Rule.SCHEMA_FIELD_WITHOUT_TYPE,
        Rule.SCHEMA_CHILD_COUNT,
        Rule.SCHEMA_INT_WIDTH,
        Rule.SCHEMA_DECIMAL_WIDTH,
        Rule.SCHEMA_TIME_WIDTH,
        Rule.SCHEMA_SIZE_NEGATIVE,
        Rule.SCHEMA_UNION_TYPE_IDS,
        Rule.SCHEMA_MAP_ENTRIES,
        Rule.SCHEMA_RUN_ENDS_TYPE,
    ),
    "body": (
        Rule.BATCH_LENGTH_NEGATIVE,
        Rule.BATCH_NODE_COUNT,
        Rule.BATCH_BUFFER_COUNT,
        Rule.BATCH_VARIADIC_COUNT,
        Rule.BATCH_NODE_LENGTH_NEGATIVE,
        Rule.BATCH_COLUMN_LENGTH,
        Rule.BUFFER_OFFSET_NEGATIVE,
        Rule.BUFFER_LENGTH_NEGATIVE,
        Rule.BUFFER_OUT_OF_BODY,
        Rule.VALIDITY_MISSING,
        Rule.VALIDITY_TOO_SMALL,
        Rule.OFFSETS_TOO_SMALL,
        Rule.DATA_TOO_SMALL,
        Rule.STRUCT_CHILD_LENGTH,
        Rule.FIXED_SIZE_LIST_CHILD_LENGTH,
        Rule.UNION_CHILD_LENGTH,
        Rule.RUN_ENDS_CHILD_LENGTH,
    ),
    "offsets": (
        Rule.OFFSETS_NEGATIVE,
        Rule.OFFSETS_NOT_MONOTONIC,
        Rule.OFFSETS_BEYOND_DATA,
        Rule.LIST_VIEW_RANGE,
        Rule.VIEW_LENGTH_NEGATIVE,
        Rule.VIEW_BUFFER_INDEX,
        Rule.VIEW_RANGE,
        Rule.RUN_ENDS_NOT_INCREASING,
        Rule.RUN_ENDS_SHORT,
        Rule.UNION_TYPE_ID,
        Rule.UNION_OFFSET_RANGE,
    ),
    "compression": (
        Rule.COMPRESSION_PREFIX_TRUNCATED,
        Rule.COMPRESSION_PREFIX_NEGATIVE,
        Rule.COMPRESSION_FRAME,
        Rule.COMPRESSION_SIZE_MISMATCH,
    ),
    "dictionary": (
        Rule.DICTIONARY_TYPES_DIFFER,
        Rule.DICTIONARY_DATA_MISSING,
        Rule.DICTIONARY_DELTA_WITHOUT_BASE,
        Rule.DICTIONARY_MISSING,
        Rule.DICTIONARY_INDEX_NEGATIVE,
        Rule.DICTIONARY_INDEX_RANGE,
    ),
    "stream": (
        Rule.MESSAGE_HEADER_MISSING,
        Rule.MESSAGE_HEADER_KIND,
        Rule.STREAM_SCHEMA_FIRST,
        Rule.STREAM_SECOND_SCHEMA,
        Rule.STREAM_MESSAGE_KIND,
    ),
    "file": (
        Rule.FILE_MAGIC_END,
        Rule.FILE_DICTIONARY_REPLACED,
        Rule.FOOTER_LENGTH_NOT_POSITIVE,
        Rule.FOOTER_OUT_OF_RANGE,
        Rule.FOOTER_SCHEMA_MISSING,
        Rule.BLOCK_OUT_OF_FILE,
        Rule.BLOCK_NO_MESSAGE,
        Rule.BLOCK_HEADER_KIND,
    ),
    "tensor": (
        Rule.TENSOR_TYPE,
        Rule.TENSOR_SHAPE_NEGATIVE,
        Rule.TENSOR_STRIDES_COUNT,
        Rule.TENSOR_STRIDE_NEGATIVE,
        Rule.TENSOR_DATA_OUT_OF_BODY,
        Rule.TENSOR_DATA_TOO_SMALL,
        Rule.SPARSE_LENGTH_NEGATIVE,
        Rule.SPARSE_DIMENSIONS,
        Rule.SPARSE_BUFFER_COUNT,
        Rule.SPARSE_BUFFER_OUT_OF_BODY,
        Rule.SPARSE_BUFFER_TOO_SMALL,
        Rule.SPARSE_STRIDES,
        Rule.SPARSE_INDEX_RANGE,
        Rule.SPARSE_POINTERS,
        Rule.SPARSE_AXIS_ORDER,
    ),
}

REFUSED: Final[Mapping[WireRule, str]] = MappingProxyType(
    {rule: f"reader.refuses.{group}" for group, rules in _GROUPS.items() for rule in rules}
)
"""The rules whose breach a reader has to refuse, each with the clause that requires it."""

ROWS_CERTAIN: Final = frozenset(
    {
        Rule.METADATA_LENGTH_NOT_MULTIPLE_OF_8,
        Rule.MESSAGE_BODY_LENGTH_NOT_MULTIPLE_OF_8,
        Rule.BUFFER_UNALIGNED,
        Rule.BUFFER_OVERLAP,
        Rule.COMPRESSION_CHECKSUM,  # LZ4 lets decoders ignore checks, and Polars 2.1.0 ignores the content checksum
        Rule.BATCH_NULLS_IN_NON_NULLABLE,
        Rule.FLATBUF_UNALIGNED,
        Rule.FLATBUF_STRING_NOT_TERMINATED,
        Rule.MESSAGE_SCHEMA_WITH_BODY,
        Rule.SCHEMA_TIME_ZONE,
        Rule.SCHEMA_EXTENSION_STORAGE,
        Rule.SCHEMA_EXTENSION_PARAMETERS,
        Rule.UNION_CHILD_LONGER,
        Rule.DICTIONARY_ID_UNKNOWN,
        Rule.BLOCK_OFFSET_NOT_MULTIPLE_OF_8,
        Rule.BLOCK_METADATA_LENGTH_NOT_MULTIPLE_OF_8,
    }
)
"""Rules whose breach leaves no doubt about the rows: a reader that accepts such bytes has to return these rows."""

UNDECIDED: Final = frozenset(
    {
        Rule.MESSAGE_VERSION_BEFORE_V4,
        Rule.FLATBUF_DEPTH,
        Rule.FLATBUF_TABLES,
        Rule.SCHEMA_FIELDS_MISSING,
        Rule.COMPRESSION_EXPANSION,
        Rule.DICTIONARY_LATE,
        Rule.FILE_DELTA_ORDER,
        Rule.BLOCK_ORDER,
        Rule.BLOCK_UNLISTED,
        Rule.TENSOR_TYPE_BOOL,
        Rule.MESSAGE_SECOND_MESSAGE,
        Rule.MESSAGE_END_OF_STREAM,
        Rule.MESSAGE_TRAILING_BYTES,
    }
)
"""Rules on which texts conflict or are silent, or which set a limit that each reader may choose: either answer is
permitted.
"""
