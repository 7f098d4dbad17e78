"""Comparing values exactly: the differences, their places, and the pairing of rows that come in no order.

Values are equal if their bits are (:mod:`.cells`). Invisible data is not compared: slots under a NULL parent, bytes
under a NULL, the place of a list's items. Names, nullability and metadata of fields are left to the clauses on the
schema. One vectorised comparison recognises equal data; only unequal data is walked.

The module is a little long because one walk goes through every nested type.
"""

from __future__ import annotations

import dataclasses
import enum
import functools
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from conformance.contain.text import many
from conformance.contract.comparing import cellbits
from conformance.contract.comparing.matching import fingerprints, match_rows

__all__ = [
    "ITEM",
    "Floats",
    "ValueDifference",
    "ValueDifferenceKind",
    "difference",
    "differences",
    "floats_of",
    "identical",
    "pair_rows",
]

Columnar: TypeAlias = pa.Array | pa.ChunkedArray | pa.RecordBatch | pa.Table
Places: TypeAlias = npt.NDArray[np.int64]
Same: TypeAlias = Callable[[str, pa.Array, int, pa.Array, int], bool]
"""A function that decides whether two values with different bits are equal: (path, expected, its index, actual, its
index).
"""

ITEM: Final = "item"


class ValueDifferenceKind(enum.StrEnum):
    """The kind of difference at one place."""

    TYPE = "type"
    """The bits cannot be compared: another kind of value, or other fields."""
    ROWS = "rows"
    """More or fewer rows."""
    NULL = "null"
    """NULL instead of a value, or the reverse."""
    ITEMS = "items"
    """More or fewer items in a list."""
    VALUE = "value"
    """Another value."""


@dataclasses.dataclass(frozen=True, slots=True)
class ValueDifference:
    """The first difference of one kind at one path, and the number of such differences.

    ``row`` counts from 0 in the expected data; ``item`` is the place inside the innermost list, if there is one.
    ``path`` is the field names joined by dots, with ``item`` for a list's items; ``wanted`` and ``got`` are texts
    for people.
    """

    kind: ValueDifferenceKind
    path: str
    row: int
    wanted: str
    got: str
    count: int = 1
    item: int | None = None

    def __str__(self) -> str:
        item = "" if self.item is None else f", item {self.item}"
        more = "" if self.count == 1 else f" ({many(self.count, 'place')} differ)"
        return f"row {self.row}{item}, {self.path or 'value'}: expected {self.wanted}, got {self.got}{more}"


def difference(expected: Columnar, actual: Columnar) -> ValueDifference | None:
    """Return the first difference between two columnar objects of the same shape, by row; None if they are equal."""
    found = differences(expected, actual)
    return min(found, key=lambda one: one.row) if found else None


def differences(
    expected: Columnar,
    actual: Columnar,
    *,
    pairs: Sequence[tuple[int, int]] | None = None,
    open_nulls: Collection[str] = (),
    same: Same | None = None,
) -> list[ValueDifference]:
    """Return every path and kind at which ``actual`` differs from ``expected``, each with its first place and its
    count.

    Columns are compared by position under the names of ``expected``; rows by position, or as ``pairs`` of indices.
    Rows are not gathered, because a target may send a type that pyarrow cannot gather.
    ``open_nulls`` are paths at which any value is permitted if NULL is expected; ``same`` decides about values whose
    bits differ.
    """
    if pairs is None and identical(expected, actual):
        return []
    if isinstance(expected, pa.Table | pa.RecordBatch):
        if expected.num_columns != actual.num_columns:
            shape = (many(expected.num_columns, "column"), many(actual.num_columns, "column"))
            return [ValueDifference(ValueDifferenceKind.TYPE, "", 0, *shape)]
        if pairs is None and expected.num_columns == 0 and expected.num_rows != actual.num_rows:
            return [_row_count("", expected.num_rows, actual.num_rows)]
    walk = _Walk(frozenset(open_nulls), same)
    if pairs is not None:
        places, others = np.array(pairs, np.int64).reshape(-1, 2).T
        for name, left, right in _columns(expected, actual):
            walk.compare(_Side(left, places), _Side(right, others), _Where(name, places))
        return walk.found
    for name, left, right in _columns(expected, actual):
        if len(left) != len(right):
            walk.found.append(_row_count(name, len(left), len(right)))
            continue
        if not cellbits.has_float(left.type) and left.equals(right):
            continue  # the way to a difference costs many times as much
        places = np.arange(len(left), dtype=np.int64)
        walk.compare(_Side(left, places), _Side(right, places), _Where(name, places))
    return walk.found


