"""Pairwise covering arrays: few rows in which every two values of different factors occur together at least once.

Most failures of an option space need two options together, hardly any needs three; see "Combinatorial Software
Testing", https://csrc.nist.gov/projects/automated-combinatorial-testing-for-software. This module knows factors and
values only.

>>> rows = covering({"codec": ("", "lz4"), "kind": ("file", "stream"), "rows": (0, 1, 9)})
>>> len(rows), coverage(rows, {"codec": ("", "lz4"), "kind": ("file", "stream"), "rows": (0, 1, 9)}).missing
  (6, ())
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import TypeAlias

__all__ = ["Coverage", "Factors", "Pair", "Row", "coverage", "covering"]

Factors: TypeAlias = Mapping[str, Sequence[Hashable]]
"""The values of every factor, by the factor's name."""
Row: TypeAlias = dict[str, Hashable]
"""One value for every factor."""
Pair: TypeAlias = tuple[tuple[str, Hashable], tuple[str, Hashable]]
"""Two values of different factors, in the order of the factors."""
Permitted: TypeAlias = Callable[[Pair], bool]


@dataclasses.dataclass(frozen=True, slots=True)
class Coverage:
    """The coverage of an option space by some rows: the pairs reached, and the possible pairs that they do not
    reach.
    """

    reached: int
    possible: int
    missing: tuple[Pair, ...]


def _any(_pair: Pair) -> bool:
    return True


def covering(factors: Factors, permitted: Permitted = _any) -> list[Row]:
    """Return rows that contain every permitted pair; equal arguments give equal rows.

    A row contains permitted pairs only. A pair that fits into no row (each value of a third factor forbids one of
    the two) is left out; :func:`coverage` names it.

    Raises:
        ValueError: a factor has no values.
    """
    for name, values in factors.items():
        if not values:
            raise ValueError(f"expected at least one value of the factor {name!r}, got none")
    waiting = dict.fromkeys(_pairs(factors, permitted))
    rows: list[Row] = []
    while waiting:
        seed = next(iter(waiting))
        row = _grown(dict(seed), factors, permitted, waiting)
        del waiting[seed]
        if row is None:
            continue
        rows.append(row)
        for pair in _pairs_of(row, factors):
            waiting.pop(pair, None)
    if len(factors) == 1:  # one factor alone has no pairs
        rows = [{name: value} for name, values in factors.items() for value in values]
    return rows


def coverage(rows: Iterable[Mapping[str, Hashable]], factors: Factors, permitted: Permitted = _any) -> Coverage:
    """Return which of the permitted pairs ``rows`` reach."""
    reached = {pair for row in rows for pair in _pairs_of(row, factors)}
    possible = list(_pairs(factors, permitted))
    missing = tuple(pair for pair in possible if pair not in reached)
    return Coverage(len(possible) - len(missing), len(possible), missing)


def _pairs(factors: Factors, permitted: Permitted) -> Iterable[Pair]:
    for first, second in itertools.combinations(factors, 2):
        for one, other in itertools.product(factors[first], factors[second]):
            pair = (first, one), (second, other)
            if permitted(pair):
                yield pair


def _pairs_of(row: Mapping[str, Hashable], factors: Factors) -> Iterable[Pair]:
    return (((first, row[first]), (second, row[second])) for first, second in itertools.combinations(factors, 2))


def _grown(row: Row, factors: Factors, permitted: Permitted, waiting: Mapping[Pair, None]) -> Row | None:
    """Return the row with a value for every factor, chosen to reach many waiting pairs; None if no value fits."""
    open_factors = [name for name in factors if name not in row]
    if not open_factors:
        return row
    name = open_factors[0]
    ranked = sorted(factors[name], key=lambda value: -_gain(row, name, value, factors, waiting))
    for value in ranked:
        if all(permitted(_pair(row, name, value, other, factors)) for other in row):
            grown = _grown({**row, name: value}, factors, permitted, waiting)
            if grown is not None:
                return grown
    return None


def _gain(row: Row, name: str, value: Hashable, factors: Factors, waiting: Mapping[Pair, None]) -> int:
    return sum(_pair(row, name, value, other, factors) in waiting for other in row)


def _pair(row: Row, name: str, value: Hashable, other: str, factors: Factors) -> Pair:
    order = list(factors)
    if order.index(other) < order.index(name):
        return (other, row[other]), (name, value)
    return (name, value), (other, row[other])
