"""Mutants of features in combination: each feature alone is right, and only several calls show the fault."""

from __future__ import annotations

from collections import Counter
from typing import Any, Final

import pyarrow as pa

from conformance.protocols.storage_read.reference.catalogue import Snapshot
from conformance.protocols.storage_read.reference.register import behaviour_mutant
from conformance.protocols.storage_read.reference.service import ReadService
from conformance.protocols.storage_read.reference.session import OpenedSession, Stream
from conformance.reference.mutants.reasons import IN_CHILDREN, IN_RESULTS

_NOWHERE: Final = -1
"""A row id that no table of a case contains."""


def _is_restricted(stream: Stream) -> bool:
    return bool(stream.session.request.read_session.read_options.row_restriction)


class _Live(ReadService):
    """A service that can add rows to a stream that were inserted after its session was created."""

    def with_later_rows(self, session: OpenedSession, rows: pa.Table) -> pa.Table:
        """The rows, followed by those that the table has now and did not have at the session's creation."""
        now = self.catalogue.snapshot(session.snapshot.table, None).rows
        return pa.concat_tables([rows, now.slice(session.snapshot.rows.num_rows)])


class _Descent(ReadService):
    """A service that knows which streams are children of a split, and divides their own children in another way."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.children: set[str] = set()

    def split_read_stream(self, request: Any) -> Any:
        answer = super().split_read_stream(request)
        self.children.update((answer.primary_stream.name, answer.remainder_stream.name))
        return answer

    def split(self, stream: Stream, fraction: float) -> tuple[pa.Table, pa.Table]:
        primary, remainder = super().split(stream, fraction)
        return self.divide(primary, remainder) if stream.name in self.children else (primary, remainder)

    def divide(self, primary: pa.Table, remainder: pa.Table) -> tuple[pa.Table, pa.Table]:
        """The rows of the children of a child, from those that the reference gives them."""
        return primary, remainder


# --- torn sessions --------------------------------------------------------------------------------


@behaviour_mutant(
    "history.resumes-in-the-live-table",
    kills="history.no-torn-session",
    also={
        "history.no-early-row": "a stream that is first read from an offset was not read before the append",
        **IN_RESULTS,
    },
)
class ResumesInLiveTable(_Live):
    """A read from an offset goes on in the table as it is now."""

    def rows_at_offset(self, stream: Stream, offset: int) -> pa.Table:
        rows = super().rows_at_offset(stream, offset)
        return self.with_later_rows(stream.session, rows) if offset and not _is_restricted(stream) else rows


@behaviour_mutant("history.adds-to-the-first-snapshot", kills="history.no-torn-session")
class AddsToFirstSnapshot(ReadService):
    """A snapshot is the kept first one of its table and the rows that came since the last session."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.first: dict[str, int] = {}
        self.last: dict[str, int] = {}

    def take_snapshot(self, asked: Any) -> Snapshot:
        fresh = super().take_snapshot(asked)
        rows = fresh.rows.num_rows
        first, last = self.first.setdefault(asked.table, rows), self.last.get(asked.table, rows)
        self.last[asked.table] = rows
        if not first < last < rows:
            return fresh
        kept = pa.concat_tables([fresh.rows.slice(0, first), fresh.rows.slice(last)])
        return Snapshot(fresh.table, fresh.columns, fresh.created, kept)


# --- receding snapshots ---------------------------------------------------------------------------


@behaviour_mutant(
    "history.third-session-of-a-replica",
    kills="history.no-receding-snapshot",
    also={
        "history.no-lost-row": "where no session before it was read, nothing shows that the rows had been there",
        "snapshot.earlier-rows-are-there": "the session is made after an append",
    },
)
class ThirdSessionOfReplica(ReadService):
    """Each third session of a table comes from a replica that stopped at the first one."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.replica: dict[str, Snapshot] = {}
        self.sessions_of: Counter[str] = Counter()

    def take_snapshot(self, asked: Any) -> Snapshot:
        fresh = super().take_snapshot(asked)
        self.sessions_of[asked.table] += 1
        stopped = self.replica.setdefault(asked.table, fresh)
        return fresh if self.sessions_of[asked.table] % 3 else stopped


@behaviour_mutant("history.plan-kept", kills="history.no-receding-snapshot")
class PlanKept(ReadService):
    """A session of one stream gets the snapshot that was taken for the first such session of its table."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.plans: dict[str, Snapshot] = {}

    def create_read_session(self, request: Any) -> Any:
        self.single = request.max_stream_count == 1
        return super().create_read_session(request)

    def take_snapshot(self, asked: Any) -> Snapshot:
        fresh = super().take_snapshot(asked)
        return self.plans.setdefault(asked.table, fresh) if self.single else fresh


# --- streams from elsewhere -----------------------------------------------------------------------


