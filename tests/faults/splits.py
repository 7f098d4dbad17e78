"""Faults of SplitReadStream: splits of splits, of filtered streams, and reads after a split."""

# ruff: noqa: D102  # a step means what the docstring of the same step of the service says

from __future__ import annotations

import dataclasses
from typing import Any

import pyarrow as pa

from conformance.protocols.storage_read.reference.catalogue import Catalogue
from conformance.protocols.storage_read.reference.service import ReadService
from conformance.protocols.storage_read.reference.session import Stream
from tests.faults.register import fault
from tests.faults.steps import ROW, Placed, places


@fault(
    "splits.remainder-split-from-root",
    why="A child keeps a reference to the root stream's rows, and a second split forgets where the child begins.",
    source="",
    needs="split, split of split",
)
class RemainderSplitFromRoot(ReadService):
    """The children of a remainder hold the first rows of the stream that was split first."""

    def __init__(self, catalogue: Catalogue) -> None:
        super().__init__(catalogue)
        self._roots: dict[str, pa.Table] = {}

    def split_read_stream(self, request: Any) -> Any:
        answer = super().split_read_stream(request)
        root = self._roots.get(request.name)
        for child in (answer.primary_stream, answer.remainder_stream):
            if child.name:
                self._roots[child.name] = self.find_stream(request.name).rows if root is None else root
        return answer

    def split(self, stream: Stream, fraction: float) -> tuple[pa.Table, pa.Table]:
        primary, remainder = super().split(stream, fraction)
        root = self._roots.get(stream.name, stream.rows)
        return root.slice(0, primary.num_rows), root.slice(primary.num_rows, remainder.num_rows)


@fault(
    "splits.original-shortened",
    why="The stream is split in place, as a work-stealing queue does it: the original is the primary from then on.",
    source="https://github.com/googleapis/googleapis/blob/master/google/cloud/bigquery/storage/v1/storage.proto",
    needs="split, read of the original",
)
class OriginalShortened(ReadService):
    """After a split, the original stream ends where its primary ends."""

    def split_read_stream(self, request: Any) -> Any:
        answer = super().split_read_stream(request)
        if answer.primary_stream.name:
            original = self.find_stream(request.name)
            rows = self.find_stream(answer.primary_stream.name).rows
            self.sessions.add([dataclasses.replace(original, rows=rows)])
        return answer


@fault(
    "splits.children-lose-restriction",
    why="The children are made as new ranges of the table; the filter was applied where the first streams were made.",
    source="",
    needs="restriction, split",
)
class ChildrenLoseRestriction(Placed):
    """The children of a stream hold every row of the table between the stream's first and last row."""

    def split(self, stream: Stream, fraction: float) -> tuple[pa.Table, pa.Table]:
        if ROW in stream.rows.column_names:
            scanned = places(stream.rows)
            rows = stream.session.snapshot.rows.slice(int(scanned[0]), int(scanned[-1] - scanned[0]) + 1)
            stream = dataclasses.replace(stream, rows=rows)
        return super().split(stream, fraction)


@fault(
    "splits.remainder-offset-in-parent",
    why="The remainder is a view of the parent that begins at the split; an offset is looked up in the parent.",
    source="https://github.com/goccy/bigquery-emulator/issues/507",
    needs="split, offset",
)
class RemainderOffsetInParent(ReadService):
    """An offset into a remainder counts from the start of the stream that was split, and is cut off at 0."""

    def __init__(self, catalogue: Catalogue) -> None:
        super().__init__(catalogue)
        self._begins: dict[str, int] = {}

    def split_read_stream(self, request: Any) -> Any:
        answer = super().split_read_stream(request)
        if answer.remainder_stream.name:
            self._begins[answer.remainder_stream.name] = self.find_stream(answer.primary_stream.name).rows.num_rows
        return answer

    def rows_at_offset(self, stream: Stream, offset: int) -> pa.Table:
        return stream.rows.slice(max(offset - self._begins.get(stream.name, 0), 0))
