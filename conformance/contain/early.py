"""Ctrl-C before a command has begun, while Python still imports: nothing was started, and a word says what happened.

Python would print a traceback through whatever module it is importing. This module imports next to nothing, so that
little time passes before it is in force.
"""

from __future__ import annotations

import atexit
import os
import signal

__all__ = ["interruptible"]

STATUS = 130
SAID = b"interrupted\n"


class interruptible:  # noqa: N801  # contextlib imports too much for what runs first
    """A context in which SIGINT ends this process with a word and status 130; what is inside may set handlers too.

    SIGINT stays as it is where it is ignored, where a handler was set, and outside of the main thread.
    """

    def __enter__(self) -> None:
        self._mine = signal.getsignal(signal.SIGINT) is signal.default_int_handler
        if self._mine:
            try:
                signal.signal(signal.SIGINT, _end)
            except ValueError:  # not in the main thread
                self._mine = False

    def __exit__(self, *_: object) -> None:
        if self._mine:
            signal.signal(signal.SIGINT, signal.default_int_handler)
            # Python's own handler would print a traceback while Python takes itself apart.
            atexit.register(signal.signal, signal.SIGINT, signal.SIG_DFL)


def _end(_number: int, _frame: object) -> None:
    try:
        os.write(2, SAID)
    finally:
        os._exit(STATUS)
