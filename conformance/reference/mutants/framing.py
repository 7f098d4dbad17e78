"""Lies about how many messages a field holds, and about the frame of each."""

from __future__ import annotations

import struct

import pyarrow as pa

from conformance.reference.flatbuffers import write
from conformance.reference.message import CONTINUATION, END_OF_STREAM, Message, batch_message, frame, schema_message
from conformance.reference.mutants.register import batch_lie, schema_lie

_GOCCY_398 = "https://github.com/goccy/bigquery-emulator/issues/398"
_GOCCY_493 = "https://github.com/goccy/bigquery-emulator/issues/493"
_BQEMULATOR_15 = "https://github.com/jjviscomi/bqemulator/issues/15"
_BQEMULATOR_31 = "https://github.com/jjviscomi/bqemulator/pull/31"

_EMPTY = pa.record_batch([pa.array([], pa.int64())], names=["x"])


def _some_schema() -> bytes:
    return schema_message(_EMPTY.schema).encode()


@batch_lie(
    "batch.whole-stream",
    kills="framing.batch-without-schema",
    also={
        "framing.batch-single-message": "the batch follows the schema",
        "framing.batch-without-end-of-stream": "a whole stream ends in a marker",
    },
    defects=("B-01",),
    source=_BQEMULATOR_15,
)
def batch_as_stream(message: Message) -> bytes:
    """The batch field holds a whole IPC stream: schema, batch, end-of-stream marker."""
    return _some_schema() + message.encode() + END_OF_STREAM


@batch_lie(
    "batch.schema-first",
    kills="framing.batch-without-schema",
    also={"framing.batch-single-message": "the batch follows the schema"},
    defects=("B-01",),
    source=_GOCCY_398,
)
def schema_before_batch(message: Message) -> bytes:
    """The batch field holds the schema message and then the batch."""
    return _some_schema() + message.encode()


@batch_lie("batch.end-of-stream", kills="framing.batch-without-end-of-stream", defects=("B-01",), source=_BQEMULATOR_31)
def batch_with_end_of_stream(message: Message) -> bytes:
    """The batch field carries an end-of-stream marker after the batch."""
    return message.encode() + END_OF_STREAM


@batch_lie("batch.second-batch", kills="framing.batch-single-message")
def two_batches(message: Message) -> bytes:
    """The batch field holds the same batch twice."""
    return message.encode() + message.encode()


@batch_lie("batch.trailing-bytes", kills="framing.batch-without-trailing-bytes")
def batch_with_trailing_bytes(message: Message) -> bytes:
    """Eight bytes that are no message follow the batch."""
    return message.encode() + b"\x01\x02\x03\x04\x05\x06\x07\x08"


@batch_lie(
    "batch.dictionary-first",
    kills="framing.batch-without-dictionary",
    also={"framing.batch-single-message": "the batch follows the dictionary"},
    defects=("B-04",),
    source=_BQEMULATOR_31,
)
def dictionary_before_batch(message: Message) -> bytes:
    """The batch field holds a DictionaryBatch message and then the batch."""
    inner = batch_message(_EMPTY)
    tree, body = inner.complete()
    dictionary = {**tree, "header_type": 2, "header": {"id": 1, "data": tree["header"]}}
    return frame(dictionary, body) + message.encode()


@batch_lie("batch.legacy-framing", kills="framing.not-legacy", defects=("I-01",))
def legacy_batch(message: Message) -> Message:
    """The batch starts with its length, as before Arrow 0.15, without a continuation word."""
    message.continuation = b""
    return message


@schema_lie("schema.legacy-framing", kills="framing.not-legacy", defects=("I-01",))
def legacy_schema(message: Message) -> Message:
    """The schema starts with its length, as before Arrow 0.15, without a continuation word."""
    message.continuation = b""
    return message


@schema_lie(
    "schema.end-of-stream", kills="framing.schema-without-end-of-stream", defects=("B-03",), source=_BQEMULATOR_31
)
def schema_with_end_of_stream(message: Message) -> bytes:
    """The schema field carries an end-of-stream marker after the schema."""
    return message.encode() + END_OF_STREAM


@schema_lie(
    "schema.empty-batch",
    kills="framing.schema-without-batch",
    also={"framing.schema-without-end-of-stream": "the empty stream ends in a marker"},
    defects=("B-02",),
    source=_GOCCY_493,
)
def schema_with_empty_batch(message: Message) -> bytes:
    """The schema field holds the schema, a batch without rows and an end-of-stream marker."""
    return message.encode() + batch_message(_EMPTY).encode() + END_OF_STREAM


