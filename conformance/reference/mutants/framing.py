"""Mutants of framing: the number of messages in a field, and the frame of each."""

from __future__ import annotations

import struct

import pyarrow as pa

from conformance.reference.flatbuffers import SHARED_FIRST, write
from conformance.reference.message import (
    CONTINUATION,
    END_OF_STREAM,
    DraftMessage,
    batch_message,
    frame,
    schema_message,
)
from conformance.reference.register import batch_mutant, schema_mutant

_GOCCY_398 = "https://github.com/goccy/bigquery-emulator/issues/398"
_GOCCY_493 = "https://github.com/goccy/bigquery-emulator/issues/493"
_BQEMULATOR_15 = "https://github.com/jjviscomi/bqemulator/issues/15"
_BQEMULATOR_31 = "https://github.com/jjviscomi/bqemulator/pull/31"

_EMPTY = pa.record_batch([pa.array([], pa.int64())], names=["x"])
_STRAY = b"\x01\x02\x03\x04\x05\x06\x07\x08"


def _dictionary() -> bytes:
    tree, body = batch_message(_EMPTY).complete()
    return frame({**tree, "header_type": 2, "header": {"id": 1, "data": tree["header"]}}, body)


def _schema(message: DraftMessage) -> bytes:
    """The schema of the table that the message is of, so that a client fails on the frame and on nothing else."""
    return schema_message(message.schema or _EMPTY.schema).encode()


def _batch(message: DraftMessage) -> bytes:
    """A batch of that table, without rows."""
    schema = message.schema or _EMPTY.schema
    try:
        columns = [pa.array([], field.type) for field in schema]
    except pa.ArrowNotImplementedError:
        raise LookupError("pyarrow makes no empty array of one of the types, such as unions") from None
    return batch_message(pa.RecordBatch.from_arrays(columns, schema=schema)).encode()


def _legacy(message: DraftMessage) -> DraftMessage:
    message.continuation = b""
    return message


# The content of a field in place of its one message: the clause that it breaks, the text, and the bytes.
# fmt: off
batch_mutant("batch.whole-stream", kills="framing.batch-without-schema",
          also={"framing.batch-single-message": "the batch follows the schema",
                "framing.batch-without-end-of-stream": "a whole stream ends in a marker"},
          defects=("B-01",), source=_BQEMULATOR_15,
          fault="The batch field holds a whole IPC stream: schema, batch, end-of-stream marker.")(
    lambda message: _schema(message) + message.encode() + END_OF_STREAM)
batch_mutant("batch.schema-first", kills="framing.batch-without-schema",
          also={"framing.batch-single-message": "the batch follows the schema"},
          defects=("B-01",), source=_GOCCY_398,
          fault="The batch field holds the schema message and then the batch.")(
    lambda message: _schema(message) + message.encode())
batch_mutant("batch.dictionary-first", kills="framing.batch-without-dictionary",
          also={"framing.batch-single-message": "the batch follows the dictionary"},
          defects=("B-04",), source=_BQEMULATOR_31,
          fault="The batch field holds a DictionaryBatch message and then the batch.")(
    lambda message: _dictionary() + message.encode())
batch_mutant("batch.end-of-stream", kills="framing.batch-without-end-of-stream",
          defects=("B-01",), source=_BQEMULATOR_31,
          fault="The batch field carries an end-of-stream marker after the batch.")(
    lambda message: message.encode() + END_OF_STREAM)
batch_mutant("batch.second-batch", kills="framing.batch-single-message",
          fault="The batch field holds the same batch twice.")(
    lambda message: 2 * message.encode())
batch_mutant("batch.trailing-bytes", kills="framing.batch-without-trailing-bytes",
          fault="Eight bytes that are no message follow the batch.")(
    lambda message: message.encode() + _STRAY)
batch_mutant("batch.legacy-framing", kills="framing.not-legacy", defects=("I-01",),
          fault="The batch starts with its length, as before Arrow 0.15, without a continuation word.")(_legacy)
batch_mutant("batch.bare-flatbuffer", kills="framing.batch-prefix",
          fault="The batch is the bare FlatBuffers message and the body, without the 8 bytes of prefix.")(
    lambda message: message.encode()[8:])
batch_mutant("batch.empty", kills="framing.batch-not-empty",
          fault="The batch field is there and holds no bytes.")(lambda _: b"")
