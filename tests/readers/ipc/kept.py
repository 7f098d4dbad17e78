"""Processes of Python libraries that outlive their pools, for tests of what is made of the answers.

Each pool starts a process for each of its libraries. The commands make a pool in each call; where a test is about what
they print, the next pool gets the process of the one before, as that of one run serves all of its jobs.
"""

from __future__ import annotations

import contextlib
import threading
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from conformance.contain.channel import ChannelMessage
from conformance.readers.ipc import python
from conformance.readers.ipc.implementation import Unavailable
from conformance.readers.ipc.job import Job

__all__ = ["kept_processes"]

_Process = python._WorkerProcess


class _Idle:
    """The processes that no pool has, by the module that they have imported."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._by_module: dict[str, list[_Process]] = defaultdict(list)

    def take(self, module: str) -> _Process:
        """One that is idle, or else a new one."""
        with self._lock:
            if self._by_module[module]:
                return self._by_module[module].pop()
        return _Process(module)

    def give(self, module: str, process: _Process) -> None:
        """Keep one for the next pool."""
        with self._lock:
            self._by_module[module].append(process)

    def end(self) -> None:
        """End all of them."""
        for processes in self._by_module.values():
            for process in processes:
                process.close()


class _Borrowed:
    """A process, as a runner has it, which ends it only while it is asked something, or after it has broken."""

    def __init__(self, idle: _Idle, module: str) -> None:
        self._idle = idle
        self._module = module
        self._process = idle.take(module)
        self._sound = True

    def version(self) -> str:
        """The version of the library."""
        with self._asking(Unavailable):
            return self._process.version()

    def ask(self, request: Mapping[str, Any], job: Job, *, seconds: float) -> ChannelMessage:
        """The answer to a job."""
        with self._asking():
            return self._process.ask(request, job, seconds=seconds)

    @contextlib.contextmanager
    def _asking(self, *harmless: type[Exception]) -> Iterator[None]:
        self._sound = False
        try:
            yield
        except harmless:
            self._sound = True
            raise
        self._sound = True

    def kill(self) -> None:
        """End it if it is asked something."""
        if not self._sound:
            self._process.kill()

    def close(self) -> str:
        """Give it back, or end it."""
        if not self._sound:
            return self._process.close()
        self._idle.give(self._module, self._process)
        return ""


@contextlib.contextmanager
def kept_processes() -> Iterator[None]:
    """Within the context, runners of Python libraries share their processes, one after the other."""
    idle = _Idle()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(python, "_WorkerProcess", lambda module: _Borrowed(idle, module))
        yield
    idle.end()
