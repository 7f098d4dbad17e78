"""The comparison of received values with those of the case, made once for all the clauses that use it.

A comparison takes a serializer's batches, in order, or a session all of whose streams were read, in any order. The
rows of a session are matched first (:mod:`.matching`); the chapter on rows reports lost, repeated and foreign rows.
Columns are found by name. A column whose bits are of another kind cannot be compared; the chapter on types reports
it. The module is a little long because one comparison answers for rows, values, lists and their bytes.
"""

from __future__ import annotations

import dataclasses
import enum
import functools
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Final

import numpy as np
import pyarrow as pa

from conformance._pandas import to_numpy
from conformance.contain.text import many
from conformance.contract.clause import Violation
from conformance.contract.comparing import texts
from conformance.contract.comparing.bitwise import bit_for_bit
from conformance.contract.comparing.cellbits import kind, one_array, string
from conformance.contract.comparing.cellplaces import CellBytes, cell_in
from conformance.contract.comparing.declarations import declared
from conformance.contract.comparing.differences import (
    Same,
    ValueDifference,
    ValueDifferenceKind,
    differences,
    identical,
    pair_rows,
)
from conformance.contract.comparing.matching import fingerprints
from conformance.contract.view import BatchBytes, View, once_per_view
from conformance.records import BqType, Column, Mode
from conformance.wire import schema_to_arrow

__all__ = [
    "IN_ROW",
    "Compared",
    "Counts",
    "PathRole",
    "Serialized",
    "TablePath",
    "Values",
    "compared",
    "serialized",
    "violation",
]


class PathRole(enum.StrEnum):
    """The role of a path of a table."""

    LIST = "list"
    """The list of a REPEATED column."""
    VALUE = "value"
    """A value of the type, or an item of a list."""
    BOUND = "bound"
    """The start or end of a RANGE."""


@dataclasses.dataclass(frozen=True, slots=True)
class TablePath:
    """The role of a path of a table, and the column that it belongs to."""

    role: PathRole
    column: Column


def _all_places(columns: Sequence[Column]) -> Mapping[str, TablePath]:
    return MappingProxyType(dict(places(columns)))


def _all_shown(columns: Sequence[Column]) -> ShownValues:
    """Return what a serializer's rows show if every column of the table can be compared."""
    everywhere = _all_places(columns).values()
    types = frozenset(place.column.type for place in everywhere)
    return ShownValues(types, has_lists=any(place.role is PathRole.LIST for place in everywhere))


def places(columns: Sequence[Column], path: str = "") -> Iterator[tuple[str, TablePath]]:
    """Yield every path of a table with ``columns``, as :class:`~.differences.ValueDifference` writes them."""
    for column in columns:
        here = f"{path}.{column.name}" if path else column.name
        if column.mode is Mode.REPEATED:
            yield here, TablePath(PathRole.LIST, column)
            here = f"{here}.item"
        yield here, TablePath(PathRole.VALUE, column)
        if column.type is BqType.RANGE:
            yield f"{here}.start", TablePath(PathRole.BOUND, column)
            yield f"{here}.end", TablePath(PathRole.BOUND, column)
        yield from places(column.fields, here)


