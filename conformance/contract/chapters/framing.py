"""What the two byte fields hold: one encapsulated message each, Schema in the one and RecordBatch in the other.

Readers differ in what they forgive. Those that decode a message with a known schema (Python, Java, Trino) ignore what
follows it; those that put schema bytes and batch bytes together and read a stream (Go, Node, Spark, Polars) are
derailed by it, often silently. So each thing that can stand there too many has a clause of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from conformance import wire
from conformance.contract.clause import ANY_BATCH, ANY_MESSAGE, MESSAGES, Violation, clause
from conformance.contract.messages import (
    Message,
    batches,
    broken,
    legible_schemas,
    per_schema,
    prefixed,
    schemas,
    sized,
    untidy,
    written,
    written_batches,
    written_schemas,
)
from conformance.contract.view import BatchBytes, SchemaBytes
from conformance.records import Level
from conformance.wire import Header, Rule

ENCAPSULATION: Final = "https://arrow.apache.org/docs/format/Columnar.html#encapsulated-message-format"
STREAM: Final = "https://arrow.apache.org/docs/format/Columnar.html#ipc-streaming-format"
MESSAGE_FBS: Final = "https://github.com/apache/arrow/blob/main/format/Message.fbs"
SCHEMA_FBS: Final = "https://github.com/apache/arrow/blob/main/format/Schema.fbs"
SECURITY: Final = "https://arrow.apache.org/docs/format/Security.html"
ARROW_PROTO: Final = "https://github.com/googleapis/googleapis/blob/master/google/cloud/bigquery/storage/v1/arrow.proto"
GUIDE: Final = "https://cloud.google.com/bigquery/docs/reference/storage#arrow_schema_details"
WHOLE_STREAM: Final = "https://github.com/goccy/bigquery-emulator/issues/398"
SCHEMA_AND_BATCH: Final = "https://github.com/goccy/bigquery-emulator/issues/493"
TRAILING_MARKER: Final = "https://github.com/jjviscomi/bqemulator/pull/31"

NO_MESSAGE: Final = frozenset({Header.UNKNOWN, Header.STRAY})
ANY: Final = MESSAGES
"""The rule is Arrow's own, and about bytes that hold one message: any writer of such is held to it."""


# --- the prefix and what it announces ---------------------------------------------------------------


@clause(
    "framing.schema-not-empty",
    over=schemas,
    source=ARROW_PROTO,
    breaks="every client: `Tried reading schema message, was null or length 0` in pyarrow",
    profiles=ANY,
)
def schema_not_empty(schema: SchemaBytes) -> Iterable[Violation]:
    """`serialized_schema` holds bytes.

    A response without a schema leaves the whole `arrow_schema` field unset; a set field with no bytes in it is
    neither a schema nor the absence of one.
    """
    return broken(schema, Rule.PREFIX_EMPTY)


@clause(
    "framing.batch-not-empty",
    over=batches,
    source=ARROW_PROTO,
    breaks="google-cloud-bigquery-storage (Python): `EOFError: End of Arrow stream`; stream readers yield no rows",
    profiles=ANY,
)
def batch_not_empty(batch: BatchBytes) -> Iterable[Violation]:
    """`serialized_record_batch` holds bytes.

    No rows means no response, or a RecordBatch message of length 0; a set field with no bytes in it is neither.
    """
    return broken(batch, Rule.PREFIX_EMPTY)


@clause(
    "framing.schema-prefix",
    over=schemas,
    source=ENCAPSULATION,
    breaks="every client takes the first bytes of the metadata for a length",
    profiles=ANY,
)
def schema_prefix(schema: SchemaBytes) -> Iterator[Violation]:
    """The schema starts with the prefix of an encapsulated message, and is not a bare FlatBuffers message.

    The prefix is eight bytes: the continuation word and the length of the metadata.
    """
    return _prefix(schema)


@clause(
    "framing.batch-prefix",
    over=batches,
    source=ENCAPSULATION,
    breaks="every client takes the first bytes of the metadata for a length",
    profiles=ANY,
)
def batch_prefix(batch: BatchBytes) -> Iterator[Violation]:
    """The batch starts with the prefix of an encapsulated message, and is not a bare FlatBuffers message and a body.

    The prefix is eight bytes: the continuation word and the length of the metadata.
    """
    return _prefix(batch)


def _prefix(message: Message) -> Iterator[Violation]:
    yield from broken(message, Rule.PREFIX_TRUNCATED)
    if not _is_legacy(message):
        yield from broken(message, Rule.PREFIX_CONTINUATION_MISSING)


def _is_legacy(message: Message) -> bool:
    """Whether what begins without a continuation word is a message all the same, framed as before Arrow 0.15."""
    return message.first is not None and message.first.legacy and message.first.header not in NO_MESSAGE


