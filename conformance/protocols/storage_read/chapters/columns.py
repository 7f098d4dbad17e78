"""A table whose columns change: a session has the columns that the table had when it was made, and keeps them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from conformance.contract.clause import Violation, clause
from conformance.contract.closed import Feature
from conformance.contract.comparing.columnlists import names_differ
from conformance.contract.sources import GUIDE, STREAM_PROTO, TABLE_SCHEMAS
from conformance.contract.view import once_per_view
from conformance.protocols.storage_read.contract.endings import serves
from conformance.protocols.storage_read.contract.sessions import SessionRead, whole_sessions
from conformance.protocols.storage_read.contract.subjects import (
    before_step,
    feature,
    read_feature,
    valid_reads,
    valid_sessions,
)
from conformance.protocols.storage_read.contract.view import ReadView, StorageCall, StorageView
from conformance.protocols.storage_read.contract.violations import other_rows
from conformance.records import Level

LATE: Final = "Spark and Beam (from their source): their workers read streams minutes after the session was created"


def _is_late(read: ReadView) -> bool:
    """True if the table's columns changed between the session and this read of it."""
    assert read.session is not None, "the caller takes only reads of sessions"
    return before_step(read.view, read.last_step + 1).changes > before_step(read.view, read.session.raw.step).changes


def _after_a_change(view: StorageView) -> list[StorageCall]:
    """Return the valid sessions that were made after a change, and the valid reads of such before another one."""
    sessions = [
        session
        for session in valid_sessions(view)
        if feature(session) is Feature.COLUMNS and before_step(view, session.raw.step).changes
    ]
    reads = [read for read in valid_reads(view) if read_feature(read) is Feature.COLUMNS and not _is_late(read)]
    return [*sessions, *(read for read in reads if read.session and before_step(view, read.session.raw.step).changes)]


def _outlived(view: StorageView) -> list[ReadView]:
    """Return the valid reads after a change of sessions that were made before it."""
    reads = [read for read in valid_reads(view) if read_feature(read) is Feature.COLUMNS]
    return [read for read in reads if _is_late(read)]


@once_per_view
def _wholes(view: StorageView) -> list[SessionRead]:
    return [whole for whole in whole_sessions(view) if feature(whole.session) is Feature.COLUMNS]


def _whole_after(view: StorageView) -> list[SessionRead]:
    """Return the sessions that were made after a change, and read before another one."""
    return [
        whole
        for whole in _wholes(view)
        if before_step(view, whole.session.raw.step).changes and not any(map(_is_late, whole.reads))
    ]


def _whole_outlived(view: StorageView) -> list[SessionRead]:
    """Return the sessions of which a stream was read after a change."""
    return [whole for whole in _wholes(view) if any(map(_is_late, whole.reads))]


# A table, one row per clause: id, calls, source, the request as findings name it, explanation, affected software.
# fmt: off
serves("columns.changed-table-is-served",
  _after_a_change, (STREAM_PROTO, TABLE_SCHEMAS),
  "a table whose columns have changed",
  "A session on a table whose columns have changed, and a read of it, end in OK.",
  breaks="every program that reads a table which grows a column", level=Level.SHOULD)
serves("columns.session-outlives-a-change", _outlived, GUIDE,
  "a session that is older than the table's columns",
  "A read of a session ends in OK, also if the table's columns have changed since the session was made.", breaks=LATE,
  level=Level.SHOULD)
# fmt: on


@clause(
    "columns.new-session-has-those-of-the-table",
    over=_whole_after,
    source=(STREAM_PROTO, TABLE_SCHEMAS),
    level=Level.SHOULD,
    breaks="every program that reads a table which grows a column: its values are lost without an error",
)
def new_session_has_those_of_the_table(whole: SessionRead) -> Iterator[Violation]:
    """A session has those columns that the table has when the session is made, and that it selects, in their order.

    An added column is there, even if no row has a value in it, and a dropped one is not. A renamed one has the new
    name.
    """
    wanted, came = whole.expected.schema.names, whole.got.schema.names
    if said := names_differ(wanted, came):
        yield Violation(f"the columns {wanted}", f"the columns {said}: {came}", field="schema")


@clause(
    "columns.rows-are-those-of-the-changed-table",
    over=_whole_after,
    source=(STREAM_PROTO, TABLE_SCHEMAS),
    level=Level.SHOULD,
    breaks="every program that reads a table which grows a column",
)
def rows_are_those_of_the_changed_table(whole: SessionRead) -> Iterator[Violation]:
    """A change of columns loses no row and no value: rows from before it have NULL in a column that it added.

    Under a new name, and in a wider type, the values are those of before.
    """
    yield from other_rows(whole)


@clause("columns.session-keeps-its-rows", over=_whole_outlived, source=GUIDE, level=Level.SHOULD, breaks=LATE)
def session_keeps_its_rows(whole: SessionRead) -> Iterator[Violation]:
    """A stream that is read after a change has the rows, and in its columns the values, of the table of then.

    That it has the columns of then is asked by the clause on the schema of a session's streams.
    """
    yield from other_rows(whole)
