"""What every way of seeding has in common: the table that is to be made, and the four things that a way can do.

A way makes a table with its first rows, appends the others, and removes it again. What it cannot carry raises
:class:`CannotSeed`, which makes the case untestable for that reason.
"""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import json
import math
import time
from collections.abc import Iterator, Sequence
from typing import Any, Final, Protocol, TypeAlias

import pyarrow as pa

from conformance.generate.materialise import to_json_rows
from conformance.records import Case, Column, to_json
from conformance.targets.names import Names
from conformance.targets.targeterrors import CannotSeed

__all__ = [
    "Row",
    "SeededTable",
    "Way",
    "case_rows",
    "check_time",
    "content_id",
    "in_columns",
    "naming_columns",
    "type_text",
]

Row: TypeAlias = dict[str, Any]
"""A row in the JSON form of a case."""

SHOWN: Final = 8
"""The number of columns that an error message names."""


class Way(Protocol):
    """One way of putting tables into a server. All times are on the monotonic clock; all failures CannotSeed.

    ``own`` is True if the tables are the suite's, so that their columns may be changed.
    """

    own: bool

    def make(self, table: SeededTable, first: Sequence[Row], until: float) -> None:
        """Make ``table`` with the rows ``first``; a way that cannot choose the name changes ``table.names``."""

    def append(self, table: SeededTable, more: Sequence[Row], until: float) -> None:
        """Append the rows ``more``."""

    def drop(self, names: Names) -> None:
        """Remove a table that this way made; a failure is ignored, because it does not belong to the case."""

    def close(self, *, grace: float) -> None:
        """End what this way started, after ``grace`` seconds in which it may end by itself."""


@dataclasses.dataclass(slots=True)
class SeededTable:
    """The table of the case ``case`` in the target: the first ``inserted`` of its ``rows`` are in it.

    ``sent`` is the size of these rows in bytes of JSON, and ``widest`` that of a row, on average, in the request with
    the largest rows. ``results`` are tables that queries made of it.
    """

    case: str
    names: Names
    columns: tuple[Column, ...]
    rows: Sequence[Row]
    way: Way
    inserted: int = 0
    sent: int = 0
    widest: int = 1
    results: list[Names] = dataclasses.field(default_factory=list)

    def make(self, count: int, *, until: float = math.inf) -> None:
        """Make the table with its first ``count`` rows; raises :class:`CannotSeed`."""
        check_time(until)
        first = self.rows[:count]  # all of them are the tuple itself
        self.way.make(self, first, until)
        self.inserted = len(first)

    def remake(self, count: int, *, until: float = math.inf) -> None:
        """Make the table again, after it was dropped, with its next ``count`` rows; raises :class:`CannotSeed`."""
        self.rows, self.inserted, self.sent, self.widest = self.rows[self.inserted :], 0, 0, 1
        self.make(count, until=until)

    def append(self, count: int, *, until: float = math.inf) -> None:
        """Insert the next ``count`` rows, before ``until`` on the monotonic clock; raises :class:`CannotSeed`."""
        check_time(until)
        if more := self.rows[self.inserted : self.inserted + count]:
            self.way.append(self, more, until)
        self.inserted += len(more)


def case_rows(case: Case, table: pa.Table) -> tuple[Any, ...]:
    """The rows of ``case``, whose table is ``table``, in JSON form: those that every way gets."""
    return case.table.rows if case.table.rows is not None else tuple(to_json_rows(table, case.table.columns))


def in_columns(columns: Sequence[Column], rows: Sequence[Row]) -> list[Row]:
    """The rows without what they have in columns that their table has not yet, or no longer."""
    names = {column.name for column in columns}
    return [row if row.keys() <= names else {key: row[key] for key in row if key in names} for row in rows]


def check_time(until: float) -> None:
    """Raise :class:`CannotSeed` after ``until``."""
    if time.monotonic() > until:
        raise CannotSeed("the time for seeding the case was over before its table was in and verified", answered=False)


def content_id(columns: Sequence[Column], rows: Sequence[Row]) -> str:
    """The name of a preloaded table: tables with the same columns and rows have the same, and no others."""
    digest = hashlib.sha256(json.dumps([to_json(column) for column in columns], sort_keys=True).encode())
    for row in rows:
        digest.update(b"\n" + json.dumps([row.get(column.name) for column in columns], sort_keys=True).encode())
    return f"t_{digest.hexdigest()[:24]}"


@contextlib.contextmanager
def naming_columns(columns: Sequence[Column]) -> Iterator[None]:
    """Name the columns in every :class:`CannotSeed` of the block: their types are the likeliest reason."""
    try:
        yield
    except CannotSeed as error:
        named = ", ".join(f"{column.name} {type_text(column)}" for column in columns[:SHOWN])
        more = f" and {len(columns) - SHOWN} more" if len(columns) > SHOWN else ""
        raise type(error)(f"{error} (columns: {named}{more})", answered=error.answered) from None


def type_text(column: Column) -> str:
    """A column's type and mode, for a message."""
    return column.type.value if column.mode.value == "NULLABLE" else f"{column.mode.value} {column.type.value}"
