"""One started program and its supervisor, as the suite sees them: begun, signalled, ended, and how it ended.

:mod:`.supervisor` is the process between; this module is the only place that starts it, and so the only place in the
package that starts a process at all. What is done with a program's pipes is :mod:`.child`'s matter.
"""

from __future__ import annotations

import contextlib
import functools
import io
import json
import math
import os
import secrets
import select
import shutil
import signal
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Callable, Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import IO, Final, TypeAlias

from conformance.contain.errors import CannotStart

__all__ = ["Group", "Supervised", "end_foreign", "in_words", "open_standard_streams", "signal_name"]

KILL_SECONDS: Final = 5.0
"""For the kernel to free the memory of what was killed; a process that waits for a disk may take it."""
MARK: Final = "CONFORMANCE_STARTED"
"""The environment variable by which the descendants of a program are known if it kills its supervisor."""
START_SECONDS: Final = 30.0
"""For a supervisor to start a program from a slow disk on a busy machine."""
WAKE_SECONDS: Final = 0.5
"""Between two attempts to wake a supervisor that says nothing."""
LINE_BYTES: Final = 4096
"""Of a line of the supervisor: it has a few words, but whoever has its descriptors may write there."""

Stream: TypeAlias = int | IO[bytes]


class Group:
    """Programs that end at one word: for one who waits for several of them in threads, and gives up on all."""

    def __init__(self) -> None:
        self._members: weakref.WeakSet[Supervised] = weakref.WeakSet()
        self._killed = False
        self._lock = threading.RLock()  # the handler of a signal may kill while a member joins

    def join(self, member: Supervised) -> None:
        """Have ``member`` end with the others; at once where they were told already."""
        with self._lock:
            self._members.add(member)
            if self._killed:
                member.kill()

    def kill(self) -> None:
        """End every member, those that are just starting and those that join later among them."""
        with self._lock:
            self._killed = True
            for member in self._members:
                member.kill()


class Supervised:
    """A started program. ``pid`` is its process id, and the id of its process group.

    Args:
        command: The program and its arguments; the program is looked for on the PATH of ``environment``.
        environment: All of its environment variables.
        stdin: A descriptor or file, ``subprocess.PIPE`` or ``subprocess.DEVNULL``; likewise the other two.
        keep: Further descriptors that the program inherits under the same numbers.
        on_end: Called once, in a thread, when the program has ended.
        group: Programs that it ends with.

    Raises:
        CannotStart: There is no such program, it cannot be executed, or this machine has no room for a process.
    """

    def __init__(
        self,
        command: Sequence[str],
        *,
        environment: Mapping[str, str],
        stdin: Stream = subprocess.DEVNULL,
        stdout: Stream = subprocess.DEVNULL,
        stderr: Stream = subprocess.DEVNULL,
        keep: Sequence[int] = (),
        on_end: Callable[[], None] | None = None,
        group: Group | None = None,
    ) -> None:
        open_standard_streams()
        program = shutil.which(command[0], path=environment.get("PATH", os.defpath))
        if program is None:
            reason = "not executable" if Path(command[0]).exists() else "no such program"
            raise CannotStart(f"cannot start {command[0]!r}: {reason}")
        self._on_end = on_end
        self._ended = threading.Event()
        self._code: int | None = None
        self._killed = False
        self.pid = 0
        self._asking = threading.RLock()  # the handler of a signal may ask in the middle of asking
        self._mark = secrets.token_hex(16)
        marked = {**environment, MARK: self._mark}
        request = {"command": [program, *command[1:]], "environment": marked, "keep": list(keep)}
        try:
            self._popen = self._supervisor(stdin, stdout, stderr, keep)
        except OSError as error:
            raise CannotStart(f"cannot start {command[0]!r}: {error.strerror}") from None
        try:
            _STARTED.add(self)
            if group is not None:  # before anything runs: who ends all meanwhile ends this too
                group.join(self)
            self.pid = self._begun(json.dumps(request).encode() + b"\n", command[0])
            self._waiter = threading.Thread(target=self._wait, daemon=True, name=f"wait for {self.pid}")
            self._waiter.start()
        except BaseException as error:
            self._forget()
            if isinstance(error, RuntimeError):  # no thread could be started
                raise CannotStart(f"cannot start {command[0]!r}: {error}") from None
            raise
        if self._killed:
            self.kill()

    def _supervisor(
        self, stdin: Stream, stdout: Stream, stderr: Stream, keep: Sequence[int]
    ) -> subprocess.Popen[bytes]:
        theirs, self._control = _pipe()
        with theirs, contextlib.ExitStack() as undo:
            undo.callback(self._control.close)
            self._status, status = _pipe()
            with status:
                undo.callback(self._status.close)
                popen = subprocess.Popen(  # noqa: S603  # our own script, by our own interpreter
                    [sys.executable, "-I", "-S", *_script(), str(theirs.fileno()), str(status.fileno())],
                    stdin=stdin,
                    stdout=stdout,
                    stderr=stderr,
                    pass_fds=(theirs.fileno(), status.fileno(), *keep),
                    start_new_session=True,
                )
            undo.pop_all()
        return popen

    def _begun(self, request: bytes, name: str) -> int:
        """Send the request and take the first line of the answer."""
        with contextlib.suppress(BrokenPipeError):
            while request:
                request = request[self._control.write(request) :]
        word, rest = self._line(START_SECONDS)
        if word == "started" and rest.isdecimal():
            return int(rest)
        raise CannotStart(f"cannot start {name!r}: {rest or 'its supervisor ended'}")

    def _line(self, seconds: float) -> tuple[str, str]:
        """The next line of the supervisor, word and rest; empty where it ends without one, or none comes in time.

        It is woken meanwhile: a program may have stopped it.
        """
        poll = select.poll()
        poll.register(self._status, select.POLLIN)
        until = time.monotonic() + seconds
        while not poll.poll(1000 * WAKE_SECONDS):
            if time.monotonic() > until:
                return "", ""
            self._popen.send_signal(signal.SIGCONT)
        word, _, rest = self._status.readline(LINE_BYTES).decode(errors="replace").strip().partition(" ")
        return word, rest

    def _forget(self) -> None:
        """Let go of a program that never was: its supervisor ends at the end of its pipe."""
        self._control.close()
        self._popen.send_signal(signal.SIGCONT)
        end_foreign(self._popen, KILL_SECONDS)
        self._status.close()
        _STARTED.discard(self)
        for pipe in (self._popen.stdin, self._popen.stdout, self._popen.stderr):
            if pipe is not None:
                pipe.close()

    @property
    def stdin(self) -> IO[bytes] | None:
        """The pipe to the program's standard input, where one was asked for."""
        return self._popen.stdin

    @property
    def stdout(self) -> IO[bytes] | None:
        """The pipe from its standard output, where one was asked for."""
        return self._popen.stdout

    @property
    def stderr(self) -> IO[bytes] | None:
        """The pipe from its standard error, where one was asked for."""
        return self._popen.stderr

    @property
    def root(self) -> int:
        """The process id of the supervisor: every descendant of the program is one of it, whatever it does."""
        return self._popen.pid

    @property
    def code(self) -> int | None:
        """How it ended: its exit status, or the negative number of a signal; None while it runs."""
        return self._code

    @property
    def running(self) -> bool:
        """Whether the program, or anything that it started, may still run."""
        return not self._ended.is_set()

    def wait(self, seconds: float | None) -> bool:
        """Wait up to ``seconds`` for its end, that of its descendants included; whether it came."""
        return self._ended.wait(seconds)

    def terminate(self) -> None:
        """Send SIGTERM to the program's process group."""
        self._ask(b"t")

    def kill(self) -> None:
        """End the program and everything that it started, at once; one that is just starting ends when it has."""
        self._killed = True
        if self.pid:
            self._popen.send_signal(signal.SIGCONT)  # a program may have stopped its supervisor
            self._ask(b"k")

    def end(self, *, grace: float = 0.0) -> None:
        """End everything: SIGTERM first where ``grace`` is above 0, SIGKILL after so many seconds; wait for the end."""
        if grace > 0 and self.running:
            self.terminate()
            self.wait(grace)
        self.kill()
        if not self.wait(KILL_SECONDS):
            self._popen.kill()
        self._waiter.join()
        _STARTED.discard(self)
        with self._asking:
            self._control.close()

    def _ask(self, what: bytes) -> None:
        with self._asking, contextlib.suppress(OSError, ValueError):  # it has ended, or was let go
            self._control.write(what)

    def _wait(self) -> None:
        """Take the supervisor's last line, and reap it."""
        try:
            with self._status:
                word, rest = self._line(math.inf)
            self._popen.wait()
            if word == "ended" and rest.removeprefix("-").isdecimal():
                self._code = int(rest)
            else:  # somebody killed the supervisor
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.killpg(self.pid, signal.SIGKILL)
                _kill_marked(self._mark)
                self._code = -signal.SIGKILL
        finally:
            self._ended.set()
            if self._on_end is not None:
                self._on_end()


