"""The sessions of a scenario as the model sees them: fingerprints of the expected rows, and every read and split.

A scenario is a case that names clauses of the chapter on combinations. The model decides which reads deviate; this
module only translates the calls into its terms.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Hashable, Iterator, Sequence
from typing import Final

import pyarrow as pa

from conformance.contract.clause import AtCall
from conformance.contract.comparing.matching import common, row_hashes
from conformance.contract.subjects import answered
from conformance.contract.view import once_per_view
from conformance.protocols.storage_read.contract.expected import expected_table, has_columns
from conformance.protocols.storage_read.contract.sessions import rows_of
from conformance.protocols.storage_read.contract.subjects import created, outlived
from conformance.protocols.storage_read.contract.view import ReadView, SessionView, SplitView, StorageView
from conformance.protocols.storage_read.model import Contradiction, ModelSplit, SessionHistory, StreamRead, deviations
from conformance.records import CallEnd
from conformance.records.together import groups

__all__ = ["CHAPTER", "TracedSession", "histories"]

CHAPTER: Final = "combination."
"""How the ids of the clauses on scenarios begin."""


@dataclasses.dataclass(frozen=True, slots=True)
class TracedSession(AtCall):
    """A session of a scenario, with everything that was asked of it, and what contradicts the model."""

    session: SessionView
    model: SessionHistory
    found: tuple[Contradiction, ...]

    @property
    def expected(self) -> pa.Table:
        """The rows that the session has to yield."""
        return expected_table(self.session.view, self.session)


@once_per_view
def histories(view: StorageView) -> list[TracedSession]:
    """Return each session of a scenario, of known columns, that was read or has no streams; none of other cases."""
    if not any(name.startswith(CHAPTER) for name in view.case.clauses):
        return []
    found = []
    for session in created(view):
        if has_columns(session):
            model = _history(session)
            if model.reads or not model.streams:
                found.append(TracedSession(session.index, session, model, deviations(model)))
    return found


def _history(session: SessionView) -> SessionHistory:
    view = session.view
    expected = expected_table(view, session)
    streams = tuple(stream.name for stream in session.session.streams)
    splits = tuple(_splits(session))
    names = {*streams, *(name for split in splits for name in (split.primary, split.remainder))}
    reads = [read for read in view.reads if read.session is session and read.stream in names]
    reads = [read for read in reads if read.ok or not outlived(session, read)]
    columns = _compared(expected.schema, reads)
    rows = row_hashes(expected, columns).tolist()
    made = (_read(read, columns) for read in reads)
    return SessionHistory(session.index, rows, streams, tuple(one for one in made if one is not None), splits)


def _compared(expected: pa.Schema, reads: Sequence[ReadView]) -> list[str] | None:
    """Return the columns by which rows are identified: those that every response has, with their type, in any order.

    The result is None if that is every column at its place. The chapters on schemas report the others.
    """
    schemas = {batch.schema for read in reads for batch in read.batches or ()}
    if all(
        len(schema) == len(expected) and common(expected, schema) == expected.names == schema.names
        for schema in schemas
    ):
        return None
    columns: list[str] = expected.names
    for schema in schemas:
        columns = [name for name in common(expected, schema) if name in columns]
    return columns


def _rows(read: ReadView, columns: Sequence[str] | None) -> Sequence[Hashable] | None:
    if columns is None or read.batches is None:
        found = rows_of(read)
        return None if found is None else found.tolist()
    return [row for batch in read.batches for row in row_hashes(pa.Table.from_batches([batch]), columns).tolist()]


def _read(read: ReadView, columns: Sequence[str] | None) -> StreamRead | None:
    """Return a read; None if its end is not the server's, or if its rows could not be decoded."""
    cancelled = read.raw.end is CallEnd.CANCELLED
    if not answered(read) and not cancelled:
        return None
    refused = answered(read) and not read.ok
    rows = None if refused else _rows(read, columns)
    if rows is None and not refused:
        return None
    return StreamRead(
        read.index,
        read.stream,
        read.offset,
        () if rows is None else tuple(rows),
        ended=not cancelled,
        refused=refused,
        together=_is_together(read),
    )


def _is_together(read: ReadView) -> bool:
    """True if another read of the same stream was made at the same time."""
    group = _groups(read.view)
    others = (one for one in read.view.reads if one is not read and one.stream == read.stream)
    own = group.get(read.raw.step, read.raw.step)
    return any(group.get(one.raw.step, one.raw.step) == own and _concurrent(one, read) for one in others)


def _concurrent(one: ReadView, other: ReadView) -> bool:
    return one.raw.step != other.raw.step or one.step.together or one.step.alongside


@once_per_view
def _groups(view: StorageView) -> dict[int, int]:
    """Return the first step of the group for each step whose calls are made at the same time as those of others."""
    return {index: group[0] for group in groups(view.case.steps) for index in group[1:]}


def _splits(session: SessionView) -> Iterator[ModelSplit]:
    """Yield the splits of the session's streams and of their children."""
    known = {stream.name for stream in session.session.streams}
    for split in session.view.splits:
        parent = split.request.name
        if parent not in known or not answered(split) or (not split.ok and outlived(session, split)):
            continue
        yield _split(split)
        if split.answer is not None:
            known |= {split.answer.primary_stream.name, split.answer.remainder_stream.name} - {""}


def _split(split: SplitView) -> ModelSplit:
    answer = split.answer
    if answer is None:
        return ModelSplit(split.index, split.request.name, refused=not split.ok)
    return ModelSplit(split.index, split.request.name, answer.primary_stream.name, answer.remainder_stream.name)
