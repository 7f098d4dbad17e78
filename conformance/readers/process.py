"""The pool's side of one worker process: start it, send requests, reap it, and describe how it ended."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from conformance.contain.channel import ChannelMessage, FrameError
from conformance.contain.supervised import in_words, signal_name
from conformance.contain.worker import Worker, last_words
from conformance.readers.fullread import FullRead
from conformance.records import ReadingOutcome

__all__ = ["Broke", "Died", "ReadAnswer", "WorkerProcess"]

LOAD_DEADLINE: Final = 120.0
"""Seconds for importing every library on a cold and busy machine."""
MAX_HEADER: Final = 1 << 20
"""The longest answer of a worker in bytes, without the table."""
ALLOCATION: Final = {"ARROW_DEFAULT_MEMORY_POOL": "system"}
"""The system's allocator: Arrow's own returns large blocks at once, and the kernel then clears every page again."""
REAP_DEADLINE: Final = 5.0
"""Seconds for a process to end after its connection has closed: the kernel only has to unmap its memory."""


class Died(Exception):  # noqa: N818  # it becomes a reading, and is never an error of the caller
    """The worker has ended or was killed; the attributes are those of the resulting reading."""

    def __init__(self, outcome: ReadingOutcome, error_class: str, text: str) -> None:
        super().__init__(text)
        self.outcome = outcome
        self.error_class = error_class
        self.text = text


class Broke(Exception):  # noqa: N818  # the name says whose fault it is
    """The suite's own code raised an exception on what a reader gave; the text is the traceback in the worker."""


@dataclass(frozen=True, slots=True)
class ReadAnswer:
    """The result of one reading in a worker; ``retiring`` says that the worker has to be replaced after it.

    ``broke`` is the traceback of an exception of the suite's own code, which leaves no result.
    """

    outcome: ReadingOutcome
    table: bytes
    error_class: str
    error_text: str
    broke: str
    retiring: bool


class WorkerProcess:
    """One worker process; it imports its readers in parallel with the caller.

    Args:
        modules: Reader name to import path.
        deadline: Seconds for one reading, to which each 500 responses add one.
        memory: Bytes that a reading may map in addition to what the process maps when it begins.

    Raises:
        CannotStart: This machine cannot create another process or file.
    """

    def __init__(self, modules: Mapping[str, str], *, deadline: float, memory: int) -> None:
        self._deadline = self._seconds = deadline
        self._absent: Mapping[str, str] | None = None
        self._tables: list[bytes] = []
        self._worker = Worker(
            "conformance.readers.worker",
            [str(memory), str(deadline * 2)],
            environment=ALLOCATION,
            header=MAX_HEADER,
            frame=memory,
        )
        with contextlib.suppress(OSError):  # if it has died already, waiting for its first answer reports that
            self._worker.channel.send({"do": "load", "modules": dict(modules)})

    def loaded(self) -> Mapping[str, str]:
        """Wait for the imports; return the readers that could not be loaded, with the reasons. Raises Died."""
        if self._absent is None:
            self._absent = self._receive(LOAD_DEADLINE).header["absent"]
        return self._absent or {}

    def ask(self, whole: FullRead, readers: Sequence[str]) -> None:
        """Request readings; :meth:`answer` returns them in the order of ``readers``. Raises Died."""
        self._worker.forget()  # from now on, its standard error is about this read
        self._seconds = self._deadline + whole.extra_seconds
        frame = whole.to_frame()
        header = {"do": "read", "readers": list(readers), "read": frame.header}
        self._tables = []
        try:
            self._worker.channel.send(header, frame.blobs, seconds=self._seconds)
        except OSError as error:
            raise self._end(error) from error

    def answer(self) -> ReadAnswer:
        """Wait for the next reading and return it. Raises Died."""
        frame = self._receive(self._seconds)
        try:
            same = frame.header["same"]
            self._tables.append(frame.blobs[0] if frame.blobs else b"" if same is None else self._tables[int(same)])
            return ReadAnswer(
                outcome=ReadingOutcome(frame.header["outcome"]),
                table=self._tables[-1],
                error_class=str(frame.header["error_class"]),
                error_text=str(frame.header["error_text"]),
                broke=str(frame.header["broke"]),
                retiring=bool(frame.header["retiring"]),
            )
        except (LookupError, TypeError, ValueError) as error:
            raise self._end(FrameError(f"expected a reading, got {frame.header!r}")) from error

    def _receive(self, seconds: float) -> ChannelMessage:
        try:
            return self._worker.channel.receive(seconds=seconds)
        except (FrameError, OSError) as error:
            raise self._end(error) from error

    def _end(self, error: Exception) -> Died:
        """Reap the process and describe how it ended."""
        hung = isinstance(error, TimeoutError)
        gone = not hung and self._worker.wait(REAP_DEADLINE)
        code = self._worker.code
        said = self.close()
        if hung:
            return Died(ReadingOutcome.HANG, "deadline", f"no answer within {self._seconds:g} s{said}")
        if not gone or code is None:
            return Died(ReadingOutcome.CRASH, "frame", f"the process answered with what is no reading: {error}{said}")
        name = signal_name(code)
        outcome = ReadingOutcome.HANG if name == "SIGXCPU" else ReadingOutcome.CRASH
        return Died(outcome, name or "exit", f"{in_words(code)}{said}")

    def kill(self) -> None:
        """End the process, even while another thread waits for its answer; that thread gets ``Died``."""
        self._worker.kill()

    def close(self) -> str:
        """End the process and return its last output on standard error as the end of a sentence."""
        said = last_words(self._worker.close())
        return f"; it last said: {said}" if said else ""
