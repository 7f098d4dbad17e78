"""Sessions whose streams were all read in full: the received rows and the expected rows.

A selector returns an empty list if an exchange contains no such subject.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import cast

import numpy as np
import pyarrow as pa

from conformance.contract.closed import Feature
from conformance.contract.comparing.differences import identical
from conformance.contract.comparing.matching import Hashes, RowMatch, match_rows, row_hashes
from conformance.contract.subjects import after_abandoned
from conformance.contract.view import BatchBytes, once_per_view
from conformance.protocols.storage_read.contract.expected import expected_table, has_columns
from conformance.protocols.storage_read.contract.subjects import (
    OPEN_OPTIONS,
    created,
    feature,
    full_reads,
    read_feature,
    valid_reads,
    valid_sessions,
)
from conformance.protocols.storage_read.contract.view import ReadView, SessionView, StorageCall, StorageView

__all__ = ["SELECTING", "SessionRead", "restriction_of", "rows_of", "session_of", "whole_or_refused", "whole_sessions"]


SELECTING = frozenset({Feature.RESTRICTION, Feature.FILTERED_PROJECTION})
"""The features of sessions whose missing rows are those of a restriction, also if the session has no streams."""


def rows_of(read: ReadView) -> Hashes | None:
    """Return the rows of a read in order, one hash each; None if one of its responses could not be decoded."""
    return read.view.once(("rows_of", read.index), lambda: _rows_of(read))


def _rows_of(read: ReadView) -> Hashes | None:
    batches = read.batches
    if batches is None:
        return None
    if len(batches) > 1 and not _may_be_joined(batches):
        return np.concatenate([row_hashes(pa.Table.from_batches([batch])) for batch in batches])
    return row_hashes(pa.Table.from_batches(batches)) if batches else np.zeros(0, np.uint64)


def _may_be_joined(batches: Sequence[pa.RecordBatch]) -> bool:
    """True if the batches have one schema without dictionaries: a hash costs as much for a few rows as for many."""
    schema = batches[0].schema
    plain = not any(map(pa.types.is_dictionary, schema.types))
    return plain and all(batch.schema == schema for batch in batches)


class SessionRead:
    """A session whose streams were all read in full: the received rows, and the expected ones.

    ``reads`` holds the first full read of each stream, in the order of the streams.
    """

    def __init__(self, session: SessionView, reads: tuple[ReadView, ...]) -> None:
        self.session = session
        self.reads = reads
        self.call = session.index
        self.response: int | None = None
        self._hashes: dict[tuple[str, ...], Hashes] = {}

    @functools.cached_property
    def feature(self) -> Feature:
        """The distinctive feature of the session, or of the calls before one of its reads."""
        found = feature(self.session)
        late = found in OPEN_OPTIONS and any(after_abandoned(read) for read in self.reads)
        return Feature.ABANDONED if late else found

    @functools.cached_property
    def expected(self) -> pa.Table:
        """The rows that the session has to yield."""
        return expected_table(self.session.view, self.session)

    @functools.cached_property
    def got(self) -> pa.Table:
        """The rows of all streams, one stream after the other."""
        return _concatenated([batch for read in self.reads for batch in read.batches or ()], self.expected)

    def batches(self) -> Sequence[BatchBytes]:
        """The messages that hold these rows, in their order; those of another format have none."""
        responses = (response for read in self.reads for response in read.responses)
        return [batch for response in responses if (batch := response.batch) is not None]

    @functools.cached_property
    def match(self) -> RowMatch:
        """The match of the received rows with the expected ones."""
        expected, got = self.expected.schema, self.got.schema
        if expected.names == got.names and expected.types == got.types and identical(self.expected, self.got):
            return RowMatch((), (), (), ())
        return match_rows(self.expected, self.got, hashes=self._hashes)

    @functools.cached_property
    def matches(self) -> tuple[RowMatch, ...]:
        """The match of each stream's rows with the expected rows of the session."""
        if len(self.reads) == 1:
            return (self.match,)
        tables = (_concatenated(list(read.batches or ()), self.expected) for read in self.reads)
        return tuple(match_rows(self.expected, table, hashes=self._hashes) for table in tables)


def _concatenated(batches: list[pa.RecordBatch], like: pa.Table) -> pa.Table:
    return pa.Table.from_batches(batches) if batches else like.slice(0, 0)


@once_per_view
def whole_sessions(view: StorageView) -> list[SessionRead]:
    """Return every session of known columns that has streams, if all of these were read in full and under one
    schema. One with a restriction may have no streams: then nothing was selected.
    """
    found = []
    reads_of: dict[int, dict[str, ReadView]] = {}
    for read in full_reads(view):
        if read.session is not None:
            reads_of.setdefault(read.session.index, {}).setdefault(read.stream, read)
    for session in created(view):
        first = reads_of.get(session.index, {})
        names = [stream.name for stream in session.session.streams]
        if (names or feature(session) in SELECTING) and all(name in first for name in names) and has_columns(session):
            reads = tuple(first[name] for name in dict.fromkeys(names))
            schemas = [batch.schema for read in reads for batch in read.batches or ()]
            if all(schema == schemas[0] for schema in schemas):
                found.append(SessionRead(session, reads))
    return found


def whole_or_refused(view: StorageView, name: Feature) -> list[SessionRead | StorageCall]:
    """Return the fully read sessions of one feature, and the valid requests for them or reads of them that failed."""
    wholes = [whole for whole in whole_sessions(view) if whole.feature is name]
    requests = [session for session in valid_sessions(view) if feature(session) is name and not session.ok]
    reads = [read for read in valid_reads(view) if read.offset == 0 and read_feature(read) is name and not read.ok]
    return [*wholes, *requests, *reads]


def session_of(subject: SessionRead | StorageCall) -> SessionView:
    """Return the session that was read, or the request for it, or that of a read."""
    session = subject if isinstance(subject, SessionView) else cast(SessionRead | ReadView, subject).session
    assert session is not None
    return session


def restriction_of(subject: SessionRead | StorageCall) -> str:
    """Return the restriction of the session of a subject."""
    return session_of(subject).step.row_restriction
