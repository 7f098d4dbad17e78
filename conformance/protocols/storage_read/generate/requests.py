"""The requests of a drawn server case: selected fields, restrictions and reads.

This module decides the steps; expectations come from the case's own table and from the freedom that the contract
leaves.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from conformance.generate.choices import Choices, one_in
from conformance.generate.materialise import materialise
from conformance.protocols.storage_read.generate.restrictions import draw_restriction
from conformance.records import BqType, Column, CreateSession, Expect, ReadRows, SplitStream, Step, Table

__all__ = ["PAST_END", "draw_selection", "draw_steps"]

PAST_END: Final = Expect(codes=("FAILED_PRECONDITION", "OUT_OF_RANGE", "INVALID_ARGUMENT"), reason="offset-past-end")
"""An offset beyond the rows is refused; the service answers FAILED_PRECONDITION, and the proto leaves the code open."""


def draw_steps(choices: Choices, table: Table) -> tuple[Step, ...]:
    """Return a session (plain two times out of three), a full read of it, and sometimes one more way of reading."""
    selected = draw_selection(choices, table.columns) if one_in(choices, 3) else ()
    restriction, expect = "", Expect()
    if one_in(choices, 3):
        drawn = draw_restriction(choices, table.columns, materialise(table))
        if drawn is not None:
            restriction, expect = drawn.sql, drawn.expect
    session = CreateSession(
        selected_fields=selected,
        row_restriction=restriction,
        buffer_compression=choices.pick(("", "", "", "LZ4_FRAME", "ZSTD")),
        max_stream_count=choices.pick((0, 0, 1, 2, 5)),
        expect=expect,
    )
    return (session, ReadRows(), *choices.pick(_EXTRAS)(choices))


def _nothing(_choices: Choices) -> tuple[Step, ...]:
    return ()


def _resume(choices: Choices) -> tuple[Step, ...]:
    return (ReadRows(offset=choices.pick(("end", "last", "inside", "boundary"))),)


def _past_end(choices: Choices) -> tuple[Step, ...]:
    return (ReadRows(offset=choices.pick(("end+1", "end+100")), expect=PAST_END),)


def _again(choices: Choices) -> tuple[Step, ...]:
    return (ReadRows(times=2, together=one_in(choices, 2)),)


def _abandon(_choices: Choices) -> tuple[Step, ...]:
    return (ReadRows(take=1), ReadRows())


def _split(choices: Choices) -> tuple[Step, ...]:
    split = SplitStream(fraction=choices.pick((0.5, 0.1, 0.9)))
    return (split, ReadRows(stream="x.primary"), ReadRows(stream="x.remainder"), ReadRows())


_EXTRAS: Final[Sequence[Callable[[Choices], tuple[Step, ...]]]] = (
    *(_nothing, _nothing, _nothing),
    *(_resume, _resume, _past_end, _again, _abandon, _split),
)


def draw_selection(choices: Choices, columns: Sequence[Column]) -> tuple[str, ...]:
    """Return paths in an order of their own (the answer keeps the table's); no path is inside another."""
    paths = [path for column in columns for path in _paths(choices, column)]
    picked: list[str] = []
    while paths:
        picked.append(paths.pop(choices.integer(0, len(paths) - 1)))
    return tuple(picked)


def _paths(choices: Choices, column: Column) -> list[str]:
    """Return no path into a column, the column itself, or paths to some of a record's fields."""
    if one_in(choices, 3):
        return []
    if column.type is not BqType.RECORD or not one_in(choices, 2):
        return [column.name]
    return [f"{column.name}.{path}" for field in column.fields for path in _paths(choices, field)]
