"""A program in any language as a runner: asked over stdin and stdout, started again where it broke.

What the messages look like is :mod:`.protocol`'s matter. A program that breaks the protocol is an adapter with a
defect, and says nothing about the library behind it: the answer is ``unavailable``.
"""

from __future__ import annotations

import base64
import functools
import os
import re
import signal
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from conformance.readers.ipc import protocol
from conformance.readers.ipc.info import Hello, IpcReaderInfo, IpcWriterInfo, Unavailable
from conformance.readers.ipc.job import Answer, Job, Limits, Outcome, Stage
from conformance.readers.ipc.protocol import ProtocolError
from conformance.readers.ipc.runner import Op, ended, missing_option, panicked, refused
from conformance.readers.ipc.watching import Watch
from conformance.records import CallEnd
from conformance.targets.errors import TargetUnavailable
from conformance.targets.frames import FrameError, Pipes
from conformance.targets.process import Process, Tail
from conformance.wire.plain import PlainError, PlainTable

__all__ = ["ProgramRunner"]

START_SECONDS: Final = 60.0
"""For a virtual machine that starts on a busy machine."""
EXIT_SECONDS: Final = 2.0
"""For a program whose output ended to be seen dead."""
HEAD_BYTES: Final = 4096
"""What is kept of the beginning of what a program says during a job."""
MAX_LINE: Final = 256 << 20
"""Bound in bytes on an answer."""


_REASON: Final = re.compile(r"^(fatal error|panic|runtime): |FATAL ERROR|OutOfMemoryError|# +SIG")
"""How Go, V8 and the JVM begin when they give up."""


class ProgramRunner:
    """A program that reads and writes with one library. It stays warm; what ends it costs one job.

    Args:
        info: The facts about it as a reader or a writer.
        command: Gives the command that starts it, or raises Unavailable.
        limits: What one job may use; ``reuse`` does not apply.
    """

    def __init__(
        self, info: IpcReaderInfo | IpcWriterInfo, command: Callable[[], Sequence[str]], limits: Limits
    ) -> None:
        self._info = info
        self._command = command
        self._limits = limits
        self._running: _Running | None = None
        self._gone = ""
        self._lock = threading.Lock()
        self._closed = False

    def start(self) -> None:
        """Start the program, which loads its library while the caller does other things."""
        with self._lock:
            if self._running is not None or self._gone or self._closed:
                return
            try:
                self._running = _Running(self._command())
            except (Unavailable, TargetUnavailable) as error:
                self._gone = str(error)

    def hello(self) -> Hello:
        """What the program tells of its library; raises Unavailable."""
        running = self._ready()
        try:
            return running.hello()
        except (FrameError, ProtocolError) as error:
            if isinstance(error, FrameError) and error.end is CallEnd.CRASH:
                running.process.wait_for_exit(EXIT_SECONDS)
            self._gone = f"the program did not answer hello: {error}; {running.process.last_words()}"
            self._discard()
            raise Unavailable(self._gone) from None

    def run(self, op: Op, job: Job) -> Answer:
        """Do one job."""
        name = self._info.name
        try:
            lacks = missing_option(op, job, self.hello())
            if lacks:
                return Answer(job.id, name, Outcome.UNSUPPORTED, error_text=lacks)
            running = self._ready()
        except Unavailable as error:
            return Answer(job.id, name, Outcome.UNAVAILABLE, error_text=str(error))
        began = time.monotonic()
        watch = Watch(
            running.process.pid, memory=self._limits.memory, cpu=self._limits.cpu_seconds, stop=running.process.slay
        )
        make = functools.partial(Answer, job.id, name, stage=Stage.LIBRARY)
        try:
            with watch:
                told = running.ask(op, job, seconds=self._limits.seconds)
            return _answered(job, name, told, time.monotonic() - began)
        except FrameError as error:
            outcome, error_class, text = self._broken(running, error, watch.reason)
        except ProtocolError as error:
            text = f"the program broke the protocol: {error}"
            outcome, error_class = Outcome.UNAVAILABLE, "protocol"
        self._discard()
        return make(outcome, error_class=error_class, error_text=text, seconds=time.monotonic() - began)

    def _broken(self, running: _Running, error: FrameError, passed: str) -> tuple[Outcome, str, str]:
        """What the end of the conversation means: outcome, class and text."""
        words = str(error)
        if passed:
            return Outcome.EXHAUSTED, "limit", f"{passed}; it was ended"
        if error.end is CallEnd.DEADLINE:
            return Outcome.HUNG, "deadline", words
        if error.end is CallEnd.OVER_BUDGET:
            return Outcome.EXHAUSTED, "answer", words
        status = None
        if error.end is CallEnd.CRASH:
            running.process.wait_for_exit(EXIT_SECONDS)
            words, status = running.process.last_words(), running.process.status
            reason = running.process.reason()
            words = f"{reason}; {words}" if reason else words
        if status is None or self._closed:
            return Outcome.UNAVAILABLE, "protocol", f"the program broke the protocol: {error}"
        ending = signal.Signals(-status).name if status < 0 else "exit"
        return ended(ending, words), ending, words

    def _ready(self) -> _Running:
        self.start()
        running = self._running
        if running is None:
            raise Unavailable(self._gone or "the pool was closed")
        return running

    def kill(self) -> None:
        """End the program under whoever waits for its answer, and start no other."""
        with self._lock:
            self._closed = True
            if self._running is not None:
                self._running.process.slay()

    def close(self) -> None:
        """End the program."""
        self.kill()
        self._discard()

    def _discard(self) -> None:
        with self._lock:
            running, self._running = self._running, None
        if running is not None:
            running.close()


