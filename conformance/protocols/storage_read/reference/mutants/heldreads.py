"""Mutants of reads that are held open while something else happens: each is right for a read that runs to its end.

``cases/interrupted/held-open-*`` kill them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyarrow as pa

from conformance.protocols.storage_read.reference.catalogue import MissingError, TableId
from conformance.protocols.storage_read.reference.mutants.splits import Splitting
from conformance.protocols.storage_read.reference.register import behaviour_mutant
from conformance.protocols.storage_read.reference.service import ReadService
from conformance.protocols.storage_read.reference.session import Stream


@behaviour_mutant(
    "split.ends-running-reads",
    kills="rows.held-open-has-its-rows",
    also={
        "rows.none-is-missing": "the same requirement, asked of every read",
        "split.*": "the children have more rows than that read of their parent, and so has a later read",
    },
)
class EndsRunningReads(Splitting):
    """A split ends the reads of its parent that run: they end in OK with the rows that have been sent."""

    def read_rows(self, request: Any) -> Iterator[Any]:
        before = request.read_stream in self.parents
        for response in super().read_rows(request):
            yield response
            if request.read_stream in self.parents and not before:
                return


@behaviour_mutant(
    "snapshot.running-read-grows",
    kills="rows.held-open-has-its-rows",
    also={"snapshot.later-rows-stay-out": "the same requirement, asked of every read after an insertion"},
)
class RunningReadGrows(ReadService):
    """Rows that are inserted while a stream is read come at the end of the read."""

    def read_rows(self, request: Any) -> Iterator[Any]:
        stream, sent = self.stream_of(request), request.offset
        before = self._rows_now(stream.session.snapshot.table)
        for response in super().read_rows(request):
            yield response
            sent += response.row_count
        after = self._rows_now(stream.session.snapshot.table)
        if before is not None and after is not None and after.num_rows > before.num_rows:
            added = after.slice(before.num_rows)
            if added.schema == stream.rows.schema and stream.session.avro is None:
                yield self.describe_rows(stream, self.serve(stream.session, added), start=sent, first=False)

    def _rows_now(self, table: TableId) -> pa.Table | None:
        try:
            return self.catalogue.snapshot(table).rows
        except MissingError:
            return None


@behaviour_mutant(
    "columns.running-read-loses-what-is-dropped",
    kills="rows.held-open-has-its-rows",
    also={
        "columns.session-keeps-its-rows": "the same requirement, asked of every read after a change of columns",
        "values.nulls": "the same requirement, asked of values",
    },
)
class RunningReadLosesWhatIsDropped(ReadService):
    """After a column was dropped, reads that run have NULL in it."""

    def read_rows(self, request: Any) -> Iterator[Any]:
        stream, sent = self.stream_of(request), request.offset
        before = self._dropped(stream)
        for response in super().read_rows(request):
            dropped = self._dropped(stream) - before
            yield self._without(stream, dropped, response, sent) if dropped else response
            sent += response.row_count

    def _dropped(self, stream: Stream) -> frozenset[str]:
        """The columns of a stream in Arrow that its table has no more."""
        snapshot = stream.session.snapshot
        if stream.session.avro is not None or self.catalogue.is_dropped(snapshot):
            return frozenset()
        now = {column.name for column in self.catalogue.snapshot(snapshot.table).columns}
        return frozenset(column.name for column in snapshot.columns if column.name not in now)

    def _without(self, stream: Stream, dropped: frozenset[str], response: Any, start: int) -> Any:
        rows = stream.rows.slice(start, response.row_count)
        for place, field in enumerate(rows.schema):
            if field.name in dropped:
                rows = rows.set_column(place, field, pa.nulls(rows.num_rows, field.type))
        return self.describe_rows(stream, self.serve(stream.session, rows), start=start, first=False)
