"""Sessions of a sample: ``sample_percentage`` takes a random part of the table's blocks, as TABLESAMPLE SYSTEM does.

The server decides which rows are a block, so a sample of a small table may have all rows or none. No answer of the
service is recorded, so no clause is a MUST.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterator
from typing import Final

from conformance.contain.text import many
from conformance.contract.clause import AtCall, Violation, clause
from conformance.contract.closed import Feature
from conformance.contract.sources import STREAM_PROTO, TABLE_SAMPLING, Inferred
from conformance.contract.view import once_per_view
from conformance.protocols.storage_read.contract.endings import refuses, serves
from conformance.protocols.storage_read.contract.sessions import SessionRead, rows_of, whole_sessions
from conformance.protocols.storage_read.contract.subjects import (
    OPEN_OPTIONS,
    created,
    feature,
    is_child,
    read_feature,
    refused_as,
    valid_reads,
    valid_sessions,
)
from conformance.protocols.storage_read.contract.view import ReadView, SessionView, StorageCall, StorageView
from conformance.records import Level

ALL: Final = 100
"""The percentage that takes every block."""


@once_per_view
def _requests(view: StorageView) -> list[StorageCall]:
    sessions: list[StorageCall] = [session for session in valid_sessions(view) if feature(session) is Feature.SAMPLE]
    reads = (read for read in valid_reads(view) if read.offset == 0 and not is_child(read))
    return sessions + [read for read in reads if read_feature(read) is Feature.SAMPLE]


@dataclasses.dataclass(frozen=True, slots=True)
class Sampled(AtCall):
    """A session of a sample, with the rows that it gave and those of a session without one, each row as a hash."""

    session: SessionView
    rows: Counter[int]
    every: Counter[int]


@once_per_view
def _samples(view: StorageView) -> list[Sampled]:
    """Return the samples of tables that were read without a sample too: what all sessions get wrong is not theirs."""
    asked = [session for session in created(view) if feature(session) is Feature.SAMPLE]
    plain = (whole for whole in whole_sessions(view) if whole.feature in OPEN_OPTIONS) if asked else ()
    every = next((rows for whole in plain if (rows := _rows(whole)) is not None), None)
    if every is None:
        return []
    empty = [(session, Counter[int]()) for session in asked if not session.session.streams]
    wholes = [(whole, _rows(whole)) for whole in whole_sessions(view) if whole.feature is Feature.SAMPLE]
    sessions = [*((whole.session, rows) for whole, rows in wholes if rows is not None), *empty]
    return [Sampled(session.index, session, rows, every) for session, rows in sessions]


def _rows(whole: SessionRead) -> Counter[int] | None:
    reads = [rows_of(read) for read in whole.reads]
    known = [rows.tolist() for rows in reads if rows is not None]
    return Counter(row for rows in known for row in rows) if len(known) == len(reads) else None


def _percentage(call: StorageCall) -> str:
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
def rows_are_the_tables(sample: Sampled) -> Iterator[Violation]:
    """A sample has no row that a session without one does not have, and none more often, in however many streams."""
    if surplus := (sample.rows - sample.every).total():
        yield Violation(f"some of the {many(sample.every.total(), 'row')} of the table", f"{many(surplus, 'row')} more")


@clause(
    "sample.of-everything-is-everything",
    over=lambda view: [sample for sample in _samples(view) if sample.session.step.sample_percentage == ALL],
    source=Inferred(TABLE_SAMPLING),
    level=Level.SHOULD,
)
def of_everything_is_everything(sample: Sampled) -> Iterator[Violation]:
    """A sample of 100 percent has every row: the number is a percentage, not a fraction, and every block is taken."""
    if missing := (sample.every - sample.rows).total():
        required = f"all {many(sample.every.total(), 'row')} of the table"
        yield Violation(required, f"{many(missing, 'row')} missing", field="sample_percentage")
