"""Values from a recipe: vectorised, and the same on every machine.

Each slot of each column, at each level of nesting, gets 64 bits from its seed, the column's path and the slot's place
alone (SplitMix64 over a counter). Hence no order of evaluation matters, dropping a column leaves the others as they
were, and fewer rows are a prefix of more rows: what shrinking needs. Only integer arithmetic is used, so that no
version of numpy or pyarrow can change a value.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from conformance.contract.remembered import once_per_object
from conformance.generate import arrays
from conformance.generate.arrays import Bools
from conformance.generate.pools import pool, range_pool, sized_pool
from conformance.records import BqType, Column, Mode, NullPattern, Recipe, ValueProfile

__all__ = ["ROW_ID", "is_row_id", "synthesise"]

ROW_ID: Final = "row_id"
"""A top-level REQUIRED INT64 column of this name counts the rows from 0, so that rows can be told apart."""

Bits: TypeAlias = npt.NDArray[np.uint64]
Strike: TypeAlias = Callable[[Bits], Bools | None]

# SplitMix64 (https://prng.di.unimi.it/splitmix64.c): the increment, and the multipliers of its finaliser.
_GAMMA: Final = np.uint64(0x9E3779B97F4A7C15)
_M1, _M2 = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_S27, _S30, _S31 = np.uint64(27), np.uint64(30), np.uint64(31)
_S32, _S56 = np.uint64(32), np.uint64(56)

_GRID: Final = np.arange(1, 4097, dtype=np.uint64) * _GAMMA
"""The counter for the lengths that most columns have."""

_LOW: Final = np.uint64(0xFFFFFFFF)

_SOME: Final = np.uint64(64)
_MOST: Final = np.uint64(224)
"""Of 256: how often SOME and MOST put a NULL."""


def synthesise(columns: Sequence[Column], recipe: Recipe, schema: pa.Schema) -> list[pa.Array]:
    """One array per column with the types of ``schema``.

    Where the null pattern strikes a REPEATED column the list is empty: BigQuery stores a NULL array as an empty one.
    Under a NULL record every nullable field is NULL, every list empty, and a REQUIRED field holds its type's zero.
    """
    made = _Synthesis(recipe, columns)
    return [
        _row_ids(recipe.rows) if is_row_id(column) else made.column(column, column.name, field.type, recipe.rows, None)
        for column, field in zip(columns, schema, strict=True)
    ]


def is_row_id(column: Column) -> bool:
    """Whether a top-level column counts the rows."""
    return column.name == ROW_ID and column.type is BqType.INT64 and column.mode is Mode.REQUIRED


def _row_ids(rows: int) -> pa.Array:
    return arrays.fixed(pa.int64(), np.arange(rows, dtype=np.int64), None)


class _Synthesis:
    """The recipe's choices, applied to one column after another."""

    __slots__ = ("_outer", "cell_bytes", "lengths", "nulls", "seed", "values")

    def __init__(self, recipe: Recipe, columns: Sequence[Column]) -> None:
        self.seed = recipe.seed
        self.nulls = recipe.nulls
        self._outer = self._of_rows(_outer_paths(columns), recipe.rows)
        self.values = recipe.values
        self.lengths = np.uint64(recipe.max_items + 1)
        self.cell_bytes = recipe.cell_bytes if recipe.values is ValueProfile.WIDE else 0

    def column(self, column: Column, path: str, arrow: pa.DataType, slots: int, hidden: Bools | None) -> pa.Array:
        """The array of a column with ``slots`` slots; ``hidden`` marks those under a NULL record."""
        bits = self._bits(path, slots)
        if column.mode is Mode.REPEATED:
            lengths = (bits & _LOW) % self.lengths
            struck = _either(self._struck(bits), hidden)
            if struck is not None:
                lengths[struck] = 0
            offsets = arrays.offsets_of(lengths)
            total = int(offsets[-1])
            item = f"{path}[]"
            return arrays.lists(
                arrow,
                offsets,
                self._elements(column, item, arrow.value_type, self._bits(item, total), nulls=None, hidden=None),
            )
        nulls = _either(self._struck(bits), hidden) if column.mode is Mode.NULLABLE else None
        return self._elements(column, path, arrow, bits, nulls=nulls, hidden=_either(nulls, hidden))

    def _elements(
        self, column: Column, path: str, arrow: pa.DataType, bits: Bits, *, nulls: Bools | None, hidden: Bools | None
    ) -> pa.Array:
        """The values; ``nulls`` marks those that are NULL themselves, ``hidden`` those that hold nothing at all."""
        if column.type is BqType.RECORD:
            children = [
                self.column(field, f"{path}.{field.name}", arrow.field(index).type, len(bits), hidden)
                for index, field in enumerate(column.fields)
            ]
            return arrays.struct(arrow, len(bits), children, nulls)
        if column.type is BqType.RANGE:
            ranges = range_pool(column, self.values)
            picked = _picked(bits, ranges.size, hidden)
            bounds = [
                arrays.fixed(arrow.field(side).type, ranges.bounds[side][picked], ranges.open[side][picked])
                for side in (0, 1)
            ]
            return arrays.struct(arrow, len(bits), bounds, nulls)
        source = pool(column, self.values)
        if self.cell_bytes and source.lengths is not None and column.type in (BqType.STRING, BqType.BYTES):
            source = sized_pool(self.cell_bytes)
        picked = _picked(bits, source.size, hidden)
        if source.raw is not None:
            make = arrays.bits if column.type is BqType.BOOL else arrays.fixed
            return make(arrow, source.raw[picked], nulls)
        assert source.lengths is not None
        data = b"".join(map(source.texts.__getitem__, picked.tolist()))
        return arrays.text(arrow, arrays.offsets_of(source.lengths[picked]), data, nulls)

    def _bits(self, path: str, slots: int) -> Bits:
        """64 bits for each slot of a path."""
        found = self._outer.get(path)
        return _mixed(_grid(slots) + np.uint64(self._base(path))) if found is None else found

    def _of_rows(self, paths: Sequence[str], rows: int) -> Mapping[str, Bits]:
        """The bits of all paths that have a slot for each row, worked out together: tables are small, and many."""
        bases = np.array([self._base(path) for path in paths], np.uint64)
        return dict(zip(paths, _mixed(_grid(rows) + bases[:, None]), strict=True))

    def _base(self, path: str) -> int:
        return int.from_bytes(hashlib.blake2b(f"{self.seed}/{path}".encode(), digest_size=8).digest(), "little")

    def _struck(self, bits: Bits) -> Bools | None:
        """Where the null pattern strikes; None where nowhere."""
        return _PATTERNS[self.nulls](bits)


