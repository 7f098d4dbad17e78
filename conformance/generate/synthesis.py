"""Values from a recipe: vectorised, and the same on every machine.

Each slot of each column, at each level of nesting, gets 64 bits from the seed, the column's path and the slot's
place alone (SplitMix64 over a counter). Hence the order of evaluation does not matter, dropping a column does not
change the others, and fewer rows are a prefix of more rows; shrinking needs all three. Only integer arithmetic is
used, so that no version of numpy or pyarrow can change a value.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from conformance.contract.remembered import once_per_object
from conformance.generate import rawarrays
from conformance.generate.outline import Outline, OutlineNode, OutlineRegion
from conformance.generate.pools import Pool, RangePool, pool, range_pool, sized_pool
from conformance.generate.rawarrays import Bools
from conformance.records import BqType, NullPattern, Recipe, ValueProfile

__all__ = ["synthesise"]

Bits: TypeAlias = npt.NDArray[np.uint64]
Places: TypeAlias = npt.NDArray[np.intp]
Strike: TypeAlias = Callable[[Bits], Bools | None]

# SplitMix64 (https://prng.di.unimi.it/splitmix64.c): the increment, and the multipliers of its finaliser.
_GAMMA: Final = np.uint64(0x9E3779B97F4A7C15)
_M1, _M2 = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_S27, _S30, _S31 = np.uint64(27), np.uint64(30), np.uint64(31)
_S56 = np.uint64(56)

_GRID: Final = np.arange(1, 4097, dtype=np.uint64) * _GAMMA
"""The counter for the slot counts of most columns."""

_LOW: Final = np.uint64(0xFFFFFFFF)

_SOME: Final = np.uint64(64)
_MOST: Final = np.uint64(224)
"""The numbers of NULLs out of 256 slots, on average, under SOME and MOST."""

_TEXTS: Final = frozenset({BqType.STRING, BqType.BYTES})


def synthesise(outline: Outline, recipe: Recipe) -> list[pa.Array]:
    """Return one array per column with the types of the outline's schema.

    If the null pattern hits a REPEATED column, the list is empty: BigQuery stores a NULL array as an empty one.
    Under a NULL record every nullable field is NULL, every list is empty, and a REQUIRED field has its type's zero.
    """
    made = iter(_Synthesis(recipe).region(outline.region, recipe.rows))
    return [_row_ids(recipe.rows) if counts else next(made) for counts in outline.row_ids]


def _row_ids(rows: int) -> pa.Array:
    return rawarrays.fixed(pa.int64(), np.arange(rows, dtype=np.int64), rawarrays.ALL_VALID)


class _Choices:
    """The choices for a region: a row per node, a column per slot.

    ``picked`` are indices into pools (0 if the slot is not visible) and lengths of lists. ``dead`` is True for each
    slot that the null pattern makes NULL, itself or a record around it; ``dead`` is None if there is no such slot.
    """

    __slots__ = ("_counts", "_valid", "dead", "picked")

    def __init__(self, picked: Places, dead: Bools | None) -> None:
        self.picked = picked
        self.dead = dead
        if dead is not None:
            self._counts = np.count_nonzero(dead, axis=1).tolist()
            self._valid = np.packbits(~dead, axis=1, bitorder="little")

    def nulls(self, node: OutlineNode) -> rawarrays.Validity:
        """Return the validity bitmap of a node and its null count."""
        if self.dead is None or not node.nullable or not self._counts[node.place]:
            return rawarrays.ALL_VALID
        return pa.py_buffer(self._valid[node.place]), self._counts[node.place]


class _Synthesis:
    """Makes the values of a table by a recipe, one region of its outline after another."""

    __slots__ = ("_cell_bytes", "_lengths", "_seed", "_strike", "_values")

    def __init__(self, recipe: Recipe) -> None:
        self._seed = recipe.seed
        self._strike = _PATTERNS[recipe.nulls]
        self._values = recipe.values
        self._lengths = recipe.max_items + 1
        self._cell_bytes = recipe.cell_bytes if recipe.values is ValueProfile.WIDE else 0

    def region(self, region: OutlineRegion, slots: int) -> list[pa.Array]:
        """Return the arrays of the outermost nodes of a region with so many slots."""
        return self._filled(region, slots) if slots else _empty(region)

    def _filled(self, region: OutlineRegion, slots: int) -> list[pa.Array]:
        if not region.nodes:
            return []
        pools = [self._pool(node) for node in region.nodes]
        chosen = self._chosen(region, pools, slots)
        return [self._array(node, pools, chosen, slots) for node in region.top]

    def _chosen(self, region: OutlineRegion, pools: list[Pool | RangePool | None], slots: int) -> _Choices:
        bits = self._bits(region, slots)
        struck = self._strike(bits)
        dead = None
        if struck is not None:
            dead = struck & region.strikable
            for field, record in region.parents:
                dead[field] |= dead[record]
        sizes = [1 if one is None else one.size for one in pools]
        for node in region.nodes:
            if node.items is not None:
                sizes[node.place] = self._lengths
        bits &= _LOW
        bits %= np.array(sizes, np.uint64)[:, None]
        picked = bits.astype(np.intp)
        picked += region.least
        if dead is not None:
            picked[dead] = 0
        return _Choices(picked, dead)

    def _array(self, node: OutlineNode, pools: list[Pool | RangePool | None], chosen: _Choices, slots: int) -> pa.Array:
        picked = chosen.picked[node.place]
        if node.items is not None:
            offsets = rawarrays.offsets_of(picked)
            (items,) = self.region(node.items, int(offsets[-1]))
            return rawarrays.lists(node.arrow, offsets, items)
        source, nulls = pools[node.place], chosen.nulls(node)
        if source is None:
            children = [self._array(child, pools, chosen, slots) for child in node.children]
            return rawarrays.struct(node.arrow, slots, children, nulls)
        if isinstance(source, RangePool):
            bounds = [
                rawarrays.fixed(node.arrow.field(side).type, raw[picked], rawarrays.validity(is_open[picked]))
                for side, (raw, is_open) in enumerate(zip(source.bounds, source.open, strict=True))
            ]
            return rawarrays.struct(node.arrow, slots, bounds, nulls)
        if source.raw is not None:
            make = rawarrays.bits if node.column.type is BqType.BOOL else rawarrays.fixed
            return make(node.arrow, source.raw[picked], nulls)
        assert source.lengths is not None
        data = b"".join(map(source.texts.__getitem__, picked.tolist()))
        return rawarrays.text(node.arrow, rawarrays.offsets_of(source.lengths[picked]), data, nulls)

    def _pool(self, node: OutlineNode) -> Pool | RangePool | None:
        """Return the pool of a node's values; None for records and lists."""
        column = node.column
        if node.items is not None or column.type is BqType.RECORD:
            return None
        if column.type is BqType.RANGE:
            return range_pool(column, self._values)
        return (
            sized_pool(self._cell_bytes) if self._cell_bytes and column.type in _TEXTS else pool(column, self._values)
        )

    def _bits(self, region: OutlineRegion, slots: int) -> Bits:
        """Return 64 bits for each slot of each node."""
        seed = self._seed
        digests = [hashlib.blake2b(f"{seed}/{node.path}".encode(), digest_size=8).digest() for node in region.nodes]
        bases = np.frombuffer(b"".join(digests), "<u8")
        grid = _GRID[:slots] if slots <= len(_GRID) else np.arange(1, slots + 1, dtype=np.uint64) * _GAMMA
        return _mixed(grid + bases[:, None])


