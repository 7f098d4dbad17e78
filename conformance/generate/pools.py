"""Pools: the values of a profile in the raw form of Arrow buffers, made once and picked from by index.

This module defines how pools are stored and cached; :mod:`conformance.generate.values` defines their values.
"""

from __future__ import annotations

import dataclasses
import functools
from typing import Any

import numpy as np
import numpy.typing as npt

from conformance.generate.values import pool_values
from conformance.generate.written import raw_values
from conformance.records import BqType, Column, Mode, ValueProfile

__all__ = ["Pool", "RangePool", "pool", "range_pool", "sized_pool"]


@dataclasses.dataclass(frozen=True, slots=True)
class Pool:
    """Raw values to pick from by index; index 0 is the zero under a NULL, and the profile's values begin at 1.

    ``raw`` is a numpy array, or None for text, which has ``texts`` and their ``lengths`` instead.
    """

    size: int
    raw: npt.NDArray[Any] | None
    texts: tuple[bytes, ...] = ()
    lengths: npt.NDArray[np.int32] | None = None


@dataclasses.dataclass(frozen=True, slots=True)
class RangePool:
    """Raw bounds to pick from by one index; ``open`` is True for each bound that is NULL."""

    size: int
    bounds: tuple[npt.NDArray[Any], npt.NDArray[Any]]
    open: tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]]


def pool(column: Column, profile: ValueProfile) -> Pool:
    """Return the pool of a scalar column."""
    return _pool(column.type, profile, column.precision, column.scale, column.max_length)


@functools.lru_cache(maxsize=1024)
def _pool(
    kind: BqType, profile: ValueProfile, precision: int | None, scale: int | None, max_length: int | None
) -> Pool:
    column = Column("", kind, precision=precision, scale=scale, max_length=max_length)
    values = pool_values(column, profile)
    raw = raw_values(column, [None, *values], lambda index: f"{profile} pool of {kind}, value {index - 1}")
    if isinstance(raw, list):
        return Pool(len(values), None, tuple(raw), np.array([len(item) for item in raw], np.int32))
    return Pool(len(values), raw)


@functools.lru_cache(maxsize=4)
def sized_pool(size: int) -> Pool:
    """Return a pool of texts of ``size`` ASCII bytes each, for STRING and BYTES; no two of them have the same first
    letter.
    """
    texts = [(f"{letter} of {size} bytes ".encode() * (size // 10 + 1))[:size] for letter in "abc"]
    return Pool(len(texts), None, (b"", *texts), np.array([0, *map(len, texts)], np.int32))


def range_pool(column: Column, profile: ValueProfile) -> RangePool:
    """Return the pool of a RANGE column; if the column is REQUIRED, both bounds are set.

    The service loses an open bound of a REQUIRED range (it arrives as 0), so no value could be expected for it.
    """
    assert column.range_of is not None
    return _range_pool(column.range_of, profile, column.mode is Mode.REQUIRED)


@functools.lru_cache(maxsize=64)
def _range_pool(range_of: BqType, profile: ValueProfile, bounded: bool) -> RangePool:  # noqa: FBT001  # a cache's key
    values = pool_values(Column("", BqType.RANGE, range_of=range_of), profile)
    if bounded:
        values = [value for value in values if None not in value.values()]
    element = Column("", range_of)

    def side(name: str) -> tuple[npt.NDArray[Any], npt.NDArray[np.bool_]]:
        bounds = [None, *(value[name] for value in values)]
        raw = raw_values(element, bounds, lambda index: f"{profile} pool of RANGE, {name} {index - 1}")
        return raw, np.array([bound is None for bound in bounds])

    (starts, open_starts), (ends, open_ends) = side("start"), side("end")
    return RangePool(len(values), (starts, ends), (open_starts, open_ends))