def _row_count(path: str, wanted: int, got: int) -> ValueDifference:
    return ValueDifference(
        ValueDifferenceKind.ROWS,
        path,
        min(wanted, got),
        many(wanted, "row"),
        many(got, "row"),
        abs(wanted - got),
    )


def _columns(expected: Columnar, actual: Columnar) -> Iterator[tuple[str, pa.Array, pa.Array]]:
    if isinstance(expected, pa.Table | pa.RecordBatch):
        for index, name in enumerate(expected.schema.names):
            yield name, cellbits.one_array(expected.column(index)), cellbits.one_array(actual.column(index))
    else:
        yield "", cellbits.one_array(expected), cellbits.one_array(actual)


# --- the fast way: equality of whole columns ---------------------------------------------------------


Floats: TypeAlias = Mapping[int, pa.DataType | None]
"""The columns of a schema that hold floating-point numbers at any depth, each with its type without them, if it has
one.
"""


def identical(expected: Columnar, actual: Columnar, floats: Floats | None = None) -> bool:
    """True if both hold the same values in the same order, by whole-column comparison; their types have to be equal.

    False means only that :func:`differences` has to look: equal values may have different layouts.
    ``floats`` are those of the table's schema, for callers that compare many tables of one schema.
    """
    if expected is actual:
        return True
    if type(expected) is not type(actual):
        expected, actual = _as_table(expected), _as_table(actual)
    if not isinstance(expected, pa.Table | pa.RecordBatch):
        return _identical(expected, actual)
    if expected.num_columns != actual.num_columns or expected.num_rows != actual.num_rows:
        return False
    floats = floats_of(expected.schema) if floats is None else floats
    if not floats:
        return bool(expected.equals(actual))
    return all(
        _identical_floats(left, actual.column(index), floats[index])
        if index in floats
        else left.equals(actual.column(index))
        for index, left in enumerate(expected.columns)
    )


@functools.lru_cache(maxsize=256)
def floats_of(schema: pa.Schema) -> Floats:
    """Return the columns of a schema that pyarrow's equality does not compare by bits."""
    return MappingProxyType(
        {index: cellbits.without_floats(one) for index, one in enumerate(schema.types) if cellbits.has_float(one)}
    )


def _as_table(data: Columnar) -> pa.Table:
    if isinstance(data, pa.Table):
        return data
    if isinstance(data, pa.RecordBatch):
        return pa.Table.from_batches([data])
    return pa.table([data], names=[""])


def _identical(expected: pa.Array | pa.ChunkedArray, actual: pa.Array | pa.ChunkedArray) -> bool:
    if not cellbits.has_float(expected.type):
        return bool(expected.equals(actual))
    return _identical_floats(expected, actual, cellbits.without_floats(expected.type))


def _identical_floats(
    expected: pa.Array | pa.ChunkedArray, actual: pa.Array | pa.ChunkedArray, words: pa.DataType | None
) -> bool:
    """True if arrays that hold floats are equal by bits; pyarrow's equality treats 0.0 as -0.0 and NaN as unequal to
    NaN.
    """
    if expected.type != actual.type or len(expected) != len(actual):
        return False
    if expected.type.num_fields == 0:
        return cellbits.same_floats(cellbits.one_array(expected), cellbits.one_array(actual))
    if words is not None:
        return bool(_viewed(expected, words).equals(_viewed(actual, words)))
    left, right = cellbits.one_array(expected), cellbits.one_array(actual)
    places = np.arange(len(left), dtype=np.int64)
    walk = _Walk(frozenset(), None)
    walk.compare(_Side(left, places), _Side(right, places), _Where("", places))
    return not walk.found


def _viewed(column: pa.Array | pa.ChunkedArray, arrow: pa.DataType) -> pa.Array | pa.ChunkedArray:
    if not isinstance(column, pa.ChunkedArray):
        return column.view(arrow)
    return pa.chunked_array([chunk.view(arrow) for chunk in column.chunks], arrow)


# --- the slow way: differences and their places ------------------------------------------------------


