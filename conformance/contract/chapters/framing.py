"""The two byte fields: one encapsulated message each, Schema in the one and RecordBatch in the other.

Readers differ in what they tolerate. Readers that decode a message with a known schema (Python, Java, Trino) ignore
surplus bytes after it. Readers that join schema bytes and batch bytes and read them as a stream (Go, Node, Spark,
Polars) go wrong on these, often silently. So each kind of surplus has a clause of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

from conformance import wire
from conformance.contract.bytefields import NO_MESSAGE
from conformance.contract.clause import ANY_BATCH, ANY_MESSAGE, MESSAGES, Selector, Violation, clause
from conformance.contract.messages import (
    Message,
    batches,
    framed_batches,
    framed_schemas,
    legible_schemas,
    marked_batches,
    marked_schemas,
    per_schema,
    prefixed,
    schemas,
    written,
)
from conformance.contract.rules import ANY_VIOLATION, broken, must, rule_clauses, should
from conformance.contract.sources import ARROW_GUIDE, ARROW_PROTO, CAPTURED, ENCAPSULATION
from conformance.contract.view import BatchBytes, SchemaBytes
from conformance.wire import Header, Rule

BARE: Final = (ARROW_PROTO, CAPTURED)
"""Each byte field is one message, says the proto; the captured fields are."""
LENGTH: Final = "every client: an error, or rows are lost; some read the first bytes of the metadata as a length"
NEXT: Final = "readers of schema and batches as one stream read the bytes as the next message"

ANY: Final = MESSAGES
"""The profiles of rules of the Arrow format about bytes with one message: they bind every writer of such bytes."""

# A table, one row per clause: id, rules, affected software, and an explanation if it says more than the rules.

# --- the prefix and the length in it ----------------------------------------------------------------

# fmt: off
rule_clauses(schemas, ANY,
    must("framing.schema-not-empty", Rule.PREFIX_EMPTY,
      "google-cloud-bigquery-storage 2.43.0 on pyarrow 26.0.1: `Tried reading schema message, was null or length 0`",
      """`serialized_schema` is not empty.

      A response without a schema leaves the whole `arrow_schema` field unset; a set field without bytes is neither a
      schema nor a missing one.
      """, source=BARE),
    must("framing.batch-not-empty", Rule.PREFIX_EMPTY,
      "google-cloud-bigquery-storage 2.43.0 (Python): `EOFError: End of Arrow stream`; pyarrow 26.0.1,"
      " nanoarrow 0.9.0 and arro3 0.9.1, reading a stream, give no rows and no error",
      """`serialized_record_batch` is not empty.

      For no rows there is no response, or a RecordBatch message of length 0; a set field without bytes is neither.
      """, source=BARE, over=batches),
)
# fmt: on


def _prefix(message: Message) -> Iterator[Violation]:
    yield from broken(message, Rule.PREFIX_TRUNCATED)
    if not _is_legacy(message):
        yield from broken(message, Rule.PREFIX_CONTINUATION_MISSING)


def _prefixed(clause_id: str, over: Selector[Any], what: str) -> None:
    """Register the clause that a byte field starts with the prefix of a message."""
    says = f"""{what}