@schema_lie("schema.twice", kills="framing.schema-single-message")
def schema_twice(message: Message) -> bytes:
    """The schema field holds the schema twice."""
    return message.encode() + message.encode()


@schema_lie("schema.trailing-bytes", kills="framing.schema-without-trailing-bytes")
def schema_with_trailing_bytes(message: Message) -> bytes:
    """Eight bytes that are no message follow the schema."""
    return message.encode() + b"\x01\x02\x03\x04\x05\x06\x07\x08"


@schema_lie("schema.bare-flatbuffer", kills="framing.schema-prefix", defects=("F-04",))
def schema_without_prefix(message: Message) -> bytes:
    """The schema is the bare FlatBuffers message, without the 8 bytes of prefix."""
    return write("Message", message.tree)


@batch_lie("batch.bare-flatbuffer", kills="framing.batch-prefix")
def batch_without_prefix(message: Message) -> bytes:
    """The batch is the bare FlatBuffers message and the body, without the 8 bytes of prefix."""
    return message.encode()[8:]


@schema_lie("schema.empty", kills="framing.schema-not-empty")
def no_schema(message: Message) -> bytes:  # noqa: ARG001  # nothing of it is used: that is the lie
    """The schema field is there and holds no bytes."""
    return b""


@batch_lie("batch.empty", kills="framing.batch-not-empty")
def no_batch(message: Message) -> bytes:  # noqa: ARG001  # as above
    """The batch field is there and holds no bytes."""
    return b""


@batch_lie("batch.truncated-body", kills="framing.batch-body-complete", defects=("I-04", "I-05"))
def truncated_body(message: Message) -> bytes:
    """The last 8 bytes of the body are missing."""
    if not message.complete()[1]:
        raise LookupError("the body is empty already")
    return message.encode()[:-8]


@batch_lie("batch.metadata-length-negative", kills="framing.metadata-length")
def negative_metadata_length(message: Message) -> bytes:
    """The metadata length is negative."""
    data = message.encode()
    return data[:4] + struct.pack("<i", -16) + data[8:]


@batch_lie("batch.metadata-length-beyond", kills="framing.metadata-length")
def metadata_length_beyond(message: Message) -> bytes:
    """The metadata length announces more bytes than there are."""
    data = message.encode()
    return data[:4] + struct.pack("<i", len(data) * 2) + data[8:]


@batch_lie("batch.metadata-unaligned", kills="framing.metadata-alignment", defects=("I-25",))
def unaligned_metadata(message: Message) -> bytes:
    """Prefix, metadata and padding end 4 bytes off a multiple of 8, and the body begins there."""
    tree, body = message.complete()
    metadata = write("Message", tree)
    metadata += bytes(-len(metadata) % 8 + 4)
    return CONTINUATION + struct.pack("<i", len(metadata)) + metadata + body


@batch_lie("batch.end-of-stream-only", kills="framing.batch-without-end-of-stream", defects=("I-07",))
def only_end_of_stream(message: Message) -> bytes:  # noqa: ARG001  # as above
    """The batch field holds an end-of-stream marker and nothing else."""
    return END_OF_STREAM


@batch_lie("batch.is-a-schema", kills="framing.batch-without-schema")
def batch_is_schema(message: Message) -> bytes:  # noqa: ARG001  # as above
    """The batch field holds a Schema message instead of a batch."""
    return _some_schema()


@schema_lie("schema.is-a-batch", kills="framing.schema-header-kind")
def schema_is_batch(message: Message) -> bytes:  # noqa: ARG001  # as above
    """The schema field holds a record batch instead of a schema."""
    return batch_message(_EMPTY).encode()


@schema_lie("schema.with-body", kills="framing.schema-without-body")
def schema_with_body(message: Message) -> bytes:
    """The schema message announces a body and has one."""
    return frame({**message.tree, "bodyLength": 16}, bytes(16))


@batch_lie("batch.is-a-tensor", kills="framing.batch-header-kind")
def batch_is_a_tensor(message: Message) -> bytes:
    """The message in the batch field is a Tensor of one number."""
    number = {"type_type": 2, "type": {"bitWidth": 64, "is_signed": 1}}
    tensor = {**number, "shape": [{"size": 1}], "data": (0, 8)}
    return frame({**message.tree, "header_type": 4, "header": tensor, "bodyLength": 8}, bytes(8))