class _Ends(Tail):
    """The beginning of an output stream beside its end: a Go program says why it dies before the stacks of it all."""

    def __init__(self) -> None:
        super().__init__()
        self._first = bytearray()

    def add(self, data: bytes) -> None:
        """Keep what is first, and what is last."""
        with self._lock:
            self._first += data[: HEAD_BYTES - len(self._first)]
        super().add(data)

    def reason(self) -> str:
        """The first line that says why a runtime gave up; empty where none does."""
        with self._lock:
            lines = self._first.decode(errors="backslashreplace").splitlines()
        return next((line.strip() for line in lines if _REASON.search(line)), "")


class _Program(Process):
    """A process that can be ended from another thread, and whose words can be told apart by job."""

    _tail: _Ends

    def __init__(self, command: Sequence[str]) -> None:
        super().__init__(command, environment=os.environ, piped=True)
        self.forget()

    def slay(self) -> None:
        """End the whole group at once."""
        self._signal(signal.SIGKILL)

    def forget(self) -> None:
        """Take what it said until now for said."""
        self._tail = _Ends()

    def reason(self) -> str:
        """Why its runtime gave up, in the runtime's words; empty where it did not say."""
        return self._tail.reason()

    @property
    def status(self) -> int | None:
        """How it ended, as subprocess tells it; None while it runs."""
        return None if self.running else self._popen.wait()


class _Running:
    """One start of the program."""

    def __init__(self, command: Sequence[str]) -> None:
        self.process = _Program(command)
        self.pipes = Pipes(self.process.stdin, self.process.stdout, limit=MAX_LINE)
        self._asked = 0
        self._hello: Hello | None = None

    def hello(self) -> Hello:
        """Raises FrameError, ProtocolError."""
        if self._hello is None:
            told = self._exchange({"op": "hello"}, kind="welcome", seconds=START_SECONDS)
            if told["status"] != "ok":
                raise ProtocolError(f"expected an answer to hello but got {told}")
            self._hello = Hello(
                implementation=told["implementation"],
                title=told["title"],
                language=told["language"],
                version=told["version"],
                reads=tuple(told["reads"]),
                writes=tuple(told["writes"]),
                read_options=_space(told.get("read_options", {})),
                write_options=_space(told.get("write_options", {})),
            )
        return self._hello

    def ask(self, op: Op, job: Job, *, seconds: float) -> dict[str, Any]:
        """Raises FrameError, ProtocolError."""
        self.process.forget()
        body = {"op": op, "kind": job.kind, "data": base64.b64encode(job.data).decode(), "options": dict(job.options)}
        if job.kind == "message":
            body["schema"] = base64.b64encode(job.schema).decode()
        return self._exchange(body, kind="rows" if op == "read" else "written", seconds=seconds)

    def close(self) -> None:
        self.pipes.close()
        self.process.stop(grace=0)

    def _exchange(self, body: Mapping[str, Any], *, kind: str, seconds: float) -> dict[str, Any]:
        self._asked += 1
        line = self.pipes.ask(protocol.encode({"id": self._asked, **body}), seconds=seconds)
        return protocol.decode(line, request=self._asked, kind=kind)


def _answered(job: Job, name: str, told: Mapping[str, Any], seconds: float) -> Answer:
    """Raises ProtocolError."""
    make = functools.partial(Answer, job.id, name, seconds=seconds)
    if told["status"] == "unsupported":
        return make(Outcome.UNSUPPORTED, error_text=told["message"])
    if told["status"] == "error":
        kind, text = told["class"], told["message"]
        broken = bool(told.get("panicked", panicked(kind)))
        stage = Stage(told.get("stage", Stage.LIBRARY))
        return make(refused(kind, text), error_class=kind, error_text=text, panicked=broken, stage=stage)
    if "data" in told:
        return make(Outcome.WRITTEN, data=protocol.decode_base64(told["data"]))
    if len(told["columns"]) != len(told["names"]):
        raise ProtocolError(f"{len(told['columns'])} columns for {len(told['names'])} names")
    try:
        table = PlainTable.from_json(told)
    except PlainError as error:  # the library took a batch whose columns do not go together
        return make(Outcome.REFUSED, error_class="PlainError", error_text=str(error), stage=Stage.VALUES)
    return make(Outcome.ROWS, table=table, rows=table.rows, types=tuple(told.get("types", ())), stage=Stage.VALUES)


def _space(told: Mapping[str, Any]) -> dict[str, tuple[Any, ...]]:
    """Option values as they are declared; empty for any."""
    return {name: () if values is True else tuple(values) for name, values in told.items()}
