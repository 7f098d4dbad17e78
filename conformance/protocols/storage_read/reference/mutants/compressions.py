"""Mutants of compression: refused, of another kind than requested, or with a wrong size."""

from __future__ import annotations

import dataclasses
from typing import Any

import pyarrow as pa

from conformance.protocols.storage_read.reference.register import behaviour_mutant
from conformance.protocols.storage_read.reference.service import ReadService
from conformance.protocols.storage_read.reference.session import Stream
from conformance.reference.mutants.reasons import IN_RESULTS
from conformance.reference.statuses import Reason

_PAYLOAD_CODEC = "https://github.com/GoogleCloudDataproc/spark-bigquery-connector/pull/1222"


@behaviour_mutant(
    "compression.buffers-refused",
    kills="compression.request-is-served",
)
class BuffersRefused(ReadService):
    """A session that asks for compressed buffers is refused."""

    def resolve_compression(self, options: Any) -> tuple[str, bool]:
        codec, lz4 = super().resolve_compression(options)
        if codec:
            self.refuse(Reason.UNKNOWN_COMPRESSION, codec=codec)
        return codec, lz4


@behaviour_mutant("compression.other-codec", kills="compression.codec-is-the-one-asked-for", also=IN_RESULTS)
class OtherCodec(ReadService):
    """Buffers are compressed with ZSTD, whichever codec was requested."""

    def encode_batch(self, part: pa.RecordBatch, codec: str) -> bytes:
        return super().encode_batch(part, "ZSTD" if codec else "")


@behaviour_mutant("compression.always", kills="compression.none-without-asking", also=IN_RESULTS)
class AlwaysCompressed(ReadService):
    """Buffers are compressed without a request for it."""

    def encode_batch(self, part: pa.RecordBatch, codec: str) -> bytes:
        return super().encode_batch(part, codec or "LZ4_FRAME")


def _without_last(rows: pa.Table, stream: Stream) -> pa.Table:
    return rows.slice(0, rows.num_rows - 1) if stream.rows.num_rows > 1 and rows.num_rows else rows


@behaviour_mutant(
    "compression.buffers-lose-a-row",
    kills="compression.rows-are-the-same",
    also={
        "projection.filter-may-use-other-columns": "one case asks for everything at once",
        "query-results.stream-has-the-rows-from-the-offset": "one case reads the stream of a job in a codec",
        "query-results.inserted-job-has-a-stream": "one case reads the stream of an inserted job in a codec",
        "query-results.waited-job-has-a-stream": "one case reads the stream of a job in a codec after it waited",
    },
)
class BuffersLoseRow(ReadService):
    """The last row of a stream is lost where buffers are compressed."""

    def rows_at_offset(self, stream: Stream, offset: int) -> pa.Table:
        rows = super().rows_at_offset(stream, offset)
        return _without_last(rows, stream) if stream.session.buffer_codec and not offset else rows


@behaviour_mutant("compression.payloads-refused", kills="compression.payload-request-is-served", source=_PAYLOAD_CODEC)
class PayloadsRefused(ReadService):
    """A session that asks for compressed payloads is refused."""

    def resolve_compression(self, options: Any) -> tuple[str, bool]:
        codec, lz4 = super().resolve_compression(options)
        if lz4:
            self.refuse(Reason.UNKNOWN_COMPRESSION, codec="LZ4")
        return codec, lz4


def _plain(stream: Stream) -> Stream:
    """The stream as if its session had no compressed payloads."""
    return dataclasses.replace(stream, session=dataclasses.replace(stream.session, lz4_responses=False))


@behaviour_mutant("compression.payload-left", kills="compression.payload-size-is-set")
class PayloadLeft(ReadService):
    """A requested compression of payloads is echoed and not applied."""

    def describe_rows(self, stream: Stream, part: pa.RecordBatch, *, start: int, first: bool) -> Any:
        return super().describe_rows(_plain(stream), part, start=start, first=first)


@behaviour_mutant("compression.payload-size-zero", kills="compression.payload-size-is-positive-or-minus-one")
class PayloadSizeZero(ReadService):
    """A payload that was not compressed has the size 0 instead of -1."""

    def describe_rows(self, stream: Stream, part: pa.RecordBatch, *, start: int, first: bool) -> Any:
        answer = super().describe_rows(_plain(stream), part, start=start, first=first)
        if stream.session.lz4_responses:
            answer.uncompressed_byte_size = 0
        return answer


@behaviour_mutant("compression.payload-size-short", kills="compression.payload-has-its-size")
class PayloadSizeShort(ReadService):
    """The declared size of a compressed payload is one byte less than its true size."""

    def describe_rows(self, stream: Stream, part: pa.RecordBatch, *, start: int, first: bool) -> Any:
        answer = super().describe_rows(stream, part, start=start, first=first)
        if answer.uncompressed_byte_size > 0:
            answer.uncompressed_byte_size -= 1
        return answer


@behaviour_mutant(
    "compression.payload-size-of-the-whole-response",
    kills="compression.payload-has-its-size",
    also={"framing.*": "a payload that was taken for longer has bytes behind its message"},
)
class PayloadSizeOfWhole(ReadService):
    """The first payload of a read from an offset has the size that one from the first row had."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.sizes: dict[str, int] = {}

    def describe_rows(self, stream: Stream, part: pa.RecordBatch, *, start: int, first: bool) -> Any:
        answer = super().describe_rows(stream, part, start=start, first=first)
        if first and answer.uncompressed_byte_size > 0:
            if not start:
                self.sizes[stream.name] = answer.uncompressed_byte_size
            answer.uncompressed_byte_size = self.sizes.get(stream.name, answer.uncompressed_byte_size)
        return answer


@behaviour_mutant(
    "compression.nothing-is-a-row",
    kills="restriction.comparison",
    also={"restriction.nothing-selected": "the same requirement, asked of filters that select nothing"},
)
class NothingIsARow(ReadService):
    """A stream of compressed buffers whose restriction selects none of its rows has its first one."""

    def rows_of_run(self, rows: pa.Table, mask: pa.BooleanArray | None, start: int, stop: int) -> pa.Table:
        selected = super().rows_of_run(rows, mask, start, stop)
        return selected if selected.num_rows or not self.compressed else rows.slice(start, min(1, stop - start))

    compressed = False

    def resolve_compression(self, options: Any) -> tuple[str, bool]:
        codec, lz4 = super().resolve_compression(options)
        self.compressed = bool(codec)
        return codec, lz4


@behaviour_mutant(
    "compression.payloads-lose-a-row",
    kills="compression.payload-rows-are-the-same",
    also={"offsets.*": "a read from an offset has a row that the one from the first row has not"},
)
class PayloadsLoseRow(ReadService):
    """The last row of a stream is lost where payloads are compressed."""

    def rows_at_offset(self, stream: Stream, offset: int) -> pa.Table:
        rows = super().rows_at_offset(stream, offset)
        return _without_last(rows, stream) if stream.session.lz4_responses and not offset else rows


@behaviour_mutant("compression.both-accepted", kills="compression.both-are-refused")
class BothAccepted(ReadService):
    """If compressed buffers and payloads are both requested, the server compresses buffers instead of refusing."""

    def resolve_compression(self, options: Any) -> tuple[str, bool]:
        if options.arrow_serialization_options.buffer_compression:
            options.response_compression_codec = 0
        return super().resolve_compression(options)
