"""How a case's table is handed to a serializer, in this process or in a program.

A serializer has no sessions: a case can be put to it where one of its sessions asks for the whole table in Arrow,
uncompressed, as it stands. This module decides which session that is and how the table is cut into batches.
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
"""Why a case cannot be put to a serializer."""
MAX_BATCH_ROWS: Final = 4096
"""Rows of a batch; more would only make the same bytes longer."""
_WHOLE: Final = 1 << 29
"""The seed from which on a recipe's table is handed over whole: seven eighths of those that are drawn."""


@dataclasses.dataclass(frozen=True, slots=True)
class SerializedSteps:
    """The steps of a case that a serializer's messages stand for: its session and the read of it."""

    session: int
    read: int


def place_of(case: Case) -> SerializedSteps | None:
    """The first session that asks for the plain table and the read of it; None where the case has none."""
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
    """The table as record batches, none of more than :data:`MAX_BATCH_ROWS` rows; without rows it is an empty one.

    Two rows are two batches, so that slices with an offset are among them. Of drawn recipes, whose seeds have 32 bits,
    this holds for every eighth; the other tables stay whole, as what writers are mostly handed is. It follows from the
    recipe, so that fewer rows or columns do not change it.
    """
    if table.num_rows == 0:
        return [pa.RecordBatch.from_pylist([], schema=table.schema)]
    rows = MAX_BATCH_ROWS if recipe is not None and recipe.seed >= _WHOLE else math.ceil(table.num_rows / 2)
    rows = min(MAX_BATCH_ROWS, rows)
    (whole,) = table.combine_chunks().to_batches() if _is_cut(table) else table.to_batches()
    return [whole.slice(start, rows) for start in range(0, table.num_rows, rows)] if rows < table.num_rows else [whole]


def _is_cut(table: pa.Table) -> bool:
    return any(column.num_chunks != 1 for column in table.columns)
