"""Steps that send some of a case's rows, by the number of the first and their count; where both are None, all."""

from __future__ import annotations

import bisect
import dataclasses
from collections.abc import Sequence
from typing import Any

from conformance.records import RowsStep, Step

__all__ = ["compacted", "kept_rows", "rows_needed"]


def rows_needed(steps: Sequence[Step]) -> int:
    """The number of rows that a table has to have for each step that sends some of them."""
    return max((step.first + (step.count or 0) for step in steps if isinstance(step, RowsStep)), default=0)


def compacted(steps: Sequence[Step]) -> tuple[Step, ...]:
    """Return the steps with rows that follow each other without a gap: as many, and other ones of the table."""
    first = 0
    found: list[Step] = []
    for step in steps:
        if isinstance(step, RowsStep) and step.count is not None:
            found.append(_sending(step, first=first))
            first += step.count
        else:
            found.append(step)
    return tuple(found)


def kept_rows(step: Step, kept: Sequence[int]) -> Step:
    """Return a step that sends, of its rows, those that are ``kept``, by their new numbers."""
    if not isinstance(step, RowsStep) or step.count is None:
        return step
    before, until = (bisect.bisect_left(kept, row) for row in (step.first, step.first + step.count))
    return _sending(step, first=before, count=until - before)


def _sending(step: RowsStep, **rows: int) -> RowsStep:
    """The step with other rows; its class is a record that has both numbers as fields."""
    of_record: Any = step
    return dataclasses.replace(of_record, **rows)  # type: ignore[no-any-return]  # the class of the step
