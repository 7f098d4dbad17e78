"""Plain values: the values of a column as JSON, independent of the column's layout.

Readers in every language answer in this form, and this package converts its own decoding into it for comparison.
The form is exact: no float is written as text, and no time is converted to a clock time. The values come from the
buffers and not from ``as_py``, which rounds some values, refuses some, and needs pandas for some.
"""

from __future__ import annotations

import dataclasses
import itertools
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, Self

import pyarrow as pa

from conformance.contain.text import told_apart
from conformance.wire.cells import Plain, PlainError, cells
from conformance.wire.intervals import has_bare_interval, readable

__all__ = ["MAX_VALUES", "Plain", "PlainError", "PlainTable", "differences", "plain_table", "plain_values"]

MAX_TEXT: Final = 120
"""The most characters of a value in a difference."""
MAX_VALUES: Final = 1 << 24
"""The number of values made for one column of one batch: runs or overlapping views can declare any number cheaply."""


# --- tables -----------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True, slots=True)
class PlainTable:
    """The rows of a stream or file by column; ``rows`` is the row count, also if there are no columns."""

    names: tuple[str, ...]
    columns: tuple[list[Plain], ...]
    rows: int

    def to_json(self) -> dict[str, Any]:
        """The table as a JSON document; adapters answer in this form."""
        return {"names": list(self.names), "rows": self.rows, "columns": [list(column) for column in self.columns]}

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> Self:
        """The table of a JSON document; keys other than ``names``, ``rows`` and ``columns`` are ignored.

        Raises :class:`PlainError` if the document is not such a table; the values themselves are not checked.
        """
        names, rows, columns = document.get("names"), document.get("rows"), document.get("columns")
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
            raise PlainError(f"names should be a list of strings, and are {_clip(names)}")
        if type(rows) is not int or rows < 0:
            raise PlainError(f"rows should be a count, and are {_clip(rows)}")
        if not isinstance(columns, list) or not all(isinstance(column, list) for column in columns):
            raise PlainError(f"columns should be a list of lists, and are {_clip(columns)}")
        if len(columns) != len(names):
            raise PlainError(f"{len(columns)} columns for {len(names)} names")
        for name, column in zip(names, columns, strict=True):
            if len(column) != rows:
                raise PlainError(f"column {name!r} has {len(column)} values in a table of {rows} rows")
        return cls(tuple(names), tuple(columns), rows)


def plain_table(batches: Sequence[pa.RecordBatch], *, limit: int = MAX_VALUES) -> PlainTable:
    """The rows of all ``batches``, which share one schema; no batches give a table without columns.

    Raises :class:`PlainError` like :func:`plain_values`, and if the batches' column names differ.
    """
    if not batches:
        return PlainTable((), (), 0)
    names = tuple(batches[0].schema.names)
    columns: tuple[list[Plain], ...] = tuple([] for _ in names)
    for number, batch in enumerate(batches):
        if tuple(batch.schema.names) != names:
            raise PlainError(f"batch {number} has columns {_clip(batch.schema.names)}, the first {_clip(names)}")
        types = batch.schema.types
        held = readable(batch) if any(map(has_bare_interval, types)) else batch
        for place, made in enumerate(types):
            columns[place].extend(cells(held.column(place), made, limit))
    return PlainTable(names, columns, sum(batch.num_rows for batch in batches))


def plain_values(array: pa.Array, *, limit: int = MAX_VALUES) -> list[Plain]:
    """The value of every slot of ``array``, whose buffers must be sound, by judging or by pyarrow's validation.

    Text that is not UTF-8 becomes ``{"hex": …}``. Raises :class:`PlainError` if there would be more than ``limit``
    values, nested values included, or if the dictionary index of a valid slot is outside the dictionary.
    """
    return cells(array, array.type, limit)


# --- comparing --------------------------------------------------------------------------------------


def differences(expected: PlainTable, got: PlainTable, limit: int = 20) -> list[str]:
    """The differences between ``got`` and ``expected``: at most ``limit`` lines, each with column, row and both values.

    Columns are compared by position, because names may repeat. True and 1 differ.
    """
    found = []
    if expected.names != got.names:
        wanted, had = _clipped(expected.names, got.names)
        found.append(f"columns: expected {wanted}, got {had}")
    if expected.rows != got.rows:
        found.append(f"rows: expected {expected.rows}, got {got.rows}")
    if len(expected.columns) == len(got.columns):
        found += itertools.islice(_values_that_differ(expected, got), max(0, limit - len(found)))
    return found[:limit]


def _values_that_differ(expected: PlainTable, got: PlainTable) -> Iterator[str]:
    for number, name in enumerate(expected.names):
        left, right = expected.columns[number], got.columns[number]
        if _text(left) == _text(right):
            continue
        for row, (wanted, had) in enumerate(zip(left, right, strict=False)):
            if _text(wanted) != _text(had):
                path, *inmost = _inmost(wanted, had)
                inner, outer = _clipped(*inmost)
                yield f"column {number} {_clip(name)}, row {row}{path}: expected {inner}, got {outer}"


def _inmost(wanted: Any, had: Any, path: str = "") -> tuple[str, Any, Any]:
    """The path to the first nested value that differs, and both values; descends while both have the same shape."""
    while True:
        if isinstance(wanted, list) and isinstance(had, list) and len(wanted) == len(had):
            steps: Any = range(len(wanted))
        elif isinstance(wanted, dict) and isinstance(had, dict) and len(wanted) == 1 and wanted.keys() == had.keys():
            steps = wanted.keys()
        else:
            return path, wanted, had
        step = next(step for step in steps if _text(wanted[step]) != _text(had[step]))
        wanted, had, path = wanted[step], had[step], f"{path}[{step}]" if isinstance(step, int) else path


def _text(value: Any) -> str:
    """A value as text for comparison: unlike ``==``, it distinguishes True from 1."""
    return json.dumps(value, sort_keys=True)


def _clip(value: Any, most: int = MAX_TEXT) -> str:
    text = json.dumps(value, sort_keys=True, default=repr)
    return text if len(text) <= most else f"{text[: most - 3]}..."


def _clipped(one: Any, other: Any) -> tuple[str, str]:
    """Two different values, clipped; with what differs where that would make them equal."""
    shown = _clip(one), _clip(other)
    if shown[0] != shown[1]:
        return shown
    first, second = (json.dumps(value, sort_keys=True, default=repr) for value in (one, other))
    return told_apart(first, second, MAX_TEXT)
