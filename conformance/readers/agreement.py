"""Compare readings with the rows of the case, and readings with each other.

Rows are matched by value in any order (:mod:`conformance.contract.comparing.matching`): decimals as integers of
their width, NaN equal to NaN, minus zero different from zero. The documented rewrites of the reader are undone
first; no other difference is ignored. A reading through pandas is compared with the expected rows after the same
conversion through pandas. Nullability, metadata and the names of list items are left to the clauses on the schema.
"""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import pyarrow as pa

from conformance.contain.text import many
from conformance.contract.comparing.differences import identical
from conformance.contract.comparing.matching import RowMatch, comparable, match_rows, show_row
from conformance.readers.info import ReaderInfo
from conformance.readers.losses import as_read_with
from conformance.readers.registry import KNOWN
from conformance.readers.tables import from_pandas, from_stream_bytes
from conformance.records import Reading, ReadingOutcome

__all__ = ["Camp", "DifferenceKind", "Disagreement", "ReadingDifference", "differences", "disagreements", "reported"]


class DifferenceKind(enum.StrEnum):
    """The kinds of difference between a reading and the rows of the case."""

    NO_TABLE = "no-table"
    """An error, a crash or a hang although rows were expected."""
    COLUMNS = "columns"
    TYPE = "type"
    """A column has another type; its values were not compared."""
    LOST = "lost"
    REPEATED = "repeated"
    FOREIGN = "foreign"
    CHANGED = "changed"

    @property
    def done(self) -> str:
        """The difference as the predicate of a sentence about the reader."""
        return _DONE[self]


_DONE: Final = {
    DifferenceKind.NO_TABLE: "gives no table",
    DifferenceKind.COLUMNS: "gives other columns",
    DifferenceKind.TYPE: "gives another type",
    DifferenceKind.LOST: "loses rows",
    DifferenceKind.REPEATED: "repeats rows",
    DifferenceKind.FOREIGN: "adds rows",
    DifferenceKind.CHANGED: "changes rows",
}


@dataclass(frozen=True, slots=True)
class ReadingDifference:
    """One difference of a reading; ``field`` is its column if it concerns one, ``rows`` the number of rows."""

    reader: str
    kind: DifferenceKind
    required: str
    observed: str
    field: str = ""
    rows: int = 0

    def __str__(self) -> str:
        """The difference as one sentence: the reader and the kind of difference, then, after a colon, the data."""
        where = f"{self.field}: " if self.field else ""
        return f"{self.reader} {self.kind.done}: {where}expected {self.required}, got {self.observed}"


def differences(
    reading: Reading, expected: pa.Table, *, readers: Mapping[str, ReaderInfo] = KNOWN
) -> list[ReadingDifference]:
    """Every difference between a reading and the rows that the session had to return; empty if there are no
    differences.

    An unavailable reading has no differences. ``readers`` gives the facts about the reader if it is not one of the
    suite.
    """
    info = readers[reading.reader]
    if reading.outcome is ReadingOutcome.UNAVAILABLE:
        return []
    if reading.outcome is not ReadingOutcome.TABLE:
        rows = many(expected.num_rows, "row")
        return [
            ReadingDifference(reading.reader, DifferenceKind.NO_TABLE, rows, _ending(reading), rows=expected.num_rows)
        ]
    got = from_stream_bytes(reading.table)
    if info.schemaless_when_empty and not got.num_rows and not expected.num_rows:
        return []
    if info.through_pandas:
        expected, got = _as_text_where_types_differ(from_pandas(expected.to_pandas()), got)
    else:
        expected, got = as_read_with(info.losses, expected), undone(got, info)
    return [*_of_columns(reading.reader, expected, got), *_of_rows(reading.reader, expected, got)]


def _ending(reading: Reading) -> str:
    return f"{reading.outcome} ({': '.join(part for part in (reading.error_class, reading.error_text) if part)})"


def undone(table: pa.Table, info: ReaderInfo) -> pa.Table:
    """The table with the reader's documented changes of type undone; a column that cannot be cast back stays
    unchanged.
    """
    back = {rewrite.after: rewrite.before for rewrite in info.rewrites}
    if not back:
        return table
    columns = []
    for column in table.columns:
        kind = _undone_type(column.type, back)
        try:
            columns.append(column if kind == column.type else column.cast(kind))
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            columns.append(column)
    return pa.Table.from_arrays(columns, names=table.column_names)


def _undone_type(kind: pa.DataType, back: Mapping[str, str]) -> pa.DataType:
    if pa.types.is_struct(kind):
        fields = [kind.field(index) for index in range(kind.num_fields)]
        return pa.struct([field.with_type(_undone_type(field.type, back)) for field in fields])
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        item = kind.value_field.with_type(_undone_type(kind.value_type, back))
        large = pa.types.is_large_list(kind) and back.get("large_list") != "list"
        return pa.large_list(item) if large else pa.list_(item)
    before = back.get(str(kind))
    return kind if before is None else pa.type_for_alias(before)


