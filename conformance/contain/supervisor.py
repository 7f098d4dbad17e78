"""The parent of one started program: however the suite ends, the program and all its descendants end with it.

The script runs by its path (in an archive from its source) as ``python -I -S supervisor.py CONTROL STATUS``, with two
descriptors of pipes. It uses the standard library only, so that it starts in milliseconds.

On CONTROL it reads one line of JSON, ``{"command": [], "environment": {}}``, then single bytes: ``t`` sends SIGTERM to
the program's process group, any other byte ends everything. Only the suite has the other end of the pipe. The kernel
closes that end however the suite ends, SIGKILL included, and the closed pipe ends everything, too. The program inherits
every other descriptor that the supervisor was started with.

On STATUS it writes lines: ``started PID`` or ``failed REASON``, and at the end, when no descendant is left,
``ended CODE`` with the program's exit code as in :mod:`subprocess` (negative for a signal).

It is a process of its own for two reasons. A parent-death signal fires when the *thread* that started the program ends
(prctl(2), PR_SET_PDEATHSIG), and setting one takes a ``preexec_fn``, which is unsafe in a process with gRPC's threads.
And a process can be the subreaper of all descendants of the program (Linux, prctl(2), PR_SET_CHILD_SUBREAPER), so that
it also finds a descendant that left the process group, by ``setsid`` or by forking twice. Other systems do not have
this: there, only the process group is ended. If a program kills its supervisor, the suite finds the descendants by a
mark in their environment (Linux); a descendant that has also cleared its environment escapes.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import sys

SUBREAPER = 36
"""``PR_SET_CHILD_SUBREAPER`` of ``linux/prctl.h``; see prctl(2)."""
PARENT_DEATH_SIGNAL = 1
"""``PR_SET_PDEATHSIG`` of ``linux/prctl.h``; see prctl(2)."""
DEFAULT = signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}
"""Signals that the program gets with their default action: an ignored signal stays ignored in it (execve(2))."""


class Supervisor:
    """Starts one program, passes signals to it, and reaps every descendant of it."""

    def __init__(self, control: int, status: int) -> None:
        self._control = control
        self._status = status
        self._leader = 0
        self._code: int | None = None
        self._wakeup, self._waker = os.pipe()

    def run(self) -> None:
        """Start the program, and return when it and all its descendants have ended."""
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
        finally:  # no descendant may survive, whatever fails here
            self._end()
        self._say(f"ended {self._code}")

    def _prepare(self) -> None:
        # The program that started the suite may have blocked signals, which every process below it inherits.
        signal.pthread_sigmask(signal.SIG_SETMASK, ())
        # A signal to all processes of the suite must not end the supervisor before the program has ended.
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
        os.set_blocking(self._waker, False)
        signal.signal(signal.SIGCHLD, lambda *_: None)  # only a signal with a handler writes to the wakeup descriptor
        # The loop waits in poll(2): a byte in this pipe ends the wait, even if the signal came just before the call.
        signal.set_wakeup_fd(self._waker, warn_on_full_buffer=False)
        if sys.platform == "linux":
            import ctypes  # noqa: PLC0415  # other systems do not need it

            prctl = ctypes.CDLL(None).prctl
            prctl(SUBREAPER, 1, 0, 0, 0)
            # The program may stop its supervisor (SIGSTOP). SIGCONT at the end of the suite continues it; the signal
            # also comes at the end of the suite's thread that started it, where it does no harm.
            prctl(PARENT_DEATH_SIGNAL, signal.SIGCONT, 0, 0, 0)

    def _request(self) -> dict:  # type: ignore[type-arg]  # typing would cost a third of the start
        line = b""
        while not line.endswith(b"\n"):
            piece = os.read(self._control, 1 << 16)
            if not piece:
                os._exit(0)  # the suite ended before it sent a request
            line += piece
        return json.loads(line)  # type: ignore[no-any-return]

    def _start(self, command: list[str], environment: dict[str, str], keep: list[int]) -> None:
        for descriptor in map(int, os.listdir("/dev/fd")):  # noqa: PTH208  # only the names are needed
            # Some builds of Python have one of their own that a program would inherit (3.14.6: the interpreter's file).
            if descriptor > 2 and descriptor not in keep:
                with contextlib.suppress(OSError):  # the directory's own is closed by now
                    os.set_inheritable(descriptor, False)  # noqa: FBT003  # the library's signature
        # A process group of its own, which killpg(3) can signal. Its session is the supervisor's: some builds of Python
        # have no ``setsid`` here (python-build-standalone 3.14.6 raises NotImplementedError).
        self._leader = os.posix_spawn(command[0], command, environment, setpgroup=0, setsigdef=DEFAULT, setsigmask=())

    def _let_go(self) -> None:
        """Close the program's descriptors: a pipe reports its end only when all processes have closed it (pipe(7))."""
        nothing = os.open(os.devnull, os.O_RDWR)
        ours = {self._control, self._status, self._wakeup, self._waker}
        for name in os.listdir("/dev/fd"):  # noqa: PTH208  # only the names are needed
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
        """Return when the program has ended, or when everything has to end."""
        # select(2) accepts no descriptor above 1023, and CONTROL has the number that it has in the suite.
        poll = select.poll()
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
        """True if the program has ended; orphans that have ended are reaped.

        The program itself stays unreaped until its group has been killed: a zombie keeps its process id, so that the id
        cannot name another group in the meantime. WNOWAIT of waitid(2) looks at a child without reaping it.
        """
        if not hasattr(os, "waitid"):  # macOS before Python 3.13, where orphans do not come to this process
            self._reap(os.WNOHANG)
            return self._code is not None
        while (ended := os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)) is not None:
            if ended.si_pid == self._leader:
                return True
            os.waitpid(ended.si_pid, 0)
        return False

    def _end(self) -> None:
        """Kill the group and every descendant, until none is left."""
        # Each killed child leaves its own children to this process, the subreaper: the loop repeats until wait fails.
        self._signal_group(signal.SIGKILL)
        while True:
            for child in self._children():
                with contextlib.suppress(OSError):
                    os.kill(child, signal.SIGKILL)
            if not self._reap():
                return

    def _reap(self, options: int = 0) -> bool:
        """Reap one child; True if there is one, ended or not. Its own children become children of this process."""
        try:
            pid, status = os.waitpid(-1, options)
        except ChildProcessError:
            return False
        if pid == self._leader:
            self._code = os.waitstatus_to_exitcode(status)
        return True

    def _children(self) -> list[int]:
        """The direct children of this process; only the program if the kernel does not list them (proc(5))."""
        try:
            # Without pathlib, whose import takes a third of the time in which this script starts.
            with open(f"/proc/self/task/{os.getpid()}/children", encoding="ascii") as listed:  # noqa: PTH123
                return [int(pid) for pid in listed.read().split()]
        except OSError:
            return [self._leader] if self._code is None else []

    def _signal_group(self, number: int) -> None:
        # Safe even if the leader was just reaped: a new process never gets the id of an existing group (fork(2)).
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._leader, number)


if __name__ == "__main__":
    Supervisor(int(sys.argv[1]), int(sys.argv[2])).run()
