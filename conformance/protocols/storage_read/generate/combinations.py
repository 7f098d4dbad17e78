"""Which values of the factors meet in a session of a scenario.

A value counts for a session if a step of it asks for that value, and the step was not skipped. So a target that cannot
split streams leaves the pairs with splits uncovered, and the report says so.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterator, Sequence

from conformance.generate.factors import Meeting
from conformance.protocols.storage_read.generate.factors import FACTORS
from conformance.records import AppendRows, BqType, Case, Column, CreateSession, Mode, ReadRows, SplitStream, Step

__all__ = ["meetings"]


def meetings(case: Case, skipped: Collection[int] = ()) -> tuple[Meeting, ...]:
    """Return the values that meet in each session of a scenario, without those of ``skipped`` steps."""
    steps = [(index, step) for index, step in enumerate(case.steps) if index not in skipped]
    nesting = f"nesting={_nesting(case.table.columns)}"
    found = []
    for index, step in steps:
        if isinstance(step, CreateSession):
            values = {nesting, *_of_session(step), *_of_calls(step, index, steps)}
            order = [f"{name}={value}" for name, known in FACTORS.items() for value in known]
            found.append(tuple(value for value in order if value in values))
    return tuple(found)


def _nesting(columns: Sequence[Column]) -> str:
    nested = [column for column in columns if column.type is BqType.RECORD]
    if any(column.mode is Mode.REPEATED for column in nested):
        return "records"
    if nested:
        return "record"
    return "array" if any(column.mode is Mode.REPEATED for column in columns) else "flat"


def _of_session(step: CreateSession) -> Iterator[str]:
    restriction = "none" if not step.row_restriction else "nothing" if step.expect.rows == () else "some"
    yield f"restriction={restriction}"
    yield f"streams={'default' if not step.max_stream_count else 'one' if step.max_stream_count == 1 else 'several'}"
    yield f"compression={step.buffer_compression or ('response' if step.response_compression else 'none')}"


def _of_calls(session: CreateSession, made: int, steps: Sequence[tuple[int, Step]]) -> Iterator[str]:
    """Yield the values that the calls on a session give it."""
    later = [step for index, step in steps if index > made]
    reads = [step for step in later if isinstance(step, ReadRows) and step.session == session.label]
    splits = [step for step in later if isinstance(step, SplitStream) and step.session == session.label]
    appended = any(isinstance(step, AppendRows) and not step.again for step in later)
    yield f"snapshot={'time' if session.snapshot else 'append' if appended else 'none'}"
    yield f"split={'none' if not splits else 'twice' if any('.' in one.stream for one in splits) else 'once'}"
    beside = {id(step) for step in _beside(later)}
    for read in reads:
        yield from _of_read(read, beside=id(read) in beside)


def _of_read(read: ReadRows, *, beside: bool) -> Iterator[str]:
    """Yield the values that a read gives its session; it can be made ``beside`` one of another step."""
    yield f"offset={_place(read.offset)}"
    if read.faults:
        yield "offset=resume"
    if read.together and read.times > 1:
        yield "concurrency=stream"
    if beside:
        yield "concurrency=sessions"
    if read.handed:
        yield "concurrency=handed"
    if not (read.together or read.handed or beside):
        yield "concurrency=none"


def _beside(steps: Sequence[Step]) -> Iterator[ReadRows]:
    """Yield the reads that are made at the same time as those of another step."""
    for one, other in itertools.pairwise(steps):
        if isinstance(one, ReadRows) and isinstance(other, ReadRows) and other.alongside:
            yield from (one, other)


def _place(offset: str) -> str:
    if offset == "0":
        return "start"
    if offset in ("end", "end+1", "end+100"):
        return "end"
    return "resume" if offset == "resume" else "number"
