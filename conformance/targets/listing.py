"""Compares the rows that ``tabledata.list`` shows with those that a case put in, before anything is read.

The comparison covers the row count, and the values of the first rows that REST lists, in any order, as far as REST has
exact texts for them (:mod:`.values`). It does not cover the further rows of a large table.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import Any, Final

from conformance.contain.text import safe, told_apart
from conformance.records import ROW_ID, Column, Mode
from conformance.targets.restway import REQUEST_BYTES, RestTables, insert_all_body
from conformance.targets.seeds import Row, SeededTable, check_time, type_text
from conformance.targets.targeterrors import CannotSeed, RowsMissing, TableExists
from conformance.targets.values import Instants, Unreadable, case_value, listed_cell, listed_value

__all__ = ["MAX_VERIFIED_ROWS", "verify", "verify_order"]

MAX_VERIFIED_ROWS: Final = 1000
"""The number of rows whose values are compared: enough to see a changed value, cheap for large tables."""

SHOWN: Final = 120
"""The most characters of a value in a message."""

_UNREADABLE: Final = object()
"""In place of a value that cannot be compared, because its text does not say it exactly."""


def verify(tables: RestTables, table: SeededTable, until: float) -> None:
    """Raise :class:`CannotSeed` unless REST shows the inserted rows: :class:`TableExists` if it counts more of
    them, :class:`RowsMissing` if it counts fewer.
    """
    if not table.sent and table.inserted:  # another way than REST put them in
        table.sent = len(insert_all_body(table.columns, table.rows[: table.inserted]))
        table.widest = table.sent // table.inserted
    page = max(1, min(MAX_VERIFIED_ROWS, REQUEST_BYTES // table.widest))
    parameters = {"maxResults": str(page), "formatOptions.useInt64Timestamp": "true"}
    answer = tables.get(f"{tables.path(table.names)}/data", parameters, until=until, shown=table.sent)
    total = answer.get("totalRows")
    if str(total) != str(table.inserted):
        said = f"{table.inserted} rows were inserted but tabledata.list counts {_short(total)}"
        raise (TableExists if _more(total, table.inserted) else RowsMissing)(said)
    rows = answer.get("rows") or []
    if not isinstance(rows, list):
        raise CannotSeed(f"expected tabledata.list to return an array of rows but got {_short(rows)}")
    if len(rows) > table.inserted:
        raise CannotSeed(f"{table.inserted} rows were inserted but tabledata.list returned {len(rows)}")
    if len(rows) < min(page, table.inserted) and not answer.get("pageToken"):
        raise CannotSeed(f"{table.inserted} rows were inserted but tabledata.list ends after {len(rows)}")
    _compare(table, [_cells(table.columns, row) for row in rows[:page]], until)


def verify_order(tables: RestTables, table: SeededTable, until: float) -> None:
    """Raise :class:`CannotSeed` unless the first rows that REST shows have falling row numbers, as the query ordered.

    A server whose query ignores its ORDER BY has no order that a session could keep.
    """
    answer = tables.get(
        f"{tables.path(table.names)}/data", {"maxResults": str(MAX_VERIFIED_ROWS)}, until=until, shown=table.sent
    )
    place = next(at for at, column in enumerate(table.columns) if column.name == ROW_ID)
    rows = answer.get("rows") or []
    cells = [_cells(table.columns, row)[place] for row in rows] if isinstance(rows, list) else []
    came = _readable(listed_value, table.columns[place], cells, Instants.MICROS, until)
    numbers = [value for value in came if isinstance(value, int)]
    if len(numbers) < len(came) or any(after > before for before, after in itertools.pairwise(numbers)):
        raise CannotSeed("the query has an ORDER BY, and tabledata.list shows its rows in another order")


def _more(total: object, inserted: int) -> bool:
    return isinstance(total, str) and len(total) < 20 and total.isdecimal() and int(total) > inserted


def _cells(columns: Sequence[Column], row: Any) -> list[Any]:
    cells = row.get("f") if isinstance(row, dict) else None
    if not isinstance(cells, list) or len(cells) != len(columns):
        raise CannotSeed(f"tabledata.list returned a row of another shape than the {len(columns)} columns")
    return cells


def _compare(table: SeededTable, listed: list[list[Any]], until: float) -> None:
    """Raise :class:`CannotSeed` unless each listed row is one of the inserted rows, each used once."""
    rows = table.rows[: table.inserted]
    if _in_order(table.columns, rows[: len(listed)], listed, until):
        return
    complaint: CannotSeed | None = None
    for instants in Instants:
        wanted: list[list[Hashable]] = []
        seen: list[list[Hashable]] = []
        for at, column in enumerate(table.columns):
            values, cells = [row.get(column.name) for row in rows], [listed_row[at] for listed_row in listed]
            want = _readable(case_value, column, values, instants, until)
            came = _readable(listed_value, column, cells, instants, until)
            if _UNREADABLE in want or (_UNREADABLE in came and _among(came, want)):
                want = [_nulls(column, value) for value in values]
                came = [_nulls(column, _shown(cell)) for cell in cells]
            wanted.append(want)
            seen.append(came)
        if not Counter(zip(*seen, strict=True)) - Counter(zip(*wanted, strict=True)):
            return
        complaint = complaint or _complaint(table.columns, wanted, seen)
    assert complaint is not None
    raise complaint


def _in_order(columns: Sequence[Column], rows: Sequence[Row], listed: list[list[Any]], until: float) -> bool:
    """True if the listed rows are ``rows`` in this order, as most servers list them; False decides nothing."""
    for at, column in enumerate(columns):
        check_time(until)
        values, cells = [row.get(column.name) for row in rows], [listed_row[at] for listed_row in listed]
        if [listed_cell(column, value) for value in values] == cells:
            continue
        want = _readable(case_value, column, values, Instants.MICROS, until)
        if _UNREADABLE in want or want != _readable(listed_value, column, cells, Instants.MICROS, until):
            return False
    return True


def _complaint(columns: Sequence[Column], wanted: list[list[Hashable]], seen: list[list[Hashable]]) -> CannotSeed:
    """The error for the first column whose values differ, or for rows whose cells are mixed up."""
    said = _changed(columns, wanted, seen)
    return CannotSeed(said or "tabledata.list shows the cells of different rows in one row")


def _changed(columns: Sequence[Column], wanted: Sequence[Sequence[Hashable]], seen: Sequence[Sequence[Hashable]],
             path: str = "") -> str:  # fmt: skip
    """What a message says of the first column whose values differ, of a record's of the field; empty if none does."""
    for column, want, came in zip(columns, wanted, seen, strict=True):
        strange = Counter(value for value in came if value is not _UNREADABLE) - Counter(want)
        if not strange:
            continue
        name, (put_in, came_in) = path + column.name, (list(_records(column, values)) for values in (want, came))
        if put_in and came_in:
            inner = _changed(column.fields, [*zip(*put_in, strict=True)], [*zip(*came_in, strict=True)], f"{name}.")
            if inner:
                return inner
        missing = Counter(want) - Counter(came)
        at = next(place for place, value in enumerate(came) if value in strange)
        # Most servers list the rows as they were put in: what was changed is at the same place.
        lost = want[at] if at < len(want) and want[at] in missing else next(iter(missing), None)
        put, got = told_apart(repr(lost), repr(came[at]), SHOWN)
        return (
            f"column {name!r} ({type_text(column)}): tabledata.list shows {safe(got)}, "
            f"which was not put in; {safe(put)} was"
        )
    return ""


