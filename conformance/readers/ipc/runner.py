"""What the pool drives: something that answers one job after another, whatever becomes of the process behind it."""

from __future__ import annotations

import re
from typing import Final, Literal, Protocol, TypeAlias

from conformance.contain.worker import last_words
from conformance.readers.ipc.info import Hello
from conformance.readers.ipc.job import Answer, Job, Outcome

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


class Runner(Protocol):
    """One implementation, in a process of its own. One thread drives it at a time; ``kill`` may come from another."""

    def start(self) -> None:
        """Begin to start the process, without waiting for it."""

    def hello(self) -> Hello:
        """What the implementation tells of itself; raises Unavailable."""

    def run(self, op: Op, job: Job) -> Answer:
        """Do one job. Raises nothing that the implementation does; a broken process is replaced for the next job."""

    def kill(self) -> None:
        """End the process under whoever waits for its answer, and start no other."""

    def close(self) -> None:
        """End the process."""


def refused(error_class: str, text: str) -> Outcome:
    """The outcome of an error that a library raised: a refusal, unless it ran into the limit of memory."""
    simple = error_class.rpartition(".")[2]
    return Outcome.EXHAUSTED if simple in _MEMORY_CLASSES or _MEMORY_WORDS.search(text) else Outcome.REFUSED


def panicked(error_class: str) -> bool:
    """Whether an error is a broken assertion of the library's own."""
    return error_class in _PANICS or error_class.startswith("runtime.")


def ended(signal_name: str, said: str) -> Outcome:
    """The outcome of a process that ended by itself: death, unless a limit was what ended it.

    A library that does not ask whether it got the memory, and then dies of something else, has died.
    """
    if signal_name in ("SIGXCPU", "SIGKILL") or _MEMORY_WORDS.search(said):
        return Outcome.EXHAUSTED
    return Outcome.DIED


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
