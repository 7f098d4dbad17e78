"""How long tests wait: no assertion depends on how fast the machine is."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable
from typing import Final, TypeVar

import psutil

__all__ = ["LONG", "patiently", "still_running"]

LONG: Final = 240.0
"""Seconds for what a working machine does at once, also a busy one. Pytest gives a test 300: what does not come is
named by the assertion that waits for it.
"""

_Made = TypeVar("_Made")


def patiently(make: Callable[[float], _Made], enough: Callable[[_Made], bool], *, seconds: float = 0.3) -> _Made:
    """What ``make`` returns with a deadline in seconds that passes, and in which all that comes before it is done.

    A deadline that passes costs its time, so that it is short at first; it is doubled until ``enough`` is true of the
    result, or it is as long as :data:`LONG`.
    """
    while True:
        made = make(seconds)
        if seconds > LONG or enough(made):
            return made
        seconds *= 2


def still_running(processes: Iterable[psutil.Process]) -> list[psutil.Process]:
    """The processes that do not end, however long they get; one that has ended may wait for init to take its status."""
    left, until = list(processes), time.monotonic() + LONG
    while (left := [one for one in left if _runs(one)]) and time.monotonic() < until:
        threading.Event().wait(0.01)
    return left


def _runs(process: psutil.Process) -> bool:
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
