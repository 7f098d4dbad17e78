"""Forks of a process that has imported what it needs: each begins with a clean heap and costs milliseconds.

The process that forks is a *keeper*: it imports once, runs one thread of ours, and touches no foreign byte itself.
What a fork does to its memory is gone with the fork, and what ends it costs the jobs that it had.
Standard library only: keepers run under other interpreters too.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import socket
import sys
from collections.abc import Callable, Sequence
from typing import Final, NoReturn

from conformance.contain.channel import Channel, Closed

__all__ = ["Fork", "run_in_fork"]


END_SECONDS: Final = 10.0
"""For a fork that has no job any more to end; what a library does at its end may take long."""


class Fork:
    """A fork that serves a channel, from the keeper's side.

    ``serve`` is called in the fork with its end of the channel, and the fork ends when it returns; ``leaving`` are the
    keeper's own channels, which the fork closes.
    """

    def __init__(self, serve: Callable[[Channel], None], *, leaving: Sequence[Channel] = ()) -> None:
        ours, theirs = socket.socketpair()
        self.pid = os.fork()
        if self.pid == 0:
            ours.close()
            for channel in leaving:
                channel.close()
            _leave(lambda: serve(Channel(theirs)))
        theirs.close()
        self.channel = Channel(ours)

    def kill(self) -> int:
        """End the fork; the exit code, which is of its own where it had already ended."""
        os.kill(self.pid, signal.SIGKILL)  # first: a fork whose channel closes ends by itself, with another code
        self.channel.close()
        return self._reaped()

    def wait(self) -> int:
        """Close the channel, which ends a fork that waits for a job, and reap it; one that stays is killed."""
        self.channel.close()
        if not _ends(self.pid, END_SECONDS):
            os.kill(self.pid, signal.SIGKILL)
        return self._reaped()

    def _reaped(self) -> int:
        _, status = os.waitpid(self.pid, 0)
        return os.waitstatus_to_exitcode(status)


def run_in_fork(function: Callable[[], None]) -> int:
    """Call ``function`` in a fork and wait for it; the exit code: 0 where it returned."""
    pid = os.fork()
    if pid == 0:
        _leave(function)
    _, status = os.waitpid(pid, 0)
    return os.waitstatus_to_exitcode(status)


def _ends(pid: int, seconds: float) -> bool:
    """Whether a child ends within ``seconds``; assumed where the system cannot wait so (macOS, Linux before 5.3)."""
    try:
        descriptor = os.pidfd_open(pid)
    except (AttributeError, OSError):
        return True
    try:
        poll = select.poll()
        poll.register(descriptor, select.POLLIN)
        return bool(poll.poll(1000 * seconds))
    finally:
        os.close(descriptor)


def _leave(function: Callable[[], None]) -> NoReturn:
    """Call ``function`` and end this process, whatever threads of a library still run in it."""
    status = 1
    try:
        with contextlib.suppress(Closed):
            function()
        status = 0
    except BaseException:  # noqa: BLE001  # reported on standard error, which belongs to whoever started the keeper
        sys.excepthook(*sys.exc_info())
    finally:
        with contextlib.suppress(Exception):
            sys.stderr.flush()
        os._exit(status)
