"""A runner for a program in any language, which gets its jobs over stdin and stdout and is restarted when it breaks.

:mod:`.protocol` defines the messages, :mod:`conformance.contain.lines` their transport through the pipes. A program
that breaks the protocol is a defective adapter and says nothing about the library behind it: the answer is
``unavailable``.
"""

from __future__ import annotations

import base64
import functools
import os
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from conformance.contain.child import Child
from conformance.contain.errors import Lost, LostError, ProtocolError
from conformance.contain.lines import Pipes, decode_base64
from conformance.contain.supervised import in_words, signal_name
from conformance.contain.watch import Watch
from conformance.readers.ipc.implementation import Hello
from conformance.readers.ipc.job import LIMIT, MEMORY, Job, JobAnswer, JobLimits, JobOutcome, JobStage
from conformance.readers.ipc.programmessages import PROTOCOL
from conformance.readers.ipc.runner import Op, Runner, ended, panicked, refused
from conformance.wire.plain import PlainError, PlainTable

__all__ = ["ProgramRunner"]

START_SECONDS: Final = 180.0
"""Deadline for hello: Spark starts in it, which takes 22 s of processor time, and several times that on a busy machine.
"""
EXIT_SECONDS: Final = 2.0
"""Time for the exit of a program to be noticed after its output has ended."""
MAX_LINE: Final = 64 << 20
"""The longest answer in bytes."""
MAX_HELLO: Final = 1 << 20
"""The longest answer to hello in bytes."""
HELLO_VALUES: Final = 10_000
"""The most JSON values in the answer to hello, whose lists are short."""
PER_VALUE: Final = 4
"""JSON values per value of a table: an interval is an object with three members."""


class ProgramRunner(Runner["_Running"]):
    """A program that reads and writes with one library. It stays warm; if a job ends it, only that job is lost.

    Args:
        name: Its name in answers.
        command: Returns the command that starts it, or raises Unavailable.
        limits: The limits of one job; ``reuse`` does not apply.
    """

    def __init__(self, name: str, command: Callable[[], Sequence[str]], limits: JobLimits) -> None:
        super().__init__(name, lambda: _Running(command()))
        self._limits = limits

    def hello(self) -> Hello:
        """The program's declaration about its library; raises Unavailable."""
        running = self.ready()
        try:
            return running.hello()
        except (LostError, ProtocolError) as error:
            if isinstance(error, LostError) and error.how is Lost.CRASH:
                running.process.wait_for_exit(EXIT_SECONDS)
            why = f"the program did not answer hello: {error}; {running.process.last_words()}"
            raise self.give_up(why) from None

    def do(self, process: _Running, op: Op, job: Job) -> JobAnswer:
        """Do one job in the program, under limits that are enforced from outside."""
        body = _of_bytes(op, job)
        return self._ask(process, job.id, "rows" if op == "read" else "written", body)

    def fetch(self, job_id: str, members: Mapping[str, Any], *, times: float = 1.0) -> JobAnswer:
        """The answer of a client to a request to read a table; raises Unavailable or CannotStart.

        ``members`` are those of ``$defs/fetch`` in the schema, without ``id`` and ``op``. It may take so many times the
        limits of time.
        """
        return self._ask(self.ready(), job_id, "rows", {"op": "fetch", **members}, times)

    def _ask(
        self, process: _Running, job_id: str, wanted: str, body: Mapping[str, Any], times: float = 1.0
    ) -> JobAnswer:
        began = time.monotonic()
        cpu = self._limits.cpu_seconds * times
        watch = Watch(process.process.root, memory=self._limits.memory, cpu=cpu, stop=process.kill)
        make = functools.partial(JobAnswer, job_id, self.name, stage=JobStage.LIBRARY)
        try:
            with watch:
                reported = process.ask(body, wanted, self._limits, self._limits.seconds * times)
            return _answered(job_id, self.name, reported, time.monotonic() - began)
        except LostError as error:
            outcome, error_class, text = self._broken(process, error, watch)
        except ProtocolError as error:
            text = f"the program broke the protocol: {error}"
            outcome, error_class = JobOutcome.UNAVAILABLE, "protocol"
        self.discard()
        return make(outcome, error_class=error_class, error_text=text, seconds=time.monotonic() - began)

    def _broken(self, running: _Running, error: LostError, watch: Watch) -> tuple[JobOutcome, str, str]:
        """The outcome, error class and text for a conversation that broke; ``watch`` knows which limit was exceeded."""
        words = str(error)
        if watch.reason:
            return JobOutcome.EXHAUSTED, MEMORY if watch.out_of_memory else LIMIT, f"{watch.reason}; it was ended"
        if error.how is Lost.DEADLINE:
            return JobOutcome.HUNG, "deadline", words
        if error.how is Lost.OVER_BUDGET:
            return JobOutcome.EXHAUSTED, "answer", words
        code = None
        if error.how is Lost.CRASH and running.process.wait_for_exit(EXIT_SECONDS):
            code, reason = running.process.code, running.process.tail.reason()
            words = f"{reason}; {in_words(code)}" if reason else running.process.last_words()
        if code is None or self._closed:
            return JobOutcome.UNAVAILABLE, "protocol", f"the program broke the protocol: {error}"
        ending = signal_name(code) or "exit"
        return ended(ending, words), ending, words


