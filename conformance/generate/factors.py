"""What a drawn scenario combines: one value of each factor of its protocol.

Consecutive scenarios follow a covering array: each run of :func:`block` scenarios has every pair. Every block has other
neighbours, so that many blocks have every triple.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
from collections.abc import Iterable, Mapping
from typing import Final, TypeAlias

from conformance.generate.choices import Seeded
from conformance.generate.covering import covering

__all__ = ["Covered", "Meeting", "Pairs", "block", "covered", "permitted", "wanted_of"]

_Factors = tuple[tuple[str, tuple[str, ...]], ...]


@functools.cache
def _rows_of_array(factors: _Factors) -> tuple[Mapping[str, str], ...]:
    return tuple({name: str(value) for name, value in row.items()} for row in covering(dict(factors)))


def block(factors: Mapping[str, tuple[str, ...]]) -> int:
    """Return the number of consecutive scenarios that have every pair of values."""
    return len(_rows_of_array(tuple(factors.items())))


def wanted_of(seed: int, index: int, factors: Mapping[str, tuple[str, ...]], kind: str) -> Mapping[str, str]:
    """Return the value of each factor in a scenario: a row of the array, with the values of each factor turned by as
    many places as the seed and the number of the block decide; a turned array covers as many pairs.
    """
    rows = _rows_of_array(tuple(factors.items()))
    number, place = divmod(index, len(rows))
    turns = Seeded(seed, number, f"{kind}/block")
    wanted = {}
    for name, values in factors.items():
        wanted[name] = values[(values.index(rows[place][name]) + turns.integer(0, len(values) - 1)) % len(values)]
    return wanted


Pairs: TypeAlias = frozenset[tuple[str, str]]
"""Pairs of values, each as ``factor=value``."""

Meeting: TypeAlias = tuple[str, ...]
"""The values that meet in one session, each as ``factor=value``, in the order of the factors."""


@dataclasses.dataclass(frozen=True, slots=True)
class Covered:
    """How many of the ``possible`` combinations of ``size`` values of different factors some sessions ``reached``.

    ``missing`` are the first of the others, each as ``factor=value & factor=value``.
    """

    size: int
    reached: int
    possible: int
    missing: tuple[str, ...] = ()


_SHOWN: Final = 20
"""The most missing combinations that are named."""


def covered(
    meetings: Iterable[Meeting], factors: Mapping[str, tuple[str, ...]], impossible: Pairs, size: int
) -> Covered:
    """Return the coverage of combinations of ``size`` values of factors."""
    seen: set[Meeting] = set()
    for meeting in set(meetings):
        groups = [[value for value in meeting if value.startswith(f"{name}=")] for name in factors]
        for chosen in itertools.combinations(groups, size):
            seen.update(itertools.product(*chosen))
    every = permitted(factors, impossible, size)
    missing = [each for each in every if each not in seen]
    named = tuple(" & ".join(each) for each in missing[:_SHOWN])
    return Covered(size, len(every) - len(missing), len(every), named)


def permitted(factors: Mapping[str, tuple[str, ...]], impossible: Pairs, size: int) -> list[Meeting]:
    """Return every combination of ``size`` values that can meet, in the order of the factors."""
    named = [[f"{name}={value}" for value in values] for name, values in factors.items()]
    every = itertools.chain.from_iterable(itertools.product(*chosen) for chosen in itertools.combinations(named, size))
    return [each for each in every if impossible.isdisjoint(itertools.combinations(each, 2))]
