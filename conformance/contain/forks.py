"""Forks of a process that has done its imports: each starts with a clean heap within milliseconds.

The process that forks is a *keeper*: it imports once, runs one thread of the suite, and never decodes untrusted bytes.
Damage to a fork's memory ends with the fork, and a crash costs only the jobs of that fork.
Standard library only, because keepers also run under other interpreters.
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
"""Seconds for a fork without jobs to end; a library's exit handlers may take long."""


class Fork:
    """A fork that serves a channel, as its keeper sees it.

    ``serve`` is called in the fork with the fork's end of the channel; the fork ends when it returns. ``leaving`` are
    channels of the keeper, which the fork closes.
    """

    def __init__(self, serve: Callable[[Channel], None], *, leaving: Sequence[Channel] = ()) -> None:
        ours, theirs = socket.socketpair()
        self.pid = os.fork()
        if self.pid == 0:
            # A fork inherits all descriptors (fork(2)): while it has the keeper's end, the channel never closes.
            ours.close()
            for channel in leaving:
                channel.close()
            _leave(lambda: serve(Channel(theirs)))
        theirs.close()
        self.channel = Channel(ours)

    def kill(self) -> int:
        """End the fork; returns its exit code, which is its own if it had already ended."""
        # SIGKILL comes first: a fork whose channel closes would end by itself, with another exit code.
        os.kill(self.pid, signal.SIGKILL)
        self.channel.close()
        return self._reaped()

    def wait(self) -> int:
        """Close the channel, at which an idle fork ends, and reap the fork; after a timeout it is killed."""
        self.channel.close()
        if not _ends(self.pid, END_SECONDS):
            os.kill(self.pid, signal.SIGKILL)
        return self._reaped()

    def _reaped(self) -> int:
        _, status = os.waitpid(self.pid, 0)
        return os.waitstatus_to_exitcode(status)


def run_in_fork(function: Callable[[], None]) -> int:
    """Call ``function`` in a fork and wait for it; returns the exit code, 0 if ``function`` returned."""
    pid = os.fork()
    if pid == 0:
        _leave(function)
    _, status = os.waitpid(pid, 0)
    return os.waitstatus_to_exitcode(status)


def _ends(pid: int, seconds: float) -> bool:
    """True if a child ends within ``seconds``; also if the system lacks pidfd_open(2) (macOS, Linux before 5.3)."""
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
    """Call ``function`` and end this process, even if threads of a library still run in it."""
    # os._exit and not sys.exit: the exit handlers that the fork inherited belong to the keeper (_exit(2)).
    status = 1
    try:
        with contextlib.suppress(Closed):
            function()
        status = 0
    except BaseException:  # noqa: BLE001  # reported on standard error, which the keeper shares
        sys.excepthook(*sys.exc_info())
    finally:
        with contextlib.suppress(Exception):
            sys.stderr.flush()
        os._exit(status)
