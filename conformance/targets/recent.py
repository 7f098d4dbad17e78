"""Keeps the results for the last few tables: neighbouring cases often have the same rows, some of them 20,000."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Final, Generic, TypeVar

__all__ = ["Recent"]

MOST: Final = 4
"""Values that are kept: each may be tens of MiB."""

T = TypeVar("T")


class Recent(Generic[T]):
    """The last few values by key, at most ``most``; for one thread."""

    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self._kept: dict[Hashable, T] = {}

    def get(self, key: Hashable, make: Callable[[], T]) -> T:
        """The value of ``key``, made now unless it is one of the last few."""
        value = self._kept.pop(key) if key in self._kept else make()
        self._kept[key] = value
        if len(self._kept) > self._most:
            del self._kept[next(iter(self._kept))]
        return value