The prefix is eight bytes: the continuation word and the length of the metadata."""
    rules = (Rule.PREFIX_TRUNCATED, Rule.PREFIX_CONTINUATION_MISSING)
    clause(clause_id, over=over, source=ENCAPSULATION, breaks=LENGTH, profiles=ANY, rules=rules, says=says)(_prefix)


# fmt: off
_prefixed("framing.schema-prefix", schemas,
  "The schema starts with the prefix of an encapsulated message, and is not a bare FlatBuffers message.")
_prefixed("framing.batch-prefix", batches,
  "The batch starts with the prefix of an encapsulated message, and is not a bare FlatBuffers message and a body.")
# fmt: on


def _is_legacy(message: Message) -> bool:
    """True if bytes without a continuation word are still a message, with the framing from before Arrow 0.15."""
    return message.first is not None and message.first.legacy and message.first.header not in NO_MESSAGE


@clause(
    "framing.not-legacy",
    over=written,
    source=(ARROW_GUIDE, CAPTURED),
    breaks=(
        "nanoarrow 0.9.0: `Expected prefix 8 prefix header bytes but found 4` for such a batch after a modern schema"
    ),
    rules=(Rule.PREFIX_CONTINUATION_MISSING,),
)
def not_legacy(message: Message) -> Iterable[Violation]:
    """A message starts with the continuation word FF FF FF FF: legacy framing belongs to v1beta1.

    Arrow before 0.15 wrote the metadata length first. The v1beta1 service sends such messages and the v1 service
    does not; the guide states that, and bytes captured from both show it. Legacy framing is readable Arrow, so this
    clause does not affect the rest of the message: its metadata version V4 belongs to legacy framing.
    """
    return broken(message, Rule.PREFIX_CONTINUATION_MISSING) if _is_legacy(message) else ()


# fmt: off
rule_clauses(prefixed, ANY_MESSAGE,
    must("framing.metadata-length", (Rule.PREFIX_LENGTH_NEGATIVE, Rule.METADATA_TRUNCATED), "every client",
      "The metadata length in the prefix is not negative, and at least as many bytes follow.",
      unless=[Rule.PREFIX_CONTINUATION_MISSING]),
    must("framing.metadata-alignment", Rule.METADATA_LENGTH_NOT_MULTIPLE_OF_8,
      "pyarrow 26.0.1 refuses such messages in files: `Unaligned block in IPC file`; in streams it reads them, as"
      " nanoarrow 0.9.0, arro3 0.9.1 and Polars 2.1.0 do",
      """Prefix, metadata and the padding after it end on a multiple of eight bytes, where the body begins.

      The declared length includes the padding. Every multiple of eight is permitted: 64 is recommended, the service
      pads to 8.
      """),
    should("framing.metadata-padding", Rule.METADATA_PADDING_NONZERO, unless=ANY_VIOLATION, says=
      """The padding between metadata and body is zero.

      The format permits any bytes there; writers should not leak stale memory in them.
      """),
)

# --- one message, of the right kind -----------------------------------------------------------------

rule_clauses(framed_schemas, ANY,
    must("framing.schema-header-kind", Rule.MESSAGE_HEADER_KIND,
      "pyarrow 26.0.1 and programs on it: `Expected IPC message of type schema but got record batch`",
      "The message in `serialized_schema` has a Schema header.", source=BARE),
)
# fmt: on
_KIND: Final = (Rule.MESSAGE_HEADER_KIND,)


@clause(
    "framing.batch-without-schema",
    over=framed_batches,
    source=BARE,
    breaks=(
        "google-cloud-bigquery-storage 2.43.0 (Python): `Expected IPC message of type record batch but got"
        " schema`; cloud.google.com/go/bigquery 1.86.1 panics; the Go sample decodes an empty table (from its source):"
        " https://github.com/goccy/bigquery-emulator/issues/398"
    ),
    profiles=ANY,
    rules=_KIND,
)
def batch_without_schema(batch: BatchBytes) -> Iterator[Violation]:
    """`serialized_record_batch` does not begin with a Schema message.

    A library's stream writer puts one there, but the field has to contain the bare RecordBatch message. Clients that
    open the field as a stream tolerate the schema, which has hidden the defect in more than one emulator.
    """
    return _headed(batch, Header.SCHEMA)


@clause(
    "framing.batch-without-dictionary",
    over=framed_batches,
    source=BARE,
    breaks="every client: no field carries a dictionary, so the indices have no values",
    profiles=ANY,
    rules=_KIND,
)
def batch_without_dictionary(batch: BatchBytes) -> Iterator[Violation]:
    """`serialized_record_batch` does not begin with a DictionaryBatch message.

    The field contains one message and has no place for dictionaries: columns have to be sent as plain values.
    """
    return _headed(batch, Header.DICTIONARY_BATCH)


@clause(
    "framing.batch-header-kind",
    over=framed_batches,
    source=BARE,
    breaks="every client",
    profiles=ANY,
    rules=_KIND,
)
def batch_header_kind(batch: BatchBytes) -> Iterator[Violation]:
    """The message in `serialized_record_batch` has a RecordBatch header, and not that of a tensor."""
    return _headed(batch, Header.TENSOR, Header.SPARSE_TENSOR)


def _headed(batch: BatchBytes, *headers: Header) -> Iterator[Violation]:
    message = batch.first
    if message is not None and message.header in headers:
        yield from broken(batch, Rule.MESSAGE_HEADER_KIND)


@clause(
    "framing.schema-without-batch",
    over=framed_schemas,
    source=BARE,
    breaks=(
        "cloud.google.com/go/bigquery 1.86.1: no row and no error by batches, a panic row by row"
        " (https://github.com/goccy/bigquery-emulator/issues/493), and Node's client 5.1.2: no row and no error"
    ),
    profiles=ANY,
    rules=(Rule.MESSAGE_SECOND_MESSAGE,),
)
def schema_without_batch(schema: SchemaBytes) -> Iterator[Violation]:
    """No record batch follows the schema.

    A complete empty stream (schema, batch of no rows, end of stream) is not a schema message.
    """
    return _followed(schema, schema.message.extra, batch=True)


@clause(
    "framing.schema-single-message",
    over=framed_schemas,
    source=ENCAPSULATION,
    profiles=ANY,
    rules=(Rule.MESSAGE_SECOND_MESSAGE,),
)
def schema_single_message(schema: SchemaBytes) -> Iterator[Violation]:
    """`serialized_schema` contains one message: no second schema and no dictionary follow."""
    return _followed(schema, schema.message.extra, batch=False)


def _followed(schema: SchemaBytes, extra: Iterable[wire.Message], *, batch: bool) -> Iterator[Violation]:
    starts = {message.start for message in extra if (message.header is Header.RECORD_BATCH) is batch}
    yield from (one for one in broken(schema, Rule.MESSAGE_SECOND_MESSAGE) if one.start in starts)


# fmt: off
rule_clauses(framed_batches, ANY,
    must("framing.batch-single-message", Rule.MESSAGE_SECOND_MESSAGE,
      "clients that read the first message only lose the rows of the others without an error; rows come twice from"
      " cloud.google.com/go/bigquery 1.86.1 and @google-cloud/bigquery-storage 5.1.2 (Node), which read all of them",
      "`serialized_record_batch` contains one message, and no second one after it.", source=BARE),
    must("framing.schema-without-end-of-stream", Rule.MESSAGE_END_OF_STREAM,
      "cloud.google.com/go/bigquery 1.86.1 panics; pyarrow 26.0.1, nanoarrow 0.9.0, arro3 0.9.1 and Polars 2.1.0,"
      " which read schema and batches as one stream, give no rows and no error:"
      " https://github.com/jjviscomi/bqemulator/pull/31",
      """No end-of-stream marker follows the schema.

      The marker (FF FF FF FF 00 00 00 00) ends a stream. A client that appends the batches to the schema and reads a
      stream finds the end before the first row. `pyarrow.ipc.read_schema` ignores the marker, which hides the defect.
      """, source=BARE, over=marked_schemas),
    must("framing.batch-without-end-of-stream", Rule.MESSAGE_END_OF_STREAM,
      "Spark and ADBC join all batches of a stream and stop after the first one, without an error (from their"
      " source)",
      "No end-of-stream marker follows the record batch or replaces it.", over=marked_batches,
      unless=[Rule.MESSAGE_BODY_LENGTH_NEGATIVE]),
    must("framing.schema-without-trailing-bytes", Rule.MESSAGE_TRAILING_BYTES, NEXT,
      "No other bytes follow the schema: the field is as long as its message.", over=framed_schemas),
    must("framing.batch-without-trailing-bytes", Rule.MESSAGE_TRAILING_BYTES, f"{NEXT}; strict readers refuse",
      "No other bytes follow the record batch: the field is as long as its message.",
      unless=[Rule.MESSAGE_BODY_LENGTH_NEGATIVE]),
)
# fmt: on


@clause(
    "framing.schema-without-dictionary",
    over=legible_schemas,
    source=BARE,
    breaks="pyarrow 26.0.1: `Dictionary field not found`, because no field carries dictionaries",
)
@per_schema
def schema_without_dictionary(schema: wire.Schema) -> Iterator[Violation]:
    """No field is dictionary-encoded, at any depth: neither a column nor a child of a struct, list or map.

    The batch field contains a single RecordBatch message, so the DictionaryBatch that such a column needs cannot be
    sent. A server with dictionary-encoded data has to send plain values, or refuse and name the column.
    """
    for path, field in schema.walk():
        if field.dictionary is not None:
            encoded = f"{field.type} behind indices of {field.dictionary.index_type}"
            yield Violation(f"plain values of {field.type}", encoded, path)


# --- the body and its declared length ----------------------------------------------------------------

# fmt: off
rule_clauses(framed_batches, ANY,
    must("framing.batch-body-complete", Rule.MESSAGE_BODY_TRUNCATED,
      "pyarrow 26.0.1 refuses the batch; Polars 2.1.0 reads one that lacks its last byte",
      "The body has as many bytes as the message declares, including the padding at its end."),
    must("framing.schema-without-body", Rule.MESSAGE_SCHEMA_WITH_BODY,
      says="A Schema message has no body: its body length is 0.", over=framed_schemas, profiles=ANY_BATCH),
)
# fmt: on
