"""The weight of the rows of a drawn recipe in bytes, computed before any row is made, and its limit.

Arrays of records of arrays multiply: of a million drawn tables the heaviest weighed 237 MB. The weight is computed
from columns and recipe alone, in whole numbers, so that it is the same on every machine. Of a million recipes about
500 exceed the limit, and every other keeps its bytes.
"""

from __future__ import annotations

import dataclasses
import functools
import math
from typing import Final

from conformance.generate.pools import pool, range_pool
from conformance.records import BqType, Column, Mode, Recipe, ValueProfile

__all__ = ["GIVEN_MOST_BYTES", "GIVEN_MOST_ROWS", "MOST_BYTES", "bounded", "weight"]

MOST_BYTES: Final = 16 << 20
"""The limit for a drawn table: above every default limit on message size, and made in a tenth of a second."""
GIVEN_MOST_BYTES: Final = 1 << 30
"""The limit for the table of a case file: the table is made, sent and judged in memory."""
GIVEN_MOST_ROWS: Final = 1_000_000
"""The limit for the rows of a case file's table. A row takes about half a KiB while it is sent over REST, however small
its values are: two million rows of one INT64, which weigh 16 MiB, took 1.1 GiB.
"""
_OFFSET: Final = 4


def bounded(columns: tuple[Column, ...], recipe: Recipe, most: int = MOST_BYTES) -> Recipe:
    """Return the recipe, or a similar one that weighs at most ``most`` bytes, with smaller values, then with
    fewer rows.
    """
    if weight(columns, recipe) > most and recipe.values is ValueProfile.WIDE:
        recipe = dataclasses.replace(recipe, values=ValueProfile.RANDOM)
    while weight(columns, recipe) > most:
        recipe = dataclasses.replace(recipe, rows=recipe.rows // 2)
    return recipe


def weight(columns: tuple[Column, ...], recipe: Recipe) -> int:
    """Return the approximate size of the recipe's values in bytes; seldom too small, and NULLs are counted as values.

    An array has from 0 to ``max_items`` items, each number equally often: the number of slots at a depth is
    estimated as the mean plus three standard deviations.
    """
    slots, most = [recipe.rows], recipe.max_items
    total = 0
    for depth, lists, leaves in _depths(columns):
        if depth == len(slots):
            above = slots[-1]
            slots.append(min(above * most, above * most // 2 + math.isqrt(above * 3 * most * (most + 2) // 4)))
        width = sum(_width(kind, recipe.values, range_of, length) for kind, range_of, length in leaves)
        total += slots[depth] * (width + lists * _OFFSET)
    return total


_Leaf = tuple[BqType, BqType | None, int | None]


def _depths(columns: tuple[Column, ...]) -> tuple[tuple[int, int, tuple[_Leaf, ...]], ...]:
    """Return, for each depth of arrays inside arrays, the number of arrays that begin there and the columns with
    values there.
    """
    lists: dict[int, int] = {0: 0}
    leaves: dict[int, list[_Leaf]] = {0: []}

    def visit(column: Column, depth: int) -> None:
        if column.mode is Mode.REPEATED:
            lists[depth] += 1
            depth += 1
            lists.setdefault(depth, 0)
            leaves.setdefault(depth, [])
        if column.type is not BqType.RECORD:
            leaves[depth].append((column.type, column.range_of, column.max_length))
        for field in column.fields:
            visit(field, depth)

    for column in columns:
        visit(column, 0)
    return tuple((depth, lists[depth], tuple(leaves[depth])) for depth in sorted(lists))


@functools.lru_cache(maxsize=1024)
def _width(kind: BqType, values: ValueProfile, range_of: BqType | None, max_length: int | None) -> int:
    """Return the mean size of a value of a profile in bytes, offset included; one byte for a boolean."""
    if kind is BqType.RANGE:
        return sum(int(raw.itemsize) for raw in range_pool(Column("", kind, range_of=range_of), values).bounds)
    drawn = pool(Column("", kind, max_length=max_length), values)
    if drawn.raw is not None:
        return int(drawn.raw.itemsize)
    return _OFFSET + sum(map(len, drawn.texts[1:])) // max(1, drawn.size)
