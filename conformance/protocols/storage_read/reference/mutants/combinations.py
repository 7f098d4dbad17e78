"""Mutants of combinations: each is right in every single feature, and wrong where two or three of them meet.

Drawn scenarios kill them (:mod:`conformance.protocols.storage_read.generate.scenarios`); few written cases have such
combinations.
"""

from __future__ import annotations

from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from conformance.protocols.storage_read.reference.catalogue import Snapshot
from conformance.protocols.storage_read.reference.mutants.sharedcursor import SharedCursor
from conformance.protocols.storage_read.reference.mutants.splits import Splitting
from conformance.protocols.storage_read.reference.register import behaviour_mutant
from conformance.protocols.storage_read.reference.service import ReadService
from conformance.protocols.storage_read.reference.session import OpenedSession, Stream
from conformance.reference.mutants.reasons import IN_PARTS
from conformance.reference.statuses import Reason

_RESUMED: Final = {**IN_PARTS, "offsets.*": "the same requirement, asked of a stream that was read in full"}
_SELECTED: Final = {
    **IN_PARTS,
    "restriction.*": "the same requirement, asked of a session that was read in full",
    "projection.filter-may-use-other-columns": "the same requirement, asked of a session that was read in full",
}
_DIVIDED: Final = {**IN_PARTS, "split.*": "the same requirement, asked of streams that were read in full"}


def _is_restricted(session: OpenedSession) -> bool:
    return bool(session.request.read_session.read_options.row_restriction)


@behaviour_mutant(
    "combination.offset-before-restriction",
    kills="combination.rows-keep-their-place",
    also={**_RESUMED, **_DIVIDED, "combination.*": "the rows before the offset come again, at other places"},
)
class OffsetBeforeRestriction(ReadService):
    """In a session with a restriction an offset counts rows of the table, not those that are selected."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.masks: dict[int, tuple[pa.Table, pa.BooleanArray]] = {}

    def rows_of_run(self, rows: pa.Table, mask: pa.BooleanArray | None, start: int, stop: int) -> pa.Table:
        run = super().rows_of_run(rows, mask, start, stop)
        if mask is not None:
            self.masks[id(run)] = run, mask.slice(start, stop - start)  # the table is kept, so that its id is its own
        return run

    def rows_at_offset(self, stream: Stream, offset: int) -> pa.Table:
        known = self.masks.get(id(stream.rows))
        passed = offset if known is None or not offset else known[1].slice(0, offset).true_count
        return super().rows_at_offset(stream, passed)


@behaviour_mutant(
    "combination.split-without-restriction",
    kills="combination.rows-are-the-sessions",
    also={**_DIVIDED, "combination.*": "the remainder is not a part of its parent"},
)
class SplitWithoutRestriction(ReadService):
    """The remainder of a split in a session with a restriction has rows that are not selected."""

    def split(self, stream: Stream, fraction: float) -> tuple[pa.Table, pa.Table]:
        primary, remainder = super().split(stream, fraction)
        if _is_restricted(stream.session):
            remainder = stream.session.snapshot.rows.slice(primary.num_rows)
        return primary, remainder


@behaviour_mutant(
    "combination.restricted-live-table",
    kills="combination.rows-are-the-sessions",
    also={
        "snapshot.*": "the same requirement, asked of a session that was read in full",
        "combination.none-is-repeated": "where columns are left out, a later row may equal one of the session's",
    },
)
class RestrictedLiveTable(ReadService):
    """A session with a restriction and a snapshot_time sees the table as of now."""

    def take_snapshot(self, asked: Any) -> Snapshot:
        snapshot = super().take_snapshot(asked)
        if asked.read_options.row_restriction and asked.table_modifiers.HasField("snapshot_time"):
            return self.catalogue.snapshot(snapshot.table, None)
        return snapshot


@behaviour_mutant(
    "combination.restricted-streams-overlap",
    kills="combination.none-is-repeated",
    also={**_SELECTED, "snapshot.t*": "the row that comes twice may equal one that came later"},
)
class RestrictedStreamsOverlap(ReadService):
    """In a session with a restriction each stream begins with the last row of the one before it."""

    def rows_of_run(self, rows: pa.Table, mask: pa.BooleanArray | None, start: int, stop: int) -> pa.Table:
        run = super().rows_of_run(rows, mask, start, stop)
        if mask is None or not start or not run.num_rows:
            return run
        before = pc.indices_nonzero(mask.slice(0, start)).to_pylist()
        return pa.concat_tables([rows.slice(before[-1], 1), run]) if before else run


@behaviour_mutant(
    "combination.restricted-stream-short",
    kills="combination.none-is-missing",
    also={**_SELECTED, "snapshot.earlier-rows-are-there": "the row that is missing may be an inserted one"},
)
class RestrictedStreamShort(ReadService):
    """In a session with a restriction each stream but the first lacks its first row."""

    def rows_of_run(self, rows: pa.Table, mask: pa.BooleanArray | None, start: int, stop: int) -> pa.Table:
        run = super().rows_of_run(rows, mask, start, stop)
        return run if mask is None or not start else run.slice(1)


@behaviour_mutant(
    "combination.compressed-resumption-short",
    kills="combination.streams-keep-their-end",
    also={
        **_RESUMED,
        **_DIVIDED,
        "combination.*": "the end of a stream is known from such reads alone, or that of a child",
    },
)
class CompressedResumptionShort(ReadService):
    """A read from an offset lacks its last row if buffers are compressed."""

    def rows_at_offset(self, stream: Stream, offset: int) -> pa.Table:
        rows = super().rows_at_offset(stream, offset)
        short = offset and rows.num_rows > 1 and stream.session.buffer_codec
        return rows.slice(0, rows.num_rows - 1) if short else rows


@behaviour_mutant(
    "combination.cursor-shared",
    kills="combination.readers-together-agree",
    also={
        **_RESUMED,
        **_DIVIDED,
        **_SELECTED,
        "rows.reading-together-repeats": "the same requirement, asked of reads of the full stream",
        "snapshot.*": "a stream that is read at the same time as another lacks a row",
        "combination.*": "the row that one reader skips is nowhere else",
    },
)
class CursorShared(SharedCursor):
    """Two reads at once of a stream with compressed buffers share a cursor: the later one lacks its first row."""

    def is_shared(self, request: Any) -> bool:
        stream = self.sessions.find(request.read_stream)
        return bool(stream and stream.session.buffer_codec and stream.rows.num_rows >= request.offset + 2)


@behaviour_mutant(
    "combination.second-split-overlaps",
    kills="combination.children-are-the-parent",
    also={**_DIVIDED, "combination.*": "a row at two places is at one place too many"},
)
class SecondSplitOverlaps(Splitting):
    """The remainder of a split of a child begins with the last row of the primary."""

    def split(self, stream: Stream, fraction: float) -> tuple[pa.Table, pa.Table]:
        primary, remainder = super().split(stream, fraction)
        overlaps = stream.name in self.children
        return primary, stream.rows.slice(primary.num_rows - 1) if overlaps else remainder


@behaviour_mutant(
    "combination.grandchild-offset-ignored",
    kills="combination.streams-keep-their-end",
    also={**_DIVIDED, "combination.*": "a child may be read in full, and then from an offset"},
)
class GrandchildOffsetIgnored(Splitting):
    """An offset in a child of a child is ignored."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.grandchildren: set[str] = set()

    def split_read_stream(self, request: Any) -> Any:
        answer = super().split_read_stream(request)
        if request.name in self.children:
            self.grandchildren |= {answer.primary_stream.name, answer.remainder_stream.name}
        return answer

    def rows_at_offset(self, stream: Stream, offset: int) -> pa.Table:
        return super().rows_at_offset(stream, 0 if stream.name in self.grandchildren else offset)


