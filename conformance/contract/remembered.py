"""A cache for functions of one immutable object, because the same columns and schemas recur in many exchanges.

Objects are compared by identity: hashing nested columns costs more than the cache saves. The cache keeps a reference
to its objects, so that no other object can get their identity, and drops all of them when it is full.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Final, TypeVar

__all__ = ["once_per_object"]

MAX_REMEMBERED: Final = 256
"""The number of objects kept per function: sessions come one after another, each before thousands of batches."""

K = TypeVar("K")
T = TypeVar("T")


def once_per_object(function: Callable[[K], T]) -> Callable[[K], T]:
    """Return ``function`` with a cache of its results by the identity of its argument."""
    known: dict[int, tuple[K, T]] = {}

    @functools.wraps(function)
    def remembered(thing: K) -> T:
        found = known.get(id(thing))
        if found is None:
            if len(known) >= MAX_REMEMBERED:
                known.clear()
            found = known[id(thing)] = thing, function(thing)
        return found[1]

    return remembered