class Compared:
    """Two tables compared row by row: the rows of the case and the received rows, under columns of the same names."""

    response: int | None = None

    def __init__(
        self,
        call: int,
        columns: Sequence[Column],
        tables: tuple[pa.Table, pa.Table],
        batches: Callable[[], Sequence[BatchBytes]],
        *,
        ordered: bool,
        exact: bool,
    ) -> None:
        self.call = call
        self.columns = columns
        self._batches = batches
        self.exact = exact
        self._ordered = ordered
        self.expected, self.got, self._hidden = _aligned(*tables)
        self.clean = identical(self.expected, self.got)

    @functools.cached_property
    def places(self) -> Mapping[str, TablePath]:
        """The paths of the table."""
        return _all_places(self.columns)

    @functools.cached_property
    def misplaced(self) -> Mapping[str, str]:
        """Columns that hold the values of another: the name of the received column, and the name of the column of
        these values.
        """
        if self.clean or self.expected.num_rows <= 1:
            return {}
        wanted = {name: _bag(self.expected, name) for name in self.expected.schema.names}
        got = {
            name: bag if identical(self.expected.column(name), self.got.column(name)) else _bag(self.got, name)
            for name, bag in wanted.items()
        }
        owners: dict[bytes, str] = {}
        for name, bag in wanted.items():
            owners.setdefault(bag, name)
        wrong = ((name, bag, owners.get(bag)) for name, bag in got.items() if bag != wanted[name])
        return {name: owner for name, bag, owner in wrong if owner is not None and got[owner] != bag}

    @functools.cached_property
    def differences(self) -> Sequence[ValueDifference]:
        """The differences, under the correct names; rows are those of the case's table."""
        if self.clean:
            return ()
        expected, got = self.expected, self._in_place()
        return differences(
            expected,
            got,
            pairs=None if self._ordered else pair_rows(expected, got),
            open_nulls=self._open_nulls(),
            same=None if self.exact else self._same(),
        )

    @functools.cached_property
    def reordered(self) -> frozenset[str]:
        """Paths of lists (not inside of other lists) that differ and all hold the right items, in another order."""
        if not self._ordered:
            return frozenset()
        paths = (one.path.partition(".item") for one in self.differences if one.kind is not ValueDifferenceKind.TYPE)
        outer = {path for path, item, _ in paths if item}
        lists = [path for path, place in self.places.items() if place.role is PathRole.LIST and ".item" not in path]
        return frozenset(
            path
            for path in lists
            if path in outer and (sums := _sums(self.expected, path)) is not None and sums == _sums(self.got, path)
        )

    def cell(self, field: str, observed: str) -> CellBytes | None:
        """The cell of a message of Arrow that a violation made by :func:`violation` is about; None without such a cell.

        The rows of exchanged columns are not looked for: the name of the cell would be that of the other column.
        """
        found = next(
            (one for one in self.differences if (one.path, violation(one).observed) == (field, observed)), None
        )
        if found is None or self.misplaced:
            return None
        row = found.row if self._ordered else dict(pair_rows(self.expected, self.got))[found.row]
        return cell_in(self._batches(), found, row)

    def _in_place(self) -> pa.Table:
        """Return the received table, with exchanged columns under the names that their values belong to."""
        if not self.misplaced or set(self.misplaced) != set(self.misplaced.values()):
            return self.got
        renamed = self.got.rename_columns([self.misplaced.get(name, name) for name in self.got.schema.names])
        return renamed.select(self.expected.schema.names)

    def _open_nulls(self) -> list[str]:
        """Return the bounds of REQUIRED ranges: for an unbounded one the service sends a default value and not NULL."""
        found = self.places.items()
        return [path for path, place in found if place.role is PathRole.BOUND and place.column.mode is Mode.REQUIRED]

    def _same(self) -> Same:
        def same(path: str, expected: pa.Array, index: int, actual: pa.Array, other: int) -> bool:
            place = self.places.get(path)
            normal = texts.NORMAL.get(place.column.type) if place is not None else None
            return normal is not None and normal(string(expected[index])) == normal(string(actual[other]))

        return same

    @functools.cached_property
    def types(self) -> frozenset[BqType]:
        """The BigQuery types with at least one column that could be compared."""
        return frozenset(place.column.type for place in self._seen().values())

    @functools.cached_property
    def has_lists(self) -> bool:
        """True if at least one list could be compared."""
        return any(place.role is PathRole.LIST for place in self._seen().values())

    @functools.cached_property
    def shown(self) -> ShownValues:
        """The contents of this comparison."""
        if self.exact and self.clean and not self._hidden:
            return _all_shown(self.columns)
        return ShownValues(self.types, has_lists=self.has_lists, from_server=not self.exact)

    def _seen(self) -> Mapping[str, TablePath]:
        hidden = {*self._hidden, *(one.path for one in self.differences if one.kind is ValueDifferenceKind.TYPE)}
        if not hidden:
            return self.places
        return {path: place for path, place in self.places.items() if hidden.isdisjoint(_upwards(path))}


def _upwards(path: str) -> Iterator[str]:
    """Yield a path, and every path above it."""
    yield path
    while (dot := path.rfind(".")) >= 0:
        path = path[:dot]
        yield path


def _aligned(expected: pa.Table, got: pa.Table) -> tuple[pa.Table, pa.Table, list[str]]:
    """Return the columns that can be compared, in both tables under the expected names, and the names of the others.

    A name may differ in case, which the chapter on the schema reports; of several columns of one name the first
    counts.
    """
    if expected.schema.equals(got.schema) and len(set(expected.schema.names)) == expected.num_columns:
        return expected, got, []
    places = {name.casefold(): index for index, name in reversed(list(enumerate(got.schema.names)))}
    places |= {name: index for index, name in reversed(list(enumerate(got.schema.names)))}
    found: dict[str, int] = {}
    for field in expected.schema:
        index = places.get(field.name, places.get(field.name.casefold()))
        if index is not None and kind(got.schema.field(index).type) == kind(field.type):
            found[field.name] = index
    chosen = got.select(list(found.values())).rename_columns(list(found))
    return expected.select(list(found)), chosen, [name for name in expected.schema.names if name not in found]


def _bag(table: pa.Table, name: str) -> bytes:
    """Return bytes that are equal for columns with the same values in any order and the same kind of bits."""
    column = table.column(name)
    try:
        hashes = fingerprints(one_array(column))
    except (TypeError, ValueError, AttributeError, pa.ArrowException):  # a type that BigQuery lacks
        return name.encode()
    return f"{kind(column.type)}:".encode() + np.sort(hashes).tobytes()