def _as_text_where_types_differ(expected: pa.Table, got: pa.Table) -> tuple[pa.Table, pa.Table]:
    """Two tables from pandas, with columns as text if the types inferred from their values differ.

    After pandas, types follow from the values (integers with a NULL are floating) and are not the target's types.
    """
    theirs, ours, differ = got.columns, expected.columns, False
    for index, field in enumerate(got.schema):
        place = expected.schema.get_field_index(field.name)
        if place >= 0 and not comparable(ours[place].type, field.type):
            ours[place], theirs[index], differ = _texts(ours[place]), _texts(theirs[index]), True
    if not differ:
        return expected, got
    return (
        pa.Table.from_arrays(ours, names=expected.column_names),
        pa.Table.from_arrays(theirs, names=got.column_names),
    )


def _texts(column: pa.ChunkedArray) -> pa.Array:
    numbers = pa.types.is_integer(column.type) or pa.types.is_floating(column.type)
    values = [float(value) if numbers and value is not None else value for value in column.to_pylist()]
    return pa.array([None if value is None else repr(value) for value in values], pa.string())


def _of_columns(reader: str, expected: pa.Table, got: pa.Table) -> Iterator[ReadingDifference]:
    if expected.column_names != got.column_names:
        required, observed = ", ".join(expected.column_names), ", ".join(got.column_names) or "none"
        yield ReadingDifference(reader, DifferenceKind.COLUMNS, f"columns {required}", observed)
    for field in expected.schema:
        index = got.schema.get_field_index(field.name)
        if index >= 0 and not comparable(field.type, got.schema.field(index).type):
            found = str(got.schema.field(index).type)
            yield ReadingDifference(reader, DifferenceKind.TYPE, str(field.type), found, field.name)


def _of_rows(reader: str, expected: pa.Table, got: pa.Table) -> Iterator[ReadingDifference]:
    match = _match(expected, got)
    rows, came = many(expected.num_rows, "row"), many(got.num_rows, "row")
    if match.missing:
        observed = f"{came}, without {_some(expected, match.missing)}"
        yield ReadingDifference(reader, DifferenceKind.LOST, rows, observed, rows=len(match.missing))
    if match.repeated:
        observed = f"{came}, once more {_some(got, match.repeated)}"
        yield ReadingDifference(reader, DifferenceKind.REPEATED, rows, observed, rows=len(match.repeated))
    if match.foreign:
        observed = f"{came}, with {_some(got, match.foreign)}"
        yield ReadingDifference(reader, DifferenceKind.FOREIGN, rows, observed, rows=len(match.foreign))
    if match.changed:
        row, other = match.changed[0]
        required, observed = show_row(expected, row), show_row(got, other)
        yield ReadingDifference(reader, DifferenceKind.CHANGED, required, observed, rows=len(match.changed))


def _match(expected: pa.Table, got: pa.Table) -> RowMatch:
    """The match of the rows, with a shortcut for rows in order; rows without columns cannot be counted."""
    if not expected.num_columns or (expected.column_names == got.column_names and identical(expected, got)):
        return RowMatch((), (), (), ())
    return match_rows(expected, got)


def _some(table: pa.Table, rows: Sequence[int]) -> str:
    more = f" and {len(rows) - 1} more" if len(rows) > 1 else ""
    return f"{show_row(table, rows[0])}{more}"


def reported(
    readings: Iterable[Reading], held: Mapping[str, pa.Table], *, readers: Mapping[str, ReaderInfo] = KNOWN
) -> list[Reading]:
    """The readings of one exchange with their differences, and with the group of readers that agree (the camp).

    ``held`` has the rows that each full stream contains, by label
    (:func:`conformance.readers.plugin.held_tables`); a reading whose label is not in it stays unchanged.
    """
    readings = list(readings)
    clean: set[Hashable] = set()
    compared = [_compared(reading, held, readers, clean) for reading in readings]
    # Readings that all have the rows that the bytes contain agree with each other.
    agreed = all(_is_clean(one, held) for one in compared if one.outcome is not ReadingOutcome.UNAVAILABLE)
    camps = {
        (found.label, reader): camp.readers[0]
        for found in (() if agreed else disagreements(readings, readers=readers))
        for camp in found.camps
        for reader in camp.readers
    }
    return [
        one
        if one.label not in held or one.outcome is ReadingOutcome.UNAVAILABLE
        else dataclasses.replace(one, camp=camps.get((one.label, one.reader), "all"))
        for one in compared
    ]