class _Running:
    """One start of the program, with its pipes."""

    def __init__(self, command: Sequence[str]) -> None:
        self.process = Child(command, environment=os.environ, piped=True)
        self.pipes = Pipes(self.process.stdin, self.process.stdout)
        self._asked = 0
        self._hello: Hello | None = None

    def hello(self) -> Hello:
        """The program's answer to hello, requested once. Raises LostError, ProtocolError."""
        if self._hello is None:
            reported = self._exchange(
                {"op": "hello"}, kinds=("welcome",), seconds=START_SECONDS, limit=MAX_HELLO, values=HELLO_VALUES
            )
            self._hello = Hello(
                implementation=reported["implementation"],
                title=reported["title"],
                language=reported["language"],
                version=reported["version"],
                reads=tuple(reported["reads"]),
                writes=tuple(reported["writes"]),
                read_options=_space(reported.get("read_options", {})),
                write_options=_space(reported.get("write_options", {})),
                paths=tuple(reported.get("paths", ())),
            )
        return self._hello

    def ask(self, body: Mapping[str, Any], wanted: str, limits: JobLimits, seconds: float) -> dict[str, Any]:
        """The program's answer to a request, of the kind ``wanted`` if it succeeds. Raises LostError, ProtocolError."""
        self.process.tail.clear()
        kinds = (wanted, "unsupported", "error")
        values = HELLO_VALUES + PER_VALUE * limits.values
        return self._exchange(body, kinds=kinds, seconds=seconds, limit=MAX_LINE, values=values)

    def kill(self) -> None:
        self.process.kill()

    def close(self) -> str:
        self.pipes.close()
        self.process.stop(grace=0)
        return ""

    def _exchange(
        self, body: Mapping[str, Any], *, kinds: tuple[str, ...], seconds: float, limit: int, values: int
    ) -> dict[str, Any]:
        self._asked += 1
        line = self.pipes.ask(PROTOCOL.encode({"id": self._asked, **body}), seconds=seconds, limit=limit)
        return PROTOCOL.decode(line, request=self._asked, kinds=kinds, values=values)


def _of_bytes(op: Op, job: Job) -> dict[str, Any]:
    """The request of a job on bytes."""
    body = {"op": op, "kind": job.kind, "data": base64.b64encode(job.data).decode(), "options": dict(job.options)}
    if job.kind == "message":
        body["schema"] = base64.b64encode(job.schema).decode()
    return body


def _answered(job_id: str, name: str, reported: Mapping[str, Any], seconds: float) -> JobAnswer:
    """The answer to a job in the suite's form. Raises ProtocolError."""
    make = functools.partial(JobAnswer, job_id, name, seconds=seconds)
    if reported["status"] == "unsupported":
        return make(JobOutcome.UNSUPPORTED, error_text=reported["message"])
    if reported["status"] == "error":
        kind, text = reported["class"], reported["message"]
        broken = bool(reported.get("panicked", panicked(kind)))
        stage = JobStage(reported.get("stage", JobStage.LIBRARY))
        return make(refused(kind, text), error_class=kind, error_text=text, panicked=broken, stage=stage)
    if "data" in reported:
        return make(JobOutcome.WRITTEN, data=decode_base64(reported["data"], "data"))
    if len(reported["columns"]) != len(reported["names"]):
        raise ProtocolError(f"{len(reported['columns'])} columns for {len(reported['names'])} names")
    try:
        table = PlainTable.from_json(reported)
    except PlainError as error:  # the library accepted a batch whose columns do not fit together
        return make(JobOutcome.REFUSED, error_class="PlainError", error_text=str(error), stage=JobStage.VALUES)
    return make(
        JobOutcome.ROWS,
        table=table,
        rows=table.rows,
        types=tuple(reported.get("types", ())),
        statistics=reported.get("statistics", {}),
        ways=tuple(reported["ways"]) if "ways" in reported else None,
        stage=JobStage.VALUES,
    )


def _space(reported: Mapping[str, Any]) -> dict[str, tuple[Any, ...]]:
    """The declared option values; an empty tuple means any value."""
    return {name: () if values is True else tuple(values) for name, values in reported.items()}
