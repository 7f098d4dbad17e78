"""Limits on a program's memory and processor time, enforced from outside.

A limit of the kernel on address space would stop a Java or Go program at its start, because its runtime reserves far
more address space than it uses.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from types import TracebackType
from typing import Final, Self

import psutil

__all__ = ["Watch"]

INTERVAL: Final = 0.05
"""Seconds between two checks: a program that fills memory at 4 GB/s exceeds its limit by up to 200 MB."""


class Watch:
    """A context in which ``stop`` is called once if the process exceeds a limit.

    ``memory`` limits resident bytes and ``cpu`` seconds of processor time, both of the process with its descendants,
    and both counted from the start of the context. :attr:`reason` names the exceeded limit; it is empty while no
    limit is exceeded. :attr:`out_of_memory` is true if it is that of memory.
    """

    def __init__(self, number: int, *, memory: int, cpu: float, stop: Callable[[], None]) -> None:
        self._number = number
        self._memory = memory
        self._cpu = cpu
        self._stop = stop
        self._over = threading.Event()
        self.reason = ""
        self.out_of_memory = False

    def __enter__(self) -> Self:
        self._first = _used(self._number)
        self._thread = threading.Thread(target=self._look, daemon=True)
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._over.set()
        self._thread.join()

    def _look(self) -> None:
        while not self._over.wait(INTERVAL):
            memory, cpu = (now - first for now, first in zip(_used(self._number), self._first, strict=True))
            if memory > self._memory:
                self.out_of_memory = True
                self.reason = f"it held {int(memory) >> 20} MiB more than before, of {self._memory >> 20} allowed"
            elif cpu > self._cpu:
                self.reason = f"it used {cpu:.1f} s of processor time, of {self._cpu:g} allowed"
            if self.reason:
                self._stop()
                return


def _used(number: int) -> tuple[float, float]:
    """Resident bytes and processor seconds of a process with its descendants; zeros if it has ended."""
    try:
        leader = psutil.Process(number)
        family = [leader, *leader.children(recursive=True)]
    except psutil.Error:
        return 0.0, 0.0
    used = [_used_by(member) for member in family]
    return sum(memory for memory, _ in used), sum(cpu for _, cpu in used)


def _used_by(member: psutil.Process) -> tuple[float, float]:
    try:
        times = member.cpu_times()
        return float(member.memory_info().rss), times.user + times.system
    except psutil.Error:  # it ended in the meantime
        return 0.0, 0.0
