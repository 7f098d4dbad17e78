"""The instants of a case: servers store times in milliseconds, some in ticks, so that two instants need a distance."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable
from typing import Final

from conformance.records import CreateSession, Step

__all__ = ["WALL", "StillTime", "Time", "instant_after_seed", "now"]

MARGIN_SECONDS: Final = 0.02
"""Seconds between seed, snapshot instant and first append: servers store times in milliseconds, some in ticks."""

TURN_SECONDS: Final = 0.0001
"""Seconds for which a call waits before each response, so that calls in other threads may go on.

It is a chance to meet, and no promise.
"""

BEGIN: Final = 1_800_000_000_000_000
"""The microsecond since the Unix epoch at which a :class:`StillTime` begins."""


class Time:
    """The clocks of the driver."""

    def now(self) -> int:
        """The wall clock in microseconds since the Unix epoch."""
        return time.time_ns() // 1000

    def monotonic(self) -> float:
        """The monotonic clock in seconds; only its differences mean something."""
        return time.monotonic()

    def tick(self) -> None:
        """Let a moment pass, if time does not pass by itself: what comes then is later than what was before."""

    def take_turns(self) -> None:
        """Let the calls that are made at the same time go on, each in a thread."""
        time.sleep(TURN_SECONDS)

    def wait(self, seconds: float, until: threading.Event | None = None) -> None:
        """Wait so many seconds, or less if an event comes before."""
        (until or threading.Event()).wait(seconds)


WALL: Final = Time()
"""The clocks of this machine."""


class StillTime(Time):
    """Clocks that move only where the driver waits, and begin at the same instant every time; several threads may ask.

    With them, whatever is answered to the same requests is the same, to the byte.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._passed = 0.0

    def now(self) -> int:
        """The wall clock in microseconds since the Unix epoch."""
        return BEGIN + round(self._passed * 1e6)

    def monotonic(self) -> float:
        """The seconds that were waited."""
        return self._passed

    def tick(self) -> None:
        """Let a millisecond pass."""
        self.wait(0.001)

    def take_turns(self) -> None:
        """Do nothing: by these clocks, no calls meet."""

    def wait(self, seconds: float, until: threading.Event | None = None) -> None:
        """Let so many seconds pass at once, unless the event has come."""
        if until is None or not until.is_set():
            with self._lock:
                self._passed += seconds


def instant_after_seed(steps: Iterable[Step], clock: Time = WALL) -> int:
    """An instant between seed and first append; waits on both sides of it if a step refers to it."""
    if not any(isinstance(step, CreateSession) and step.snapshot == "before-append" for step in steps):
        return clock.now()
    clock.wait(MARGIN_SECONDS)
    instant = clock.now()
    clock.wait(MARGIN_SECONDS)
    return instant


def now() -> int:
    """The wall clock in microseconds since the Unix epoch."""
    return WALL.now()