@once_per_object
def _empty(region: OutlineRegion) -> list[pa.Array]:
    """Return the arrays of a region without slots, which are the same for every recipe."""
    return _Synthesis(Recipe(0))._filled(region, 0)  # noqa: SLF001  # a part of it


def _mixed(bits: Bits) -> Bits:
    """Apply the finaliser of SplitMix64, in place."""
    bits ^= bits >> _S30
    bits *= _M1
    bits ^= bits >> _S27
    bits *= _M2
    bits ^= bits >> _S31
    return bits


def _at(place: int) -> Strike:
    def strike(bits: Bits) -> Bools:
        struck = np.zeros(bits.shape, np.bool_)
        struck[:, place : place + 1 or None] = True
        return struck

    return strike


def _alternating(bits: Bits) -> Bools:
    struck = np.zeros(bits.shape, np.bool_)
    struck[:, 1::2] = True
    return struck


_PATTERNS: Final[Mapping[NullPattern, Strike]] = {
    NullPattern.NONE: lambda _bits: None,
    NullPattern.SOME: lambda bits: (bits >> _S56) < _SOME,
    NullPattern.MOST: lambda bits: (bits >> _S56) < _MOST,
    NullPattern.ALL: lambda bits: np.ones(bits.shape, np.bool_),
    NullPattern.FIRST: _at(0),
    NullPattern.LAST: _at(-1),
    NullPattern.ALTERNATE: _alternating,
}
