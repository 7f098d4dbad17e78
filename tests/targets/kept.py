"""The first process of Python serializers, for tests of what a serializer does to the runner that it has by itself.

Each target starts such a process, which forks a runner for each serializer. Here the next target gets the process of
the one before, as a target does whose serializer has ended its runner.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from typing import Any, cast

import pytest

from conformance.contain.channel import Channel, ChannelMessage, FrameError
from conformance.contain.worker import Worker
from conformance.targets import contained
from tests.patience import LONG

__all__ = ["kept_first_processes"]


class _Listening:
    """A channel that remembers what its last frame was: whether a runner waits, has ended, or does something."""

    def __init__(self, channel: Channel) -> None:
        self._channel = channel
        self.last = "died"

    def send(self, header: Mapping[str, Any], blobs: tuple[bytes, ...] = (), *, seconds: float | None = None) -> None:
        """Send a frame."""
        self.last = ""
        self._channel.send(header, blobs, seconds=seconds)

    def receive(self, *, seconds: float | None = None) -> ChannelMessage:
        """Receive a frame."""
        self.last = ""
        frame = self._channel.receive(seconds=seconds)
        self.last = "".join(frame.header)
        return frame


class _Borrowed:
    """A process as a target has it; closed, it is given back unless its runner is in the middle of something."""

    def __init__(self, worker: Worker, idle: list[Worker]) -> None:
        self._worker = worker
        self._idle = idle
        self.channel = _Listening(worker.channel)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._worker, name)

    def close(self) -> str:
        """Let the runner end by a case that is none, and give the process back; else end it."""
        try:
            if self.channel.last in ("opened", "done"):
                self.channel.send({"drive": None}, seconds=LONG)
                self.channel.receive(seconds=LONG)
            elif self.channel.last == "unusable":
                self.channel.receive(seconds=LONG)
        except (FrameError, OSError):
            return self._worker.close()
        if self.channel.last != "died":
            return self._worker.close()
        self._idle.append(self._worker)
        return ""


@contextlib.contextmanager
def kept_first_processes() -> Iterator[None]:
    """Within the context, targets share the process that forks their runners, one after the other."""
    idle: list[Worker] = []

    def worker(module: str, **options: Any) -> Worker:
        return cast("Worker", _Borrowed(idle.pop() if idle else Worker(module, **options), idle))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(contained, "Worker", worker)
        yield
    for each in idle:
        each.close()
