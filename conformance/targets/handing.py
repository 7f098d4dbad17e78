"""Prepares a case's table for a serializer, in this process or in a program.

A serializer has no sessions: a case can be put to it if one of its sessions asks for the full table as Arrow,
uncompressed and unrestricted. This module selects that session and cuts the table into batches.
"""

from __future__ import annotations

import dataclasses
import math
from typing import Final

import pyarrow as pa

from conformance.contract.remembered import once_per_object
from conformance.records import Case, CreateSession, ReadRows, Recipe, Step

__all__ = ["NO_PLACE", "SerializedSteps", "batches_of", "place_of"]

NO_PLACE: Final = "a serializer takes no requests, and no session of the case reads the whole table as Arrow"
"""The reason why a case cannot be put to a serializer."""
MAX_BATCH_ROWS: Final = 4096
"""The number of rows of a batch; more would only make the same bytes longer."""
_WHOLE: Final = 1 << 29
"""Recipes with this seed or a larger one keep their table in one batch: seven eighths of the drawn recipes."""


@dataclasses.dataclass(frozen=True, slots=True)
class SerializedSteps:
    """The steps of a case to which a serializer's messages belong: a session and the read of it."""

    session: int
    read: int


def place_of(case: Case) -> SerializedSteps | None:
    """The first session that asks for the plain table, with the read of it; None if the case has no such session."""
    return _place_in(case.steps)


@once_per_object
def _place_in(steps: tuple[Step, ...]) -> SerializedSteps | None:
    for index, step in enumerate(steps):
        if not isinstance(step, CreateSession) or step != CreateSession(
            label=step.label,
            max_stream_count=step.max_stream_count,
            preferred_min_stream_count=step.preferred_min_stream_count,
            trace_id=step.trace_id,
            omit_options=step.omit_options,
        ):
            continue
        for after, later in enumerate(steps[index + 1 :], index + 1):
            if isinstance(later, ReadRows) and later == ReadRows(session=step.label):
                return SerializedSteps(index, after)
    return None


def batches_of(table: pa.Table, recipe: Recipe | None = None) -> list[pa.RecordBatch]:
    """The table as record batches of at most :data:`MAX_BATCH_ROWS` rows; a table without rows gives one empty batch.

    A table of several rows is divided into at least two batches, so that there are slices with an offset. Of the drawn
    recipes, whose seeds have 32 bits, this applies to every eighth; the other tables stay in one batch, the usual input
    of a writer. The choice depends on the recipe only, so that removing rows or columns does not change it.
    """
    if table.num_rows == 0:
        return [pa.RecordBatch.from_pylist([], schema=table.schema)]
    rows = MAX_BATCH_ROWS if recipe is not None and recipe.seed >= _WHOLE else math.ceil(table.num_rows / 2)
    rows = min(MAX_BATCH_ROWS, rows)
    (whole,) = table.combine_chunks().to_batches() if _is_cut(table) else table.to_batches()
    return [whole.slice(start, rows) for start in range(0, table.num_rows, rows)] if rows < table.num_rows else [whole]


def _is_cut(table: pa.Table) -> bool:
    return any(column.num_chunks != 1 for column in table.columns)
