"""The source of a drawn case's choices: one small protocol, so that every source draws the same kind of case.

Options are in the order from simple to complex: a source that shrinks moves toward low integers and first options.
:class:`Seeded` gives random access by (seed, index), the same for any partitioning of the indices; the Hypothesis
source is in :mod:`conformance.generate.strategies`.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Sequence
from typing import Protocol, TypeVar

__all__ = ["Choices", "Seeded", "interleaved", "one_in"]

T = TypeVar("T")


class Choices(Protocol):
    """A source of decisions."""

    def integer(self, low: int, high: int) -> int:
        """Return an integer from ``low`` to ``high``, both included."""
        ...

    def pick(self, options: Sequence[T]) -> T:
        """Return one of the options, each with the same probability."""
        ...


class Seeded:
    """Choices that follow from a seed, an index and a name alone.

    Only ``random.Random.random`` is used: Python promises never to change its sequence for a seed.
    """

    __slots__ = ("_random",)

    def __init__(self, seed: int, index: int, name: str) -> None:
        digest = hashlib.blake2b(f"{seed}/{index}/{name}".encode(), digest_size=8).digest()
        self._random = random.Random(int.from_bytes(digest, "little")).random  # noqa: S311  # test data, not secrets

    def integer(self, low: int, high: int) -> int:
        """Return an integer from ``low`` to ``high``, both included; the span is at most 2^53."""
        return low + int(self._random() * (high - low + 1))

    def pick(self, options: Sequence[T]) -> T:
        """Return one of the options, each with the same probability."""
        return options[int(self._random() * len(options))]


def one_in(choices: Choices, count: int) -> bool:
    """Return True once in ``count`` times on average; shrinks to False."""
    return choices.integer(0, count - 1) == count - 1


def interleaved(choices: Choices, units: Sequence[Sequence[Sequence[T]]]) -> list[T]:
    """Return the members of all units in a drawn order that keeps the order of each list, each unit in one piece."""
    left = [list(one) for one in units if one]
    found: list[T] = []
    while left:
        place = choices.integer(0, len(left) - 1)
        found += left[place].pop(0)
        if not left[place]:
            del left[place]
    return found