def _records(column: Column, values: Sequence[Hashable]) -> Iterator[tuple[Hashable, ...]]:
    """The records of a column as tuples, those in lists, too; none of what is no record or cannot be compared."""
    if column.fields:
        for value in values:
            items = value if column.mode is Mode.REPEATED and isinstance(value, tuple) else (value,)
            yield from (item for item in items if isinstance(item, tuple))


def _nulls(column: Column, value: Any) -> Hashable:
    """Where a value is NULL: true or false, for an array one for each item. A NULL array reads as an empty one."""
    if column.mode is not Mode.REPEATED:
        return value is None
    return tuple(item is None for item in value) if isinstance(value, list) else ()


def _shown(cell: Any) -> Any:
    """The value in a listed cell, or the values in it."""
    value = _value(cell)
    return [_value(item) for item in value] if isinstance(value, list) else value


def _value(cell: Any) -> Any:
    return cell.get("v") if isinstance(cell, dict) else cell


def _readable(
    read: Callable[[Column, Any, Instants], Hashable],
    column: Column,
    values: Sequence[Any],
    instants: Instants,
    until: float,
) -> list[Hashable]:
    """The column's values, converted by ``read`` for comparison; what has no exact value is :data:`_UNREADABLE`."""
    comparable: list[Hashable] = []
    for value in values:
        check_time(until)
        try:
            comparable.append(read(column, value, instants))
        except Unreadable:
            comparable.append(_UNREADABLE)
    return comparable


def _among(came: Sequence[Hashable], want: Sequence[Hashable]) -> bool:
    """True if every readable value is one of those that were put in, each used once.

    One text of a free form must not hide that another value of its column was changed.
    """
    return not Counter(value for value in came if value is not _UNREADABLE) - Counter(want)


def _short(value: object) -> str:
    return safe(repr(value), SHOWN)
