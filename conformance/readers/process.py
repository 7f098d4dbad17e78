"""One worker process as its pool sees it: started, asked, reaped, and how it ended in words."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from conformance.contain.channel import Frame, FrameError
from conformance.contain.supervised import in_words, signal_name
from conformance.contain.worker import Worker, last_words
from conformance.readers.fullread import FullRead
from conformance.records import ReadingOutcome

__all__ = ["Died", "ReadAnswer", "WorkerProcess"]

LOAD_DEADLINE: Final = 120.0
"""Seconds for importing every library on a cold and busy machine."""
MAX_HEADER: Final = 1 << 20
"""Bound in bytes on what a worker says beside a table."""
ALLOCATION: Final = {"ARROW_DEFAULT_MEMORY_POOL": "system"}
"""Arrow's own allocator gives large blocks back at once, and has each page of the next one cleared anew."""
REAP_DEADLINE: Final = 5.0
"""Seconds for a process whose connection is closed to be gone: its memory is unmapped, nothing else is left to do."""


class Died(Exception):  # noqa: N818  # an event that becomes a reading, never an error of the caller's
    """The worker is gone or has been killed: what to put into the reading."""

    def __init__(self, outcome: ReadingOutcome, error_class: str, text: str) -> None:
        super().__init__(text)
        self.outcome = outcome
        self.error_class = error_class
        self.text = text


@dataclass(frozen=True, slots=True)
class ReadAnswer:
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

    Raises:
        CannotStart: This machine has no room for a process or a file.
    """

    def __init__(self, modules: Mapping[str, str], *, deadline: float, memory: int) -> None:
        self._deadline = deadline
        self._absent: Mapping[str, str] | None = None
        self._tables: list[bytes] = []
        self._worker = Worker(
            "conformance.readers.worker",
            [str(memory), str(deadline * 2)],
            environment=ALLOCATION,
            header=MAX_HEADER,
            frame=memory,
        )
        with contextlib.suppress(OSError):  # it has died already, as its first answer will show
            self._worker.channel.send({"do": "load", "modules": dict(modules)})

    def loaded(self) -> Mapping[str, str]:
        """Wait for the imports; readers that could not be loaded, with the reason. Raises Died."""
        if self._absent is None:
            self._absent = self._receive(LOAD_DEADLINE).header["absent"]
        return self._absent or {}

    def ask(self, whole: FullRead, readers: Sequence[str]) -> None:
        """Ask for readings; :meth:`answer` gives them in the order of ``readers``. Raises Died."""
        self._worker.forget()  # what it says from now on is about this read
        frame = whole.to_frame()
        header = {"do": "read", "readers": list(readers), "read": frame.header}
        self._tables = []
        try:
            self._worker.channel.send(header, frame.blobs, seconds=self._deadline)
        except OSError as error:
            raise self._end(error) from error

    def answer(self) -> ReadAnswer:
        """Wait for the next reading. Raises Died."""
        frame = self._receive(self._deadline)
        try:
            same = frame.header["same"]
            self._tables.append(frame.blobs[0] if frame.blobs else b"" if same is None else self._tables[int(same)])
            return ReadAnswer(
                outcome=ReadingOutcome(frame.header["outcome"]),
                table=self._tables[-1],
                error_class=str(frame.header["error_class"]),
                error_text=str(frame.header["error_text"]),
                retiring=bool(frame.header["retiring"]),
            )
        except (LookupError, TypeError, ValueError) as error:
            raise self._end(FrameError(f"expected a reading, got {frame.header!r}")) from error

    def _receive(self, seconds: float) -> Frame:
        try:
            return self._worker.channel.receive(seconds=seconds)
        except (FrameError, OSError) as error:
            raise self._end(error) from error

    def _end(self, error: Exception) -> Died:
        """Reap the process and say how it ended."""
        hung = isinstance(error, TimeoutError)
        gone = not hung and self._worker.wait(REAP_DEADLINE)
        code = self._worker.code
        said = self.close()
        if hung:
            return Died(ReadingOutcome.HANG, "deadline", f"no answer within {self._deadline:g} s{said}")
        if not gone or code is None:
            return Died(ReadingOutcome.CRASH, "frame", f"the process answered with what is no reading: {error}{said}")
        name = signal_name(code)
        outcome = ReadingOutcome.HANG if name == "SIGXCPU" else ReadingOutcome.CRASH
        return Died(outcome, name or "exit", f"{in_words(code)}{said}")

    def kill(self) -> None:
        """End the process under whoever waits for its answer; they see it die."""
        self._worker.kill()

    def close(self) -> str:
        """End the process and return what it last wrote to standard error, as the end of a sentence."""
        said = last_words(self._worker.close())
        return f"; it last said: {said}" if said else ""
