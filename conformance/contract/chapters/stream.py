"""Whole streams: how they begin, what follows in which order, and how they end.

The clauses hold for the stream inside a file as well. How the messages themselves are made is the business of the
chapters on framing, structure and bodies; legacy framing (before Arrow 0.15) and V4 are legal from end to end, and so
is a stream that ends without a marker.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from conformance.contract.clause import Violation, clause
from conformance.contract.ipc.messages import Container
from conformance.contract.ipc.selectors import anything, begun, streams, told
from conformance.records import Level
from conformance.wire import Rule

COLUMNAR: Final = "https://arrow.apache.org/docs/format/Columnar.html"
ENCAPSULATION: Final = f"{COLUMNAR}#encapsulated-message-format"
STREAM: Final = f"{COLUMNAR}#ipc-streaming-format"
SEQUENCES: Final = ("ipc-stream", "ipc-file")
"""The stream by itself, and the one inside a file."""


@clause(
    "stream.not-empty",
    over=anything,
    source=STREAM,
    breaks="every reader: a stream without batches still has its schema",
    profiles=("ipc-stream", "ipc-file", "ipc-tensor"),
)
def not_empty(whole: Container) -> Iterable[Violation]:
    """There are bytes: a stream of no batches is a schema and perhaps an end, not nothing."""
    return told(whole, Rule.PREFIX_EMPTY)


@clause(
    "stream.prefixes",
    over=anything,
    source=ENCAPSULATION,
    breaks="every reader takes what stands there for a length",
    profiles=("ipc-stream", "ipc-file", "ipc-tensor"),
)
def prefixes(whole: Container) -> Iterable[Violation]:
    """Where a message has to begin stands a prefix: the continuation word and the length of the metadata.

    Streams from before Arrow 0.15 have the length alone, and are legal; bytes that begin neither kind of message are
    not.
    """
    return told(whole, Rule.PREFIX_CONTINUATION_MISSING)


@clause(
    "stream.whole",
    over=begun,
    source=STREAM,
    breaks="readers that take a cut for the end: rows are lost without an error",
    profiles=("ipc-stream", "ipc-file", "ipc-tensor"),
)
def whole_messages(whole: Container) -> Iterable[Violation]:
    """The bytes end between two messages: not inside a prefix, nor short of the metadata or body announced.

    A stream may end by its marker or by closing the transport. Where fewer bytes follow than a message announces, or
    one to seven bytes that are no prefix, the stream has not ended but broken off.
    """
    return told(whole, Rule.PREFIX_TRUNCATED, Rule.METADATA_TRUNCATED, Rule.MESSAGE_BODY_TRUNCATED)


@clause(
    "stream.schema-first",
    over=streams,
    source=STREAM,
    breaks="every reader: nothing says what a batch holds before the schema does",
    profiles=SEQUENCES,
)
def schema_first(whole: Container) -> Iterable[Violation]:
    """The first message is the schema."""
    return told(whole, Rule.STREAM_SCHEMA_FIRST)


@clause(
    "stream.one-schema",
    over=streams,
    source=STREAM,
    breaks="readers differ: some refuse, some go on with the first schema, none can do right by both",
    profiles=SEQUENCES,
)
def one_schema(whole: Container) -> Iterable[Violation]:
    """No second schema follows: it is the same for all of the batches."""
    return told(whole, Rule.STREAM_SECOND_SCHEMA)


@clause(
    "stream.batches-only",
    over=streams,
    source=STREAM,
    breaks="readers that expect batches refuse; those that skip what they do not know lose it",
    profiles=SEQUENCES,
)
def batches_only(whole: Container) -> Iterable[Violation]:
    """Behind the schema stand dictionary batches and record batches, and no tensors."""
    return told(whole, Rule.STREAM_MESSAGE_KIND)


@clause(
    "stream.one-framing",
    over=streams,
    source=ENCAPSULATION,
    level=Level.SHOULD,
    breaks="readers that settle the framing by the first message",
    profiles=SEQUENCES,
)
def one_framing(whole: Container) -> Iterable[Violation]:
    """All messages, and the marker at the end, are framed as the first one: with a continuation word, or without.

    The format describes either framing and no mixture. Many readers decide for each message anew and take both.
    """
    return told(whole, Rule.STREAM_FRAMING_MIXED)


@clause(
    "stream.nothing-after-end",
    over=streams,
    source=STREAM,
    level=Level.SHOULD,
    breaks="nobody reads it: batches behind the marker are lost without an error",
    profiles=SEQUENCES[:1],
)
def nothing_after_end(whole: Container) -> Iterable[Violation]:
    """Nothing follows the end-of-stream marker.

    The format does not say what a reader does with more; all that are known pass over it.
    """
    return told(whole, Rule.STREAM_BYTES_AFTER_END)
