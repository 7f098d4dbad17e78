"""Random numbers from a seed and a name, equal on every version of Python, because recorded digests depend on them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, TypeVar

from conformance.generate.choices import Seeded

__all__ = ["Chance"]

T = TypeVar("T")

_DIGIT: Final = 32
"""Bits drawn at a time for a large number."""


class Chance:
    """The random functions for drawing recipes, over a generator whose sequence never changes."""

    __slots__ = ("_choices",)

    def __init__(self, seed: int, name: str) -> None:
        self._choices = Seeded(seed, 0, name)

    def random(self) -> float:
        """A number from 0 to 1, excluding 1."""
        return self._choices.integer(0, (1 << 53) - 1) / (1 << 53)

    def choice(self, options: Sequence[T]) -> T:
        """One of the options."""
        return self._choices.pick(options)

    def randrange(self, count: int) -> int:
        """An integer from 0 to ``count``, excluding ``count``."""
        return self._choices.integer(0, count - 1)

    def randint(self, low: int, high: int) -> int:
        """An integer of any size from ``low`` to ``high``, including both; nearly uniform, even in its low bits."""
        span, drawn = high - low + 1, 0
        for _ in range((span.bit_length() + 2 * _DIGIT - 1) // _DIGIT):
            drawn = drawn << _DIGIT | self._choices.integer(0, (1 << _DIGIT) - 1)
        return low + drawn % span

    def randbytes(self, count: int) -> bytes:
        """``count`` bytes."""
        return bytes(self._choices.integer(0, 255) for _ in range(count))

    def sample(self, options: Sequence[T], count: int) -> list[T]:
        """``count`` of the options, none twice, in their original order."""
        left = list(range(len(options)))
        drawn = sorted(left.pop(self.randrange(len(left))) for _ in range(count))
        return [options[place] for place in drawn]
