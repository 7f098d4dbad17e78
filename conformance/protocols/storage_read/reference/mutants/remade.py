"""Mutants of tables that are dropped and made again under their name: caches by name, sessions that follow a name."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from conformance.protocols.storage_read.reference.catalogue import Snapshot
from conformance.protocols.storage_read.reference.register import behaviour_mutant
from conformance.protocols.storage_read.reference.service import ReadService
from conformance.protocols.storage_read.reference.session import Stream
from conformance.reference.mutants.reasons import IN_AVRO, IN_PARTS


@behaviour_mutant(
    "snapshot.name-outlives-its-table",
    kills="snapshot.table-made-again-is-new",
    also={
        **IN_AVRO,
        "combination.*": "the same requirement, asked of sessions that are read in parts",
        "history.*": "the same requirement, asked of sessions that are resumed and split",
    },
)
class NameOutlivesItsTable(ReadService):
    """A session on a table that was made again has the rows of the first table of that name, too."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.first: dict[str, Snapshot] = {}

    def take_snapshot(self, asked: Any) -> Snapshot:
        fresh = super().take_snapshot(asked)
        first = self.first.setdefault(str(fresh.table), fresh)
        if fresh.created == first.created or fresh.columns != first.columns:
            return fresh
        return Snapshot(fresh.table, fresh.columns, fresh.created, pa.concat_tables([first.rows, fresh.rows]))


@behaviour_mutant(
    "combination.resumes-in-the-new-table",
    kills="combination.rows-are-the-sessions",
    also={
        **IN_PARTS,
        "offsets.*": "the same requirement, asked of a stream that was read in full",
        "combination.*": "the new table's rows are at the places of the session's",
    },
)
class ResumesInTheNewTable(ReadService):
    """A read from an offset finds its table by name: after the table was made again, its rows come."""

    def rows_at_offset(self, stream: Stream, offset: int) -> pa.Table:
        rows, snapshot = super().rows_at_offset(stream, offset), stream.session.snapshot
        now = self.catalogue.snapshot(snapshot.table)
        return now.rows.slice(offset) if offset and now.created != snapshot.created else rows
