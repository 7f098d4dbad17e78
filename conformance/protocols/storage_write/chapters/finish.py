"""How a stream ends: finalized, committed with others, flushed.

Which status refuses a flush or a finalization is not asserted, and neither is whether a commit is refused by a status
or by errors on its streams.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence

from conformance.contract.clause import Violation, clause
from conformance.contract.sources import (
    GO_WRITE_TEST,
    JAVA_WRITE_TEST,
    MEASURED,
    STORAGE_PROTO,
    WRITES_RECORDED,
)
from conformance.protocols.storage_write.contract import WRITE
from conformance.protocols.storage_write.contract.state import StreamState
from conformance.protocols.storage_write.contract.subjects import AppendView, Why
from conformance.protocols.storage_write.contract.view import WriteCall, WriteView
from conformance.protocols.storage_write.records import FlushStream, StreamType
from conformance.records import Level

_clause = functools.partial(clause, profiles=WRITE)

Calls = Callable[[WriteView], Sequence[WriteCall]]


def _calls(method: str, chosen: Callable[[StreamState], bool]) -> Calls:
    """Selects calls of a method that were answered, and all of whose streams are as ``chosen`` says."""

    def select(view: WriteView) -> Sequence[WriteCall]:
        found = [call for call in view.calls_of(method) if call.offered and call.before]
        return [call for call in found if all(map(chosen, call.before.values()))]

    return select


# --- FinalizeWriteStream --------------------------------------------------------------------------


def _may_be_finalized(stream: StreamState) -> bool:
    return not stream.is_default and not stream.finalized


@_clause(
    "storage-write-finish.finalize-counts-the-rows",
    over=lambda view: [
        call
        for call in _calls("FinalizeWriteStream", lambda stream: _may_be_finalized(stream) and stream.known)(view)
        if call.answer is not None
    ],
    source=(JAVA_WRITE_TEST, WRITES_RECORDED),
    breaks="clients that compare the number with what they sent",
)
def finalize_counts_the_rows(call: WriteCall) -> Iterator[Violation]:
    """FinalizeWriteStream answers with the number of rows of the stream, 0 for an empty one."""
    (stream,) = call.before.values()
    if call.answer.row_count != len(stream.rows):
        yield Violation(f"row_count {len(stream.rows)}", f"row_count {call.answer.row_count}", field="row_count")


@_clause(
    "storage-write-finish.finalize-is-served",
    over=_calls("FinalizeWriteStream", _may_be_finalized),
    source=(JAVA_WRITE_TEST, WRITES_RECORDED),
)
def finalize_is_served(call: WriteCall) -> Iterator[Violation]:
    """FinalizeWriteStream of a stream that was created ends in OK, also of an empty one."""
    if not call.ok:
        yield Violation("OK", call.raw.status)


@_clause(
    "storage-write-finish.default-is-not-finalized",
    over=_calls("FinalizeWriteStream", lambda stream: stream.is_default),
    source=(WRITES_RECORDED, STORAGE_PROTO),
)
def default_is_not_finalized(call: WriteCall) -> Iterator[Violation]:
    """FinalizeWriteStream of the default stream is refused."""
    if call.ok:
        yield Violation("a refusal", "OK")


def _after_the_end(view: WriteView) -> Sequence[AppendView]:
    return [one for one in view.appends if one.why == {Why.FINALIZED} and (one.acknowledged or one.refused)]


@_clause(
    "storage-write-finish.finalized-takes-no-rows",
    over=_after_the_end,
    source=(JAVA_WRITE_TEST, GO_WRITE_TEST),
    breaks="every client: rows come into a stream whose rows were counted, or are lost",
)
def finalized_takes_no_rows(one: AppendView) -> Iterator[Violation]:
    """An append to a finalized stream is refused."""
    if one.acknowledged:
        yield Violation("an error", "append_result")


@_clause(
    "storage-write-finish.finalized-has-its-code",
    over=lambda view: [one for one in _after_the_end(view) if one.refused],
    source=(JAVA_WRITE_TEST, GO_WRITE_TEST),
    breaks="clients that open another stream when the service says that one is finalized",
)
def finalized_has_its_code(one: AppendView) -> Iterator[Violation]:
    """An append to a finalized stream is refused in an answer, with a StorageError with STREAM_FINALIZED."""
    if "STREAM_FINALIZED" not in one.storage_errors:
        came = ", ".join(one.storage_errors) or (
            "no StorageError" if one.in_band else f"the call ended in {one.status}"
        )
        yield Violation("STREAM_FINALIZED", came, field="error.details")


# --- BatchCommitWriteStreams ----------------------------------------------------------------------


_lawful_commits = _calls("BatchCommitWriteStreams", lambda stream: stream.may_be_committed)


@_clause(
    "storage-write-finish.commit-is-served",
    over=_lawful_commits,
    source=(JAVA_WRITE_TEST, WRITES_RECORDED),
    breaks="every client",
)
def commit_is_served(call: WriteCall) -> Iterator[Violation]:
    """A commit of PENDING streams that are finalized ends in OK and has no errors on streams."""
    if not call.ok:
        yield Violation("OK", call.raw.status)
    elif call.answer is not None and call.answer.stream_errors:
        first = call.answer.stream_errors[0]
        yield Violation("no errors", f"code {first.code}: {first.error_message}", field="stream_errors")


@_clause(
    "storage-write-finish.commit-has-its-time",
    over=lambda view: [call for call in _lawful_commits(view) if call.answer is not None],
    source=(JAVA_WRITE_TEST, WRITES_RECORDED, STORAGE_PROTO),
    breaks="clients that take its absence for a failure, as the proto file says they may",
)
def commit_has_its_time(call: WriteCall) -> Iterator[Violation]:
    """The answer to a commit without errors has the time of the commit.

    storage.proto: "if this field is not set, it means the commit was not successful."
    """
    if not call.answer.HasField("commit_time") and not call.answer.stream_errors:
        yield Violation("commit_time", "none", field="commit_time")


@_clause(
    "storage-write-finish.failed-commit-has-no-time",
    over=lambda view: [
        call
        for call in view.calls_of("BatchCommitWriteStreams")
        if call.answer is not None and call.answer.stream_errors
    ],
    source=STORAGE_PROTO,
    level=Level.SHOULD,
    breaks="clients that look for the time alone",
)
def failed_commit_has_no_time(call: WriteCall) -> Iterator[Violation]:
    """The answer to a commit with errors has no time of a commit.

    storage.proto: "This field will only exist when there are no stream errors."
    """
    if call.answer.HasField("commit_time"):
        yield Violation("no commit_time", "one", field="commit_time")


def _refused_commits(chosen: Callable[[StreamState], bool]) -> Calls:
    """Selects commits of which one stream is as ``chosen`` says, and all others may be committed."""

    def select(view: WriteView) -> Sequence[WriteCall]:
        found = []
        for call in view.calls_of("BatchCommitWriteStreams"):
            others = [one for one in call.before.values() if not one.may_be_committed]
            if call.offered and others and all(map(chosen, others)):
                found.append(call)
        return found

    return select


def _committed(call: WriteCall) -> Iterator[Violation]:
    if call.answer is not None and not call.answer.stream_errors:
        yield Violation("an error on the stream, or a refusal", "a commit without errors", field="stream_errors")


_commit_clause = functools.partial(_clause, source=STORAGE_PROTO, level=Level.SHOULD)


@_commit_clause(
    "storage-write-finish.unfinalized-is-not-committed",
    over=_refused_commits(
        lambda stream: stream.type is StreamType.PENDING and not stream.finalized and not stream.committed
    ),
)
def unfinalized_is_not_committed(call: WriteCall) -> Iterator[Violation]:
    """A commit with a stream that is not finalized does not succeed.

    storage.proto: "Streams must be finalized before commit".
    """
    yield from _committed(call)


@_commit_clause(
    "storage-write-finish.committed-once",
    over=_refused_commits(lambda stream: stream.type is StreamType.PENDING and stream.committed),
)
def committed_once(call: WriteCall) -> Iterator[Violation]:
    """A second commit of a stream does not succeed.

    storage.proto: streams "cannot be committed multiple times".
    """
    yield from _committed(call)


@_commit_clause(
    "storage-write-finish.pending-alone-is-committed",
    over=_refused_commits(lambda stream: stream.type is not StreamType.PENDING),
)
def pending_alone_is_committed(call: WriteCall) -> Iterator[Violation]:
    """A commit with a stream that is not PENDING does not succeed.

    storage.proto: "Atomically commits a group of `PENDING` streams".
    """
    yield from _committed(call)


# --- FlushRows ------------------------------------------------------------------------------------


def _flushes(chosen: Callable[[StreamState, int], bool]) -> Calls:
    """Selects answered flushes of streams whose rows are known, by the stream and the offset of the flush."""

    def select(view: WriteView) -> Sequence[WriteCall]:
        return [
            call
            for call in _calls("FlushRows", lambda stream: stream.known)(view)
            if isinstance(call.step, FlushStream) and all(chosen(one, call.step.offset) for one in call.before.values())
        ]

    return select


def _may_be_flushed(stream: StreamState, offset: int) -> bool:
    return stream.may_be_flushed and stream.flushed <= offset < len(stream.rows)


def _ends_in_ok(call: WriteCall) -> Iterator[Violation]:
    if call.ok:
        yield Violation("a refusal", "OK")


@_clause(
    "storage-write-finish.flush-is-served", over=_flushes(_may_be_flushed), source=(JAVA_WRITE_TEST, STORAGE_PROTO)
)
def flush_is_served(call: WriteCall) -> Iterator[Violation]:
    """A flush of rows of a BUFFERED stream that are not flushed yet ends in OK."""
    if not call.ok:
        yield Violation("OK", call.raw.status)


@_clause(
    "storage-write-finish.flush-answers-its-offset",
    over=lambda view: [call for call in _flushes(_may_be_flushed)(view) if call.answer is not None],
    source=(JAVA_WRITE_TEST, STORAGE_PROTO),
)
def flush_answers_its_offset(call: WriteCall) -> Iterator[Violation]:
    """FlushRows answers with the offset that it got.

    storage.proto: "The rows before this offset (including this offset) are flushed."
    """
    wanted, came = call.requests[0].offset.value, call.answer.offset
    if wanted != came:
        yield Violation(f"offset {wanted}", f"offset {came}", field="offset")


@_clause(
    "storage-write-finish.flush-past-the-end-is-refused",
    over=_flushes(lambda stream, offset: stream.may_be_flushed and offset >= len(stream.rows)),
    source=WRITES_RECORDED,
    breaks="clients that flush what was never acknowledged",
)
def flush_past_the_end_is_refused(call: WriteCall) -> Iterator[Violation]:
    """A flush of an offset that the stream does not have is refused."""
    yield from _ends_in_ok(call)


@_clause(
    "storage-write-finish.finalized-is-not-flushed",
    over=_flushes(lambda stream, _offset: stream.type is StreamType.BUFFERED and stream.finalized),
    source=MEASURED,
    level=Level.SHOULD,
)
def finalized_is_not_flushed(call: WriteCall) -> Iterator[Violation]:
    """A flush of a finalized stream is refused.

    One project measured it once; no document says it and no client is known to need it.
    """
    yield from _ends_in_ok(call)


@_clause(
    "storage-write-finish.buffered-alone-is-flushed",
    over=_flushes(lambda stream, _offset: stream.type is not StreamType.BUFFERED),
    source=STORAGE_PROTO,
    level=Level.SHOULD,
)
def buffered_alone_is_flushed(call: WriteCall) -> Iterator[Violation]:
    """A flush of a stream that is not BUFFERED is refused.

    storage.proto: "Flush is not supported on the _default stream, since it is not BUFFERED."
    """
    yield from _ends_in_ok(call)
