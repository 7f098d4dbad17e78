"""A module of the suite in a process of its own, where untrusted bytes are decoded; it is asked over a channel.

Its answers are not unpickled and not trusted beyond their framing: the untrusted bytes may have taken over the process.
"""

from __future__ import annotations

import itertools
import os
import socket
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Final

from conformance.contain.channel import MAX_FRAME, MAX_HEADER, Channel
from conformance.contain.errors import CannotStart
from conformance.contain.importing import SAFE_PATH
from conformance.contain.libraries import ONE_THREAD
from conformance.contain.supervised import Supervised, open_standard_streams
from conformance.contain.text import safe

__all__ = ["DECODING", "STDERR_TAIL", "Worker", "last_words"]

DECODING: Final[Mapping[str, str]] = {
    # One thread each: such a process reads small tables, and idle thread pools only cost memory and start-up time.
    **ONE_THREAD,
    "OMP_NUM_THREADS": "1",
    "POLARS_MAX_THREADS": "1",
    # glibc reserves 64 MiB of address space per arena, which count against the memory limit (mallopt(3), M_ARENA_MAX).
    "MALLOC_ARENA_MAX": "2",
    "GRPC_VERBOSITY": "NONE",
    # Results must not depend on the caller's warning filters; a filter that raises would break imports of libraries.
    "PYTHONWARNINGS": "",
    # The message of a Rust panic is kept; its backtrace would only hide it.
    "RUST_BACKTRACE": "0",
    # It holds for the processes that a library starts, too.
    **SAFE_PATH,
}
"""Environment variables of every process that decodes untrusted bytes, in addition to those of the suite."""
STDERR_TAIL: Final = 65536
"""Bytes of standard error that are searched: the backtrace of an aborting panic is long and follows its message."""

_PACKAGES: Final = str(Path(__file__).resolve().parents[2])
"""The directory that contains this package."""


class Worker:
    """A module of the suite, run as ``python -m MODULE DESCRIPTOR ARGUMENT…``; DESCRIPTOR is its end of the channel.

    Args:
        module: The module's import path.
        arguments: Further arguments.
        environment: Variables in addition to those of the suite and :data:`DECODING`.
        python: The interpreter; another one than the suite's uses its own packages, and of the suite's only this one.
        keep: Further descriptors that it inherits under the same numbers.
        header: The largest header in bytes of a frame that it sends.
        frame: The largest size in bytes of all byte strings of such a frame.

    Raises:
        CannotStart: There is no such interpreter, or this machine cannot create another process or file.
    """

    def __init__(
        self,
        module: str,
        arguments: Sequence[str] = (),
        *,
        environment: Mapping[str, str] | None = None,
        python: str = "",
        keep: Sequence[int] = (),
        header: int = MAX_HEADER,
        frame: int = MAX_FRAME,
    ) -> None:
        python = python or sys.executable
        # An empty entry means the current directory; the worker gets its full path.
        path = [entry or str(Path.cwd()) for entry in sys.path] if python == sys.executable else [_PACKAGES]
        open_standard_streams()
        try:
            ours, theirs = socket.socketpair()
            self._stderr: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115  # closed with the worker
        except OSError as error:
            raise CannotStart(f"cannot start a worker: {error}") from None
        self.channel = Channel(ours, header=header, frame=frame)
        try:
            with theirs:
                self._process = Supervised(
                    [python, "-m", module, str(theirs.fileno()), *arguments],
                    environment={**os.environ, **DECODING, **(environment or {}), "PYTHONPATH": os.pathsep.join(path)},
                    stdout=self._stderr,
                    stderr=self._stderr,
                    keep=(theirs.fileno(), *keep),
                )
        except BaseException:
            self.channel.close()
            self._stderr.close()
            raise

    @property
    def code(self) -> int | None:
        """The exit status, or the negative number of the signal that ended the process; None while it runs."""
        return self._process.code

    def forget(self) -> None:
        """Drop the output so far; the process writes on from the start, because both share the file position."""
        self._stderr.seek(0)
        self._stderr.truncate()

    def said(self) -> str:
        """The end of the output since the last :meth:`forget`."""
        size = self._stderr.seek(0, os.SEEK_END)
        return os.pread(self._stderr.fileno(), STDERR_TAIL, max(0, size - STDERR_TAIL)).decode(errors="replace")

    def wait(self, seconds: float) -> bool:
        """Wait up to ``seconds`` for the end of the process; True if it ended."""
        return self._process.wait(seconds)

    def kill(self) -> None:
        """End the process, even while another thread waits for its answer; that thread sees the channel close."""
        self._process.kill()

    def close(self, *, grace: float = 0.0) -> str:
        """Close the channel, at which a worker ends, and kill it after ``grace`` seconds; returns its last output."""
        self.channel.close()
        if grace > 0:
            self._process.wait(grace)
        self._process.end()
        with self._stderr:
            return self.said()


def last_words(text: str) -> str:
    """The most informative line of a dead process's standard error: a Rust panic's message, else the last line."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    panics = [
        message
        for line, message in itertools.pairwise(lines)
        if "panicked at" in line and message != "panic in a function that cannot unwind"
    ]
    return safe(panics[-1] if panics else lines[-1] if lines else "")
