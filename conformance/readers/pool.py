"""Warm worker processes that read: a crash or a hang costs one reading, and the worker is replaced.

Each slot of the pool owns its share of the readers, so a slot imports only those, once.
A slot's work is done in a thread of the pool, which waits for frames with a deadline.
"""

from __future__ import annotations

import concurrent.futures
import contextlib
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import IO, Any, Final, Self

from conformance.readers.frames import Channel, FrameError
from conformance.readers.info import ReaderInfo
from conformance.readers.registry import MODULES, reader_module
from conformance.readers.whole import WholeRead, whole_reads
from conformance.records import Case, Exchange, Reading, ReadingOutcome

__all__ = ["ReaderPool"]

DEADLINE: Final = 30.0
"""Seconds for one reading: the slowest honest one (100 MiB through a client) takes under five on one busy core."""
MEMORY: Final = 4 << 30
"""Bytes that a worker may map beyond its loaded libraries: several copies of the largest response, and slack."""
LOAD_DEADLINE: Final = 120.0
"""Seconds for importing every library on a cold and busy machine."""

_ENVIRONMENT: Final = {
    # One thread each: a worker reads small tables, and idle thread pools only cost memory and start-up time.
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "POLARS_MAX_THREADS": "1",
    "GRPC_VERBOSITY": "NONE",
    # A panic's message is kept, its backtrace is not wanted in a reading.
    "RUST_BACKTRACE": "0",
}
_STDERR_TAIL: Final = 2048


class _Died(Exception):  # noqa: N818  # an event inside this module, never an error of the caller's
    """The worker is gone or has been killed: what to put into the reading."""

    def __init__(self, outcome: ReadingOutcome, error_class: str, text: str) -> None:
        super().__init__(text)
        self.outcome = outcome
        self.error_class = error_class
        self.text = text


class _Process:
    """One worker process with its readers loaded."""

    def __init__(self, modules: Mapping[str, str], *, deadline: float, memory: int) -> None:
        ours, theirs = socket.socketpair()
        self._channel = Channel(ours)
        self._deadline = deadline
        self._stderr: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115  # closed with the process
        path = os.pathsep.join(entry for entry in sys.path if entry)
        arguments = [str(theirs.fileno()), str(memory), str(deadline * 2)]
        with theirs:
            self._process = subprocess.Popen(  # noqa: S603  # our own interpreter and module
                [sys.executable, "-m", "conformance.readers.worker", *arguments],
                stdin=subprocess.DEVNULL,
                stdout=self._stderr,
                stderr=self._stderr,
                pass_fds=[theirs.fileno()],
                env={**os.environ, **_ENVIRONMENT, "PYTHONPATH": path},
                start_new_session=True,
            )
        self.absent: Mapping[str, str] = {}
        self._channel.send({"do": "load", "modules": dict(modules)})
        self.absent = self._receive(LOAD_DEADLINE)[0]["absent"]

    def start(self, whole: WholeRead, readers: Sequence[str]) -> None:
        """Ask for readings; :meth:`next` gives them in the order of ``readers``."""
        frame = whole.to_frame()
        header = {"do": "read", "readers": list(readers), "read": frame.header}
        try:
            self._channel.send(header, frame.blobs, seconds=self._deadline)
        except OSError as error:
            raise self._end(error) from error

    def next(self) -> tuple[Mapping[str, Any], bytes]:
        """The next reading: its header and the table's bytes; raises _Died."""
        header, blobs = self._receive(self._deadline)
        return header, blobs[0] if blobs else b""

    def _receive(self, seconds: float) -> tuple[Mapping[str, Any], tuple[bytes, ...]]:
        try:
            frame = self._channel.receive(seconds=seconds)
        except (FrameError, OSError) as error:
            raise self._end(error) from error
        return frame.header, frame.blobs

    def _end(self, error: Exception) -> _Died:
        """Reap the process and say how it ended."""
        hung = isinstance(error, TimeoutError)
        if not hung:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(timeout=self._deadline)
        status = self._process.poll()
        said = self.close()
        if hung or status is None:
            return _Died(ReadingOutcome.HANG, "deadline", f"no answer within {self._deadline:g} s{said}")
        if status < 0:
            name = signal.Signals(-status).name
            outcome = ReadingOutcome.HANG if -status == signal.SIGXCPU else ReadingOutcome.CRASH
            return _Died(outcome, name, f"the process was ended by {name}{said}")
        return _Died(ReadingOutcome.CRASH, "exit", f"the process exited with status {status}{said}")

    def close(self) -> str:
        """End the process and return what it last wrote to standard error, as the end of a sentence."""
        self._channel.close()
        self._process.kill()
        self._process.wait()
        self._stderr.seek(0, os.SEEK_END)
        self._stderr.seek(max(0, self._stderr.tell() - _STDERR_TAIL))
        lines = self._stderr.read().decode(errors="replace").strip().splitlines()
        self._stderr.close()
        return f"; it last said: {lines[-1].strip()}" if lines else ""


