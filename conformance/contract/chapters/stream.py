"""Whole streams: their beginning, the order of their messages, and their end.

The clauses also bind the stream inside a file. The chapters on framing, structure and bodies judge the messages
themselves. Legacy framing (before Arrow 0.15) and V4 are legal from end to end, and so is a stream without a marker.
"""

from __future__ import annotations

from conformance.contract.clause import IPC, SEQUENCES
from conformance.contract.ipc.selectors import anything, begun, streams
from conformance.contract.rules import must, rule_clauses, should
from conformance.contract.sources import IPC_STREAM
from conformance.wire import Rule

# A table, one row per clause: id, rules, affected software, and an explanation if it says more than the rules.
# fmt: off
rule_clauses(anything, IPC,
    must("stream.not-empty", Rule.PREFIX_EMPTY, "every reader: a stream without batches still has its schema",
      "The input is not empty: a stream of no batches is a schema and perhaps an end marker.", source=IPC_STREAM),
    must("stream.prefixes", Rule.PREFIX_CONTINUATION_MISSING,
      "readers of streams refuse the bytes, or read them as a length; readers of files that use the footer do not see"
      " them, as pyarrow 26.0.1 does not in files of Polars 2.1.0",
      """A message begins with a prefix: the continuation word and the length of the metadata.

      Streams from before Arrow 0.15 have the length alone, and are legal; bytes with neither kind of prefix are not.
      """),
    must("stream.whole", (Rule.PREFIX_TRUNCATED, Rule.METADATA_TRUNCATED, Rule.MESSAGE_BODY_TRUNCATED),
      "readers that treat truncation as the end: rows are lost without an error",
      """The bytes end after a complete message: not inside a prefix, nor before the end of declared metadata or body.

      A stream may end with its marker or with the end of the transport. If fewer bytes follow than a message declares,
      or one to seven bytes that are not a prefix, the stream is truncated.
      """, source=IPC_STREAM, over=begun),
)
rule_clauses(streams, SEQUENCES,
    must("stream.schema-first", Rule.STREAM_SCHEMA_FIRST,
      "pyarrow 26.0.1, nanoarrow 0.9.0, arro3 0.9.1 and Polars 2.1.0 refuse a stream that begins with a batch"),
    must("stream.one-schema", Rule.STREAM_SECOND_SCHEMA,
      "pyarrow 26.0.1, nanoarrow 0.9.0, arro3 0.9.1 and Polars 2.1.0 refuse the second one; no reader can apply both"),
    must("stream.batches-only", Rule.STREAM_MESSAGE_KIND,
      "readers that expect batches refuse; readers that skip unknown messages lose the tensor",
      "After the schema only dictionary batches and record batches follow, and no tensors."),
    should("stream.one-framing", Rule.STREAM_FRAMING_MIXED, "readers that derive the framing from the first message",
      """All messages, and the marker at the end, are framed like the first one: with a continuation word, or without.

      The format describes either framing and no mixture. Many readers decide for each message and accept
      both.
      """),
    should("stream.nothing-after-end", Rule.STREAM_BYTES_AFTER_END,
      "pyarrow 26.0.1, nanoarrow 0.9.0, arro3 0.9.1 and Polars 2.1.0 stop at the marker: batches behind it are lost"
      " without an error",
      """Nothing follows the end-of-stream marker.

      The format is silent about further bytes. Another stream there is judged, too.
      """, profiles=SEQUENCES[:1]),
)
# fmt: on
