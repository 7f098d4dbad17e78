"""The instants of a case: servers store times in milliseconds, some in ticks, so that two instants need a distance."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable
from typing import Final

from conformance.records import CreateSession, Step

__all__ = ["instant_after_seed", "now"]

MARGIN_SECONDS: Final = 0.02
"""Seconds between seed, snapshot instant and first append: servers store times in milliseconds, some in ticks."""


def instant_after_seed(steps: Iterable[Step]) -> int:
    """An instant between seed and first append; waits on both sides of it if a step refers to it."""
    if not any(isinstance(step, CreateSession) and step.snapshot == "before-append" for step in steps):
        return now()
    pause = threading.Event()
    pause.wait(MARGIN_SECONDS)
    instant = now()
    pause.wait(MARGIN_SECONDS)
    return instant


def now() -> int:
    """The wall clock in microseconds since the Unix epoch."""
    return time.time_ns() // 1000
