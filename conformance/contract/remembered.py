"""What follows from one immutable object, computed once for each: the same columns stand before many exchanges.

Objects are told apart by identity, for to hash nested columns costs more than it saves. A memory holds on to its
objects, so that an identity stays theirs, and forgets all of them once there are too many.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Final, TypeVar

__all__ = ["once_per_object"]

MAX_REMEMBERED: Final = 256
"""Objects kept for each function: sessions come in turn, each before thousands of batches."""

K = TypeVar("K")
T = TypeVar("T")


def once_per_object(function: Callable[[K], T]) -> Callable[[K], T]:
    """Make a function of one immutable object remember what it returned for it."""
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
