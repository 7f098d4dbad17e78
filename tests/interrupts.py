"""Whether a command hears Ctrl-C depends on who starts it: a test that sends SIGINT says in which state it does."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["interrupts"]


@contextmanager
def interrupts(*, heard: bool) -> Iterator[None]:
    """SIGINT and SIGHUP are heard, or ignored, in this process and in every process that it starts meanwhile.

    A process that is started inherits nothing of a handler, but that a signal is ignored (execve(2)): tests that run in
    the background of a shell ignore SIGINT themselves, or SIGHUP under ``nohup``, and so would all that they start. For
    the main thread only.
    """
    handlers = {signal.SIGINT: signal.default_int_handler, signal.SIGHUP: signal.SIG_DFL}
    before = {one: signal.signal(one, handler if heard else signal.SIG_IGN) for one, handler in handlers.items()}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
