"""Which signals end this process in order, and what waits for them.

SIGTERM always does. SIGINT does unless it is ignored when the process starts: a shell has what it starts in the
background ignore SIGINT, so that Ctrl-C ends what runs in the foreground alone, and whoever writes ``trap '' INT``
means the same. POSIX asks this of shells (Shell & Utilities, 2.11), Python and the GNU tools do it too. SIGHUP, of a
terminal that is closed, does unless it is ignored, as under ``nohup``.
"""

from __future__ import annotations

import contextlib
import signal
import socket
from collections.abc import Iterator

__all__ = ["Stop", "ending", "stopping"]


def ending() -> tuple[signal.Signals, ...]:
    """The signals that end this process in order."""
    heard = (one for one in (signal.SIGINT, signal.SIGHUP) if signal.getsignal(one) is not signal.SIG_IGN)
    return (*heard, signal.SIGTERM)


class Stop:
    """An event that a signal handler may set, and that a signal sets whichever thread it arrives in.

    ``threading.Event`` is none: its lock is not reentrant, and a handler runs in the thread that waits. Nor is a queue:
    a signal that arrives in another thread, or just before the wait begins, does not wake the thread that waits. A byte
    in a socket does: https://docs.python.org/3/library/signal.html#signal.set_wakeup_fd.
    """

    def __init__(self) -> None:
        self._set = False
        self._reader, self._writer = socket.socketpair()
        self._writer.settimeout(0)

    def set(self) -> None:
        """End the wait, and every later one; one thread may wait."""
        self._set = True
        with contextlib.suppress(OSError):  # it is full, or closed: nobody waits for this byte
            self._writer.send(b"\0")

    def is_set(self) -> bool:
        """True if a wait would end at once."""
        return self._set

    def wait(self) -> None:
        """Wait until it is set."""
        while not self._set:
            self._reader.recv(1)

    def fileno(self) -> int:
        """Where a signal leaves its byte, by :func:`signal.set_wakeup_fd`."""
        return self._writer.fileno()

    def close(self) -> None:
        """Nobody waits any more."""
        self._reader.close()
        self._writer.close()


@contextlib.contextmanager
def stopping() -> Iterator[Stop]:
    """What these signals set meanwhile; the previous handlers are restored. For the main thread only."""
    with contextlib.closing(Stop()) as done:
        before = {number: signal.signal(number, lambda *_: done.set()) for number in ending()}
        wakeup = signal.set_wakeup_fd(done.fileno(), warn_on_full_buffer=False)
        try:
            yield done
        finally:
            signal.set_wakeup_fd(wakeup)
            for number, handler in before.items():
                signal.signal(number, handler)
