"""The values themselves: what was written through one API is what the other serves, type by type.

A difference may come from the half of a server that reads. The suite judges that half apart, as a server of Storage
Read; here, the two halves contradict each other.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

import pyarrow as pa

from conformance.contract.clause import Violation, clause
from conformance.contract.comparing.differences import ValueDifference, ValueDifferenceKind
from conformance.contract.comparing.received import Compared, PathRole, TablePath, violation
from conformance.contract.sources import GO_WRITE_TEST, PYTHON_WRITE_SAMPLE, WRITE_GUIDE, Inferred, Sources
from conformance.contract.view import once_per_view
from conformance.protocols.storage_write.contract import WRITE
from conformance.protocols.storage_write.contract.subjects import ReadBack
from conformance.protocols.storage_write.contract.view import WriteView
from conformance.records import ROW_ID, BqType, Level

_SOURCE: Final = (PYTHON_WRITE_SAMPLE, Inferred(WRITE_GUIDE))
_ONLY_DOCUMENTED: Final[Sources] = WRITE_GUIDE


@once_per_view
def _compared(view: WriteView) -> list[Compared]:
    """The rows that came and were written with the columns of the table in their order."""
    return list(_beside(view, moved=False))


@once_per_view
def _moved(view: WriteView) -> list[Compared]:
    """The rows that came and were written with columns left out, or in another order."""
    return list(_beside(view, moved=True))


def _beside(view: WriteView, *, moved: bool) -> Iterator[Compared]:
    """Each row that came beside the row of the case that it is, in the columns with which it was written.

    The rows are taken out of their messages, so that a value has no bytes to show.
    """
    columns = view.case.table.columns
    for read in view.reads:
        for tables in _tables(view.table, read, moved=moved):
            yield Compared(read.call, columns, tables, tuple, ordered=True, exact=False)


def _tables(table: pa.Table, read: ReadBack, *, moved: bool) -> Iterator[tuple[pa.Table, pa.Table]]:
    """The expected and the received rows, for each set of columns that rows were written without."""
    if not read.rows.num_columns:
        return
    came: dict[frozenset[str], list[tuple[int, int]]] = {}
    for at, row in enumerate(read.rows.column(ROW_ID).to_pylist()):
        if row in read.omitted and (row in read.moved) is moved:
            came.setdefault(read.omitted[row], []).append((row, at))
    for omitted, pairs in came.items():
        names = [name for name in table.schema.names if name not in omitted]
        # A name that the server gives to two columns says which column was written in neither.
        counts = Counter(read.rows.schema.names)
        shown = [name for name in read.rows.schema.names if name not in omitted and counts[name] == 1]
        expected = _taken(table.select(names), [row for row, _ in pairs])
        yield expected, _taken(read.rows.select(shown), [at for _, at in pairs])


def _taken(rows: pa.Table, places: Sequence[int]) -> pa.Table:
    """The rows at these places; slices, because pyarrow cannot gather every type that a server may send."""
    return pa.concat_tables([rows.slice(place, 1) for place in places]).combine_chunks()


def _of(kind: BqType, view: WriteView) -> Sequence[Compared]:
    return [one for one in _compared(view) if kind in one.types]


def _same(name: str, kind: BqType, says: str, *, source: Sources = _SOURCE, level: Level = Level.MUST) -> None:
    """Register the clause on the values of one type."""
    register = clause(
        f"storage-write-values.{name}",
        over=lambda view: _of(kind, view),
        source=source,
        level=level,
        breaks="every client: other values without an error",
        profiles=WRITE,
        says=says,
    )
    register(lambda one: _different(one, kind))


def _different(one: Compared, kind: BqType) -> Iterator[Violation]:
    for found in one.differences:
        place = one.places.get(found.path)
        if (
            place is not None
            and place.column.type is kind
            and place.role is not PathRole.LIST
            and _is_value(found, place)
        ):
            yield violation(found)


def _is_value(found: ValueDifference, place: TablePath) -> bool:
    """True if a difference is one of values, not of nulls or lists: a missing bound is a value."""
    if found.kind is ValueDifferenceKind.NULL:
        return place.role is PathRole.BOUND
    return found.kind is ValueDifferenceKind.VALUE


# A table, one row per clause: id, type, explanation.
# fmt: off
_same("int64", BqType.INT64, "INT64 that was written as int64 is read with the same value.")
_same("float64", BqType.FLOAT64, "FLOAT64 that was written as float64 is read with the same value.")
_same("bool", BqType.BOOL, "BOOL that was written as bool is read with the same value.")
_same("string", BqType.STRING, "STRING that was written as utf8 is read with the same text.")
_same("bytes", BqType.BYTES, "BYTES that was written as binary is read with the same bytes.")
_same("date", BqType.DATE, "DATE that was written as date32 is read as the same day.")
_same("time", BqType.TIME, "TIME that was written as time64[us] is read as the same time.")
_same("datetime", BqType.DATETIME, "DATETIME that was written as timestamp[us] is read as the same date and time.")
_same("timestamp", BqType.TIMESTAMP,
  "TIMESTAMP that was written as timestamp[us], with the zone UTC or without a zone, is read as the same instant.")
_same("numeric", BqType.NUMERIC, "NUMERIC that was written as decimal128(38, 9) is read with the same digits.")
_same("bignumeric", BqType.BIGNUMERIC,
  "BIGNUMERIC that was written as decimal256(76, 38) is read with the same digits.")
_same("geography", BqType.GEOGRAPHY, "GEOGRAPHY that was written as WKT is read as the same shape.")
_same("range", BqType.RANGE, "RANGE that was written as a struct of start and end is read with the same bounds.")
_same("json", BqType.JSON, "JSON that was written as utf8 is read as the same document.",
  source=_ONLY_DOCUMENTED, level=Level.SHOULD)
_same("interval", BqType.INTERVAL, "INTERVAL that was written as month_day_nano is read with the same three parts.",
  source=_ONLY_DOCUMENTED, level=Level.SHOULD)
# fmt: on


@clause(
    "storage-write-values.nulls",
    over=_compared,
    source=_SOURCE,
    breaks="every client: values in place of NULL, or the reverse",
    profiles=WRITE,
)
def nulls(one: Compared) -> Iterator[Violation]:
    """NULL in a column that the rows have is read as NULL, and no other value is."""
    for found in one.differences:
        place = one.places.get(found.path)
        if place is not None and found.kind is ValueDifferenceKind.NULL and place.role is PathRole.VALUE:
            yield violation(found)


@clause(
    "storage-write-values.lists",
    over=lambda view: [one for one in _compared(view) if one.has_lists],
    source=WRITE_GUIDE,
    level=Level.SHOULD,
    breaks="every client: items are lost, or come into the lists of other rows",
    profiles=WRITE,
)
def lists(one: Compared) -> Iterator[Violation]:
    """The value of a REPEATED column is read with as many items as it was written with; an empty one is empty."""
    for found in one.differences:
        place = one.places.get(found.path)
        if place is not None and place.role is PathRole.LIST and found.kind is not ValueDifferenceKind.TYPE:
            yield violation(found)


@clause(
    "storage-write-values.columns",
    over=_compared,
    source=_SOURCE,
    breaks="every client: values are in other columns than those they were written to",
    profiles=WRITE,
)
def columns(one: Compared) -> Iterator[Violation]:
    """A value is read from the column of the name under which it was written."""
    for name, owner in one.misplaced.items():
        yield Violation(f"the values of {name}", f"the values of {owner}", field=name)


@clause(
    "storage-write-values.columns-by-name",
    over=_moved,
    source=Inferred(GO_WRITE_TEST),
    level=Level.SHOULD,
    breaks="every client: values are in other columns than those they were written to",
    profiles=WRITE,
)
def columns_by_name(one: Compared) -> Iterator[Violation]:
    """Rows that were written without a column, or with the columns in another order than the table's, are read with the
    same values under the same names.

    It was recorded of rows in protobuf; of rows in Arrow it is inferred.
    """
    if one.misplaced:
        yield from columns(one)
        return
    for found in one.differences:
        if found.kind in (ValueDifferenceKind.VALUE, ValueDifferenceKind.NULL):
            yield violation(found)