batch_mutant("batch.end-of-stream-only", kills="framing.batch-without-end-of-stream", defects=("I-07",),
          fault="The batch field holds an end-of-stream marker and nothing else.")(lambda _: END_OF_STREAM)
batch_mutant("batch.is-a-schema", kills="framing.batch-without-schema",
          fault="The batch field holds a Schema message instead of a batch.")(_schema)
schema_mutant("schema.legacy-framing", kills="framing.not-legacy", defects=("I-01",),
           fault="The schema starts with its length, as before Arrow 0.15, without a continuation word.")(_legacy)
schema_mutant("schema.end-of-stream", kills="framing.schema-without-end-of-stream",
           defects=("B-03",), source=_BQEMULATOR_31,
           fault="The schema field carries an end-of-stream marker after the schema.")(
    lambda message: message.encode() + END_OF_STREAM)
schema_mutant("schema.empty-batch", kills="framing.schema-without-batch",
           also={"framing.schema-without-end-of-stream": "the empty stream ends in a marker"},
           defects=("B-02",), source=_GOCCY_493,
           fault="The schema field holds the schema, a batch without rows and an end-of-stream marker.")(
    lambda message: message.encode() + _batch(message) + END_OF_STREAM)
schema_mutant("schema.twice", kills="framing.schema-single-message",
           fault="The schema field holds the schema twice.")(
    lambda message: 2 * message.encode())
schema_mutant("schema.trailing-bytes", kills="framing.schema-without-trailing-bytes",
           fault="Eight bytes that are no message follow the schema.")(
    lambda message: message.encode() + _STRAY)
schema_mutant("schema.bare-flatbuffer", kills="framing.schema-prefix", defects=("F-04",),
           fault="The schema is the bare FlatBuffers message, without the 8 bytes of prefix.")(
    lambda message: write("Message", message.tree, layout=SHARED_FIRST))
schema_mutant("schema.empty", kills="framing.schema-not-empty",
           fault="The schema field is there and holds no bytes.")(lambda _: b"")
schema_mutant("schema.is-a-batch", kills="framing.schema-header-kind",
           fault="The schema field holds a record batch instead of a schema.")(_batch)
schema_mutant("schema.with-body", kills="framing.schema-without-body",
           fault="The schema message declares a body and has one.")(
    lambda message: frame({**message.tree, "bodyLength": 16}, bytes(16), layout=SHARED_FIRST))
# fmt: on


@batch_mutant("batch.truncated-body", kills="framing.batch-body-complete", defects=("I-04", "I-05"))
def truncated_body(message: DraftMessage) -> bytes:
    """The last 8 bytes of the body are missing."""
    if not message.complete()[1]:
        raise LookupError("the body is empty already")
    return message.encode()[:-8]


@batch_mutant("batch.metadata-length-negative", kills="framing.metadata-length")
def negative_metadata_length(message: DraftMessage) -> bytes:
    """The metadata length is negative."""
    data = message.encode()
    return data[:4] + struct.pack("<i", -16) + data[8:]


@batch_mutant("batch.metadata-length-beyond", kills="framing.metadata-length")
def metadata_length_beyond(message: DraftMessage) -> bytes:
    """The metadata length declares more bytes than there are."""
    data = message.encode()
    return data[:4] + struct.pack("<i", len(data) * 2) + data[8:]


@batch_mutant("batch.metadata-unaligned", kills="framing.metadata-alignment", defects=("I-25",))
def unaligned_metadata(message: DraftMessage) -> bytes:
    """Prefix, metadata and padding end 4 bytes off a multiple of 8, and the body begins there."""
    tree, body = message.complete()
    metadata = write("Message", tree)
    metadata += bytes(-len(metadata) % 8 + 4)
    return CONTINUATION + struct.pack("<i", len(metadata)) + metadata + body


@batch_mutant("batch.is-a-tensor", kills="framing.batch-header-kind")
def batch_is_a_tensor(message: DraftMessage) -> bytes:
    """The message in the batch field is a Tensor of one number."""
    number = {"type_type": 2, "type": {"bitWidth": 64, "is_signed": 1}}
    tensor = {**number, "shape": [{"size": 1}], "data": (0, 8)}
    return frame({**message.tree, "header_type": 4, "header": tensor, "bodyLength": 8}, bytes(8), layout=SHARED_FIRST)
