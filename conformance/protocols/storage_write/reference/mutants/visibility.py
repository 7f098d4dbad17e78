"""Faults in what readers see, and in how streams end."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import grpc
import pyarrow as pa

from conformance.protocols.storage_write.contract.classes import CLASSES
from conformance.protocols.storage_write.reference.register import mutant
from conformance.protocols.storage_write.reference.service import WriteService
from conformance.protocols.storage_write.reference.streams import AppendRefusedError, WriteStream, storage_error
from conformance.reference.statuses import Refusal

_GOCCY = "https://github.com/goccy/bigquery-emulator/issues/505"


class _Shows(WriteService):
    """A server that shows rows at another time than their append."""

    def write(self, stream: WriteStream, rows: pa.Table) -> int:
        first = stream.end
        stream.rows.append(rows)
        if self.shows(stream):
            self.show(stream, stream.end)
        return first

    def shows(self, stream: WriteStream) -> bool:
        """True if rows are visible once they are acknowledged."""
        raise NotImplementedError


@mutant(
    "storage-write.committed-hidden",
    kills="storage-write-visible.committed-rows-are-read",
    also={
        "storage-write-visible.committed-rows-are-read-while-open": "they are not visible while it is open either",
        "storage-write-visible.retried-rows-are-there-once": "neither are those that were sent again",
    },
)
class CommittedHidden(_Shows):
    """Rows of a stream that was created are never visible at once."""

    def shows(self, stream: WriteStream) -> bool:
        return stream.is_default


@mutant(
    "storage-write.default-hidden",
    kills="storage-write-visible.default-rows-are-read",
    also={
        "storage-write-framing.refused-or-stored": "no row of the default stream is in the table",
        "storage-write-visible.committed-rows-are-read-while-open": "the rows are not visible at any time",
        "storage-write-visible.rows-of-both-writers-are-read": "as above, of two connections",
    },
)
class DefaultHidden(_Shows):
    """Rows of the default stream are not visible."""

    def shows(self, stream: WriteStream) -> bool:
        return stream.kind == "COMMITTED" and not stream.is_default


@mutant(
    "storage-write.pending-shown",
    kills="storage-write-visible.pending-waits-for-the-commit",
    also={"storage-write-visible.failed-commit-shows-nothing": "the rows are visible already"},
)
class PendingShown(_Shows):
    """Rows of a PENDING stream are visible once they are acknowledged."""

    def shows(self, stream: WriteStream) -> bool:
        return stream.kind != "BUFFERED"


@mutant(
    "storage-write.finalized-pending-shown",
    kills="storage-write-visible.pending-waits-for-the-commit",
    also={"storage-write-visible.failed-commit-shows-nothing": "the rows are visible already"},
)
class FinalizedPendingShown(WriteService):
    """Rows of a PENDING stream are visible once it is finalized."""

    def row_count(self, stream: WriteStream) -> int:
        if stream.kind == "PENDING":
            self.show(stream, stream.end)
        return super().row_count(stream)


@mutant(
    "storage-write.commit-loses-rows",
    kills="storage-write-visible.commit-shows-the-rows",
    also={"storage-write-visible.retried-rows-are-there-once": "rows that were sent again are lost with the others"},
)
class CommitLosesRows(WriteService):
    """A commit shows all rows of a stream but the last."""

    def commit(self, stream: WriteStream, now: int) -> None:
        stream.committed = now
        self.show(stream, stream.end - 1)


@mutant("storage-write.commit-loses-a-stream", kills="storage-write-visible.commit-shows-the-rows")
class CommitLosesAStream(WriteService):
    """A commit shows the rows of its first stream alone."""

    def batch_commit_write_streams(self, request: Any) -> Any:
        self.first = request.write_streams[0]
        return super().batch_commit_write_streams(request)

    def commit(self, stream: WriteStream, now: int) -> None:
        stream.committed = now
        if stream.name == self.first:
            self.show(stream, stream.end)


@mutant(
    "storage-write.commit-one-by-one",
    kills="storage-write-visible.failed-commit-shows-nothing",
    also={"storage-write-finish.commit-is-served": "a stream of it is committed already"},
    source=_GOCCY,
)
class CommitOneByOne(WriteService):
    """A commit with a stream that cannot be committed shows the rows of the others."""

    def refuse_commit(self, answer: Any, errors: Sequence[Any], streams: Sequence[WriteStream]) -> None:
        super().refuse_commit(answer, errors, streams)
        for stream in streams:
            if self.commit_error(stream, stream.name.partition("/streams/")[0]) is None:
                self.show(stream, stream.end)


@mutant(
    "storage-write.buffered-shown",
    kills="storage-write-visible.buffered-waits-for-the-flush",
    also={
        "storage-write-visible.flush-shows-no-more": "the rows are visible already",
        "storage-write-visible.finalize-does-not-flush": "as above",
    },
)
class BufferedShown(_Shows):
    """Rows of a BUFFERED stream are visible once they are acknowledged."""

    def shows(self, stream: WriteStream) -> bool:
        return stream.kind != "PENDING"


@mutant(
    "storage-write.flush-excludes-its-offset",
    kills="storage-write-visible.flush-shows-the-rows",
    also={"storage-write-visible.flush-shows-the-rows-while-open": "the row is missing whenever it is read"},
)
class FlushExcludesItsOffset(WriteService):
    """A flush shows the rows before its offset, and not the row at it."""

    def flush(self, stream: WriteStream, offset: int) -> None:
        self.show(stream, offset)


@mutant(
    "storage-write.flush-shows-all",
    kills="storage-write-visible.flush-shows-no-more",
    also={"storage-write-visible.finalize-does-not-flush": "the rows are visible already"},
)
class FlushShowsAll(WriteService):
    """A flush shows every row of its stream, whatever its offset is."""

    def flush(self, stream: WriteStream, offset: int) -> None:
        self.show(stream, stream.end)


@mutant("storage-write.finalize-flushes", kills="storage-write-visible.finalize-does-not-flush")
class FinalizeFlushes(WriteService):
    """FinalizeWriteStream of a BUFFERED stream shows all of its rows."""

    def row_count(self, stream: WriteStream) -> int:
        if stream.kind == "BUFFERED":
            self.show(stream, stream.end)
        return super().row_count(stream)


@mutant("storage-write.flush-inserts-again", kills="storage-write-visible.each-row-once", source=_GOCCY)
class FlushInsertsAgain(WriteService):
    """Each flush inserts the rows from the first one."""

    def flush(self, stream: WriteStream, offset: int) -> None:
        stream.shown = 0
        super().flush(stream, offset)


@mutant(
    "storage-write.append-written-twice",
    kills="storage-write-visible.each-row-once",
    also={"storage-write-visible.retried-rows-are-there-once": "so are rows that were sent again"},
)
class AppendWrittenTwice(WriteService):
    """The rows of an append at an offset are in the table twice."""

    def show(self, stream: WriteStream, end: int) -> None:
        before = stream.shown
        super().show(stream, end)
        if stream.kind == "COMMITTED" and not stream.is_default and end > before:
            stream.table.chunks.append(stream.part(before, end))


# --- the end of a stream --------------------------------------------------------------------------


@mutant("storage-write.finalize-counts-appends", kills="storage-write-finish.finalize-counts-the-rows")
class FinalizeCountsAppends(WriteService):
    """FinalizeWriteStream answers with the number of appends."""

    def row_count(self, stream: WriteStream) -> int:
        return len(stream.rows)


@mutant("storage-write.finalize-counts-nothing", kills="storage-write-finish.finalize-counts-the-rows")
class FinalizeCountsNothing(WriteService):
    """FinalizeWriteStream answers with 0."""

    def row_count(self, stream: WriteStream) -> int:
        return 0


@mutant("storage-write.empty-not-finalized", kills="storage-write-finish.finalize-is-served")
class EmptyNotFinalized(WriteService):
    """FinalizeWriteStream of a stream without rows is refused."""

    def row_count(self, stream: WriteStream) -> int:
        if not stream.end:
            stream.finalized = False
            raise Refusal(grpc.StatusCode.FAILED_PRECONDITION, f"The stream has no rows. Entity: {stream.name}")
        return super().row_count(stream)


@mutant("storage-write.default-finalized", kills="storage-write-finish.default-is-not-finalized")
class DefaultFinalized(WriteService):
    """FinalizeWriteStream of the default stream ends in OK."""

    def finalize_write_stream(self, request: Any) -> Any:
        if request.name.endswith("/_default"):
            return CLASSES["FinalizeWriteStreamResponse"]()
        return super().finalize_write_stream(request)


@mutant("storage-write.finalized-written", kills="storage-write-finish.finalized-takes-no-rows")
class FinalizedWritten(WriteService):
    """A finalized stream takes rows."""

    def check_state(self, stream: WriteStream) -> None:
        return


@mutant("storage-write.finalized-without-code", kills="storage-write-finish.finalized-has-its-code")
class FinalizedWithoutCode(WriteService):
    """The error of an append to a finalized stream has no details."""

    def check_state(self, stream: WriteStream) -> None:
        if stream.finalized:
            raise AppendRefusedError("INVALID_ARGUMENT", "Stream has been finalized.")


@mutant("storage-write.finalized-as-status", kills="storage-write-finish.finalized-has-its-code")
class FinalizedAsStatus(WriteService):
    """An append to a finalized stream ends the connection."""

    def check_state(self, stream: WriteStream) -> None:
        if stream.finalized:
            raise Refusal(grpc.StatusCode.INVALID_ARGUMENT, "Stream has been finalized.")


@mutant("storage-write.commit-of-one", kills="storage-write-finish.commit-is-served")
class CommitOfOne(WriteService):
    """A commit of several streams is refused."""

    def batch_commit_write_streams(self, request: Any) -> Any:
        if len(request.write_streams) > 1:
            raise Refusal(grpc.StatusCode.INVALID_ARGUMENT, "expected one stream")
        return super().batch_commit_write_streams(request)


@mutant("storage-write.commit-without-time", kills="storage-write-finish.commit-has-its-time")
class CommitWithoutTime(WriteService):
    """The answer to a commit has no time."""

    def commit_time(self, answer: Any, now: int) -> None:
        return


@mutant("storage-write.failed-commit-with-time", kills="storage-write-finish.failed-commit-has-no-time", source=_GOCCY)
class FailedCommitWithTime(WriteService):
    """The answer to a commit has a time, also if it has errors."""

    def refuse_commit(self, answer: Any, errors: Sequence[Any], streams: Sequence[WriteStream]) -> None:
        super().refuse_commit(answer, errors, streams)
        self.commit_time(answer, self.store.now())


class _Commits(WriteService):
    """A server that commits what cannot be committed."""

    PERMITTED = ""
    """The code of the error that does not count."""

    def commit_error(self, stream: WriteStream, parent: str) -> Any:
        error = super().commit_error(stream, parent)
        same = error is not None and error == storage_error(self.PERMITTED, stream.name, error.error_message)
        return None if same else error


@mutant("storage-write.unfinalized-committed", kills="storage-write-finish.unfinalized-is-not-committed", source=_GOCCY)
class UnfinalizedCommitted(_Commits):
    """A stream that is not finalized is committed."""

    PERMITTED = "INVALID_STREAM_STATE"


@mutant("storage-write.committed-twice", kills="storage-write-finish.committed-once", source=_GOCCY)
class CommittedTwice(_Commits):
    """A stream is committed again, without an effect."""

    PERMITTED = "STREAM_ALREADY_COMMITTED"


@mutant("storage-write.buffered-committed", kills="storage-write-finish.pending-alone-is-committed")
class BufferedCommitted(_Commits):
    """A BUFFERED stream is committed."""

    PERMITTED = "INVALID_STREAM_TYPE"


@mutant("storage-write.flush-of-the-end", kills="storage-write-finish.flush-is-served")
class FlushOfTheEnd(WriteService):
    """A flush of less than the whole stream is refused."""

    def check_flush(self, stream: WriteStream, offset: int) -> None:
        super().check_flush(stream, offset)
        if offset < stream.end - 1:
            raise Refusal(grpc.StatusCode.FAILED_PRECONDITION, f"Not the end of the stream. Entity: {stream.name}")


@mutant("storage-write.flush-answers-the-count", kills="storage-write-finish.flush-answers-its-offset")
class FlushAnswersTheCount(WriteService):
    """FlushRows answers with the number of rows that are visible."""

    def flush_rows(self, request: Any) -> Any:
        answer = super().flush_rows(request)
        answer.offset += 1
        return answer


class _Flushes(WriteService):
    """A server that answers OK to a flush that cannot be done."""

    def check_flush(self, stream: WriteStream, offset: int) -> None:
        try:
            super().check_flush(stream, offset)
        except Refusal:
            if not self.permits(stream, offset):
                raise

    def permits(self, stream: WriteStream, offset: int) -> bool:
        """True for such a flush."""
        raise NotImplementedError


@mutant("storage-write.flush-past-the-end", kills="storage-write-finish.flush-past-the-end-is-refused")
class FlushPastTheEnd(_Flushes):
    """A flush of an offset that the stream does not have shows all rows."""

    def permits(self, stream: WriteStream, offset: int) -> bool:
        return stream.kind == "BUFFERED" and not stream.finalized

    def flush(self, stream: WriteStream, offset: int) -> None:
        super().flush(stream, min(offset, stream.end - 1))


@mutant("storage-write.finalized-flushed", kills="storage-write-finish.finalized-is-not-flushed")
class FinalizedFlushed(_Flushes):
    """A finalized stream is flushed."""

    def permits(self, stream: WriteStream, offset: int) -> bool:
        return stream.kind == "BUFFERED" and stream.finalized


@mutant("storage-write.committed-flushed", kills="storage-write-finish.buffered-alone-is-flushed")
class CommittedFlushed(_Flushes):
    """A flush of a COMMITTED stream ends in OK, and does nothing."""

    def permits(self, stream: WriteStream, offset: int) -> bool:
        return stream.kind != "BUFFERED"

    def flush(self, stream: WriteStream, offset: int) -> None:
        if stream.kind == "BUFFERED":
            super().flush(stream, offset)


@mutant("storage-write.reads-fail", kills="storage-write-visible.table-is-read")
class ReadsFail(WriteService):
    """A table with rows cannot be read."""

    def create_read_session(self, request: Any) -> Any:
        answer = super().create_read_session(request)
        if answer.streams:
            raise Refusal(grpc.StatusCode.INTERNAL, "The rows cannot be read.")
        return answer
