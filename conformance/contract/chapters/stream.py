"""Whole streams: how they begin, what follows in which order, and how they end.

The clauses hold for the stream inside a file as well. How the messages themselves are made is the business of the
chapters on framing, structure and bodies; legacy framing (before Arrow 0.15) and V4 are legal from end to end, and so
is a stream that ends without a marker.
"""

from __future__ import annotations

from conformance.contract.clause import IPC, SEQUENCES
from conformance.contract.ipc.selectors import anything, begun, streams
from conformance.contract.rules import must, rule_clauses, should
from conformance.contract.sources import IPC_STREAM
from conformance.wire import Rule

# A table reads as a table: id, rules and who breaks, then the explanation where it says more than the rules.
# fmt: off
rule_clauses(anything, IPC,
    must("stream.not-empty", Rule.PREFIX_EMPTY, "every reader: a stream without batches still has its schema",
      "There are bytes: a stream of no batches is a schema and perhaps an end, not nothing.", source=IPC_STREAM),
    must("stream.prefixes", Rule.PREFIX_CONTINUATION_MISSING, "every reader takes what stands there for a length",
      """Where a message has to begin stands a prefix: the continuation word and the length of the metadata.

      Streams from before Arrow 0.15 have the length alone, and are legal; bytes that begin neither kind of message are
      not.
      """),
    must("stream.whole", (Rule.PREFIX_TRUNCATED, Rule.METADATA_TRUNCATED, Rule.MESSAGE_BODY_TRUNCATED),
      "readers that take a cut for the end: rows are lost without an error",
      """The bytes end between two messages: not inside a prefix, nor short of the metadata or body announced.

      A stream may end by its marker or by closing the transport. Where fewer bytes follow than a message announces, or
      one to seven bytes that are no prefix, the stream has not ended but broken off.
      """, source=IPC_STREAM, over=begun),
)
rule_clauses(streams, SEQUENCES,
    must("stream.schema-first", Rule.STREAM_SCHEMA_FIRST,
      "every reader: nothing says what a batch holds before the schema does"),
    must("stream.one-schema", Rule.STREAM_SECOND_SCHEMA,
      "readers differ: some refuse, some go on with the first schema, none can do right by both"),
    must("stream.batches-only", Rule.STREAM_MESSAGE_KIND,
      "readers that expect batches refuse; those that skip what they do not know lose it",
      "Behind the schema stand dictionary batches and record batches, and no tensors."),
    should("stream.one-framing", Rule.STREAM_FRAMING_MIXED, "readers that settle the framing by the first message",
      """All messages, and the marker at the end, are framed as the first one: with a continuation word, or without.

      The format describes either framing and no mixture. Many readers decide for each message anew and take both.
      """),
    should("stream.nothing-after-end", Rule.STREAM_BYTES_AFTER_END,
      "nobody reads it: batches behind the marker are lost without an error",
      """Nothing follows the end-of-stream marker.

      The format does not say what a reader does with more; all that are known pass over it.
      """, profiles=SEQUENCES[:1]),
)
# fmt: on
