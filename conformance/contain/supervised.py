"""One started program with its supervisor: start, signals, end and exit code.

The process of :mod:`.supervisor` is between the suite and the program. Only this module starts it, so that no other
module of the package starts a process at all. :mod:`.child` reads and writes the program's pipes.
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
from conformance.contain.importing import import_environment
from conformance.contain.text import safe

__all__ = ["Group", "Supervised", "end_foreign", "in_words", "open_standard_streams", "signal_name"]

KILL_SECONDS: Final = 5.0
"""Seconds for the kernel to free the memory of a killed process; a process in disk wait ends only after it."""
MARK: Final = "CONFORMANCE_STARTED"
"""The environment variable that identifies the descendants of a program if the program kills its supervisor."""
START_SECONDS: Final = 30.0
"""Seconds for a supervisor to start a program from a slow disk on a busy machine."""
WAKE_SECONDS: Final = 0.5
"""Seconds between two attempts to continue a supervisor that sends nothing."""
LINE_BYTES: Final = 4096
"""Bytes of a line of the supervisor: it has a few words, but any process with its descriptors may write there."""

Stream: TypeAlias = int | IO[bytes]


class Group:
    """Programs that end together: for a caller that waits for several of them in threads, and gives up on all."""

    def __init__(self) -> None:
        self._members: weakref.WeakSet[Supervised] = weakref.WeakSet()
        self._killed = False
        # Reentrant: the handler of a signal runs in the main thread and may kill while that thread joins a member.
        self._lock = threading.RLock()

    def join(self, member: Supervised) -> None:
        """Let ``member`` end with the others; at once if the group has been killed already."""
        with self._lock:
            self._members.add(member)
            if self._killed:
                member.kill()

    def kill(self) -> None:
        """End every member, including those that are just starting and those that join later."""
        with self._lock:
            self._killed = True
            for member in self._members:
                member.kill()


class Supervised:
    """A started program. ``pid`` is its process id, which is also the id of its process group.

    Args:
        command: The program and its arguments; the program is searched on the PATH of ``environment``.
        environment: All of its environment variables.
        stdin: A descriptor or file, ``subprocess.PIPE`` or ``subprocess.DEVNULL``; likewise the other two.
        keep: Further descriptors that the program inherits under the same numbers.
        on_end: Called once, in a thread, when the program has ended.
        group: Programs that end together with it.

    Raises:
        CannotStart: There is no such program, it cannot be executed, or this machine cannot start another process.
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
        # Reentrant: the handler of a signal may ask while the main thread is in the middle of asking.
        self._asking = threading.RLock()
        self._mark = secrets.token_hex(16)
        # A program of a program that the suite started has the marks of both: it ends with either.
        marks = " ".join(filter(None, (os.environ.get(MARK, ""), self._mark)))
        marked = {**import_environment(command, environment), MARK: marks}
        request = {"command": [program, *command[1:]], "environment": marked, "keep": list(keep)}
        try:
            self._popen = self._supervisor(stdin, stdout, stderr, keep)
        except OSError as error:
            raise CannotStart(f"cannot start {command[0]!r}: {error.strerror}") from None
        try:
            _STARTED.add(self)
            if group is not None:  # before the program runs: a kill of the group in the meantime then ends it, too
                group.join(self)
            self.pid = self._begun(json.dumps(request).encode() + b"\n", command[0])
            self._waiter = threading.Thread(target=self._wait, daemon=True, name=f"wait for {self.pid}")
            self._waiter.start()
        except BaseException as error:
            self._forget()
            if isinstance(error, RuntimeError):  # no thread could be started
                raise CannotStart(f"cannot start {command[0]!r}: {error}") from None
            raise
        # A kill that came before the process id was known could not be sent.
        if self._killed:
            self.kill()

    def _supervisor(
        self, stdin: Stream, stdout: Stream, stderr: Stream, keep: Sequence[int]
    ) -> subprocess.Popen[bytes]:
        theirs, self._control = _pipe()
        # The copies of the supervisor's ends are closed here: while this process had them, the pipes would never end.
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
                    # A session of its own: Ctrl-C in the terminal signals the suite, and the suite ends the program.
                    start_new_session=True,
                )
            undo.pop_all()
        return popen

    def _begun(self, request: bytes, name: str) -> int:
        """Send the request and read the first line of the answer; returns the program's process id."""
        # A broken pipe means that the supervisor has ended; reading its answer then reports that.
        with contextlib.suppress(BrokenPipeError):
            while request:
                request = request[self._control.write(request) :]
        word, rest = self._line(START_SECONDS)
        if word == "started" and rest.isdecimal():
            return int(rest)
        reason = "its supervisor ended"
        if word == "failed":
            reason = rest
        elif word:
            reason = f"expected started or failed of its supervisor, got {safe(f'{word} {rest}'.rstrip())!r}"
        raise CannotStart(f"cannot start {name!r}: {reason}")

    def _line(self, seconds: float) -> tuple[str, str]:
        """The next line of the supervisor as word and rest; both empty if it ends without one, or after the timeout.

        The supervisor is continued meanwhile, because a program may have stopped it (SIGSTOP).
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
        """Clean up after a program that did not start; its supervisor ends when its pipe does."""
        self._control.close()
        self._popen.send_signal(signal.SIGCONT)
        end_foreign(self._popen, KILL_SECONDS)
        self._status.close()
        for pipe in (self._popen.stdin, self._popen.stdout, self._popen.stderr):
            if pipe is not None:
                pipe.close()

    @property
    def stdin(self) -> IO[bytes] | None:
        """The pipe to the program's standard input, if ``stdin`` was ``subprocess.PIPE``."""
        return self._popen.stdin

    @property
    def stdout(self) -> IO[bytes] | None:
        """The pipe from the program's standard output, if ``stdout`` was ``subprocess.PIPE``."""
        return self._popen.stdout

    @property
    def stderr(self) -> IO[bytes] | None:
        """The pipe from the program's standard error, if ``stderr`` was ``subprocess.PIPE``."""
        return self._popen.stderr

    @property
    def root(self) -> int:
        """The process id of the supervisor, an ancestor of every descendant of the program."""
        return self._popen.pid

    @property
    def code(self) -> int | None:
        """The exit status, or the negative number of the signal that ended the program; None while it runs."""
        return self._code

    @property
    def running(self) -> bool:
        """True if the program, or any descendant of it, may still run."""
        return not self._ended.is_set()

    def wait(self, seconds: float | None) -> bool:
        """Wait up to ``seconds`` for the program and all its descendants to end; True if they ended."""
        return self._ended.wait(seconds)

    def terminate(self) -> None:
        """Send SIGTERM to the program's process group."""
        self._ask(b"t")

    def kill(self) -> None:
        """End the program and all its descendants at once; a program that is just starting ends after its start."""
        self._killed = True
        if self.pid:
            self._popen.send_signal(signal.SIGCONT)  # a program may have stopped its supervisor
            self._ask(b"k")

    def end(self, *, grace: float = 0.0) -> None:
        """End everything and wait for the end: SIGTERM if ``grace`` is above 0, SIGKILL after that many seconds."""
        if grace > 0 and self.running:
            self.terminate()
            self.wait(grace)
        self.kill()
        if not self.wait(KILL_SECONDS):
            # Its death closes the pipe that `_wait` reads; that thread then kills the program itself.
            self._popen.kill()
        self._waiter.join()
        with self._asking:
            self._control.close()

    def _ask(self, what: bytes) -> None:
        with self._asking, contextlib.suppress(OSError, ValueError):  # the supervisor has ended, or the pipe is closed
            self._control.write(what)

    def _wait(self) -> None:
        """Read the supervisor's last line, and reap the supervisor."""
        try:
            with self._status:
                word, rest = self._line(math.inf)
            self._popen.wait()
            if word == "ended" and rest.removeprefix("-").isdecimal():
                self._code = int(rest)
            else:  # the program, or another process, killed the supervisor
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.killpg(self.pid, signal.SIGKILL)
                _kill_marked(self._mark)
                self._code = -signal.SIGKILL
        finally:
            self._ended.set()
            if self._on_end is not None:
                self._on_end()


