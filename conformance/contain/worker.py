"""One of our own modules in a process of its own, where foreign bytes are decoded: asked over a channel.

Nothing that comes back is unpickled, and the module is not believed beyond the frames that it sends: it has handled
foreign bytes, and may be anything by now.
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
from conformance.contain.supervised import Supervised, open_standard_streams
from conformance.contain.text import safe

__all__ = ["DECODING", "STDERR_TAIL", "Worker", "last_words"]

DECODING: Final[Mapping[str, str]] = {
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
    # A folder that is called as one of our packages, where the suite was started, is no package of ours.
    "PYTHONSAFEPATH": "1",
}
"""What every process is given in which foreign bytes are decoded, beside the environment of the suite."""
STDERR_TAIL: Final = 65536
"""Bytes of standard error that are looked at: the backtrace of an aborting panic is long, and follows its message."""

_PACKAGES: Final = str(Path(__file__).resolve().parents[2])
"""The directory that holds this package."""


class Worker:
    """A module of ours, run as ``python -m MODULE DESCRIPTOR ARGUMENT…``; DESCRIPTOR is its end of the channel.

    Args:
        module: The module's import path.
        arguments: Further arguments.
        environment: Variables beside those of the suite and :data:`DECODING`.
        python: The interpreter; another one than ours brings its own packages, and gets none of ours but this one.
        keep: Further descriptors that it inherits under the same numbers.
        header: Bound in bytes on the header of a frame that it sends.
        frame: Bound in bytes on the byte strings of one.

    Raises:
        CannotStart: There is no such interpreter, or this machine has no room for a process or a file.
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
        # An empty entry is the current directory; a worker has no other word for it.
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
        """How it ended: its exit status, or the negative number of a signal; None while it runs."""
        return self._process.code

    def forget(self) -> None:
        """Take what it said until now for said; it shares the position in the file."""
        self._stderr.seek(0)
        self._stderr.truncate()

    def said(self) -> str:
        """The end of what it said since the last :meth:`forget`."""
        size = self._stderr.seek(0, os.SEEK_END)
        return os.pread(self._stderr.fileno(), STDERR_TAIL, max(0, size - STDERR_TAIL)).decode(errors="replace")

    def wait(self, seconds: float) -> bool:
        """Wait up to ``seconds`` for its end; whether it came."""
        return self._process.wait(seconds)

    def kill(self) -> None:
        """End it under whoever waits for its answer; they see the channel close."""
        self._process.kill()

    def close(self, *, grace: float = 0.0) -> str:
        """Close the channel, at which a worker ends, and end it after ``grace`` seconds; returns what it last said."""
        self.channel.close()
        if grace > 0:
            self._process.wait(grace)
        self._process.end()
        with self._stderr:
            return self.said()


def last_words(text: str) -> str:
    """The line of a dead process's standard error that says most: a Rust panic's message, else the last line."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    panics = [
        message
        for line, message in itertools.pairwise(lines)
        if "panicked at" in line and message != "panic in a function that cannot unwind"
    ]
    return safe(panics[-1] if panics else lines[-1] if lines else "")
