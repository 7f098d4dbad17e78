"""The effect of a requested compression: the server applies it as requested, and it changes no row.

There are two compressions: of the buffers inside a record batch (``ArrowSerializationOptions.buffer_compression``),
and of a response's whole payload (``TableReadOptions.response_compression_codec``). The chapter on buffers judges
the bytes of compressed buffers.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from typing import Final

from conformance.contain.text import many
from conformance.contract.clause import Violation, clause
from conformance.contract.closed import Feature
from conformance.contract.sources import (
    ARROW_PROTO,
    CAPTURED,
    MEASURED,
    PAYLOAD_CODEC,
    RECORDED,
    STORAGE_PROTO,
    STREAM_PROTO,
    Sources,
)
from conformance.contract.view import once_per_view
from conformance.protocols.storage_read.contract.buffercodecs import CODECS, WORTHWHILE
from conformance.protocols.storage_read.contract.endings import refuses, serves
from conformance.protocols.storage_read.contract.sessions import SessionRead, whole_sessions
from conformance.protocols.storage_read.contract.subjects import (
    feature,
    read_feature,
    refused_as,
    valid_reads,
    valid_sessions,
)
from conformance.protocols.storage_read.contract.view import (
    ReadView,
    ResponseView,
    SessionView,
    StorageCall,
    StorageView,
)
from conformance.protocols.storage_read.contract.violations import exactly
from conformance.records import Level


def _with_feature(name: Feature) -> Callable[[StorageView], list[StorageCall]]:
    def select(view: StorageView) -> list[StorageCall]:
        sessions: list[StorageCall] = [session for session in valid_sessions(view) if feature(session) is name]
        return sessions + [read for read in valid_reads(view) if read.offset == 0 and read_feature(read) is name]

    return select


def _session(call: StorageCall) -> SessionView:
    session = call.session if isinstance(call, ReadView) else call
    assert isinstance(session, SessionView)
    return session


# --- buffers inside the batch ---------------------------------------------------------------------


# A table, one row per clause: id, calls, source, the request as findings name it, explanation, affected software.
# fmt: off
serves("compression.request-is-served", _with_feature(Feature.BODY_CODEC), RECORDED,
  lambda call: f"buffer_compression {_session(call).step.buffer_compression}",
  "A session that requests LZ4_FRAME or ZSTD buffers, and a read of it, end in OK.",
  breaks="python-bigquery, which always requests LZ4_FRAME (from its source)")
# fmt: on


@dataclasses.dataclass(frozen=True, slots=True)
class AskedCodec:
    """A record batch with a readable header: its declared codec and the requested one, each empty for none."""

    call: int
    response: int
    size: int
    codec: str
    asked: str


@once_per_view
def _batches(view: StorageView) -> list[AskedCodec]:
    found = []
    for read in view.reads:
        for response in read.responses:
            message = response.batch.message if response.batch is not None else None
            if read.session is not None and response.payload and message is not None and message.flat_nodes:
                codec = CODECS.get(message.codec, "")
                asked = read.session.step.buffer_compression
                found.append(AskedCodec(read.index, response.response, len(response.payload), codec, asked))
    return found


def _is_applied(clause_id: str, codec: str, source: Sources) -> None:
    """Register the clause that one codec is applied if it was requested."""

    def select(view: StorageView) -> list[AskedCodec]:
        asked = (batch for batch in _batches(view) if batch.asked == codec)
        return [batch for batch in asked if batch.codec or batch.size > WORTHWHILE]

    def check(batch: AskedCodec) -> Iterator[Violation]:
        if not batch.codec:
            observed = f"a record batch of {many(batch.size, 'byte')} without compression"
            yield Violation(f"buffers compressed with {batch.asked}", observed, field="RecordBatch.compression")

    clause(
        clause_id,
        over=select,
        source=source,
        level=Level.SHOULD,
        breaks="tests of a client's decompression: they test nothing",
        says=f"If {codec} was requested, a record batch of more than 1 KiB is compressed.",
    )(check)


_is_applied("compression.lz4-frame-is-applied", "LZ4_FRAME", (ARROW_PROTO, MEASURED))
_is_applied("compression.zstd-is-applied", "ZSTD", ARROW_PROTO)


@clause(
    "compression.codec-is-the-one-asked-for",
    over=lambda view: [batch for batch in _batches(view) if batch.asked and batch.codec],
    source=(ARROW_PROTO, MEASURED),
    breaks="clients that support one codec",
)
def codec_is_the_one_asked_for(batch: AskedCodec) -> Iterator[Violation]:
    """A compressed record batch uses the requested codec, and no other."""
    if batch.codec != batch.asked:
        yield Violation(
            f"buffers compressed with {batch.asked}",
            f"buffers compressed with {batch.codec}",
            field="RecordBatch.compression",
        )


@clause(
    "compression.none-without-asking",
    over=lambda view: [batch for batch in _batches(view) if not batch.asked],
    source=(ARROW_PROTO, CAPTURED),
    breaks="clients without a codec, such as JavaScript (from its source)",
)
def none_without_asking(batch: AskedCodec) -> Iterator[Violation]:
    """Without a requested buffer compression, a record batch is not compressed."""
    if batch.codec:
        yield Violation("no compression", f"buffers compressed with {batch.codec}", field="RecordBatch.compression")


def _rows_are_the_same(clause_id: str, name: Feature, source: Sources, says: str, breaks: str) -> None:
    """Register the clause that one kind of compression changes no row."""

    def select(view: StorageView) -> list[SessionRead]:
        return [whole for whole in whole_sessions(view) if whole.feature is name]

    clause(clause_id, over=select, source=source, breaks=breaks, says=says)(exactly)


# fmt: off
_rows_are_the_same("compression.rows-are-the-same", Feature.BODY_CODEC, (ARROW_PROTO, MEASURED),
  "The rows of a session with compressed buffers are those of the table, once each.",
  "python-bigquery, which always requests LZ4_FRAME (from its source)")

# --- the whole payload ----------------------------------------------------------------------------

serves("compression.payload-request-is-served", _with_feature(Feature.RESPONSE_CODEC), (STREAM_PROTO, PAYLOAD_CODEC),
  lambda call: f"response_compression_codec {_session(call).step.response_compression}",
  "A session that requests LZ4 payloads, and a read of it, end in OK.",
  breaks="the Spark connector with response compression (from its source)")
# fmt: on


@once_per_view
def _payloads(view: StorageView) -> list[ResponseView]:
    """Return the responses with rows of sessions that requested compressed payloads."""
    return [
        response
        for read in view.reads
        if read.session is not None and read.session.step.response_compression
        for response in read.responses
        if response.message is not None and response.message.WhichOneof("rows") is not None
    ]


@once_per_view
def _sized(view: StorageView) -> list[ResponseView]:
    return [response for response in _payloads(view) if response.message.HasField("uncompressed_byte_size")]


@clause("compression.payload-size-is-set", over=_payloads, source=STORAGE_PROTO, level=Level.SHOULD)
def payload_size_is_set(response: ResponseView) -> Iterator[Violation]:
    """If a response codec was requested, ``uncompressed_byte_size`` is set, to a size or to -1.

    Clients treat a payload without a size as uncompressed, so nothing breaks; but the codec was not used.
    """
    if not response.message.HasField("uncompressed_byte_size"):
        yield Violation("a size, or -1 for a payload left as it is", "no size", field="uncompressed_byte_size")


@clause("compression.payload-size-is-positive-or-minus-one", over=_sized, source=STORAGE_PROTO, level=Level.SHOULD)
def payload_size_is_positive_or_minus_one(response: ResponseView) -> Iterator[Violation]:
    """``uncompressed_byte_size`` is the size after decompression, or -1 if compression would not have helped."""
    size = response.message.uncompressed_byte_size
    if size < 1 and size != -1:
        yield Violation("a positive size or -1", f"the size {size}", field="uncompressed_byte_size")


@clause(
    "compression.payload-has-its-size",
    over=lambda view: [response for response in _sized(view) if response.message.uncompressed_byte_size > 0],
    source=STORAGE_PROTO,
    breaks="the Spark connector, which decompresses into a buffer of that size (from its source)",
)
def payload_has_its_size(response: ResponseView) -> Iterator[Violation]:
    """A payload with a positive ``uncompressed_byte_size`` is one raw LZ4 block of exactly that many bytes."""
    size = response.message.uncompressed_byte_size
    decompressed = _lz4_block_size(response.sent)
    if decompressed != size:
        if decompressed is not None:
            observed = f"an LZ4 block of {many(decompressed, 'byte')}"
        else:
            observed = "an LZ4 frame" if bytes(response.sent[:4]) == _FRAME else "bytes that are no LZ4 block"
        yield Violation(f"an LZ4 block of {many(size, 'byte')}", observed, field="uncompressed_byte_size")


_FRAME: Final = b"\x04\x22\x4d\x18"
"""The first bytes of an LZ4 frame, the other form of LZ4: https://github.com/lz4/lz4/blob/dev/doc/lz4_Frame_format.md"""