@behaviour_mutant("history.remainder-runs-on", kills="history.no-stream-from-elsewhere")
class RemainderRunsOn(ReadService):
    """Where a session has several streams, the remainder of a split runs on to the end of the table."""

    def split(self, stream: Stream, fraction: float) -> tuple[pa.Table, pa.Table]:
        primary, remainder = super().split(stream, fraction)
        table = stream.session.snapshot.rows
        if stream.session.request.max_stream_count < 2:
            return primary, remainder
        return primary, table.slice(primary.num_rows)


@behaviour_mutant("history.padded-child", kills="history.no-stream-from-elsewhere")
class PaddedChild(_Descent):
    """The last child of a child is padded with a row that is in no table."""

    def divide(self, primary: pa.Table, remainder: pa.Table) -> tuple[pa.Table, pa.Table]:
        index = remainder.schema.get_field_index("row_id")
        if index < 0:
            return primary, remainder
        ids = pa.array([_NOWHERE], pa.int64())
        padding = remainder.slice(remainder.num_rows - 1).set_column(index, remainder.schema.field(index), ids)
        return primary, pa.concat_tables([remainder, padding])


# --- early rows -----------------------------------------------------------------------------------


@behaviour_mutant(
    "history.opened-at-an-offset",
    kills="history.no-early-row",
    also={"query-results.*": "the stream of a result is opened late, too, in what the table has become"},
)
class OpenedAtOffset(_Live):
    """A stream that nobody has read yet is opened at its first read; from an offset, in the table as it is now."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.opened: set[str] = set()

    def rows_at_offset(self, stream: Stream, offset: int) -> pa.Table:
        rows = super().rows_at_offset(stream, offset)
        first = stream.name not in self.opened
        self.opened.add(stream.name)
        return self.with_later_rows(stream.session, rows) if first and offset else rows


@behaviour_mutant("history.splits-the-live-table", kills="history.no-early-row")
class SplitsLiveTable(_Live):
    """The remainder of a split has the rows that were inserted meanwhile."""

    def split(self, stream: Stream, fraction: float) -> tuple[pa.Table, pa.Table]:
        primary, remainder = super().split(stream, fraction)
        return primary, self.with_later_rows(stream.session, remainder)


# --- lost rows ------------------------------------------------------------------------------------


@behaviour_mutant("history.offset-counted-twice", kills="history.no-lost-row", also=IN_CHILDREN)
class OffsetCountedTwice(ReadService):
    """In a restricted session the offset is skipped before the restriction, and again after it."""

    def rows_at_offset(self, stream: Stream, offset: int) -> pa.Table:
        return super().rows_at_offset(stream, 2 * offset if _is_restricted(stream) else offset)


@behaviour_mutant("history.child-of-a-child-loses-a-row", kills="history.no-lost-row")
class ChildOfChildLosesRow(_Descent):
    """The split of a child loses the row at which it divides."""

    def divide(self, primary: pa.Table, remainder: pa.Table) -> tuple[pa.Table, pa.Table]:
        return primary, remainder.slice(1)


# --- repeated rows --------------------------------------------------------------------------------


@behaviour_mutant("history.offset-before-the-restriction", kills="history.no-repeated-row", also=IN_CHILDREN)
class OffsetBeforeRestriction(ReadService):
    """In a restricted session the offset counts rows of the table, of which the restriction drops the first ones."""

    def rows_at_offset(self, stream: Stream, offset: int) -> pa.Table:
        restricted = _is_restricted(stream) and stream.session.request.max_stream_count == 1
        if not restricted or not offset or offset >= stream.rows.num_rows:
            return super().rows_at_offset(stream, offset)
        dropped = stream.session.snapshot.rows.num_rows - stream.rows.num_rows
        return super().rows_at_offset(stream, max(offset - dropped, 0))


@behaviour_mutant(
    "history.children-of-a-child-overlap",
    kills="history.no-repeated-row",
    also={"split.splitting-ends": "a child of two rows has a child of two rows"},
)
class ChildrenOfChildOverlap(_Descent):
    """Both children of a child have the row at which it divides."""

    def divide(self, primary: pa.Table, remainder: pa.Table) -> tuple[pa.Table, pa.Table]:
        return pa.concat_tables([primary, remainder.slice(0, 1)]), remainder


# --- reordered resumes ----------------------------------------------------------------------------


def _reversed(rows: pa.Table) -> pa.Table:
    return rows.take(pa.array(range(rows.num_rows - 1, -1, -1), pa.int64()))


@behaviour_mutant("history.restricted-resume-backwards", kills="history.no-reordered-resume", also=IN_CHILDREN)
class RestrictedResumeBackwards(ReadService):
    """In a restricted session a read from an offset gives the remaining rows backwards."""

    def rows_at_offset(self, stream: Stream, offset: int) -> pa.Table:
        rows = super().rows_at_offset(stream, offset)
        return _reversed(rows) if offset and _is_restricted(stream) else rows


@behaviour_mutant("history.child-of-a-child-backwards", kills="history.no-reordered-resume")
class ChildOfChildBackwards(_Descent):
    """The first child of a child has its rows backwards."""

    def divide(self, primary: pa.Table, remainder: pa.Table) -> tuple[pa.Table, pa.Table]:
        return _reversed(primary), remainder
