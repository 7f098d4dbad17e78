"""One worker process as its pool sees it: started, asked, reaped, and how it ended in words."""

from __future__ import annotations

import contextlib
import itertools
import os
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import IO, Final

from conformance.readers.frames import Channel, Frame, FrameError
from conformance.readers.whole import WholeRead
from conformance.records import ReadingOutcome

__all__ = ["ENVIRONMENT", "Answer", "Died", "WorkerProcess", "last_words"]

LOAD_DEADLINE: Final = 120.0
"""Seconds for importing every library on a cold and busy machine."""
REAP_DEADLINE: Final = 5.0
"""Seconds for a process whose connection is closed to be gone: its memory is unmapped, nothing else is left to do."""

ENVIRONMENT: Final[Mapping[str, str]] = {
    # One thread each: a process of ours reads small tables, and idle thread pools only cost memory and start-up time.
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "POLARS_MAX_THREADS": "1",
    # glibc gives each thread an arena of 64 MiB of address space, which the memory limit would count.
    "MALLOC_ARENA_MAX": "2",
    "GRPC_VERBOSITY": "NONE",
    # Readings must not depend on the caller's warning filters; an error filter would break imports of libraries.
    "PYTHONWARNINGS": "",
    # A panic's message is kept, its backtrace is not wanted in a reading.
    "RUST_BACKTRACE": "0",
}
"""What every process is given in which foreign bytes are decoded, beside the environment of the one that starts it."""
_STDERR_TAIL: Final = 65536
"""Bytes of standard error that are looked at: the backtrace of an aborting panic is long, and follows its message."""


class Died(Exception):  # noqa: N818  # an event that becomes a reading, never an error of the caller's
    """The worker is gone or has been killed: what to put into the reading."""

    def __init__(self, outcome: ReadingOutcome, error_class: str, text: str) -> None:
        super().__init__(text)
        self.outcome = outcome
        self.error_class = error_class
        self.text = text


@dataclass(frozen=True, slots=True)
class Answer:
    """What a worker made of one reading; ``retiring`` says that it wants to be replaced after it."""

    outcome: ReadingOutcome
    table: bytes
    error_class: str
    error_text: str
    retiring: bool


class WorkerProcess:
    """One worker process; it imports its readers while the caller does other things.

    Args:
        modules: Reader name to import path.
        deadline: Seconds for one reading.
        memory: Bytes that a reading may map beyond what the process maps when it begins.
    """

    def __init__(self, modules: Mapping[str, str], *, deadline: float, memory: int) -> None:
        ours, theirs = socket.socketpair()
        self._channel = Channel(ours)
        self._deadline = deadline
        self._absent: Mapping[str, str] | None = None
        self._stderr: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115  # closed with the process
        path = os.pathsep.join(entry for entry in sys.path if entry)
        arguments = [str(theirs.fileno()), str(memory), str(deadline * 2)]
        with theirs:
            self._process = subprocess.Popen(  # noqa: S603  # our own interpreter and module
                [sys.executable, "-m", "conformance.readers.worker", *arguments],
                stdin=subprocess.DEVNULL,
                stdout=self._stderr,
                stderr=self._stderr,
                pass_fds=[theirs.fileno()],
                env={**os.environ, **ENVIRONMENT, "PYTHONPATH": path},
                start_new_session=True,
            )
        self._channel.send({"do": "load", "modules": dict(modules)})

    def loaded(self) -> Mapping[str, str]:
        """Wait for the imports; readers that could not be loaded, with the reason. Raises Died."""
        if self._absent is None:
            self._absent = self._receive(LOAD_DEADLINE).header["absent"]
        return self._absent or {}

    def ask(self, whole: WholeRead, readers: Sequence[str]) -> None:
        """Ask for readings; :meth:`answer` gives them in the order of ``readers``. Raises Died."""
        self._stderr.seek(0)  # the worker shares the position: what it says from now on is about this read
        self._stderr.truncate()
        frame = whole.to_frame()
        header = {"do": "read", "readers": list(readers), "read": frame.header}
        try:
            self._channel.send(header, frame.blobs, seconds=self._deadline)
        except OSError as error:
            raise self._end(error) from error

    def answer(self) -> Answer:
        """Wait for the next reading. Raises Died."""
        frame = self._receive(self._deadline)
        try:
            return Answer(
                outcome=ReadingOutcome(frame.header["outcome"]),
                table=frame.blobs[0] if frame.blobs else b"",
                error_class=str(frame.header["error_class"]),
                error_text=str(frame.header["error_text"]),
                retiring=bool(frame.header["retiring"]),
            )
        except (KeyError, ValueError) as error:
            raise self._end(FrameError(f"expected a reading, got {frame.header!r}")) from error

    def _receive(self, seconds: float) -> Frame:
        try:
            return self._channel.receive(seconds=seconds)
        except (FrameError, OSError) as error:
            raise self._end(error) from error

    def _end(self, error: Exception) -> Died:
        """Reap the process and say how it ended."""
        hung = isinstance(error, TimeoutError)
        if not hung:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(timeout=REAP_DEADLINE)
        status = self._process.poll()
        said = self.close()
        if hung:
            return Died(ReadingOutcome.HANG, "deadline", f"no answer within {self._deadline:g} s{said}")
        if status is None:
            return Died(ReadingOutcome.CRASH, "frame", f"the process answered with what is no reading: {error}{said}")
        if status < 0:
            name = signal.Signals(-status).name
            outcome = ReadingOutcome.HANG if -status == signal.SIGXCPU else ReadingOutcome.CRASH
            return Died(outcome, name, f"the process was ended by {name}{said}")
        return Died(ReadingOutcome.CRASH, "exit", f"the process exited with status {status}{said}")

    def kill(self) -> None:
        """End the process under whoever waits for its answer; they see it die."""
        self._process.kill()

    def close(self) -> str:
        """End the process and return what it last wrote to standard error, as the end of a sentence."""
        self._channel.close()
        self._process.kill()
        self._process.wait()
        self._stderr.seek(0, os.SEEK_END)
        self._stderr.seek(max(0, self._stderr.tell() - _STDERR_TAIL))
        said = last_words(self._stderr.read().decode(errors="replace"))
        self._stderr.close()
        return f"; it last said: {said}" if said else ""


def last_words(text: str) -> str:
    """The line of a dead process's standard error that says most: a Rust panic's message, else the last line."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    panics = [
        message
        for line, message in itertools.pairwise(lines)
        if "panicked at" in line and message != "panic in a function that cannot unwind"
    ]
    return panics[-1] if panics else lines[-1] if lines else ""
