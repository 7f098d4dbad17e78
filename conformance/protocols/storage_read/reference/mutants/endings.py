"""Mutants of how calls end: too large, never, with the server's death, or starved by abandoned reads."""

from __future__ import annotations

import abc
import os
import threading
from collections import Counter
from collections.abc import Iterator
from typing import Any, Final, NoReturn

import grpc
import pyarrow as pa

from conformance.protocols.storage_read.reference.register import behaviour_mutant, process_mutant
from conformance.protocols.storage_read.reference.service import ReadService
from conformance.protocols.storage_read.reference.session import Stream
from conformance.reference.mutants.reasons import IN_PARTS
from conformance.reference.statuses import Refusal

_DEAD: Final = "https://github.com/goccy/bigquery-emulator/issues/382"
_ENDLESS: Final = "https://github.com/googleapis/google-cloud-go/issues/8660"
_FOUR_MIB: Final = 4 << 20
_ABOVE: Final = 129 << 20
_FAILED: Final = 2
"""The exit status of a server that died."""


def _hang() -> NoReturn:
    threading.Event().wait()
    raise AssertionError("nobody sets the event")


# --- large tables ----------------------------------------------------------------------------------


@behaviour_mutant("responses.wide-row-exhausted", kills="responses.wide-rows-are-served")
class WideRowExhausted(ReadService):
    """A row of more than 4 MiB ends its read in RESOURCE_EXHAUSTED."""

    def cut_responses(self, stream: Stream, batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
        for part in super().cut_responses(stream, batch):
            if part.num_rows == 1 and part.nbytes > _FOUR_MIB:
                raise Refusal(grpc.StatusCode.RESOURCE_EXHAUSTED, "Sent message larger than max")
            yield part


@behaviour_mutant("responses.wide-row-left-out", kills="responses.wide-rows-arrive")
class WideRowLeftOut(ReadService):
    """A response that would be larger than 4 MiB is left out, if it is the last."""

    def rows_at_offset(self, stream: Stream, offset: int) -> pa.Table:
        rows = super().rows_at_offset(stream, offset)
        wide = rows.num_rows > 1 and rows.nbytes / rows.num_rows > _FOUR_MIB
        return rows.slice(0, rows.num_rows - 1) if wide else rows


class _ManyRows(ReadService):
    """A service that fails on tables of more than 8 MiB of small rows."""

    def is_many(self, rows: pa.Table) -> bool:
        """True if ``rows`` is such a table."""
        return bool(rows.nbytes > 2 * _FOUR_MIB and rows.nbytes / rows.num_rows < _FOUR_MIB / 8)


@behaviour_mutant("responses.large-table-exhausted", kills="responses.many-rows-are-served")
class LargeTableExhausted(_ManyRows):
    """A table beyond 8 MiB ends its read in RESOURCE_EXHAUSTED."""

    def rows_at_offset(self, stream: Stream, offset: int) -> pa.Table:
        if self.is_many(stream.rows):
            raise Refusal(grpc.StatusCode.RESOURCE_EXHAUSTED, "Sent message larger than max")
        return super().rows_at_offset(stream, offset)


@behaviour_mutant("responses.large-table-cut", kills="responses.many-rows-arrive")
class LargeTableCut(_ManyRows):
    """The last row of a table beyond 8 MiB does not arrive."""

    def rows_at_offset(self, stream: Stream, offset: int) -> pa.Table:
        rows = super().rows_at_offset(stream, offset)
        return rows.slice(0, rows.num_rows - 1) if rows.num_rows and self.is_many(rows) else rows


@behaviour_mutant(
    "responses.above-the-limit",
    kills="responses.stay-within-128-mb",
    also={
        "framing.batch-without-trailing-bytes": "zeros behind the batch are the cheapest way to 128 MB",
        "framing.batch-without-end-of-stream": "eight of those zeros are an end-of-stream marker of legacy framing",
    },
)
class AboveLimit(ReadService):
    """The first response with a row of more than 4 MiB is filled up beyond 128 MB."""

    def describe_rows(self, stream: Stream, part: pa.RecordBatch, *, start: int, first: bool) -> Any:
        answer = super().describe_rows(stream, part, start=start, first=first)
        if first and part.nbytes / part.num_rows > _FOUR_MIB:
            answer.arrow_record_batch.serialized_record_batch += bytes(_ABOVE)
        return answer


# --- calls that do not end -------------------------------------------------------------------------


@process_mutant("calls.split-hangs", kills="calls.end-in-time", source=_ENDLESS)
class SplitHangs(ReadService):
    """A split of a stream that cannot be split is never answered."""

    def split_read_stream(self, request: Any) -> Any:
        stream = self.sessions.find(request.name)
        if stream is not None and stream.rows.num_rows <= 1:
            _hang()
        return super().split_read_stream(request)


@process_mutant("calls.dies-without-options", kills="calls.leave-the-server-alive", defects=("B-15",), source=_DEAD)
class DiesWithoutOptions(ReadService):
    """A session without read_options ends the server's process."""

    def check_request(self, request: Any) -> None:
        if not request.read_session.HasField("read_options"):
            os._exit(_FAILED)
        super().check_request(request)


@behaviour_mutant("calls.endless-stream", kills="calls.stay-within-reason", source=_ENDLESS)
class EndlessStream(ReadService):
    """A read of a table of one row sends that row for ever."""

    def cut_responses(self, stream: Stream, batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
        yield from super().cut_responses(stream, batch)
        while stream.session.snapshot.rows.num_rows == 1 and batch.num_rows:
            yield batch

    def progress(self, stream: Stream, start: int, stop: int) -> tuple[float, float]:
        rows = stream.rows.num_rows
        return super().progress(stream, min(start, rows), min(stop, rows))


# --- abandoned reads ----------------------------------------------------------------------------------


class _Counting(ReadService, abc.ABC):
    """A service that counts the reads of each stream."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.begun: Counter[str] = Counter()
        self.lock = threading.Lock()

    @abc.abstractmethod
    def before(self, session: str) -> None:
        """A hook, called before a stream of ``session`` is read."""

    def read_rows(self, request: Any) -> Iterator[Any]:
        self.before(request.read_stream.partition("/streams/")[0])
        with self.lock:
            self.begun[request.read_stream] += 1
        try:
            yield from super().read_rows(request)
        except Refusal:
            with self.lock:
                self.begun[request.read_stream] -= 1
            raise

    @property
    def open_reads(self) -> int:
        """The most reads of one stream.

        Whether a read was abandoned depends on how much the server had sent by then, so every read counts: only cases
        that abandon reads have so many.
        """
        with self.lock:
            return max(self.begun.values(), default=0)


_READERS: Final = 20
"""The open reads that the starved servers below allow."""


class _Starved(_Counting):
    """A server that allows a number of open reads; :meth:`full` is its reaction to one more."""

    def before(self, session: str) -> None:  # noqa: ARG002  # the shape of a step
        if self.open_reads >= _READERS:
            self.full()

    @abc.abstractmethod
    def full(self) -> None:
        """React to a read that is one too many."""


@behaviour_mutant(
    "abandon.readers-counted-for-ever",
    kills="abandon.later-read-is-served",
    also={"rows.read-is-served": "a server that is full refuses whoever comes, before or after others have left"},
)
class ReadersCounted(_Starved):
    """At most 20 reads may be open, and an abandoned one counts for ever."""

    def full(self) -> None:
        raise Refusal(grpc.StatusCode.RESOURCE_EXHAUSTED, "too many readers")


@process_mutant(
    "abandon.threads-kept",
    kills="abandon.later-calls-end-in-time",
    also={"calls.end-in-time": "of forty reads at once some wait before any has been abandoned"},
)
class ThreadsKept(_Starved):
    """At most 20 reads may be open, an abandoned one counts for ever, and the next read waits."""

    def full(self) -> None:
        _hang()


@process_mutant("abandon.dies", kills="abandon.server-lives-on")
class DiesOfAbandoned(_Counting):
    """Once 20 reads have been abandoned, the server dies at the first read of another session."""

    last = ""

    def before(self, session: str) -> None:
        if self.open_reads >= _READERS and session != self.last:
            os._exit(_FAILED)
        self.last = session


@behaviour_mutant(
    "abandon.goes-on",
    kills="abandon.later-read-is-whole",
    also={
        **IN_PARTS,
        "rows.rereading-repeats": "a stream that is read again after it was abandoned gives other rows",
        "rows.none-is-missing": "where reads are abandoned at once, chance decides whether one of them was whole",
    },
)
class GoesOn(ReadService):
    """A read of a stream goes on where the last one was abandoned."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.done: Counter[str] = Counter()

    def read_rows(self, request: Any) -> Iterator[Any]:
        for answer in super().read_rows(request):
            self.done[request.read_stream] += answer.row_count
            yield answer
        del self.done[request.read_stream]

    def rows_at_offset(self, stream: Stream, offset: int) -> pa.Table:
        return super().rows_at_offset(stream, max(offset, self.done.get(stream.name, 0)))