class _Slot:
    """A place for one worker process, started when first needed and again after a crash."""

    def __init__(self, modules: Mapping[str, str], *, deadline: float, memory: int) -> None:
        self._modules = modules
        self._limits = {"deadline": deadline, "memory": memory}
        self._process: _Process | None = None
        self._lock = threading.Lock()

    @property
    def readers(self) -> frozenset[str]:
        return frozenset(self._modules)

    def warm(self) -> None:
        with self._lock:
            self._ready()

    def read(self, whole: WholeRead, readers: Sequence[str]) -> list[Reading]:
        """One reading per reader, in order, whatever becomes of the process."""
        with self._lock:
            done: list[Reading] = []
            while len(done) < len(readers):
                done += self._run(whole, readers[len(done) :])
            return done

    def _run(self, whole: WholeRead, readers: Sequence[str]) -> list[Reading]:
        """Readings up to and with the first that ends the process."""
        done: list[Reading] = []
        try:
            process = self._ready()
            present = [name for name in readers if name not in process.absent]
            process.start(whole, present)
            for name in readers:
                if name in process.absent:
                    done.append(_reading(name, whole, ReadingOutcome.UNAVAILABLE, text=process.absent[name]))
                    continue
                header, table = process.next()
                outcome = ReadingOutcome(header["outcome"])
                about = {"kind": header.get("error_class", ""), "text": header.get("error_text", "")}
                done.append(_reading(name, whole, outcome, table=table, **about))
        except _Died as end:
            self._process = None
            name = readers[len(done)]
            done.append(_reading(name, whole, end.outcome, kind=end.error_class, text=end.text))
        return done

    def _ready(self) -> _Process:
        if self._process is None:
            self._process = _Process(self._modules, **self._limits)  # type: ignore[arg-type]
        return self._process

    def close(self) -> None:
        with self._lock:
            if self._process is not None:
                self._process.close()
                self._process = None


def _reading(
    reader: str, whole: WholeRead, outcome: ReadingOutcome, *, table: bytes = b"", kind: str = "", text: str = ""
) -> Reading:
    return Reading(reader, whole.case_id, whole.label, outcome, table=table, error_class=kind, error_text=text)


class ReaderPool:
    """Reads exchanges with independent decoders and real clients, in processes that may die.

    Use as a context manager; ``read`` may be called from several threads.

    Args:
        workers: Number of worker processes; the readers are dealt out among them.
        readers: Names of the readers to hold; all that ship with the suite by default.
        modules: Import paths of further reader modules (see :mod:`conformance.readers.info`).
        deadline: Seconds for one reading.
        memory_limit: Bytes that a worker may map beyond its loaded libraries, where the platform can limit that.
    """

    def __init__(
        self,
        workers: int = 2,
        *,
        readers: Sequence[str] | None = None,
        modules: Sequence[str] = (),
        deadline: float = DEADLINE,
        memory_limit: int = MEMORY,
    ) -> None:
        if workers < 1:
            raise ValueError(f"expected at least one worker but got workers={workers!r}")
        known = {**MODULES, **{reader_module(path).INFO.name: path for path in modules}}
        chosen = list(known) if readers is None else list(readers)
        unknown = [name for name in chosen if name not in known]
        if unknown:
            raise ValueError(f"expected readers among {sorted(known)} but got {unknown!r}")
        self.readers: Mapping[str, ReaderInfo] = {name: reader_module(known[name]).INFO for name in chosen}
        shares = [{name: known[name] for name in chosen[index::workers]} for index in range(workers)]
        self._slots = [_Slot(share, deadline=deadline, memory=memory_limit) for share in shares if share]
        self._threads = concurrent.futures.ThreadPoolExecutor(max(1, len(self._slots)), thread_name_prefix="readers")

    def __enter__(self) -> Self:
        for slot in self._slots:
            self._threads.submit(slot.warm)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End every worker process."""
        self._threads.shutdown(wait=True, cancel_futures=True)
        for slot in self._slots:
            slot.close()

    def read(self, case: Case, exchange: Exchange, readers: Sequence[str] | None = None) -> list[Reading]:
        """What each reader makes of each whole read of the exchange: by whole read, then in the readers' order.

        Never raises for what a reader does: an exception, a crash, a hang and an absent library are readings.
        Empty where the exchange holds no whole read (see :func:`conformance.readers.whole.whole_reads`).

        Raises:
            ValueError: A reader is asked for that the pool does not hold.
        """
        names = list(self.readers) if readers is None else list(readers)
        unknown = [name for name in names if name not in self.readers]
        if unknown:
            raise ValueError(f"expected readers among {sorted(self.readers)} but got {unknown!r}")
        return [reading for whole in whole_reads(case, exchange) for reading in self._read(whole, names)]

    def _read(self, whole: WholeRead, names: Sequence[str]) -> list[Reading]:
        found = {}
        for name in names:
            reason = self.readers[name].refusal(whole)
            if reason:
                found[name] = _reading(name, whole, ReadingOutcome.UNAVAILABLE, text=reason)
        shares = [[name for name in names if name in slot.readers and name not in found] for slot in self._slots]
        jobs = [
            self._threads.submit(slot.read, whole, share)
            for slot, share in zip(self._slots, shares, strict=True)
            if share
        ]
        for job in jobs:
            found |= {reading.reader: reading for reading in job.result()}
        return [found[name] for name in names]