@dataclasses.dataclass(frozen=True, slots=True)
class _Side:
    """Slots of an array: ``places`` are the slots to compare, aligned with those of the other side."""

    array: pa.Array
    places: Places

    def at(self, chosen: npt.NDArray[np.bool_]) -> _Side:
        return _Side(self.array, self.places[chosen])

    def valid(self) -> npt.NDArray[np.bool_]:
        mask = cellbits.valid(self.array)
        return np.ones(len(self.places), np.bool_) if mask is None else mask[self.places]

    def bounds(self) -> tuple[Places, Places]:
        """Return the first item and the number of items of every list, as places in the child array
        ``array.values``.
        """
        offsets = _offsets(self.array)
        return offsets[self.places], offsets[self.places + 1] - offsets[self.places]


@dataclasses.dataclass(frozen=True, slots=True)
class _Where:
    """The path and, per place, its row and its item inside the innermost list."""

    path: str
    rows: Places
    items: Places | None = None

    def at(self, chosen: npt.NDArray[np.bool_]) -> _Where:
        return _Where(self.path, self.rows[chosen], None if self.items is None else self.items[chosen])

    def below(self, name: str) -> _Where:
        return _Where(f"{self.path}.{name}" if self.path else name, self.rows, self.items)


def _offsets(array: pa.Array) -> Places:
    width = np.dtype("<i8" if pa.types.is_large_list(array.type) else "<i4")
    data = array.buffers()[1]
    if data is None or len(array) == 0:
        return np.zeros(len(array) + 1, np.int64)
    return np.frombuffer(data, width, len(array) + 1, array.offset * width.itemsize).astype(np.int64)


class _Walk:
    """A comparison of two arrays from the outside in; it collects one difference per path and kind."""

    def __init__(self, open_nulls: frozenset[str], same: Same | None) -> None:
        self._open_nulls = open_nulls
        self._same = same
        self.found: list[ValueDifference] = []

    def compare(self, left: _Side, right: _Side, where: _Where) -> None:
        """Compare the places of both sides: NULLs first, then the values."""
        kind = cellbits.kind(left.array.type)
        if kind != cellbits.kind(right.array.type):
            if len(where.rows):
                self._add(ValueDifferenceKind.TYPE, where, str(left.array.type), str(right.array.type), np.arange(1))
            return
        wanted, got = left.valid(), right.valid()
        differ = wanted != got
        if where.path in self._open_nulls:
            differ &= wanted
        self._report(ValueDifferenceKind.NULL, left, right, where, differ)
        both = wanted & got
        if not both.all():
            left, right, where = left.at(both), right.at(both), where.at(both)
        if kind == "list":
            self._lists(left, right, where)
        elif kind == "struct":
            self._structs(left, right, where)
        else:
            self._leaves(left, right, where, kind)

    def _lists(self, left: _Side, right: _Side, where: _Where) -> None:
        starts, lengths = left.bounds()
        other_starts, other_lengths = right.bounds()
        differ = lengths != other_lengths
        if (first := np.flatnonzero(differ)).size:
            wanted, got = int(lengths[first[0]]), int(other_lengths[first[0]])
            self._add(ValueDifferenceKind.ITEMS, where, many(wanted, "item"), many(got, "item"), first)
        fine = ~differ
        starts, other_starts, lengths = starts[fine], other_starts[fine], lengths[fine]
        item = np.arange(int(lengths.sum()), dtype=np.int64) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        below = _Where(f"{where.path}.{ITEM}" if where.path else ITEM, np.repeat(where.rows[fine], lengths), item)
        self.compare(
            _Side(left.array.values, np.repeat(starts, lengths) + item),
            _Side(right.array.values, np.repeat(other_starts, lengths) + item),
            below,
        )

    def _structs(self, left: _Side, right: _Side, where: _Where) -> None:
        names = [left.array.type.field(index).name for index in range(left.array.type.num_fields)]
        others = [right.array.type.field(index).name for index in range(right.array.type.num_fields)]
        if sorted(names) != sorted(others) or len(set(names)) < len(names):
            if len(where.rows):
                self._add(ValueDifferenceKind.TYPE, where, f"fields {names}", f"fields {others}", np.arange(1))
            return
        for index, name in enumerate(names):
            other = right.array.field(others.index(name))
            self.compare(_Side(left.array.field(index), left.places), _Side(other, right.places), where.below(name))

    def _leaves(self, left: _Side, right: _Side, where: _Where, kind: str) -> None:
        if kind in ("text", "bytes"):
            import pyarrow.compute as pc  # noqa: PLC0415  # slow to import, and `check` does without

            wanted, got = (_texts(side) for side in (left, right))
            differ = pc.not_equal(wanted, got).to_numpy(zero_copy_only=False)
        elif kind == str(left.array.type):  # no fixed width: no BigQuery type has such a layout
            equal = cellbits.take(left.array, left.places).equals(cellbits.take(right.array, right.places))
            differ = np.full(len(left.places), not equal)
        else:
            words, others = cellbits.words(left.array)[left.places], cellbits.words(right.array)[right.places]
            words, others = cellbits.widened(words, others.shape[1]), cellbits.widened(others, words.shape[1])
            differ = (words != others).any(axis=1)
        if self._same is not None:
            for index in np.flatnonzero(differ).tolist():
                pair = left.array, int(left.places[index]), right.array, int(right.places[index])
                differ[index] = not self._same(where.path, *pair)
        self._report(ValueDifferenceKind.VALUE, left, right, where, differ)

    def _report(
        self, kind: ValueDifferenceKind, left: _Side, right: _Side, where: _Where, differ: npt.NDArray[np.bool_]
    ) -> None:
        places = np.flatnonzero(differ)
        if places.size:
            first = places[0]
            wanted, got = cellbits.texts(left.array, int(left.places[first]), right.array, int(right.places[first]))
            self._add(kind, where, wanted, got, places)

    def _add(self, kind: ValueDifferenceKind, where: _Where, wanted: str, got: str, places: Places) -> None:
        first = int(places[0])
        item = None if where.items is None else int(where.items[first])
        self.found.append(ValueDifference(kind, where.path, int(where.rows[first]), wanted, got, len(places), item))


