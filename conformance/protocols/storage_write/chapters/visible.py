"""What a reader sees: rows become visible by the type of their stream, in full, once, and not before.

The reader is the Storage Read API of the same server. A read begins after the answers before it have come, so that rows
that have to be visible by then are in it.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence

from conformance.contain.text import many
from conformance.contract.clause import Violation, clause
from conformance.contract.sources import (
    JAVA_WRITE_TEST,
    MEASURED,
    RUST_CLIENT,
    STORAGE_PROTO,
    WRITE_GUIDE,
    Inferred,
)
from conformance.protocols.storage_write.contract import WRITE
from conformance.protocols.storage_write.contract.state import StreamState
from conformance.protocols.storage_write.contract.subjects import ReadBack, SeenStream
from conformance.protocols.storage_write.contract.view import WriteCall, WriteView
from conformance.protocols.storage_write.records import ReadWritten, StreamType
from conformance.records import Level

_clause = functools.partial(clause, profiles=WRITE)
_LOST = "every client: rows that were acknowledged are gone, without an error"


def _seen(chosen: Callable[[StreamState], bool]) -> Callable[[WriteView], Sequence[SeenStream]]:
    """Selects the streams that reads show, whose rows are known."""

    def select(view: WriteView) -> Sequence[SeenStream]:
        found = [SeenStream(read, stream) for read in view.reads for stream in read.streams]
        return [one for one in found if one.stream.known and one.stream.rows and chosen(one.stream)]

    return select


def _due(chosen: Callable[[StreamState], bool]) -> Callable[[WriteView], Sequence[SeenStream]]:
    """Selects the same, and the streams of which reads had to show rows that cannot be decoded.

    No other clause reads the bytes of the half that reads: without this one, rows that nobody can read would pass.
    """
    seen = _seen(chosen)

    def select(view: WriteView) -> Sequence[SeenStream]:
        lost = [SeenStream(read, stream) for read in view.undecoded for stream in read.streams]
        return [*seen(view), *(one for one in lost if one.stream.known and one.stream.visible and chosen(one.stream))]

    return select


@_clause(
    "storage-write-visible.table-is-read",
    over=lambda view: [call for call in view.served if isinstance(call.step, ReadWritten) and call.offered],
    source=Inferred(STORAGE_PROTO),
    level=Level.SHOULD,
    breaks="every client that reads: what was written cannot be seen",
)
def table_is_read(call: WriteCall) -> Iterator[Violation]:
    """A table that rows are written to can be read by the Storage Read API, if the server has it.

    A read that fails is no proof against the writes before it: clauses on rows are not judged then.
    """
    if not call.ok:
        yield Violation("OK", call.raw.status)


def _missing(one: SeenStream) -> Iterator[Violation]:
    if one.missing:
        wanted = f"{many(len(one.stream.visible), 'row')} of the stream"
        why = "" if one.read.is_decoded else ": no row of the batches that came can be read"
        yield Violation(wanted, f"{many(len(one.missing), 'row')} missing, the first number {one.missing[0]}{why}")


def _early(one: SeenStream) -> Iterator[Violation]:
    if one.early:
        seen = f"{many(len(one.early), 'row')}, the first number {one.early[0]}"
        yield Violation("none of the rows that are not visible yet", seen)


@_clause(
    "storage-write-visible.committed-rows-are-read",
    over=_due(lambda one: one.type is StreamType.COMMITTED and not one.is_default and not one.connections),
    source=(JAVA_WRITE_TEST, STORAGE_PROTO),
    breaks=_LOST,
)
def committed_rows_are_read(one: SeenStream) -> Iterator[Violation]:
    """Rows of a stream of the type COMMITTED are visible once they are acknowledged.

    storage.proto: "For COMMITTED streams (which includes the default stream), data is visible immediately upon
    successful append."
    """
    yield from _missing(one)


@_clause(
    "storage-write-visible.default-rows-are-read",
    over=_due(lambda stream: stream.is_default and not stream.connections),
    source=(JAVA_WRITE_TEST, STORAGE_PROTO),
    breaks=_LOST,
)
def default_rows_are_read(one: SeenStream) -> Iterator[Violation]:
    """Rows of the default stream are visible once they are acknowledged."""
    yield from _missing(one)


@_clause(
    "storage-write-visible.committed-rows-are-read-while-open",
    over=_due(lambda stream: stream.type is StreamType.COMMITTED and bool(stream.connections)),
    source=(JAVA_WRITE_TEST, STORAGE_PROTO),
    breaks="programs that keep a connection open for hours, as writers of streams do: readers do not see their rows",
)
def committed_rows_are_read_while_open(one: SeenStream) -> Iterator[Violation]:
    """Rows of the default stream, or of one of the type COMMITTED, are visible while their connection is still open.

    storage.proto: "data is visible immediately upon successful append." It need not wait for the end of the connection.
    """
    yield from _missing(one)


@_clause(
    "storage-write-visible.flush-shows-the-rows-while-open",
    over=_due(lambda stream: stream.type is StreamType.BUFFERED and bool(stream.flushed and stream.connections)),
    source=STORAGE_PROTO,
    level=Level.SHOULD,
    breaks="sinks that flush at each checkpoint, and keep their connection open",
)
def flush_shows_the_rows_while_open(one: SeenStream) -> Iterator[Violation]:
    """The rows of a BUFFERED stream up to the offset of a flush are visible while a connection to it is still open."""
    yield from _missing(one)


@_clause(
    "storage-write-visible.rows-of-both-writers-are-read",
    over=_seen(lambda stream: stream.is_shared and stream.is_default),
    source=WRITE_GUIDE,
    level=Level.SHOULD,
    breaks="programs that write to the default stream from several processes or threads: rows are lost, or there twice",
)
def rows_of_both_writers_are_read(one: SeenStream) -> Iterator[Violation]:
    """Rows that two connections write to the default stream at the same time are there, each once."""
    yield from _missing(one)
    due = one.read.due
    twice = [row for row in one.stream.rows if one.read.counts.get(row, 0) > due[row]] if one.read.is_known else []
    if twice:
        yield Violation("each row once", f"{many(len(twice), 'row')} more often, the first number {twice[0]}")


@_clause(
    "storage-write-visible.retried-rows-are-there-once",
    over=_seen(lambda stream: stream.is_retried and bool(stream.visible)),
    source=(JAVA_WRITE_TEST, STORAGE_PROTO, WRITE_GUIDE),
    breaks="clients that write exactly once: rows are lost, or there twice, after a lost connection",
)
def retried_rows_are_there_once(one: SeenStream) -> Iterator[Violation]:
    """Rows that were sent again at their offset, since the answer was lost, are there once.

    ALREADY_EXISTS says that they are written, so that no client sends them a third time.
    """
    yield from _missing(one)
    due = one.read.due
    twice = [row for row in one.stream.visible if one.read.is_known and one.read.counts.get(row, 0) > due[row]]
    if twice:
        yield Violation("each row once", f"{many(len(twice), 'row')} more often, the first number {twice[0]}")


@_clause(
    "storage-write-visible.pending-waits-for-the-commit",
    over=_seen(lambda stream: stream.type is StreamType.PENDING and not stream.committed and not stream.failed),
    source=(JAVA_WRITE_TEST, STORAGE_PROTO),
    breaks="programs that write in one transaction: readers see a part of it",
)
def pending_waits_for_the_commit(one: SeenStream) -> Iterator[Violation]:
    """Rows of a PENDING stream are not visible before its commit, also if it is finalized."""
    yield from _early(one)


@_clause(
    "storage-write-visible.commit-shows-the-rows",
    over=_due(lambda stream: stream.type is StreamType.PENDING and stream.committed),
    source=(JAVA_WRITE_TEST, STORAGE_PROTO),
    breaks=_LOST,
)
def commit_shows_the_rows(one: SeenStream) -> Iterator[Violation]:
    """All rows of a PENDING stream are visible after its commit.

    storage.proto: "Once a stream is committed, data in the stream becomes available for read operations."
    """
    yield from _missing(one)


@_clause(
    "storage-write-visible.failed-commit-shows-nothing",
    over=_seen(lambda stream: stream.type is StreamType.PENDING and stream.failed and not stream.committed),
    source=STORAGE_PROTO,
    level=Level.SHOULD,
    breaks="programs that write several streams in one transaction: readers see a part of it",
)
def failed_commit_shows_nothing(one: SeenStream) -> Iterator[Violation]:
    """After a commit with errors, no row of any of its streams is visible.

    storage.proto: "If non empty, certain streams have errors and ZERO stream is committed due to atomicity guarantee."
    """
    yield from _early(one)


@_clause(
    "storage-write-visible.buffered-waits-for-the-flush",
    over=_seen(lambda stream: stream.type is StreamType.BUFFERED and not stream.flushed and not stream.finalized),
    source=(JAVA_WRITE_TEST, STORAGE_PROTO),
    breaks="sinks that write exactly once: readers see rows that may be written again",
)
def buffered_waits_for_the_flush(one: SeenStream) -> Iterator[Violation]:
    """Rows of a BUFFERED stream are not visible before a flush."""
    yield from _early(one)


@_clause(
    "storage-write-visible.flush-shows-the-rows",
    over=_due(lambda one: one.type is StreamType.BUFFERED and bool(one.flushed) and not one.connections),
    source=(JAVA_WRITE_TEST, STORAGE_PROTO),
    breaks=_LOST,
)
def flush_shows_the_rows(one: SeenStream) -> Iterator[Violation]:
    """The rows of a BUFFERED stream up to the offset of a flush are visible after it, and so is the row at this offset.

    storage.proto: "Rows before this offset(including this offset) will be flushed."
    """
    yield from _missing(one)


@_clause(
    "storage-write-visible.flush-shows-no-more",
    over=_seen(lambda stream: stream.type is StreamType.BUFFERED and bool(stream.flushed) and not stream.finalized),
    source=(STORAGE_PROTO, MEASURED),
    breaks="sinks that write exactly once: readers see rows that may be written again",
)
def flush_shows_no_more(one: SeenStream) -> Iterator[Violation]:
    """The rows of a BUFFERED stream behind the offset of the last flush are not visible."""
    yield from _early(one)


@_clause(
    "storage-write-visible.finalize-does-not-flush",
    over=_seen(lambda stream: stream.type is StreamType.BUFFERED and stream.finalized),
    source=(RUST_CLIENT, MEASURED),
    breaks="sinks that finalize what they give up: rows become visible that were written again elsewhere",
)
def finalize_does_not_flush(one: SeenStream) -> Iterator[Violation]:
    """FinalizeWriteStream of a BUFFERED stream makes no row visible."""
    yield from _early(one)


@_clause(
    "storage-write-visible.each-row-once",
    over=lambda view: [read for read in view.reads if read.is_known and read.due],
    source=(JAVA_WRITE_TEST, WRITE_GUIDE),
    breaks="every client: rows are there twice: https://github.com/goccy/bigquery-emulator/issues/505",
)
def each_row_once(read: ReadBack) -> Iterator[Violation]:
    """A row is visible as often as it was acknowledged: a second flush or read does not show it again."""
    twice = [row for row, due in read.due.items() if read.counts.get(row, 0) > due]
    if twice:
        yield Violation("each row once", f"{many(len(twice), 'row')} more often, the first number {twice[0]}")
