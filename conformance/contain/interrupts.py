"""Which signals end this process in order, and what waits for them.

SIGTERM always does. SIGINT does unless it is ignored when the process starts: a shell has what it starts in the
background ignore SIGINT, so that Ctrl-C ends what runs in the foreground alone, and whoever writes ``trap '' INT``
means the same. POSIX asks this of shells (Shell & Utilities, 2.11), Python and the GNU tools do it too.
"""

from __future__ import annotations

import contextlib
import queue
import signal
from collections.abc import Iterator
from typing import Final

__all__ = ["Stop", "ending", "stopping"]


def ending() -> tuple[signal.Signals, ...]:
    """The signals that end this process in order."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        return (signal.SIGTERM,)
    return (signal.SIGINT, signal.SIGTERM)


class Stop:
    """An event that a signal handler may set.

    ``threading.Event`` is none: its lock is not reentrant, and a handler runs in the thread that waits. If the signal
    arrives while that thread has the lock, ``set`` waits for it without end. ``put`` of a ``SimpleQueue`` is reentrant:
    https://docs.python.org/3/library/queue.html#queue.SimpleQueue.put.
    """

    def __init__(self) -> None:
        self._set: Final = queue.SimpleQueue[None]()

    def set(self) -> None:
        """End every wait."""
        self._set.put(None)

    def is_set(self) -> bool:
        """True if a wait would end at once."""
        return not self._set.empty()

    def wait(self) -> None:
        """Wait until it is set."""
        self._set.get()
        self._set.put(None)


@contextlib.contextmanager
def stopping() -> Iterator[Stop]:
    """What these signals set meanwhile; the previous handlers are restored. For the main thread only."""
    done = Stop()
    before = {number: signal.signal(number, lambda *_: done.set()) for number in ending()}
    try:
        yield done
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
