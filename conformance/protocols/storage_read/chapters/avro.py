"""Sessions in Avro: what their counts of rows show, whatever the bytes of the rows are.

These clauses do not decode Avro. A server may refuse the format; if it serves it, its ``row_count`` and its offsets
count the rows of the table, as they do in Arrow.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Final

from conformance.contain.text import many
from conformance.contract.clause import AtCall, Violation, clause
from conformance.contract.sources import JAVA_LIVE_TEST, ROW_COUNTERS, STORAGE_PROTO
from conformance.contract.view import once_per_view
from conformance.formats.messages import AVRO
from conformance.protocols.storage_read.contract.expected import expected_rows, has_columns
from conformance.protocols.storage_read.contract.subjects import created
from conformance.protocols.storage_read.contract.view import ReadView, SessionView, StorageView

RESUMING: Final = "every client that reads Avro and resumes after a lost connection repeats or loses rows"


@dataclasses.dataclass(frozen=True, slots=True)
class CountedSession(AtCall):
    """A session in Avro whose streams were all read from their first row to OK, with these reads."""

    session: SessionView
    reads: tuple[ReadView, ...]


@dataclasses.dataclass(frozen=True, slots=True)
class CountedRead(AtCall):
    """A read in OK of a stream in Avro from an offset, after a read of the full stream that counted ``rows``."""

    read: ReadView
    rows: int


def _sessions(view: StorageView) -> list[SessionView]:
    """Return the sessions in Avro; of a sample, nobody knows the number of rows."""
    asked = ((session, session.request.read_session) for session in created(view))
    return [
        session
        for session, wanted in asked
        if wanted.data_format == AVRO.number and not wanted.read_options.HasField("sample_percentage")
    ]


def _whole(session: SessionView) -> dict[str, ReadView]:
    """Return the first full read of each stream."""
    return {read.stream: read for read in reversed(session.reads) if read.whole}


@once_per_view
def _counted_sessions(view: StorageView) -> list[CountedSession]:
    found = []
    for session in _sessions(view):
        whole, names = _whole(session), [stream.name for stream in session.session.streams]
        if has_columns(session) and all(name in whole for name in names):
            found.append(CountedSession(session.index, session, tuple(whole[name] for name in dict.fromkeys(names))))
    return found


@once_per_view
def _counted_reads(view: StorageView) -> list[CountedRead]:
    found: list[CountedRead] = []
    for session in _sessions(view):
        rows = {stream: read.row_count for stream, read in _whole(session).items()}
        reads = (read for read in session.reads if read.ok and 0 < read.offset <= rows.get(read.stream, 0))
        found += [CountedRead(read.index, read, rows[read.stream]) for read in reads]
    return found


@clause(
    "avro.counts-are-the-rows",
    over=_counted_sessions,
    source=(STORAGE_PROTO, ROW_COUNTERS),
    breaks=RESUMING,
)
def counts_are_the_rows(counted: CountedSession) -> Iterator[Violation]:
    """The ``row_count`` of all responses of a session in Avro add up to the rows of the session."""
    wanted = len(expected_rows(counted.session.view, counted.session))
    observed = sum(read.row_count for read in counted.reads)
    if observed != wanted:
        yield Violation(f"responses that count {many(wanted, 'row')}", many(observed, "row"), field="row_count")


@clause("avro.offset-leaves-the-rest", over=_counted_reads, source=(STORAGE_PROTO, JAVA_LIVE_TEST), breaks=RESUMING)
def offset_leaves_the_rest(counted: CountedRead) -> Iterator[Violation]:
    """A read from offset n of a stream in Avro counts n rows fewer than a read of the full stream."""
    read, left = counted.read, counted.rows - counted.read.offset
    if read.row_count != left:
        required = f"the {many(left, 'row')} behind offset {read.offset} of {counted.rows}"
        yield Violation(required, many(read.row_count, "row"), field="row_count")
