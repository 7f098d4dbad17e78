"""The rows that a client gave, compared with those that it had to give."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import pyarrow as pa

from conformance.contract.clientjudging import ClientAnswer
from conformance.readers.agreement import DifferenceKind, ReadingDifference, differences
from conformance.readers.info import ReaderInfo
from conformance.readers.ipc.job import JobAnswer
from conformance.readers.losses import as_read_with
from conformance.readers.programs.clienttable import plain_to_arrow
from conformance.readers.programs.slot import outcome_of
from conformance.readers.tables import to_stream_bytes
from conformance.records import Reading, ReadingOutcome
from conformance.wire import PlainTable, plain_table

__all__ = ["Compared", "answer_of", "compared_with"]

SHOWN: Final = 3
"""The most differences of one answer that are kept."""
Compared = tuple[int, list[ReadingDifference], str]
"""The number of rows, their differences, and a sentence about their order."""


def compared_with(
    expected: pa.Table, got: PlainTable, info: ReaderInfo, *, case: str, schema: pa.Schema, ordered: bool
) -> Compared:
    """The rows that a client gave, their differences from those expected, and a sentence about their order, which is
    compared if nothing else differs and it is known. ``schema`` is the one that was sent.
    """
    table = plain_to_arrow(got, schema)
    reading = Reading(info.name, case, "s", ReadingOutcome.TABLE, to_stream_bytes(table))
    found = differences(reading, expected, readers={info.name: info})
    bare = info.schemaless_when_empty and not table.num_rows
    order = "" if found or bare or not ordered else _order(info, expected, table)
    return table.num_rows, found, order


def answer_of(info: ReaderInfo, answer: JobAnswer, compare: Callable[[PlainTable], Compared]) -> ClientAnswer:
    """What a client made of a situation, compared with what it should have made of it."""
    outcome, text = outcome_of(answer)
    if answer.table is None:
        return ClientAnswer(info.name, outcome, text)
    rows, differ, order = compare(answer.table)
    bare = info.schemaless_when_empty and not rows
    columns = "" if bare else next((one.observed for one in differ if one.kind is DifferenceKind.COLUMNS), "")
    found = () if columns else tuple(map(str, differ))[:SHOWN]
    said = f"got the columns {columns}" if columns else ""
    return ClientAnswer(info.name, outcome, text, found, said, order)


def _order(info: ReaderInfo, expected: pa.Table, got: pa.Table) -> str:
    """A sentence about the first row that is not in its place; the two tables have the same rows."""
    # Plain values, because a loss can make a timestamp that Python's own type cannot hold.
    lost, had = (plain_table(one.to_batches()) for one in (as_read_with(info.losses, expected), got))
    for row in range(got.num_rows):
        wanted, found = ([column[row] for column in one.columns] for one in (lost, had))
        if wanted != found:
            return f"got row {found} in place {row}, where {wanted} belongs"
    return ""
