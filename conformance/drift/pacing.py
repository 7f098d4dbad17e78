"""Work in blocks: as much as fits into a message to a worker, and as long as there is time."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from typing import Final, TypeVar

__all__ = ["Pace"]

T = TypeVar("T")

COUNT: Final = 128
"""Items of a block where the time is limited: enough to make the start of a worker cheap."""
BYTES: Final = 128 << 20
"""Bytes of a block: a worker has all jobs of a block in memory."""


class Pace:
    """The time of a run; ``seconds`` is None if it is not limited. ``clock`` gives the time in seconds.

    A block that was begun is finished, so that a run takes somewhat longer than its limit. ``cut`` is True once items
    were left out.
    """

    def __init__(self, seconds: float | None = None, *, clock: Callable[[], float] = time.monotonic) -> None:
        self.cut = False
        self._seconds = seconds
        self._clock = clock
        self._began = clock()

    def blocks(
        self, items: Iterable[T], *, size: Callable[[T], int], share: float = 1.0, needed: int = 1
    ) -> Iterator[list[T]]:
        """The items in blocks, until this share of the time has passed; the first ``needed`` items always come.

        ``size`` is the number of bytes of an item.
        """
        block: list[T] = []
        held = given = 0
        for item in items:
            weight = size(item)
            if block and (held + weight > BYTES or (self._seconds is not None and len(block) >= COUNT)):
                yield block
                given += len(block)
                block, held = [], 0
                if given >= needed and self._over(share):
                    self.cut = True
                    return
            block.append(item)
            held += weight
        if block:
            yield block

    def _over(self, share: float) -> bool:
        return self._seconds is not None and self._clock() - self._began >= share * self._seconds
