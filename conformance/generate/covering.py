"""Covering arrays: few rows in which every two values of different factors occur together at least once.

Factors that are named together also have every three values together. Most failures of an option space need two
options together, hardly any needs more than three; see "Combinatorial Software Testing",
https://csrc.nist.gov/projects/automated-combinatorial-testing-for-software. This module knows factors and values only.

>>> rows = covering({"codec": ("", "lz4"), "kind": ("file", "stream"), "rows": (0, 1, 9)})
>>> len(rows), coverage(rows, {"codec": ("", "lz4"), "kind": ("file", "stream"), "rows": (0, 1, 9)}).missing
  (6, ())
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import TypeAlias

__all__ = ["Combination", "Coverage", "Factors", "Row", "combinations", "coverage", "covering", "extended"]

Factors: TypeAlias = Mapping[str, Sequence[Hashable]]
"""The values of every factor, by the factor's name."""
Row: TypeAlias = dict[str, Hashable]
"""One value for every factor."""
Combination: TypeAlias = tuple[tuple[str, Hashable], ...]
"""Values of different factors, in the order of the factors."""
Permitted: TypeAlias = Callable[[Combination], bool]
"""Whether values may occur together. It is asked about pairs, about the combinations to cover, and about rows that are
not complete yet. If it forbids some values, it forbids all that contain them."""


@dataclasses.dataclass(frozen=True, slots=True)
class Coverage:
    """The coverage of an option space by some rows: the combinations reached, and the possible ones that they do not
    reach.
    """

    reached: int
    possible: int
    missing: tuple[Combination, ...]


def _any(_combination: Combination) -> bool:
    return True


def covering(
    factors: Factors, permitted: Permitted = _any, *, threes: Collection[str] = (), first: Iterable[Row] = ()
) -> list[Row]:
    """Return rows that contain every permitted pair, and every permitted triple of the factors in ``threes``; equal
    arguments give equal rows.

    A row contains permitted combinations only. One that fits into no row (each value of a third factor forbids it) is
    left out; :func:`coverage` names it. The rows ``first`` come first, and what they contain is not covered again.

    Raises:
        ValueError: a factor has no values.
    """
    for name, values in factors.items():
        if not values:
            raise ValueError(f"expected at least one value of the factor {name!r}, got none")
    # Triples come first: their rows hold most pairs already.
    waiting = dict.fromkeys(each for each in combinations(factors, threes=threes) if permitted(each))
    growing = _Growing(factors, permitted, waiting, frozenset(threes))
    rows = list(first)
    for row in rows:
        for each in _held(row, factors, threes):
            waiting.pop(each, None)
    while waiting:
        seed = next(iter(waiting))
        grown = growing.grown(dict(seed))
        del waiting[seed]
        if grown is None:
            continue
        rows.append(grown)
        for each in _held(grown, factors, threes):
            waiting.pop(each, None)
    if len(factors) == 1:  # one factor alone has no pairs
        rows = [{name: value} for name, values in factors.items() for value in values]
    return rows


def extended(rows: Iterable[Row], factors: Factors, permitted: Permitted = _any) -> list[Row]:
    """Return ``rows``, each completed by values of the factors that it lacks, so that every permitted pair with one of
    these occurs; rows that already exist are repeated for the pairs that need more.

    The rows have values for the same factors, the first of ``factors``. A pair that fits no row is left out.
    """
    known = list(rows)
    lacking = {name for name in factors if known and name not in known[0]}
    pairs = (each for each in combinations(factors) if any(name in lacking for name, _ in each))
    waiting = dict.fromkeys(each for each in pairs if permitted(each))
    growing = _Growing(factors, permitted, waiting, frozenset())
    made: list[Row] = []

    def add(row: Row | None) -> bool:
        if row is None:
            return False
        made.append(row)
        for each in _held(row, factors, ()):
            waiting.pop(each, None)
        return True

    for row in known:
        add(growing.grown(dict(row)))
    while waiting:
        seed = dict(next(iter(waiting)))
        waiting.pop(tuple(seed.items()))
        bases = (row for row in known if all(row.get(name, value) == value for name, value in seed.items()))
        any(add(growing.grown({**base, **seed})) for base in bases if permitted(tuple({**base, **seed}.items())))
    return made


def coverage(
    rows: Iterable[Mapping[str, Hashable]],
    factors: Factors,
    permitted: Permitted = _any,
    *,
    threes: Collection[str] = (),
) -> Coverage:
    """Return which of the permitted combinations ``rows`` reach."""
    reached = {each for row in rows for each in _held(row, factors, threes)}
    possible = [each for each in combinations(factors, threes=threes) if permitted(each)]
    missing = tuple(each for each in possible if each not in reached)
    return Coverage(len(possible) - len(missing), len(possible), missing)


def combinations(factors: Factors, *, threes: Collection[str] = ()) -> Iterator[Combination]:
    """Yield every triple of the factors in ``threes`` and then every pair of all, whether permitted or not."""
    for names in _together(factors, threes):
        for values in itertools.product(*(factors[name] for name in names)):
            yield tuple(zip(names, values, strict=True))


def _together(factors: Factors, threes: Collection[str]) -> Iterator[tuple[str, ...]]:
    yield from itertools.combinations([name for name in factors if name in threes], 3)
    yield from itertools.combinations(factors, 2)


def _held(row: Mapping[str, Hashable], factors: Factors, threes: Collection[str]) -> Iterator[Combination]:
    for names in _together(factors, threes):
        yield tuple((name, row[name]) for name in names)


class _Growing:
    """Completes rows, with values that reach many ``waiting`` combinations."""

    def __init__(
        self, factors: Factors, permitted: Permitted, waiting: Mapping[Combination, None], threes: frozenset[str]
    ) -> None:
        self._factors = factors
        self._permitted = permitted
        self._pair_permitted = functools.cache(permitted)
        self._waiting = waiting
        self._threes = threes
        self._order = {name: place for place, name in enumerate(factors)}

    def grown(self, row: Row) -> Row | None:
        """Return the row with a value for every factor; None if no value fits."""
        name = next((name for name in self._factors if name not in row), None)
        if name is None:
            return row
        ranked = sorted(self._factors[name], key=lambda value: -self._gain(row, name, value))
        for value in ranked:
            longer = {**row, name: value}
            if self._fits(row, name, value, longer) and (made := self.grown(longer)) is not None:
                return made
        return None

    def _fits(self, row: Row, name: str, value: Hashable, longer: Row) -> bool:
        pairs = (self._ordered({other: row[other], name: value}) for other in row)
        return all(map(self._pair_permitted, pairs)) and self._permitted(self._ordered(longer))

    def _gain(self, row: Row, name: str, value: Hashable) -> int:
        gain = sum(self._ordered({other: row[other], name: value}) in self._waiting for other in row)
        if name in self._threes:
            others = [other for other in row if other in self._threes]
            for one, two in itertools.combinations(others, 2):
                gain += self._ordered({one: row[one], two: row[two], name: value}) in self._waiting
        return gain

    def _ordered(self, values: Row) -> Combination:
        return tuple(sorted(values.items(), key=lambda item: self._order[item[0]]))