@behaviour_mutant(
    "combination.append-ends-resumption", kills="combination.permitted-request-is-served", also={**_RESUMED, **_DIVIDED}
)
class AppendEndsResumption(ReadService):
    """After rows were appended to its table, a stream can be read from its start only."""

    def check_offset(self, stream: Stream, offset: int) -> None:
        super().check_offset(stream, offset)
        snapshot = stream.session.snapshot
        if offset and self.catalogue.snapshot(snapshot.table).rows.num_rows > snapshot.rows.num_rows:
            self.refuse(Reason.OFFSET_BEYOND_END, stream=stream.name, offset=offset)


@behaviour_mutant(
    "combination.beyond-the-selected", kills="combination.beyond-the-end-is-refused", also={**_RESUMED, **_DIVIDED}
)
class BeyondTheSelected(ReadService):
    """In a session with a restriction any offset up to the number of rows of the table is served."""

    def check_offset(self, stream: Stream, offset: int) -> None:
        inside = _is_restricted(stream.session) and offset <= stream.session.snapshot.rows.num_rows
        super().check_offset(stream, min(offset, stream.rows.num_rows) if inside else offset)


@behaviour_mutant("combination.child-offset-before-filter", kills="split.child-resumes", also=_RESUMED)
class ChildOffsetBeforeFilter(Splitting):
    """An offset inside a child counts the rows of the table, those too that the session's restriction drops."""

    def rows_at_offset(self, stream: Stream, offset: int) -> pa.Table:
        if stream.name not in self.children or not _is_restricted(stream.session) or offset >= stream.rows.num_rows:
            return super().rows_at_offset(stream, offset)
        kept = self.restrict(stream.session.snapshot, stream.session.request.read_session.read_options.row_restriction)
        assert kept is not None, "a session with a restriction keeps some rows and drops others"
        return super().rows_at_offset(stream, kept.slice(0, offset).true_count)