def _lz4_block_size(block: bytes | memoryview) -> int | None:
    """Return the number of bytes to which a raw LZ4 block decompresses, None if the bytes are no such block.

    The function walks the block's sequences: a block does not store its own size, and decompressors do not report
    how much of a larger buffer they filled. Source: https://github.com/lz4/lz4/blob/dev/doc/lz4_Block_format.md
    """
    at, size, end = 0, 0, len(block)
    while at < end:
        token = block[at]
        at += 1
        literals, at = _lz4_length(block, at, token >> 4)
        at, size = at + literals, size + literals
        if at >= end:
            return size if at == end else None
        at += 2  # the two bytes of the match's offset
        match, at = _lz4_length(block, at, token & 15)
        size += match + 4  # the shortest match has four bytes
    return None


def _lz4_length(block: bytes | memoryview, at: int, nibble: int) -> tuple[int, int]:
    """Return a length, which starts in a token and continues in bytes as long as these are 255, and the place after
    it.
    """
    length = nibble
    while nibble == 15 and at < len(block):
        length += block[at]
        at += 1
        if block[at - 1] != 255:
            break
    return length, at


# fmt: off
_rows_are_the_same("compression.payload-rows-are-the-same", Feature.RESPONSE_CODEC, STREAM_PROTO,
  "The rows of a session with compressed payloads are those of the table, once each.",
  "the Spark connector with response compression (from its source)")
refuses("compression.both-are-refused", refused_as("both-compressions"), STREAM_PROTO,
  "both compressions at once",
  "A request for compressed buffers and compressed payloads together is refused: the two cannot be combined.",
  level=Level.SHOULD)
# fmt: on
