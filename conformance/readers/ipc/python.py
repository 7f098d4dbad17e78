"""A runner for a Python library: the pool's side of its warm worker process."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import json
import re
from collections.abc import Mapping
from typing import Any, Final

from conformance.contain.channel import ChannelMessage, FrameError
from conformance.contain.supervised import in_words, signal_name
from conformance.contain.worker import Worker
from conformance.readers.ipc.implementation import Hello, IpcReaderInfo, IpcWriterInfo, Unavailable
from conformance.readers.ipc.job import Job, JobAnswer, JobLimits, JobOutcome, JobStage
from conformance.readers.ipc.runner import Op, Runner, ended, panicked, refused, words
from conformance.wire.plain import PlainTable

__all__ = ["PythonRunner"]

LOAD_SECONDS: Final = 60.0
"""Deadline for importing a library on a cold and busy machine."""
GRACE_SECONDS: Final = 30.0
"""Time that the worker has after a job's deadline: it kills the late child, and the kernel frees the child's memory."""

MAX_HEADER: Final = 8 << 20
"""The longest answer of a worker in bytes, without the table or the written bytes."""
MAX_ANSWER: Final = 512 << 20
"""The largest table as JSON, and the most written bytes, in bytes."""

_ENVIRONMENT: Final = {
    # The default pool of pyarrow reserves one GiB of address space at once, which would exceed the memory limit.
    "ARROW_DEFAULT_MEMORY_POOL": "system",
}


class PythonRunner(Runner["_WorkerProcess"]):
    """A library in a worker that forks for each job: a crash, a hang or a corrupted heap affects that job alone."""

    def __init__(self, reader: IpcReaderInfo | None, writer: IpcWriterInfo | None, limits: JobLimits) -> None:
        info = reader or writer
        if info is None:
            raise ValueError("expected a reader or a writer but got neither")
        super().__init__(info.name, lambda: _WorkerProcess(info.module))
        self._info = info
        self._reader = reader
        self._writer = writer
        self._limits = limits
        self._hello: Hello | None = None

    def hello(self) -> Hello:
        """The declaration of the library's module, with the version that is installed; raises Unavailable."""
        try:
            version = self.ready().version()
        except (FrameError, OSError) as error:
            late = isinstance(error, TimeoutError)
            how = f"did not end its import within {LOAD_SECONDS:g} s" if late else "ended its process at import"
            raise self.give_up(f"the library {how}") from None
        if self._hello is None:
            self._hello = Hello(
                implementation=self._info.name,
                title=self._info.title,
                language=self._info.language,
                version=version,
                reads=self._reader.kinds if self._reader else (),
                writes=self._writer.kinds if self._writer else (),
                read_options=self._reader.options if self._reader else {},
                write_options=self._writer.options if self._writer else {},
            )
        return self._hello

    def do(self, process: _WorkerProcess, op: Op, job: Job) -> JobAnswer:
        """Do one job in a fork of the worker."""
        try:
            frame = process.ask(_request(op, job, self._limits), job, seconds=self._limits.seconds)
        except (FrameError, OSError) as error:
            text = f"the worker itself broke: {error}{self.discard()}"
            return JobAnswer(job.id, self.name, JobOutcome.UNAVAILABLE, error_class="worker", error_text=text)
        answer = _answer(self.name, op, job, frame, self._limits)
        if answer.outcome is JobOutcome.REFUSED and self._lacks(answer):
            return dataclasses.replace(answer, outcome=JobOutcome.UNSUPPORTED)
        return answer

    def _lacks(self, answer: JobAnswer) -> bool:
        """True if the error says that the library lacks a feature."""
        pattern = self._info.lacks
        return bool(pattern and re.search(pattern, f"{answer.error_class}: {answer.error_text}"))


class _WorkerProcess:
    """One start of :mod:`conformance.readers.ipc.worker`."""

    def __init__(self, module: str) -> None:
        self._loaded: Mapping[str, Any] | None = None
        self._worker = Worker(
            "conformance.readers.ipc.worker", environment=_ENVIRONMENT, header=MAX_HEADER, frame=MAX_ANSWER
        )
        with contextlib.suppress(OSError):  # if it has died already, waiting for its first answer reports that
            self._worker.channel.send({"do": "load", "module": module})

    def version(self) -> str:
        """The library's version, after waiting for the import. Raises Unavailable, FrameError, OSError."""
        if self._loaded is None:
            self._loaded = self._worker.channel.receive(seconds=LOAD_SECONDS).header
        if self._loaded["absent"]:
            raise Unavailable(self._loaded["absent"])
        return str(self._loaded["version"])

    def ask(self, request: Mapping[str, Any], job: Job, *, seconds: float) -> ChannelMessage:
        """The worker's answer to a job. Raises FrameError, OSError."""
        self._worker.channel.send(request, [job.data, job.schema], seconds=seconds)
        return self._worker.channel.receive(seconds=seconds + GRACE_SECONDS)

    def kill(self) -> None:
        """End the process and its forks."""
        self._worker.kill()

    def close(self) -> str:
        """End the process and return its last output as the end of a sentence."""
        return words(self._worker.close())


def _request(op: Op, job: Job, limits: JobLimits) -> dict[str, Any]:
    return {
        "do": "run",
        "op": op,
        "kind": job.kind,
        "options": dict(job.options),
        "seconds": limits.seconds,
        "memory": limits.memory,
        "cpu": limits.cpu_seconds,
        "values": limits.values,
        "reuse": limits.reuse,
    }


def _answer(name: str, op: Op, job: Job, frame: ChannelMessage, limits: JobLimits) -> JobAnswer:
    """The answer to a job, also if its fork ended without one."""
    reported = frame.header
    end, answer = reported["end"], reported["answer"]
    if answer is not None:
        try:
            return _answered(name, job, answer, *frame.blobs)
        except (KeyError, TypeError, ValueError):
            end = "garbage"
    stage = JobStage(reported["stage"] or (JobStage.SOURCE if op == "write" else JobStage.LIBRARY))
    said = words(reported["said"])
    ending = functools.partial(JobAnswer, job.id, name, stage=stage)
    if end == "late":
        text = f"no answer within {limits.seconds:g} s{said}"
        return ending(JobOutcome.HUNG, error_class="deadline", error_text=text, seconds=limits.seconds)
    if end == "garbage":
        text = f"the process answered with what is no answer{said}"
        return ending(JobOutcome.DIED, error_class="frame", error_text=text)
    number = signal_name(end)
    outcome = ended(number, reported["said"]) if number else JobOutcome.DIED
    return ending(outcome, error_class=number or "exit", error_text=f"{in_words(end)}{said}")


def _answered(name: str, job: Job, answer: Mapping[str, Any], written: bytes, table: bytes) -> JobAnswer:
    outcome, error_class = JobOutcome(answer["outcome"]), answer.get("error_class", "")
    error_text = answer.get("error_text", "")
    return JobAnswer(
        job.id,
        name,
        refused(error_class, error_text) if outcome is JobOutcome.REFUSED else outcome,
        table=PlainTable.from_json(json.loads(table)) if table else None,
        types=tuple(answer.get("types", ())),
        error_class=error_class,
        error_text=error_text,
        seconds=answer["seconds"],
        panicked=panicked(error_class),
        stage=JobStage(answer["stage"]),
        rows=answer.get("rows", 0),
        data=written,
        statistics=answer.get("statistics", {}),
        ways=tuple(answer["ways"]) if "ways" in answer else None,
    )