def _sums(table: pa.Table, path: str) -> bytes | None:
    """Return a number per list at a path that depends on its items and not on their order; None if no list is there."""
    name, *steps = path.split(".")
    chunks = table.column(name).chunks if table.schema.get_field_index(name) >= 0 else []
    array = pa.concat_arrays(chunks) if chunks else pa.array([], pa.null())
    for step in steps:
        if not pa.types.is_struct(array.type) or array.type.get_field_index(step) < 0:
            return None
        array = array.field(step)
    if not pa.types.is_list(array.type):
        return None
    ends = to_numpy(array.offsets)
    sums = np.concatenate([np.zeros(1, np.uint64), np.cumsum(fingerprints(array.values))])
    totals: bytes = (sums[ends[1:]] - sums[ends[:-1]]).tobytes() + np.diff(ends).tobytes()
    return totals


@dataclasses.dataclass(frozen=True, slots=True)
class Serialized:
    """The output of a serializer for a table, if all batches could be decoded."""

    call: int
    response: int | None
    expected: pa.Table
    got: pa.Table


@once_per_view
def serialized(view: View) -> list[Serialized]:
    """Return the batches of a serializer as one table; a batch that is bit-identical to the case's table is not
    decoded.
    """
    if bit_for_bit(view) and _of_its_schema(view):
        view.serialized[0].settle(view.table.to_batches()[0])
        return [Serialized(view.serialized[0].call, None, view.table, view.table)]
    batches = [batch.arrow() for batch in view.serialized]
    decoded = [batch for batch in batches if batch is not None]
    if not decoded or len(decoded) < len(batches):
        return []
    got = pa.Table.from_batches(decoded)
    return [Serialized(view.serialized[0].call, None, view.table, got)]


def _of_its_schema(view: View) -> bool:
    """True if a serializer's schema is that of the case's table, down to the names inside of lists."""
    schema = view.serialized[0].schema
    return schema is not None and bool(schema_to_arrow(schema).equals(view.table.schema))


@once_per_view
def compared(view: View) -> list[Compared]:
    """Return every comparison of rows that the exchange permits."""
    columns = view.case.table.columns
    found = [
        Compared(one.call, columns, (one.expected, one.got), lambda: view.serialized, ordered=True, exact=True)
        for one in serialized(view)
        if one.expected.num_rows == one.got.num_rows > 0
    ]
    return found + [
        Compared(read.call, read.columns, (read.expected, read.got), read.batches, ordered=False, exact=False)
        for read in view.read_tables()
        if read.got.num_rows > 0
    ]


@dataclasses.dataclass(frozen=True, slots=True)
class ShownValues:
    """The contents of comparisons: values of these types, lists, the texts of a server, a serializer's count of
    rows.
    """

    types: frozenset[BqType]
    has_lists: bool = False
    from_server: bool = False
    counted: bool = False


class ValueAspect:
    """The aspect of the values of an exchange; clean if every value is correct and in its place."""

    def state(self, view: View) -> ShownValues | None:
        """Return the types whose values the exchange shows if all values are correct, else None."""
        return view.once(ValueAspect, lambda: self._state(view))

    def _state(self, view: View) -> ShownValues | None:
        if bit_for_bit(view):
            (one,) = declared(view)
            return ShownValues(one.pairing.types, has_lists=one.pairing.has_lists, counted=True)
        if any(one.expected.num_rows != one.got.num_rows for one in serialized(view)):
            return None
        found = compared(view)
        if not all(one.clean and one.exact for one in found):  # the clauses on a server's texts always run
            return None
        counted = bool(serialized(view))
        if len(found) == 1:
            return dataclasses.replace(found[0].shown, counted=counted)
        types = frozenset().union(*(one.types for one in found))
        return ShownValues(types, has_lists=any(one.has_lists for one in found), counted=counted)


class Values:
    """A selector of comparisons with certain contents: values of a type, lists, anything."""

    aspect = ValueAspect()

    def __init__(self, shows: Callable[[ShownValues], bool]) -> None:
        self._shows = shows

    def __call__(self, view: View) -> Sequence[Compared]:
        """Return the comparisons with these contents."""
        return [one for one in compared(view) if self._shows(one.shown)]

    def shown_by(self, state: ShownValues) -> bool:
        """True if an exchange with this state has such a comparison."""
        return bool(state.types) and self._shows(state)


class Counts:
    """A selector of the outputs of serializers."""

    aspect = Values.aspect

    def __call__(self, view: View) -> Sequence[Serialized]:
        """Return the outputs of serializers in the exchange; none if the target is a server."""
        return serialized(view)

    def shown_by(self, state: ShownValues) -> bool:
        """True if an exchange with this state has the output of a serializer."""
        return state.counted


IN_ROW: Final = re.compile(r" in row \d+(?:, item \d+)?(?: \(\d+ places differ\))?$")
"""Where a value differs: the end of what :func:`violation` observes, which varies between failures of one class."""


def violation(one: ValueDifference) -> Violation:
    """Return a difference as the violation that a clause reports."""
    item = "" if one.item is None else f", item {one.item}"
    more = "" if one.count == 1 else f" ({many(one.count, 'place')} differ)"
    return Violation(one.wanted, f"{one.got} in row {one.row}{item}{more}", one.path)