@clause(
    "framing.not-legacy",
    over=written,
    source=GUIDE,
    breaks="nanoarrow: `Expected prefix 8 prefix header bytes but found 4` for such a batch after a modern schema",
)
def not_legacy(message: Message) -> Iterable[Violation]:
    """A message starts with the continuation word FF FF FF FF: legacy framing belongs to v1beta1.

    Arrow before 0.15 put the metadata length first. The v1beta1 service sends messages of that kind and the v1 service
    does not; the guide says so and bytes captured from both show it. Legacy framing is readable Arrow, so this says
    nothing against the rest of the message: its metadata version V4 belongs to it.
    """
    return broken(message, Rule.PREFIX_CONTINUATION_MISSING) if _is_legacy(message) else ()


@clause("framing.metadata-length", over=prefixed, source=ENCAPSULATION, breaks="every client", profiles=ANY_MESSAGE)
def metadata_length(message: Message) -> Iterable[Violation]:
    """The metadata length in the prefix is not negative, and as many bytes follow."""
    return broken(message, Rule.PREFIX_LENGTH_NEGATIVE, Rule.METADATA_TRUNCATED) if _has_prefix(message) else ()


def _has_prefix(message: Message) -> bool:
    return not any(fault.rule is Rule.PREFIX_CONTINUATION_MISSING for fault in message.faults)


@clause(
    "framing.metadata-alignment",
    over=prefixed,
    source=ENCAPSULATION,
    breaks="readers that map the body in place; Arrow C++ refuses such messages in files",
    profiles=ANY_MESSAGE,
)
def metadata_alignment(message: Message) -> Iterable[Violation]:
    """Prefix, metadata and the padding after it end on a multiple of eight bytes, where the body begins.

    The announced length counts the padding. Any multiple of eight will do: 64 is recommended, the service pads to 8.
    """
    return broken(message, Rule.METADATA_LENGTH_NOT_MULTIPLE_OF_8)


@clause("framing.metadata-padding", over=prefixed, source=SECURITY, level=Level.SHOULD, profiles=ANY_MESSAGE)
def metadata_padding(message: Message) -> Iterable[Violation]:
    """The padding between metadata and body is zero.

    The bytes are free by the format; writers are asked not to publish stale memory in them.
    """
    return untidy(message, Rule.METADATA_PADDING_NONZERO)


# --- which message, and that there is one -----------------------------------------------------------


@clause(
    "framing.schema-header-kind",
    over=written_schemas,
    source=ARROW_PROTO,
    breaks="every client: `Expected IPC message of type schema but got record batch`",
    profiles=ANY,
)
def schema_header_kind(schema: SchemaBytes) -> Iterable[Violation]:
    """The message in `serialized_schema` has a Schema header."""
    return broken(schema, Rule.MESSAGE_HEADER_KIND)


@clause(
    "framing.batch-without-schema",
    over=written_batches,
    source=WHOLE_STREAM,
    breaks=(
        "google-cloud-bigquery-storage (Python): `Expected IPC message of type record batch but got schema`; "
        "the Go sample decodes an empty table"
    ),
    profiles=ANY,
)
def batch_without_schema(batch: BatchBytes) -> Iterator[Violation]:
    """`serialized_record_batch` does not begin with a Schema message.

    A library's stream writer puts one there; the field wants the bare RecordBatch message. Clients that open the field
    as a stream tolerate it, which has hidden the defect in more than one emulator.
    """
    return _headed(batch, Header.SCHEMA)


@clause(
    "framing.batch-without-dictionary",
    over=written_batches,
    source=ARROW_PROTO,
    breaks="every client: a dictionary has no field to arrive in, so the codes stand for nothing",
    profiles=ANY,
)
def batch_without_dictionary(batch: BatchBytes) -> Iterator[Violation]:
    """`serialized_record_batch` does not begin with a DictionaryBatch message.

    The field takes one message and has no place for dictionaries: columns have to be sent as plain values.
    """
    return _headed(batch, Header.DICTIONARY_BATCH)


@clause("framing.batch-header-kind", over=written_batches, source=ARROW_PROTO, breaks="every client", profiles=ANY)
def batch_header_kind(batch: BatchBytes) -> Iterator[Violation]:
    """The message in `serialized_record_batch` has a RecordBatch header, and not a tensor's."""
    return _headed(batch, Header.TENSOR, Header.SPARSE_TENSOR)


def _headed(batch: BatchBytes, *headers: Header) -> Iterator[Violation]:
    message = batch.first
    if message is not None and message.header in headers:
        yield from broken(batch, Rule.MESSAGE_HEADER_KIND)


@clause(
    "framing.schema-without-batch",
    over=written_schemas,
    source=SCHEMA_AND_BATCH,
    breaks="Go: `RowIterator` reads the batch behind the schema first, then stops before the real ones",
    profiles=ANY,
)
def schema_without_batch(schema: SchemaBytes) -> Iterator[Violation]:
    """No record batch follows the schema.

    An empty stream written out whole (schema, batch of no rows, end of stream) is not a schema.
    """
    return _followed(schema, schema.message.extra, batch=True)