def _grid(slots: int) -> Bits:
    return _GRID[:slots] if slots <= len(_GRID) else np.arange(1, slots + 1, dtype=np.uint64) * _GAMMA


def _mixed(bits: Bits) -> Bits:
    """The finaliser of SplitMix64, in place."""
    bits ^= bits >> _S30
    bits *= _M1
    bits ^= bits >> _S27
    bits *= _M2
    bits ^= bits >> _S31
    return bits


@once_per_object
def _outer_paths(columns: Sequence[Column]) -> tuple[str, ...]:
    """The paths of columns that have a slot for each row: those inside of no list."""
    return tuple(path for column in columns if not is_row_id(column) for path in _paths(column, column.name))


def _paths(column: Column, path: str) -> Iterator[str]:
    yield path
    if column.mode is not Mode.REPEATED:
        for field in column.fields:
            yield from _paths(field, f"{path}.{field.name}")


def _at(place: int) -> Strike:
    def strike(bits: Bits) -> Bools:
        struck = np.zeros(len(bits), np.bool_)
        struck[place : place + 1 or None] = True
        return struck

    return strike


_PATTERNS: Final[Mapping[NullPattern, Strike]] = {
    NullPattern.NONE: lambda _bits: None,
    NullPattern.SOME: lambda bits: (bits >> _S56) < _SOME,
    NullPattern.MOST: lambda bits: (bits >> _S56) < _MOST,
    NullPattern.ALL: lambda bits: np.ones(len(bits), np.bool_),
    NullPattern.FIRST: _at(0),
    NullPattern.LAST: _at(-1),
    NullPattern.ALTERNATE: lambda bits: (np.arange(len(bits)) & 1).astype(np.bool_),
}


def _either(one: Bools | None, other: Bools | None) -> Bools | None:
    if one is None or other is None:
        return other if one is None else one
    return one | other


def _picked(bits: Bits, size: int, hidden: Bools | None) -> npt.NDArray[np.intp]:
    """Indices into a pool: 1 to ``size``, and 0 where nothing shows."""
    picked = ((bits & _LOW) % np.uint64(size)).astype(np.intp) + 1
    if hidden is not None:
        picked[hidden] = 0
    return picked
