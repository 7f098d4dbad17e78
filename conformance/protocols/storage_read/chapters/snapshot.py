"""A session on a table that changes: all its streams show the rows that the table had at the snapshot time.

Without a snapshot time that is the instant at which the session was created.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Final

import pyarrow as pa

from conformance.contain.text import many
from conformance.contract.clause import Violation, clause
from conformance.contract.closed import Feature
from conformance.contract.comparing.matching import show_row
from conformance.contract.sources import (
    GUIDE,
    JAVA_LIVE_TEST,
    LIVE_TESTS,
    MEASURED,
    NODE_LIVE_TEST,
    STORAGE_PROTO,
    STREAM_PROTO,
    STRICT_CLIENT,
)
from conformance.contract.view import once_per_view
from conformance.protocols.storage_read.contract.endings import refuses
from conformance.protocols.storage_read.contract.expected import expected_rows, visible_rows
from conformance.protocols.storage_read.contract.sessions import SessionRead, whole_sessions
from conformance.protocols.storage_read.contract.subjects import (
    before_step,
    created,
    feature,
    full_reads,
    refused_as,
    served,
    valid_sessions,
)
from conformance.protocols.storage_read.contract.view import ReadView, SessionView, StorageView
from conformance.protocols.storage_read.contract.violations import first_read, later_rows, rows_differ, rows_that_came
from conformance.records import AppendRows, Level

BREAKS: Final = "Spark and Beam (from their source): their workers read streams minutes after the session was created"


def _read_around_an_append(whole: SessionRead) -> bool:
    """True if rows were appended between the reads of two streams of the session."""
    return len({before_step(read.view, read.last_step + 1).appends for read in whole.reads}) > 1


@once_per_view
def _made_before(view: StorageView) -> list[SessionRead]:
    """Return the sessions without a snapshot time that were read after an append, all streams at one time."""
    return [
        whole
        for whole in whole_sessions(view)
        if feature(whole.session) is Feature.APPEND
        and not _read_around_an_append(whole)
        and before_step(view, whole.reads[0].last_step + 1).appends > before_step(view, whole.session.raw.step).appends
    ]


@once_per_view
def _made_after(view: StorageView) -> list[SessionRead]:
    """Return the sessions without a snapshot time that were created after an append."""
    return [
        whole
        for whole in whole_sessions(view)
        if feature(whole.session) is Feature.APPEND and before_step(view, whole.session.raw.step).appends
    ]


@once_per_view
def _read_in_parts(view: StorageView) -> list[SessionRead]:
    """Return the sessions of which one stream was read before an append and another after it."""
    wholes = whole_sessions(view)
    return [whole for whole in wholes if feature(whole.session) is Feature.APPEND and _read_around_an_append(whole)]


@clause("snapshot.later-rows-stay-out", over=_made_before, source=(GUIDE, JAVA_LIVE_TEST), breaks=BREAKS)
def later_rows_stay_out(whole: SessionRead) -> Iterator[Violation]:
    """Rows inserted after the session was created are not in its streams, whenever these are read."""
    yield from later_rows(whole)


@clause("snapshot.streams-share-one", over=_read_in_parts, source=GUIDE, breaks=BREAKS)
def streams_share_one(whole: SessionRead) -> Iterator[Violation]:
    """All streams of a session show one state of the table, even if one is read before a change and one after."""
    yield from later_rows(whole)


@clause(
    "snapshot.earlier-rows-are-there",
    over=_made_after,
    source=NODE_LIVE_TEST,
    breaks="every program that writes and then reads",
)
def earlier_rows_are_there(whole: SessionRead) -> Iterator[Violation]:
    """A session created after rows were inserted yields them: streamed rows are readable at once."""
    view = whole.session.view
    first = view.table.num_rows - sum(step.count for step in view.case.steps if isinstance(step, AppendRows))
    seen = visible_rows(view, whole.session)
    expected = expected_rows(view, whole.session)
    if missing := sorted(expected[place] for place in whole.match.missing if first <= expected[place] < seen.stop):
        observed = f"{many(len(missing), 'inserted row')} missing, such as {show_row(view.table, missing[0])}"
        yield Violation(f"all {many(len(seen), 'row')} that stood in the table", observed)


@clause(
    "snapshot.table-made-again-is-new",
    over=lambda view: [whole for whole in _made_after(view) if visible_rows(view, whole.session).start],
    source=(GUIDE, LIVE_TESTS),
    breaks="every program that replaces a table and reads it: caches by the name of a table outlive it",
)
def table_made_again_is_new(whole: SessionRead) -> Iterator[Violation]:
    """A session on a table that was dropped and made again under its name shows no row of the dropped table."""
    view = whole.session.view
    seen = visible_rows(view, whole.session)
    # A row that both tables have is taken for the new one's, which are put first.
    table = pa.concat_tables([view.table.slice(seen.start, len(seen)), view.table.slice(0, seen.start)])
    if old := sorted(row for row in rows_that_came(whole, table)[0] if row >= len(seen)):
        observed = f"{many(len(old), 'row')} of the dropped table, such as {show_row(table, old[0])}"
        yield Violation(f"only the {many(len(seen), 'row')} of the table of that name", observed)


@once_per_view
def _reread_after_an_append(view: StorageView) -> list[ReadView]:
    return [
        read
        for read in full_reads(view)
        if before_step(view, read.last_step + 1).appends > before_step(view, first_read(read).last_step + 1).appends
    ]


@clause("snapshot.rereading-repeats", over=_reread_after_an_append, source=GUIDE, breaks=BREAKS)
def rereading_repeats(read: ReadView) -> Iterator[Violation]:
    """A stream read before rows are appended and again after it gives the same rows in the same order."""
    yield from rows_differ(first_read(read), read)


# --- a requested snapshot time --------------------------------------------------------------------


@clause(
    "snapshot.time-is-served",
    over=lambda view: [session for session in valid_sessions(view) if feature(session) is Feature.SNAPSHOT],
    source=(STREAM_PROTO, JAVA_LIVE_TEST),
    breaks="Spark, which sets it for consistent reads of one table (from its source)",
)
def time_is_served(session: SessionView) -> Iterator[Violation]:
    """A request with a ``snapshot_time`` in the lifetime of the table and in its time travel window ends in OK."""
    yield from served(session, "a snapshot_time after the table was made")


@clause(
    "snapshot.time-is-honoured",
    over=lambda view: [whole for whole in whole_sessions(view) if feature(whole.session) is Feature.SNAPSHOT],
    source=JAVA_LIVE_TEST,
    breaks="Spark and Beam (from their source): they get rows that were not there at the requested time",
)
def time_is_honoured(whole: SessionRead) -> Iterator[Violation]:
    """A session with a ``snapshot_time`` does not show rows that were inserted after it."""
    yield from later_rows(whole)


@clause(
    "snapshot.time-is-echoed",
    over=lambda view: [
        session for session in created(view) if session.step.snapshot and session.session.HasField("table_modifiers")
    ],
    source=STRICT_CLIENT,
    level=Level.SHOULD,
)
def time_is_echoed(session: SessionView) -> Iterator[Violation]:
    """The ``snapshot_time`` of a session, if it has one, is the requested one."""
    asked = session.request.read_session.table_modifiers.snapshot_time
    echoed = session.session.table_modifiers.snapshot_time
    if asked != echoed:
        required, observed = (f"{time.seconds} s {time.nanos} ns after the epoch" for time in (asked, echoed))
        yield Violation(required, observed, field="table_modifiers.snapshot_time")


def _expires(session: SessionView) -> tuple[int, int]:
    time = session.session.expire_time
    return time.seconds, time.nanos


@dataclasses.dataclass(frozen=True, slots=True)
class _Expiring:
    """A session with a snapshot time, and the one without such a time that was made before it and expires last."""

    session: SessionView
    plain: SessionView
    response: None = None

    @property
    def call(self) -> int:
        """The index of the call that made the session with a snapshot time."""
        return self.session.index


@once_per_view
def _expiring(view: StorageView) -> list[_Expiring]:
    """Return the sessions with a snapshot time that say when they expire, as an earlier one without such a time did."""
    found, plain = [], None
    for session in created(view):
        if not session.session.HasField("expire_time"):
            continue
        if session.step.snapshot and plain is not None:
            found.append(_Expiring(session, plain))
        elif not session.step.snapshot and (plain is None or _expires(session) > _expires(plain)):
            plain = session
    return found


@clause(
    "snapshot.time-leaves-the-expiry",
    over=_expiring,
    source=(STORAGE_PROTO, MEASURED),
    level=Level.SHOULD,
)
def time_leaves_the_expiry(one: _Expiring) -> Iterator[Violation]:
    """A ``snapshot_time`` does not shorten a session: it expires no earlier than one made before it without one.

    A session lives for six hours from its creation. A lifetime that is counted from the snapshot time is over at once
    if the snapshot is some hours old.
    """
    if _expires(one.session) < _expires(one.plain):
        required, observed = (f"{s} s {n} ns after the epoch" for s, n in map(_expires, (one.plain, one.session)))
        yield Violation(f"{required} or later, as call {one.plain.index} says", observed, field="expire_time")


# fmt: off
refuses("snapshot.time-outside-the-window-is-refused", refused_as("snapshot-outside-window"), MEASURED,
  lambda call: f"snapshot_time {call.request.read_session.table_modifiers.snapshot_time.seconds} s after the epoch",
  "A request for a time before any time travel window is refused.",
  breaks="clients read the present as the past")
# fmt: on
