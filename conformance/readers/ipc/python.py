"""A Python library as a runner: its warm worker process as the pool sees it."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import json
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping
from typing import IO, Any, Final

from conformance.readers.frames import Channel, Frame, FrameError
from conformance.readers.ipc.info import Hello, IpcReaderInfo, IpcWriterInfo, Unavailable
from conformance.readers.ipc.job import Answer, Job, Limits, Outcome, Stage
from conformance.readers.ipc.runner import Op, ended, missing_option, panicked, refused, words
from conformance.readers.process import ENVIRONMENT
from conformance.wire.plain import PlainTable

__all__ = ["PythonRunner"]

LOAD_SECONDS: Final = 120.0
"""For importing a library on a cold and busy machine."""
GRACE_SECONDS: Final = 30.0
"""For the worker beyond a job's deadline: it ends a child that is late, and the kernel frees its memory."""

_ENVIRONMENT: Final = {
    **ENVIRONMENT,
    # The default pool of pyarrow reserves a GiB of address space at once, which the memory limit would refuse.
    "ARROW_DEFAULT_MEMORY_POOL": "system",
}


class PythonRunner:
    """A library in a worker that forks for each job: a crash, a hang or a spoilt heap costs that job and no other."""

    def __init__(self, reader: IpcReaderInfo | None, writer: IpcWriterInfo | None, limits: Limits) -> None:
        info = reader or writer
        if info is None:
            raise ValueError("expected a reader or a writer but got neither")
        self._info = info
        self._reader = reader
        self._writer = writer
        self._limits = limits
        self._process: _WorkerProcess | None = None
        self._hello: Hello | None = None
        self._lock = threading.Lock()
        self._closed = False

    def start(self) -> None:
        """Start the worker, which imports the library while the caller does other things."""
        with self._lock:
            if self._process is None and not self._closed:
                self._process = _WorkerProcess(self._info.module)

    def hello(self) -> Hello:
        """What the library's module declares, with the version that is installed here; raises Unavailable."""
        version = self._ready().version()
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

    def run(self, op: Op, job: Job) -> Answer:
        """Do one job in a fork of the worker."""
        name = self._info.name
        try:
            lacks = missing_option(op, job, self.hello())
            if lacks:
                return Answer(job.id, name, Outcome.UNSUPPORTED, error_text=lacks)
            frame = self._ready().ask(_request(op, job, self._limits), job, seconds=self._limits.seconds)
        except Unavailable as error:
            return Answer(job.id, name, Outcome.UNAVAILABLE, error_text=str(error))
        except (FrameError, OSError) as error:
            said = self._discard()
            text = f"the worker itself broke: {error}{said}"
            return Answer(job.id, name, Outcome.UNAVAILABLE, error_class="worker", error_text=text)
        answer = _answer(name, op, job, frame, self._limits)
        if answer.outcome is Outcome.REFUSED and self._lacks(answer):
            return dataclasses.replace(answer, outcome=Outcome.UNSUPPORTED)
        return answer

    def _lacks(self, answer: Answer) -> bool:
        """Whether the error says that the library lacks a feature."""
        pattern = self._info.lacks
        return bool(pattern and re.search(pattern, f"{answer.error_class}: {answer.error_text}"))

    def _ready(self) -> _WorkerProcess:
        self.start()
        process = self._process
        if process is None:
            raise Unavailable("the pool was closed")
        return process

    def kill(self) -> None:
        """End the worker and its child."""
        with self._lock:
            self._closed = True
            if self._process is not None:
                self._process.kill()

    def close(self) -> None:
        """End the worker and its child."""
        self.kill()
        self._discard()

    def _discard(self) -> str:
        with self._lock:
            process, self._process = self._process, None
        return process.close() if process is not None else ""


class _WorkerProcess:
    """One start of :mod:`conformance.readers.ipc.worker`."""

    def __init__(self, module: str) -> None:
        ours, theirs = socket.socketpair()
        self._channel = Channel(ours)
        self._loaded: Mapping[str, Any] | None = None
        self._stderr: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115  # closed with the process
        path = os.pathsep.join(entry for entry in sys.path if entry)
        with theirs:
            self._process = subprocess.Popen(  # noqa: S603  # our own interpreter and module
                [sys.executable, "-m", "conformance.readers.ipc.worker", str(theirs.fileno())],
                stdin=subprocess.DEVNULL,
                stdout=self._stderr,
                stderr=self._stderr,
                pass_fds=[theirs.fileno()],
                env={**os.environ, **_ENVIRONMENT, "PYTHONPATH": path},
                start_new_session=True,
            )
        self._channel.send({"do": "load", "module": module})

    def version(self) -> str:
        """Wait for the import; raises Unavailable, FrameError, OSError."""
        if self._loaded is None:
            self._loaded = self._channel.receive(seconds=LOAD_SECONDS).header
        if self._loaded["absent"]:
            raise Unavailable(self._loaded["absent"])
        return str(self._loaded["version"])

    def ask(self, request: Mapping[str, Any], job: Job, *, seconds: float) -> Frame:
        """Raises FrameError, OSError."""
        self._channel.send(request, [job.data, job.schema], seconds=seconds)
        return self._channel.receive(seconds=seconds + GRACE_SECONDS)

    def kill(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)  # a child of it as well

    def close(self) -> str:
        """End the process; what it last said, as the end of a sentence."""
        self.kill()
        self._channel.close()
        self._process.wait()
        with self._stderr:
            self._stderr.seek(0)
            return words(self._stderr.read().decode(errors="replace"))


def _request(op: Op, job: Job, limits: Limits) -> dict[str, Any]:
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


def _answer(name: str, op: Op, job: Job, frame: Frame, limits: Limits) -> Answer:
    """What the end of a job in its fork means."""
    told = frame.header
    end, answer = told["end"], told["answer"]
    if answer is not None:
        try:
            return _answered(name, job, answer, *frame.blobs)
        except (KeyError, TypeError, ValueError):
            end = "garbage"
    stage = Stage(told["stage"] or (Stage.SOURCE if op == "write" else Stage.LIBRARY))
    said = words(told["said"])
    ending = functools.partial(Answer, job.id, name, stage=stage)
    if end == "late":
        text = f"no answer within {limits.seconds:g} s{said}"
        return ending(Outcome.HUNG, error_class="deadline", error_text=text, seconds=limits.seconds)
    if end == "garbage":
        text = f"the process answered with what is no answer{said}"
        return ending(Outcome.DIED, error_class="frame", error_text=text)
    if end < 0:
        number = signal.Signals(-end).name
        text = f"the process was ended by {number}{said}"
        return ending(ended(number, told["said"]), error_class=number, error_text=text)
    return ending(Outcome.DIED, error_class="exit", error_text=f"the process exited with status {end}{said}")


def _answered(name: str, job: Job, answer: Mapping[str, Any], written: bytes, table: bytes) -> Answer:
    outcome, error_class = Outcome(answer["outcome"]), answer.get("error_class", "")
    error_text = answer.get("error_text", "")
    return Answer(
        job.id,
        name,
        refused(error_class, error_text) if outcome is Outcome.REFUSED else outcome,
        table=PlainTable.from_json(json.loads(table)) if table else None,
        types=tuple(answer.get("types", ())),
        error_class=error_class,
        error_text=error_text,
        seconds=answer["seconds"],
        panicked=panicked(error_class),
        stage=Stage(answer["stage"]),
        rows=answer.get("rows", 0),
        data=written,
        statistics=answer.get("statistics", {}),
    )
