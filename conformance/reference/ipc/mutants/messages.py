"""Mutants of single messages, in a stream: of its schema, or of its first record batch.

The mutants are those of :mod:`conformance.reference.mutants`; this module names the rules of the format that they
break. A mutant that breaks only a rule of the service (one message per field, for example) is not a mutant of a
stream.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from conformance.reference.ipc.models import StreamModel
from conformance.reference.ipc.register import mutant
from conformance.reference.mutants import BYTE_MUTANTS
from conformance.reference.serializer import Serializer, encoded
from conformance.wire.faults import Rule

__all__: list[str] = []

_FIXED: Final = ("types.int32", "rows.several", "rows.thousand")
_TEXT: Final = ("types.utf8", "rows.several")
_VIEWS: Final = ("types.string-view", "types.binary-view")
_UNIONS: Final = ("types.union-sparse", "types.union-dense")
_ALL: Final = ("rows.several", "nested.mixed", "nulls.words", "types.utf8")

_BROKEN: Final[dict[str, tuple[Rule | tuple[Rule, ...], tuple[str, ...]]]] = {
    "body.length-unaligned": (Rule.MESSAGE_BODY_LENGTH_NOT_MULTIPLE_OF_8, ("types.int32", "types.utf8")),
    "body.forgotten-bytes": (Rule.BODY_UNACCOUNTED, _ALL),
    "batch.length-negative": (Rule.BATCH_LENGTH_NEGATIVE, _ALL),
    "batch.length-long": (Rule.BATCH_COLUMN_LENGTH, _ALL),
    "batch.node-missing": (Rule.BATCH_NODE_COUNT, _ALL),
    "batch.node-surplus": ((Rule.BATCH_NODE_COUNT, Rule.BATCH_BUFFER_COUNT), _ALL),
    "batch.buffer-missing": (Rule.BATCH_BUFFER_COUNT, _ALL),
    "batch.buffer-surplus": (Rule.BATCH_BUFFER_COUNT, _ALL),
    "node.length-negative": ((Rule.BATCH_NODE_LENGTH_NEGATIVE, Rule.BATCH_COLUMN_LENGTH), _ALL),
    "node.null-count-surplus": ((Rule.BATCH_NULL_COUNT_RANGE, Rule.VALIDITY_MISSING), ("types.utf8", "rows.several")),
    "node.null-count-zero": (Rule.BATCH_NULL_COUNT_MISMATCH, _ALL),
    "validity.absent": (Rule.VALIDITY_MISSING, _ALL),
    "validity.short": (Rule.VALIDITY_TOO_SMALL, ("nulls.words",)),
    "offsets.short": (Rule.OFFSETS_TOO_SMALL, _ALL),
    "data.short": (Rule.DATA_TOO_SMALL, _FIXED),
    "buffer.offset-negative": (Rule.BUFFER_OFFSET_NEGATIVE, _ALL),
    "buffer.length-negative": (Rule.BUFFER_LENGTH_NEGATIVE, _ALL),
    "buffer.beyond-body": (Rule.BUFFER_OUT_OF_BODY, _ALL),
    "buffer.unaligned": (Rule.BUFFER_UNALIGNED, _ALL),
    "buffer.overlap": (Rule.BUFFER_OVERLAP, ("nested.mixed", "nulls.words", "types.struct")),
    "offsets.negative": (Rule.OFFSETS_NEGATIVE, _TEXT),
    "offsets.decreasing": (Rule.OFFSETS_NOT_MONOTONIC, ("types.utf8", "nulls.words")),
    "offsets.beyond-data": (Rule.OFFSETS_BEYOND_DATA, _TEXT),
    "compression.codec-unknown": (Rule.COMPRESSION_CODEC_UNKNOWN, _FIXED),
    "compression.method-unknown": (Rule.COMPRESSION_METHOD_UNKNOWN, _FIXED),
    "compression.prefix-missing": (Rule.COMPRESSION_PREFIX_TRUNCATED, _FIXED),
    "compression.prefix-negative": (Rule.COMPRESSION_PREFIX_NEGATIVE, _FIXED),
    "compression.raw-block": (Rule.COMPRESSION_FRAME, _FIXED),
    "compression.content-checksum-wrong": (Rule.COMPRESSION_CHECKSUM, _FIXED),
    "compression.block-checksum-wrong": (Rule.COMPRESSION_CHECKSUM, _FIXED),
    "compression.content-size-wrong": (Rule.COMPRESSION_CHECKSUM, _FIXED),
    "compression.header-checksum-wrong": (Rule.COMPRESSION_CHECKSUM, _FIXED),
    "compression.two-frames": ((Rule.COMPRESSION_TRAILING_BYTES, Rule.COMPRESSION_SIZE_MISMATCH), _FIXED),
    "compression.padding-in-length": (Rule.COMPRESSION_PADDING_IN_LENGTH, ("types.int32", "rows.several")),
    "compression.bomb": (Rule.COMPRESSION_EXPANSION, ("types.int32",)),
    "metadata.stale-bytes": (Rule.FLATBUF_UNACCOUNTED_BYTES, _FIXED),
    "metadata.boolean-of-two": (Rule.FLATBUF_BOOL_NOT_0_OR_1, _FIXED),
    "compression.size-wrong": (Rule.COMPRESSION_SIZE_MISMATCH, _FIXED),
    "batch.whole-stream": (Rule.STREAM_SECOND_SCHEMA, _ALL),
    "batch.dictionary-first": (Rule.DICTIONARY_ID_UNKNOWN, _ALL),
    "batch.trailing-bytes": (Rule.METADATA_TRUNCATED, _ALL),
    "schema.bare-flatbuffer": ((Rule.FLATBUF_ROOT, Rule.METADATA_LENGTH_NOT_MULTIPLE_OF_8), _ALL),
    "batch.bare-flatbuffer": ((Rule.FLATBUF_ROOT, Rule.METADATA_LENGTH_NOT_MULTIPLE_OF_8), _ALL),
    "batch.metadata-length-negative": (Rule.PREFIX_LENGTH_NEGATIVE, _ALL),
    "batch.metadata-unaligned": (Rule.METADATA_LENGTH_NOT_MULTIPLE_OF_8, _ALL),
    "schema.with-body": (Rule.MESSAGE_SCHEMA_WITH_BODY, _ALL),
    "batch.is-a-tensor": (Rule.STREAM_MESSAGE_KIND, _ALL),
    "views.counts-missing": (Rule.BATCH_VARIADIC_COUNT, _VIEWS),
    "views.counts-negative": (Rule.BATCH_VARIADIC_COUNT, _VIEWS),
    "views.length-negative": (Rule.VIEW_LENGTH_NEGATIVE, _VIEWS),
    "views.padding-not-zero": (Rule.VIEW_INLINE_PADDING, _VIEWS),
    "list-views.beyond-child": (Rule.LIST_VIEW_RANGE, ("types.list-view",)),
    "map.key-nullable": (Rule.SCHEMA_MAP_NULLABLE, ("types.map",)),
    "map.entries-not-a-pair": (Rule.SCHEMA_MAP_ENTRIES, ("types.map",)),
    "run-ends.unsigned": (Rule.SCHEMA_RUN_ENDS_TYPE, ("types.run-end-encoded-32",)),
    "union.type-id-twice": (Rule.SCHEMA_UNION_TYPE_IDS, _UNIONS),
    "union.type-id-unknown": (Rule.UNION_TYPE_ID, _UNIONS),
    "flatbuffers.root-beyond": (Rule.FLATBUF_ROOT, _ALL),
    "flatbuffers.header-reference-beyond": (Rule.FLATBUF_OFFSET_OUT_OF_RANGE, _ALL),
    "flatbuffers.header-reference-null": (Rule.FLATBUF_OFFSET_NULL, _ALL),
    "flatbuffers.vtable-beyond": (Rule.FLATBUF_VTABLE_OUT_OF_RANGE, _ALL),
    "flatbuffers.vtable-size-odd": (Rule.FLATBUF_VTABLE_SIZE, _ALL),
    "flatbuffers.table-size-beyond": (Rule.FLATBUF_TABLE_SIZE, _ALL),
    "flatbuffers.slot-outside-table": ((Rule.FLATBUF_SLOT_OUT_OF_TABLE, Rule.MESSAGE_VERSION_BEFORE_V4), _ALL),
    "flatbuffers.vector-beyond": (Rule.FLATBUF_VECTOR_OUT_OF_RANGE, _ALL),
    "flatbuffers.string-beyond": (Rule.FLATBUF_STRING_OUT_OF_RANGE, _ALL),
    "flatbuffers.string-not-terminated": (Rule.FLATBUF_STRING_NOT_TERMINATED, _ALL),
    "flatbuffers.string-not-utf8": (Rule.FLATBUF_STRING_NOT_UTF8, _ALL),
    "flatbuffers.type-unknown": (Rule.FLATBUF_UNION_TYPE_UNKNOWN, _ALL),
    "flatbuffers.type-without-kind": ((Rule.FLATBUF_UNION_TYPE_MISSING, Rule.SCHEMA_FIELD_WITHOUT_TYPE), _ALL),
    "flatbuffers.kind-without-type": (Rule.FLATBUF_UNION_VALUE_MISSING, _ALL),
    "flatbuffers.version-unaligned": (Rule.FLATBUF_UNALIGNED, _ALL),
    "flatbuffers.version-unknown": (Rule.MESSAGE_VERSION_UNKNOWN, _ALL),
    "flatbuffers.version-absent": (Rule.MESSAGE_VERSION_BEFORE_V4, _ALL),
    "flatbuffers.time-unit-unknown": (Rule.FLATBUF_ENUM_UNKNOWN, _ALL),
    "metadata.tensor-without-shape": ((Rule.FLATBUF_REQUIRED_MISSING, Rule.STREAM_SCHEMA_FIRST), _ALL),
    "metadata.too-deep": (Rule.FLATBUF_DEPTH, _ALL),
    "metadata.one-field-for-all": (Rule.FLATBUF_TABLES, _ALL),
    "metadata.without-header": (Rule.MESSAGE_HEADER_MISSING, _ALL),
    "metadata.field-without-type": (Rule.SCHEMA_FIELD_WITHOUT_TYPE, _FIXED),
    "metadata.integer-with-child": (Rule.SCHEMA_CHILD_COUNT, _FIXED),
    "metadata.integer-of-24-bits": (Rule.SCHEMA_INT_WIDTH, _FIXED),
    "schema.big-endian": ((Rule.OFFSETS_BEYOND_DATA, Rule.OFFSETS_NOT_MONOTONIC), ("types.utf8", "rows.several")),
    "node.order-reversed": ((Rule.BATCH_NULL_COUNT_MISMATCH,), ("types.union-sparse",)),
}
"""Mutant of a message to the rules that it breaks in a stream, and the samples that it is tried on.

A second rule is the same thing seen from the other side: a surplus column has a node and buffers.
"""


def _in_stream(serializer: Serializer) -> Callable[[StreamModel], None]:
    def tell(model: StreamModel) -> None:
        before = model.encode()
        if serializer.rewrites_schemas:
            schema = model.schema
            model.rewrite(schema, encoded(serializer.write_schema(schema)))
        if serializer.rewrites_batches:
            batch = model.batches[0]
            model.rewrite(batch, encoded(serializer.write_batch(batch)))
        if model.encode() == before:
            raise LookupError("the lie does not apply")

    return tell


for _name, (_rules, _on) in _BROKEN.items():
    _reported = BYTE_MUTANTS[_name]
    assert _reported.serializer is not None, "only lies about bytes can be told in a stream"
    _tell = _in_stream(_reported.serializer)
    _tell.__doc__ = _reported.fault
    mutant(f"message.{_name}", _rules, on=_on, source=_reported.source)(_tell)
