"""The parent of one started program: whatever way the suite ends, the program and all that it started end with it.

Run by path (inside an archive from its source), ``python -I -S supervisor.py CONTROL STATUS``, with two descriptors of
pipes; standard library only, so that it starts in milliseconds.

On CONTROL it reads one line of JSON, ``{"command": [], "environment": {}, "keep": [descriptor]}``, then single bytes:
``t`` sends SIGTERM to the program's process group, anything else ends everything. The suite alone holds the other
end, so the kernel closes it however the suite ends, SIGKILL included, and that ends everything too.

On STATUS it writes lines: ``started PID`` or ``failed REASON``; at the end, when nothing is left, the exit code of
the program as :mod:`subprocess` counts it (``ended CODE``, negative for a signal).

Why a process of its own: a parent-death signal fires when the *thread* that started the program ends, and setting one
takes a ``preexec_fn``, which is unsafe beside gRPC's threads. A process can also be the subreaper of all descendants
of the program (Linux, ``prctl(2)``), so that one which left the process group, by ``setsid`` or by forking twice, is
found. On other systems the process group is all that is ended. If a program kills its supervisor, the suite finds its
descendants by a mark in their environment (Linux); one that has also cleared its environment escapes.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import sys
from pathlib import Path

SUBREAPER = 36
"""``PR_SET_CHILD_SUBREAPER`` of ``linux/prctl.h``."""
PARENT_DEATH_SIGNAL = 1
"""``PR_SET_PDEATHSIG``, as above."""
DEFAULT = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGPIPE, signal.SIGCHLD, signal.SIGXFSZ)
"""Signals that the program gets with their default action: one that is ignored here would be inherited as such."""


class Supervisor:
    """Starts one program, passes signals on, and reaps every descendant of it."""

    def __init__(self, control: int, status: int) -> None:
        self._control = control
        self._status = status
        self._leader = 0
        self._code: int | None = None
        self._wakeup, self._waker = os.pipe()

    def run(self) -> None:
        """Start the program, and return when nothing of it is left."""
        self._prepare()
        request = self._request()
        try:
            self._start(request["command"], request["environment"], request["keep"])
        except (OSError, ValueError) as error:
            self._say(f"failed {getattr(error, 'strerror', None) or error}")
            return
        try:
            self._let_go()
            self._say(f"started {self._leader}")
            self._watch()
        finally:  # whatever goes wrong here, nothing of the program is left
            self._end()
        self._say(f"ended {self._code}")

    def _prepare(self) -> None:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
        os.set_blocking(self._waker, False)
        signal.signal(signal.SIGCHLD, lambda *_: None)  # only a signal with a handler wakes the loop
        signal.set_wakeup_fd(self._waker, warn_on_full_buffer=False)
        for descriptor in (self._control, self._status):
            os.set_inheritable(descriptor, False)  # noqa: FBT003  # the library's signature
        if sys.platform == "linux":
            import ctypes  # noqa: PLC0415  # of no use elsewhere

            prctl = ctypes.CDLL(None).prctl
            prctl(SUBREAPER, 1, 0, 0, 0)
            # The program may stop us. The end of the suite wakes us then; that of one of its threads does no harm.
            prctl(PARENT_DEATH_SIGNAL, signal.SIGCONT, 0, 0, 0)

    def _request(self) -> dict:  # type: ignore[type-arg]  # typing would cost a third of the start
        line = b""
        while not line.endswith(b"\n"):
            piece = os.read(self._control, 1 << 16)
            if not piece:
                os._exit(0)  # the suite ended before it had asked for anything
            line += piece
        return json.loads(line)  # type: ignore[no-any-return]

    def _start(self, command: list[str], environment: dict[str, str], keep: list[int]) -> None:
        for descriptor in keep:
            os.set_inheritable(descriptor, True)  # noqa: FBT003  # as above
        self._leader = os.posix_spawn(command[0], command, environment, setsid=True, setsigdef=DEFAULT, setsigmask=())

    def _let_go(self) -> None:
        """Close what belongs to the program alone: its pipes have to end when it does."""
        nothing = os.open(os.devnull, os.O_RDWR)
        ours = {self._control, self._status, self._wakeup, self._waker}
        for name in os.listdir("/dev/fd"):  # noqa: PTH208  # names are all that is wanted
            descriptor = int(name)
            if descriptor <= 2:  # the standard streams
                os.dup2(nothing, descriptor)
            elif descriptor not in ours:
                with contextlib.suppress(OSError):
                    os.close(descriptor)

    def _say(self, line: str) -> None:
        with contextlib.suppress(OSError):  # the suite may be gone
            os.write(self._status, line.encode("utf-8", "backslashreplace") + b"\n")

    def _watch(self) -> None:
        """Return when the program has ended, or everything is to end."""
        poll = select.poll()  # select() takes no descriptor above 1023, and CONTROL has the suite's number
        for descriptor in (self._control, self._wakeup):
            poll.register(descriptor, select.POLLIN)
        while not self._has_ended():
            ready = [descriptor for descriptor, _ in poll.poll()]
            if self._wakeup in ready:
                os.read(self._wakeup, 4096)
            if self._control in ready:
                if os.read(self._control, 1) != b"t":
                    return
                self._signal_group(signal.SIGTERM)

    def _has_ended(self) -> bool:
        """Whether the program has ended; orphans that have are reaped on the way.

        The program itself is left to be reaped after its group was killed: until then its id names that group and no
        other.
        """
        if not hasattr(os, "waitid"):  # macOS before Python 3.13
            return self._reap(os.WNOHANG) and self._code is not None
        while (ended := os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)) is not None:
            if ended.si_pid == self._leader:
                return True
            os.waitpid(ended.si_pid, 0)
        return False

    def _end(self) -> None:
        """Kill the group and every descendant, until there is none."""
        self._signal_group(signal.SIGKILL)
        while True:
            for child in self._children():
                with contextlib.suppress(OSError):
                    os.kill(child, signal.SIGKILL)
            if not self._reap():
                return

    def _reap(self, options: int = 0) -> bool:
        """Reap one child; whether there was any. Children of one that has ended are ours now, and seen next."""
        try:
            pid, status = os.waitpid(-1, options)
        except ChildProcessError:
            return False
        if pid == self._leader:
            self._code = os.waitstatus_to_exitcode(status)
        return True

    def _children(self) -> list[int]:
        """Our direct children. Without a list from the kernel, the program is all that is known."""
        listed = Path(f"/proc/self/task/{os.getpid()}/children")
        try:
            return [int(pid) for pid in listed.read_text().split()]
        except OSError:
            return [self._leader] if self._code is None else []

    def _signal_group(self, number: int) -> None:
        # Also when the leader was just reaped: while the group has members, no other process gets its id.
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._leader, number)


if __name__ == "__main__":
    Supervisor(int(sys.argv[1]), int(sys.argv[2])).run()