_STARTED: Final[weakref.WeakSet[Supervised]] = weakref.WeakSet()
"""Every program of this process that has been started and not been ended."""


def _kill_marked(mark: str) -> None:
    """Kill the processes that have inherited a mark: of a program without its supervisor, Linux knows them still."""
    wanted = f"{MARK}={mark}".encode()
    for place in Path("/proc").glob("[0-9]*/environ"):
        with contextlib.suppress(OSError):
            if wanted in place.read_bytes().split(b"\0"):
                os.kill(int(place.parent.name), signal.SIGKILL)


def _leave_to_parent() -> None:
    """In a fork of this process: the programs are its parent's, and must end with that one."""
    for process in list(_STARTED):
        process._control.close()  # noqa: SLF001  # this module's own
    _STARTED.clear()


os.register_at_fork(after_in_child=_leave_to_parent)


@functools.cache
def _script() -> tuple[str, ...]:
    """The supervisor as Python takes it: a file, or its source where this package is in an archive, as on Spark."""
    script = resources.files("conformance.contain").joinpath("supervisor.py")
    return (str(script),) if isinstance(script, Path) else ("-c", script.read_text(encoding="utf-8"))


def open_standard_streams() -> None:
    """Give the standard streams that are closed a place: no pipe of ours may take their descriptors."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest number that is free


def end_foreign(process: subprocess.Popen[bytes], seconds: float) -> None:
    """Wait up to ``seconds`` for a process that a library has started, then kill it."""
    try:
        process.wait(timeout=seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _pipe() -> tuple[io.FileIO, io.FileIO]:
    read, write = os.pipe()
    return io.FileIO(read, "rb"), io.FileIO(write, "wb")


def signal_name(code: int) -> str:
    """The name of the signal that an exit code means (``SIGSEGV`` for -11); empty for an exit."""
    if code >= 0:
        return ""
    try:
        return signal.Signals(-code).name
    except ValueError:
        return f"signal {-code}"


def in_words(code: int | None) -> str:
    """How a process with this exit code ended, as a clause; None is one that runs."""
    if code is None:
        return "the process is still running"
    return f"the process was ended by {signal_name(code)}" if code < 0 else f"the process exited with status {code}"
