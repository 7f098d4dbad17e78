"""The watch over calls, with a clock that a test sets."""

from __future__ import annotations

import threading

import pytest

from conformance.targets import cutting

__all__ = ["Hands"]


class Hands:
    """A watch whose clock a test sets, and what it was told to cut and to cancel."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 0.0
        self.cut: list[str] = []
        self.cancelled = threading.Event()
        self._watch = cutting._Watch(now=lambda: self.now)
        self._watch._started = True  # no thread
        monkeypatch.setattr(cutting, "_WATCH", self._watch)
        monkeypatch.setattr(cutting, "cut", self.cut.append)

    def pass_time(self, seconds: float) -> None:
        """Let so many seconds pass, and the watch act on it."""
        self.now += seconds
        self._watch.act()
