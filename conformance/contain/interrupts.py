"""Which signals end this process in order, and an event that they set.

SIGTERM always does. SIGINT does unless it is ignored when the process starts: a shell has what it starts in the
background ignore SIGINT, so that Ctrl-C ends what runs in the foreground alone, and whoever writes ``trap '' INT``
means the same. POSIX asks this of shells (Shell & Utilities, 2.11), Python and the GNU tools do it too.
"""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator

__all__ = ["ending", "stopping"]


def ending() -> tuple[signal.Signals, ...]:
    """The signals that end this process in order."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        return (signal.SIGTERM,)
    return (signal.SIGINT, signal.SIGTERM)


@contextlib.contextmanager
def stopping() -> Iterator[threading.Event]:
    """An event that these signals set meanwhile; the previous handlers are restored. For the main thread only."""
    done = threading.Event()
    before = {number: signal.signal(number, lambda *_: done.set()) for number in ending()}
    try:
        yield done
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