def _texts(side: _Side) -> pa.Array:
    return cellbits.take(side.array, side.places).cast(pa.large_binary())


# --- rows in no order --------------------------------------------------------------------------------


def pair_rows(expected: pa.Table, actual: pa.Table, *, key: str | None = None) -> list[tuple[int, int]]:
    """Return the changed rows as pairs of indices: a missing expected row, and the received row that replaces it.

    Rows are paired by ``key``, else by the column that identifies most of them and is equal for most of them. The
    remaining rows are paired in order if their numbers are equal on both sides.
    """
    match = match_rows(expected, actual)
    lost, strange = _lost(match.changed, 0, match.missing), _lost(match.changed, 1, match.foreign)
    if not lost or not strange:
        return []
    # The index is below 0 for a name that occurs twice, too.
    once = [schema.get_field_index for schema in (expected.schema, actual.schema)]
    names = [key] if key is not None else [name for name in expected.schema.names if min(at(name) for at in once) >= 0]
    columns = ((cellbits.one_array(expected.column(name)), cellbits.one_array(actual.column(name))) for name in names)
    best = max((_pairs_by(one, lost, other, strange) for one, other in columns), key=len, default=[])
    pairs = [(lost[one], strange[other]) for one, other in best]
    paired, taken = {one for one, _ in best}, {other for _, other in best}
    rest = [lost[index] for index in range(len(lost)) if index not in paired]
    others = [strange[index] for index in range(len(strange)) if index not in taken]
    if len(rest) == len(others):
        pairs += zip(rest, others, strict=True)
    return sorted(pairs)


def _lost(changed: Iterable[tuple[int, int]], side: int, alone: Iterable[int]) -> list[int]:
    return sorted([*(pair[side] for pair in changed), *alone])


def _pairs_by(one: pa.Array, lost: Sequence[int], other: pa.Array, strange: Sequence[int]) -> list[tuple[int, int]]:
    """Pair the rows that have the same value in a column, if that value occurs once on either side."""
    if cellbits.kind(one.type) != cellbits.kind(other.type) or one.type != other.type:
        return []
    one, other = cellbits.take(one, lost), cellbits.take(other, strange)
    mine, index, number = np.unique(fingerprints(one), return_index=True, return_counts=True)
    theirs, place, copies = np.unique(fingerprints(other), return_index=True, return_counts=True)
    mine, index = mine[number == 1], index[number == 1]
    theirs, place = theirs[copies == 1], place[copies == 1]
    _, here, there = np.intersect1d(mine, theirs, assume_unique=True, return_indices=True)
    return list(zip(index[here].tolist(), place[there].tolist(), strict=True))
