"""Simpler steps and columns of a case of Storage Read, for shrinking."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any, Final

from conformance.generate.choices import Choices
from conformance.generate.simplify import keeps, restrictions_of, simpler_columns, under
from conformance.records import (
    ROW_ID,
    AppendRows,
    CallStep,
    Case,
    ChangeColumns,
    Column,
    CreateSession,
    Expect,
    QueryStatement,
    ReadResult,
    ReadRows,
    RunQuery,
    SplitStream,
    Step,
)

__all__ = ["simpler"]

_READS: Final = (ReadRows, ReadResult)


def simpler(choices: Choices, case: Case) -> Case:
    """Return the case with fewer steps, plainer requests, fewer columns, plainer modes and types, and the same rows."""
    if any(isinstance(step, ChangeColumns) or (isinstance(step, _READS) and step.during) for step in case.steps):
        return case  # its steps and its columns belong together
    decided = [(keeps(choices), _simpler_step(choices, step)) for step in case.steps]
    answers = any(kept and isinstance(step, CreateSession) and step.expect.rows is not None for kept, step in decided)
    # Without an insertion its rows are there from the start, which known answers do not know.
    steps = _sound([step for kept, step in decided if kept or (answers and isinstance(step, AppendRows))])
    if not any(isinstance(step, _READS) for step in steps):
        steps = _shortest([step for _kept, step in decided])
    ordered = any(isinstance(step, RunQuery) and step.statement is QueryStatement.ORDERED for step in steps)
    columns = simpler_columns(choices, case.table.columns, f"{restrictions_of(steps)}\n{ROW_ID * ordered}")
    steps = tuple(_projected(step, columns) for step in steps)
    return dataclasses.replace(case, table=under(case.table, columns), steps=steps)


def _simpler_step(choices: Choices, step: Step) -> Step:
    if not isinstance(step, CallStep) or step.expect.codes != ("OK",):
        return step  # a refused request is refused because of its options
    if isinstance(step, CreateSession):
        if not keeps(choices) and step.row_restriction:
            step = dataclasses.replace(step, row_restriction="", expect=Expect())
        return dataclasses.replace(step, **_resets(choices, step, _SESSION_OPTIONS))
    if isinstance(step, ReadRows):
        return dataclasses.replace(step, **_resets(choices, step, _READ_OPTIONS))
    return step


_SESSION_OPTIONS: Final = (
    *("restriction_bytes", "selected_fields", "max_stream_count", "preferred_min_stream_count"),
    *("buffer_compression", "response_compression", "trace_id"),
)
_READ_OPTIONS: Final = ("times", "together", "alongside", "handed", "faults", "take", "offset")


def _resets(choices: Choices, step: CreateSession | ReadRows, options: Sequence[str]) -> dict[str, Any]:
    """Return the defaults of some of the options that are set."""
    default = type(step)()
    changed = [name for name in options if getattr(step, name) != getattr(default, name)]
    return {name: getattr(default, name) for name in changed if not keeps(choices)}


def _shortest(steps: Sequence[Step]) -> tuple[Step, ...]:
    """Return the steps up to the first read, or the first step if there is no read."""
    reads = [index for index, step in enumerate(steps) if isinstance(step, _READS)]
    return tuple(steps[: reads[0] + 1 if reads else 1])


def _sound(steps: Sequence[Step]) -> tuple[Step, ...]:
    """Return the steps without those that refer to a removed session, split or query."""
    queries: set[str] = set()
    sessions: set[str] = set()
    splits: set[str] = set()
    sound: list[Step] = []
    for step in steps:
        if isinstance(step, CreateSession):
            sessions.add(step.label)
        elif isinstance(step, ReadRows | SplitStream) and not step.name:
            split, dot, _child = step.stream.partition(".")
            if (split not in splits) if dot else (step.session not in sessions):
                continue
        elif isinstance(step, RunQuery):
            queries.add(step.label)
        elif isinstance(step, ReadResult) and step.query not in queries:
            continue
        if isinstance(step, SplitStream):
            splits.add(step.label)
        sound.append(step)
    return tuple(sound)


def _projected(step: Step, columns: Sequence[Column]) -> Step:
    """Return the step without selected paths that no longer exist."""
    if not isinstance(step, CreateSession) or not step.selected_fields or "OK" not in step.expect.codes:
        return step
    paths = tuple(path for path in step.selected_fields if _leads(path.split("."), columns))
    return dataclasses.replace(step, selected_fields=paths)


def _leads(path: Sequence[str], columns: Sequence[Column]) -> bool:
    if not path:
        return True
    return any(
        column.name.casefold() == path[0].casefold() and (len(path) == 1 or _leads(path[1:], column.fields))
        for column in columns
    )