def _compared(
    reading: Reading, held: Mapping[str, pa.Table], readers: Mapping[str, ReaderInfo], clean: set[Hashable]
) -> Reading:
    """The reading with its differences, if it is a table and the rows that the bytes contain are known.

    ``clean`` collects tables without a difference: many readers return the same bytes, and share them as one object.
    """
    if reading.label not in held or reading.outcome is not ReadingOutcome.TABLE:
        return reading
    info = readers[reading.reader]
    same = (
        reading.label,
        id(reading.table),
        info.rewrites,
        info.losses,
        info.through_pandas,
        info.schemaless_when_empty,
    )
    if same in clean:
        return reading
    found = tuple(str(one) for one in differences(reading, held[reading.label], readers=readers))
    if not found:
        clean.add(same)
    return dataclasses.replace(reading, differences=found) if found else reading


def _is_clean(reading: Reading, held: Mapping[str, pa.Table]) -> bool:
    """True if a compared reading is known to equal the rows that the bytes contain, after pandas if it uses pandas."""
    return reading.label in held and reading.outcome is ReadingOutcome.TABLE and not reading.differences


# --- readers against readers -----------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Camp:
    """Readers that have the same result for a read of a full stream, and a description of the result."""

    readers: tuple[str, ...]
    made: str


@dataclass(frozen=True, slots=True)
class Disagreement:
    """A read of a full stream (by its session's label) with different results; the largest camp is first."""

    label: str
    camps: tuple[Camp, ...]

    def __str__(self) -> str:
        """The disagreement as one sentence."""
        return f"session {self.label}: " + "; ".join(f"{', '.join(camp.readers)} → {camp.made}" for camp in self.camps)


def disagreements(readings: Iterable[Reading], *, readers: Mapping[str, ReaderInfo] = KNOWN) -> list[Disagreement]:
    """Every read of a full stream on which readers disagree, in the order of the readings.

    Unavailable readings belong to no camp. All errors form one camp, because each library has its own texts and
    classes.
    """
    by_label: dict[str, list[Reading]] = {}
    for reading in readings:
        if reading.outcome is not ReadingOutcome.UNAVAILABLE:
            by_label.setdefault(reading.label, []).append(reading)
    found = [Disagreement(label, tuple(_camps(group, readers))) for label, group in by_label.items()]
    return [one for one in found if len(one.camps) > 1]


def _camps(readings: Sequence[Reading], readers: Mapping[str, ReaderInfo]) -> list[Camp]:
    camps: list[tuple[list[str], str]] = []
    tables: list[tuple[list[str], pa.Table]] = []
    # Readers that go through pandas lose types, and some clients lose values. They come last, so that they join a camp
    # and never found one that others join.
    ordered = sorted(readings, key=lambda reading: _loses(readers[reading.reader]))
    for reading in ordered:
        info = readers[reading.reader]
        if reading.outcome is not ReadingOutcome.TABLE:
            _join(camps, reading)
            continue
        table = undone(from_stream_bytes(reading.table), info)
        members = next((members for members, other in tables if _same(other, table, info)), None)
        if members is None:
            tables.append(([reading.reader], table))
        else:
            members.append(reading.reader)
    tables.sort(key=lambda camp: -len(camp[0]))
    described = [Camp(tuple(members), _describe(table, tables[0][1])) for members, table in tables]
    return sorted([*described, *(Camp(tuple(members), made) for members, made in camps)], key=lambda c: -len(c.readers))


def _loses(info: ReaderInfo) -> int:
    """How much a reader is documented to lose."""
    return 2 if info.through_pandas else len(info.losses) > 0


def _join(camps: list[tuple[list[str], str]], reading: Reading) -> None:
    for members, made in camps:
        if made.startswith(f"{reading.outcome} "):
            members.append(reading.reader)
            return
    camps.append(([reading.reader], _ending(reading)))


def _same(one: pa.Table, other: pa.Table, info: ReaderInfo) -> bool:
    """True if two tables have the same rows under the same columns; ``other`` comes from the reader ``info``."""
    if not one.num_rows and not other.num_rows and (info.schemaless_when_empty or not one.num_columns):
        return True
    if info.through_pandas:
        one, other = _as_text_where_types_differ(from_pandas(one.to_pandas()), other)
    one = as_read_with(info.losses, one)
    return not [*_of_columns("", one, other)] and _match(one, other).exact


def _describe(table: pa.Table, largest: pa.Table) -> str:
    made = f"{table.num_rows} rows"
    if table is largest or table.num_rows != largest.num_rows:
        return made
    match = _match(largest, table)
    row = match.changed[0][1] if match.changed else next(iter((*match.foreign, *match.repeated)), None)
    return made if row is None else f"{made}, among them {show_row(table, row)}"
