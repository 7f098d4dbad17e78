"""Sessions of a sample: ``sample_percentage`` takes a random part of the table's blocks, as TABLESAMPLE SYSTEM does.

The server decides which rows are a block, so a sample of a small table may have all rows or none. No answer of the
service is recorded, so no clause is a MUST.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from conformance.contain.text import many
from conformance.contract.clause import Violation, clause
from conformance.contract.closed import Feature
from conformance.contract.comparing.matching import show_row
from conformance.contract.comparing.sessions import SessionRead, whole_sessions
from conformance.contract.endings import refuses, serves
from conformance.contract.sources import STREAM_PROTO, TABLE_SAMPLING, Inferred
from conformance.contract.subjects import (
    feature,
    is_child,
    once_per_view,
    read_feature,
    refused_as,
    valid_reads,
    valid_sessions,
)
from conformance.contract.view import CallView, ReadView, SessionView, View
from conformance.records import Level

ALL: Final = 100
"""The percentage that takes every block."""


@once_per_view
def _requests(view: View) -> list[CallView]:
    sessions: list[CallView] = [session for session in valid_sessions(view) if feature(session) is Feature.SAMPLE]
    reads = (read for read in valid_reads(view) if read.offset == 0 and not is_child(read))
    return sessions + [read for read in reads if read_feature(read) is Feature.SAMPLE]


@once_per_view
def _samples(view: View) -> list[SessionRead]:
    return [whole for whole in whole_sessions(view) if whole.feature is Feature.SAMPLE]


@once_per_view
def _of_all(view: View) -> list[SessionView]:
    """Return the sessions of a sample of everything that were read in full or have no streams."""
    read = {whole.session.index for whole in _samples(view)}
    sessions = [s for s in valid_sessions(view) if feature(s) is Feature.SAMPLE and s.session is not None]
    whole = [s for s in sessions if s.index in read or not s.session.streams]
    return [s for s in whole if s.step.sample_percentage == ALL]


def _percentage(call: CallView) -> str:
    session = call.session if isinstance(call, ReadView) else call
    assert isinstance(session, SessionView)
    return f"sample_percentage {session.step.sample_percentage:g}"


# A table, one row per clause: id, calls, source, the request as findings name it, explanation, affected software.
# fmt: off
serves("sample.request-is-served", _requests, STREAM_PROTO, _percentage,
  "A session with a ``sample_percentage`` from 0 to 100, and a read of it, end in OK.", level=Level.SHOULD)
refuses("sample.percentage-outside-is-refused", refused_as("sample-outside"), TABLE_SAMPLING, _percentage,
  "A ``sample_percentage`` below 0 or above 100 is refused: it is no part of a table.", level=Level.SHOULD)
# fmt: on


@clause("sample.rows-are-the-tables", over=_samples, source=STREAM_PROTO, level=Level.SHOULD)
def rows_are_the_tables(whole: SessionRead) -> Iterator[Violation]:
    """A sample has rows of the table only, each at most once, in however many streams."""
    if surplus := whole.match.repeated + whole.match.foreign:
        observed = f"{many(len(surplus), 'row')} more, such as {show_row(whole.got, surplus[0])}"
        yield Violation(f"rows of the table, of which it has {whole.expected.num_rows}", observed)


@clause("sample.of-everything-is-everything", over=_of_all, source=Inferred(TABLE_SAMPLING), level=Level.SHOULD)
def of_everything_is_everything(session: SessionView) -> Iterator[Violation]:
    """A sample of 100 percent has every row: the number is a percentage, not a fraction, and every block is taken."""
    read = {whole.session.index: whole for whole in _samples(session.view)}
    missing = len(read[session.index].match.missing) if session.index in read else session.view.table.num_rows
    if missing:
        yield Violation("every row of the table", f"{many(missing, 'row')} missing", field="sample_percentage")
