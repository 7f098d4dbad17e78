"""What follows from one immutable object, worked out once for each: columns and schemas stand before many exchanges.

Objects are told apart by identity, for to hash a schema of nested columns costs more than it saves. A memory holds on
to its objects, so that an identity stays theirs, and forgets all of them once there are too many.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Final, TypeVar

__all__ = ["once_per_object", "remembering"]

MAX_REMEMBERED: Final = 256
"""Objects kept for each function of something small: sessions come in turn, each before thousands of batches."""

K = TypeVar("K")
T = TypeVar("T")


def remembering(most: int) -> Callable[[Callable[[K], T]], Callable[[K], T]]:
    """Make a function of one immutable object remember what it returned for up to ``most`` of them."""

    def decorate(function: Callable[[K], T]) -> Callable[[K], T]:
        known: dict[int, tuple[K, T]] = {}

        @functools.wraps(function)
        def remembered(thing: K) -> T:
            found = known.get(id(thing))
            if found is None:
                if len(known) >= most:
                    known.clear()
                found = known[id(thing)] = thing, function(thing)
            return found[1]

        return remembered

    return decorate


def once_per_object(function: Callable[[K], T]) -> Callable[[K], T]:
    """:func:`remembering` for what is small: columns, schemas, clauses."""
    return remembering(MAX_REMEMBERED)(function)
