"""Calls that pause until others have ended."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

__all__ = ["Pause"]


class Pause:
    """Lets calls that are made at the same time wait for each other: the others begin when each of those that pause has
    come to its pause or its end, and the pauses end with the last of the others.
    """

    def __init__(self, pauses: Sequence[bool]) -> None:
        self._reached = {number: threading.Event() for number, does in enumerate(pauses) if does}
        self._left = len(pauses) - len(self._reached)
        self._over = threading.Event()
        self._lock = threading.Lock()
        if not self._left:
            self._over.set()

    @contextmanager
    def call(self, number: int, seconds: float) -> Iterator[Callable[[], None]]:
        """Make the call of that number inside; it calls what is given where it pauses, which lasts ``seconds`` at
        most.
        """
        own = self._reached.get(number)

        def wait() -> None:
            if own is not None:
                own.set()
                self._over.wait(seconds)

        if own is None:
            for reached in self._reached.values():
                reached.wait(seconds)
        try:
            yield wait
        finally:
            if own is not None:
                own.set()
            else:
                with self._lock:
                    self._left -= 1
                    if not self._left:
                        self._over.set()