_STARTED: Final[weakref.WeakSet[Supervised]] = weakref.WeakSet()
"""The programs that this process has started and still refers to."""


def _kill_marked(mark: str) -> None:
    """Kill the processes that inherited a mark in their environment; Linux publishes it in proc_pid_environ(5)."""
    start, wanted = f"{MARK}=".encode(), mark.encode()
    for place in Path("/proc").glob("[0-9]*/environ"):
        with contextlib.suppress(OSError):
            entries = place.read_bytes().split(b"\0")
            if any(entry.startswith(start) and wanted in entry[len(start) :].split(b" ") for entry in entries):
                os.kill(int(place.parent.name), signal.SIGKILL)


def _leave_to_parent() -> None:
    """In a fork of this process, drop the programs: they belong to the parent and must end with the parent.

    The fork's copies of the control pipes are closed, because the supervisors end when all copies are closed.
    """
    for process in list(_STARTED):
        process._control.close()  # noqa: SLF001  # this module's own
    _STARTED.clear()


os.register_at_fork(after_in_child=_leave_to_parent)


@functools.cache
def _script() -> tuple[str, ...]:
    """The arguments by which Python runs the supervisor: its path, or its source if the package is in an archive.

    The package is in an archive on Spark, for example.
    """
    script = resources.files("conformance.contain").joinpath("supervisor.py")
    return (str(script),) if isinstance(script, Path) else ("-c", script.read_text(encoding="utf-8"))


def open_standard_streams() -> None:
    """Open ``/dev/null`` for every closed standard stream, so that no pipe of the suite gets its descriptor."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # open(2) returns the lowest free number, which is this one


def end_foreign(process: subprocess.Popen[bytes], seconds: float) -> None:
    """Wait up to ``seconds`` for a process that was not started here to end, then kill it."""
    try:
        process.wait(timeout=seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _pipe() -> tuple[io.FileIO, io.FileIO]:
    read, write = os.pipe()
    return io.FileIO(read, "rb"), io.FileIO(write, "wb")


def signal_name(code: int) -> str:
    """The name of the signal in an exit code (``SIGSEGV`` for -11); empty for the exit code of a normal exit."""
    if code >= 0:
        return ""
    try:
        return signal.Signals(-code).name
    except ValueError:
        return f"signal {-code}"


def in_words(code: int | None) -> str:
    """The way a process with this exit code ended, as a clause; None stands for a process that still runs."""
    if code is None:
        return "the process is still running"
    return f"the process was ended by {signal_name(code)}" if code < 0 else f"the process exited with status {code}"
