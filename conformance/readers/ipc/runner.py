"""The interface that the pool drives: it answers one job after another, even if the process behind it ends.

One thread drives a runner at a time; another thread may call ``kill``.
"""

from __future__ import annotations

import abc
import re
import threading
from collections.abc import Callable
from typing import Final, Generic, Literal, Protocol, TypeAlias, TypeVar

from conformance.contain.errors import CannotStart
from conformance.contain.worker import last_words
from conformance.readers.ipc.implementation import Hello, Unavailable
from conformance.readers.ipc.job import Job, JobAnswer, JobOutcome

__all__ = ["Op", "Runner", "ended", "missing_option", "panicked", "refused", "words"]

Op: TypeAlias = Literal["read", "write"]
"""The operation of a job."""

_MEMORY_CLASSES: Final = frozenset({"MemoryError", "ArrowMemoryError", "OutOfMemoryError"})
_MEMORY_WORDS: Final = re.compile(
    r"memory allocation of \d+ bytes failed|bad_alloc|out ?of ?memory|cannot allocate memory|allocation failed",
    re.IGNORECASE,
)
"""Messages of runtimes that were refused memory: Rust, C++, Go and V8, the C library, ArrayBuffer."""
_PANICS: Final = frozenset({"PanicException", "panic"})
"""The class of a Rust panic as a Python exception, and of a Go panic in an adapter's answer."""


class Process(Protocol):
    """One start of an implementation."""

    def kill(self) -> None:
        """End the process, even while another thread waits for its answer."""

    def close(self) -> str:
        """End the process and return its last output as the end of a sentence."""


P = TypeVar("P", bound=Process)


class Runner(abc.ABC, Generic[P]):
    """One implementation in a process that stays warm. If a job ends the process, only that job is lost, and a new
    one starts.

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
        """Start the process; it loads its library in parallel with the caller."""
        with self._lock:
            if self._process is None and not self._gone and not self._closed:
                try:
                    self._process = self._launch()
                except (Unavailable, CannotStart) as error:
                    self._gone = str(error)

    @abc.abstractmethod
    def hello(self) -> Hello:
        """The implementation's declaration about itself; raises Unavailable."""

    def run(self, op: Op, job: Job) -> JobAnswer:
        """Do one job. Errors of the implementation do not raise; a broken process is replaced for the next job."""
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
        """Do a job whose kind and options the implementation supports."""

    def ready(self) -> P:
        """The process, started if necessary; raises Unavailable."""
        self.start()
        process = self._process
        if process is None:
            raise Unavailable(self._gone or "the pool was closed")
        return process

    def give_up(self, why: str) -> Unavailable:
        """The exception for an implementation that will never run; its text is ``why`` and the last output of the
        process.
        """
        self._gone = why + self.discard()
        return Unavailable(self._gone)

    def kill(self) -> None:
        """End the process, even while another thread waits for its answer, and never start another."""
        with self._lock:
            self._closed = True
            if self._process is not None:
                self._process.kill()

    def close(self) -> None:
        """End the process."""
        self.kill()
        self.discard()

    def discard(self) -> str:
        """End the process, so that the next job gets a new one; return its last output as the end of a sentence."""
        with self._lock:
            process, self._process = self._process, None
        return process.close() if process is not None else ""


def refused(error_class: str, text: str) -> JobOutcome:
    """The outcome of an error that a library raised: a refusal, unless the library ran out of memory."""
    simple = error_class.rpartition(".")[2]
    return JobOutcome.EXHAUSTED if simple in _MEMORY_CLASSES or _MEMORY_WORDS.search(text) else JobOutcome.REFUSED


def panicked(error_class: str) -> bool:
    """True if an error is a failed assertion inside the library."""
    return error_class in _PANICS or error_class.startswith("runtime.")


def ended(signal_name: str, said: str) -> JobOutcome:
    """The outcome of a process that ended by itself: death, unless a limit ended it.

    A library that does not check an allocation and then dies of the consequence has died.
    """
    if signal_name in ("SIGXCPU", "SIGKILL") or _MEMORY_WORDS.search(said):
        return JobOutcome.EXHAUSTED
    return JobOutcome.DIED


def words(said: str) -> str:
    """The most informative line of a dead process's standard error, as the end of a sentence; empty if there is no
    line.
    """
    lines = [line for line in said.splitlines() if not line.startswith("note: run with")]
    telling = [line for line in lines if _MEMORY_WORDS.search(line)]
    last = last_words("\n".join(telling[-1:] or lines))
    return f"; it last said: {last}" if last else ""


def missing_option(op: Op, job: Job, hello: Hello) -> str:
    """The part of a job that this implementation does not support, as a sentence; empty if it supports the job."""
    kinds, options = (hello.reads, hello.read_options) if op == "read" else (hello.writes, hello.write_options)
    if job.kind not in kinds:
        return f"{hello.implementation} does not {op} kind {job.kind}, only {', '.join(kinds) or 'nothing'}"
    for name, value in job.options.items():
        if name not in options:
            return f"{hello.implementation} cannot be asked for {name} when it {op}s"
        if options[name] and value not in options[name]:
            return f"{hello.implementation} cannot be asked for {name} {value!r}, only {list(options[name])!r}"
    return ""