@clause("framing.schema-single-message", over=written_schemas, source=ENCAPSULATION, profiles=ANY)
def schema_single_message(schema: SchemaBytes) -> Iterator[Violation]:
    """`serialized_schema` holds one message: no second schema and no dictionary follow."""
    return _followed(schema, schema.message.extra, batch=False)


def _followed(schema: SchemaBytes, extra: Iterable[wire.Message], *, batch: bool) -> Iterator[Violation]:
    starts = {message.start for message in extra if (message.header is Header.RECORD_BATCH) is batch}
    yield from (one for one in broken(schema, Rule.MESSAGE_SECOND_MESSAGE) if one.start in starts)


@clause(
    "framing.batch-single-message",
    over=written_batches,
    source=WHOLE_STREAM,
    breaks="Python, Java and Trino read the first message only: the rows of the others are lost without an error",
    profiles=ANY,
)
def batch_single_message(batch: BatchBytes) -> Iterable[Violation]:
    """`serialized_record_batch` holds one message, and no second one behind it."""
    return broken(batch, Rule.MESSAGE_SECOND_MESSAGE)


@clause(
    "framing.schema-without-end-of-stream",
    over=written_schemas,
    source=TRAILING_MARKER,
    breaks="Go, Node, Rust and every other reader of schema and batches as one stream: no rows, and no error",
    profiles=ANY,
)
def schema_without_end_of_stream(schema: SchemaBytes) -> Iterable[Violation]:
    """No end-of-stream marker follows the schema.

    The marker (FF FF FF FF 00 00 00 00) ends a stream. A client that puts the batches behind the schema and reads a
    stream finds its end before the first row. `pyarrow.ipc.read_schema` ignores the marker, which hides it.
    """
    return broken(schema, Rule.MESSAGE_END_OF_STREAM)


@clause(
    "framing.batch-without-end-of-stream",
    over=written_batches,
    source=STREAM,
    breaks="Spark and ADBC join all batches of a stream: they stop after the first one, without an error",
    profiles=ANY,
)
def batch_without_end_of_stream(batch: BatchBytes) -> Iterable[Violation]:
    """No end-of-stream marker follows the record batch, or stands in its place."""
    return sized(batch, Rule.MESSAGE_END_OF_STREAM)


@clause(
    "framing.schema-without-trailing-bytes",
    over=written_schemas,
    source=ENCAPSULATION,
    breaks="readers of schema and batches as one stream take the bytes for the next message",
    profiles=ANY,
)
def schema_without_trailing_bytes(schema: SchemaBytes) -> Iterable[Violation]:
    """Nothing that is no message follows the schema: the field is as long as its message."""
    return broken(schema, Rule.MESSAGE_TRAILING_BYTES)


@clause(
    "framing.batch-without-trailing-bytes",
    over=written_batches,
    source=ENCAPSULATION,
    breaks="readers of schema and batches as one stream take the bytes for the next message; strict ones refuse",
    profiles=ANY,
)
def batch_without_trailing_bytes(batch: BatchBytes) -> Iterable[Violation]:
    """Nothing that is no message follows the record batch: the field is as long as its message."""
    return sized(batch, Rule.MESSAGE_TRAILING_BYTES)


@clause(
    "framing.schema-without-dictionary",
    over=legible_schemas,
    source="https://github.com/jjviscomi/bqemulator/blob/main/docs/adr/0033-storage-read-arrow-ipc-bare-message-contract.md",
    breaks="every client: `Dictionary field not found` in pyarrow, for there is no field for dictionaries to arrive in",
)
@per_schema
def schema_without_dictionary(schema: wire.Schema) -> Iterator[Violation]:
    """No field is dictionary-encoded, at any depth: neither a column nor a child of a struct, list or map.

    The batch field takes a single RecordBatch message, so the DictionaryBatch that such a column needs cannot be sent.
    A server that gets dictionary-encoded data has to send plain values or refuse with the column's name.
    """
    for path, field in schema.walk():
        if field.dictionary is not None:
            encoded = f"{field.type} behind indices of {field.dictionary.index_type}"
            yield Violation(f"plain values of {field.type}", encoded, path)


# --- the body that the message announces -------------------------------------------------------------


@clause(
    "framing.batch-body-complete",
    over=written_batches,
    source=ENCAPSULATION,
    breaks="every client; Polars 2.1 reads a batch that lacks its last byte",
    profiles=ANY,
)
def batch_body_complete(batch: BatchBytes) -> Iterable[Violation]:
    """As many body bytes are there as the message announces, the padding at its end included."""
    return broken(batch, Rule.MESSAGE_BODY_TRUNCATED)


@clause(
    "framing.schema-without-body",
    over=written_schemas,
    source="https://arrow.apache.org/docs/format/Columnar.html#schema-message",
    profiles=ANY_BATCH,
)
def schema_without_body(schema: SchemaBytes) -> Iterable[Violation]:
    """A Schema message has no body: its body length is 0."""
    return broken(schema, Rule.MESSAGE_SCHEMA_WITH_BODY)
