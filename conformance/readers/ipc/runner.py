"""What the pool drives: something that answers one job after another, whatever becomes of the process behind it.

One thread drives a runner at a time; ``kill`` may come from another.
"""

from __future__ import annotations

import abc
import re
import threading
from collections.abc import Callable
from typing import Final, Generic, Literal, Protocol, TypeAlias, TypeVar

from conformance.contain.errors import CannotStart
from conformance.contain.worker import last_words
from conformance.readers.ipc.info import Hello, Unavailable
from conformance.readers.ipc.job import Job, JobAnswer, JobOutcome

__all__ = ["Op", "Runner", "ended", "missing_option", "panicked", "refused", "words"]

Op: TypeAlias = Literal["read", "write"]
"""What is done with a job."""

_MEMORY_CLASSES: Final = frozenset({"MemoryError", "ArrowMemoryError", "OutOfMemoryError"})
_MEMORY_WORDS: Final = re.compile(
    r"memory allocation of \d+ bytes failed|bad_alloc|out ?of ?memory|cannot allocate memory|allocation failed",
    re.IGNORECASE,
)
"""How runtimes say that memory was refused to them: Rust, C++, Go and V8, the C library, ArrayBuffer."""
_PANICS: Final = frozenset({"PanicException", "panic"})
"""The class of a Rust panic as a Python exception, and of a Go panic as an adapter answers it."""


class Process(Protocol):
    """One start of an implementation."""

    def kill(self) -> None:
        """End it under whoever waits for its answer."""

    def close(self) -> str:
        """End it; what it last said, as the end of a sentence."""


P = TypeVar("P", bound=Process)


class Runner(abc.ABC, Generic[P]):
    """One implementation in a process that stays warm; what ends the process costs one job, and it is started again.

    ``launch`` starts the process, or raises Unavailable or CannotStart.
    """

    def __init__(self, name: str, launch: Callable[[], P]) -> None:
        self.name = name
        self._launch = launch
        self._process: P | None = None
        self._gone = ""
        self._lock = threading.Lock()
        self._closed = False

    def start(self) -> None:
        """Start the process, which loads its library while the caller does other things."""
        with self._lock:
            if self._process is None and not self._gone and not self._closed:
                try:
                    self._process = self._launch()
                except (Unavailable, CannotStart) as error:
                    self._gone = str(error)

    @abc.abstractmethod
    def hello(self) -> Hello:
        """What the implementation tells of itself; raises Unavailable."""

    def run(self, op: Op, job: Job) -> JobAnswer:
        """Do one job. Raises nothing that the implementation does; a broken process is replaced for the next job."""
        try:
            lacks = missing_option(op, job, self.hello())
            if lacks:
                return JobAnswer(job.id, self.name, JobOutcome.UNSUPPORTED, error_text=lacks)
            process = self.ready()
        except Unavailable as error:
            return JobAnswer(job.id, self.name, JobOutcome.UNAVAILABLE, error_text=str(error))
        return self.do(process, op, job)

    @abc.abstractmethod
    def do(self, process: P, op: Op, job: Job) -> JobAnswer:
        """Do a job that the implementation can be asked for."""

    def ready(self) -> P:
        """The process, started where there is none; raises Unavailable."""
        self.start()
        process = self._process
        if process is None:
            raise Unavailable(self._gone or "the pool was closed")
        return process

    def give_up(self, why: str) -> Unavailable:
        """What to raise where the implementation will never run; ``why`` is completed by its last words."""
        self._gone = why + self.discard()
        return Unavailable(self._gone)

    def kill(self) -> None:
        """End the process under whoever waits for its answer, and start no other."""
        with self._lock:
            self._closed = True
            if self._process is not None:
                self._process.kill()

    def close(self) -> None:
        """End the process."""
        self.kill()
        self.discard()

    def discard(self) -> str:
        """End the process, so that the next job has another; what it last said, as the end of a sentence."""
        with self._lock:
            process, self._process = self._process, None
        return process.close() if process is not None else ""


def refused(error_class: str, text: str) -> JobOutcome:
    """The outcome of an error that a library raised: a refusal, unless it ran into the limit of memory."""
    simple = error_class.rpartition(".")[2]
    return JobOutcome.EXHAUSTED if simple in _MEMORY_CLASSES or _MEMORY_WORDS.search(text) else JobOutcome.REFUSED


def panicked(error_class: str) -> bool:
    """Whether an error is a broken assertion of the library's own."""
    return error_class in _PANICS or error_class.startswith("runtime.")


def ended(signal_name: str, said: str) -> JobOutcome:
    """The outcome of a process that ended by itself: death, unless a limit was what ended it.

    A library that does not ask whether it got the memory, and then dies of something else, has died.
    """
    if signal_name in ("SIGXCPU", "SIGKILL") or _MEMORY_WORDS.search(said):
        return JobOutcome.EXHAUSTED
    return JobOutcome.DIED


def words(said: str) -> str:
    """The line of a dead process's standard error that says most, as the end of a sentence; empty where none does."""
    lines = [line for line in said.splitlines() if not line.startswith("note: run with")]
    telling = [line for line in lines if _MEMORY_WORDS.search(line)]
    last = last_words("\n".join(telling[-1:] or lines))
    return f"; it last said: {last}" if last else ""


def missing_option(op: Op, job: Job, hello: Hello) -> str:
    """What of a job this implementation cannot be asked for; empty where it can do all of it."""
    kinds, options = (hello.reads, hello.read_options) if op == "read" else (hello.writes, hello.write_options)
    if job.kind not in kinds:
        return f"{hello.implementation} does not {op} kind {job.kind}, only {', '.join(kinds) or 'nothing'}"
    for name, value in job.options.items():
        if name not in options:
            return f"{hello.implementation} cannot be asked for {name} when it {op}s"
        if options[name] and value not in options[name]:
            return f"{hello.implementation} cannot be asked for {name} {value!r}, only {list(options[name])!r}"
    return ""
