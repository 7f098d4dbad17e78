"""Run many jobs on many readers: each reader keeps its order, several readers work at once, and every job gets an
answer.
"""

from __future__ import annotations

import concurrent.futures
import functools
import itertools
import queue
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, Self

from conformance.readers.ipc.adapters import load_adapter, ready_command
from conformance.readers.ipc.implementation import Hello, IpcReaderInfo, IpcWriterInfo, Unavailable
from conformance.readers.ipc.implementations import IPC_READERS, IPC_WRITERS
from conformance.readers.ipc.job import Job, JobAnswer, JobLimits
from conformance.readers.ipc.python import PythonRunner
from conformance.readers.ipc.runner import Op, Runner

__all__ = ["WINDOW", "IpcPool"]

WINDOW: Final = 64
"""Jobs given to the readers at a time: enough to keep every worker busy, and few enough to keep all their answers."""


class IpcPool:
    """Reads and writes IPC data with independent implementations, in processes that may die.

    Use as a context manager. One thread drives a pool.

    Args:
        names: The readers and writers of the pool; by default all that ship with the suite.
        limits: The limits of one job.
        programs: The limits of one job of a program; by default the same.
        workers: The number of implementations that work at the same time.
        readers: The readers that ``names`` may name; by default those that ship with the suite.
        writers: The writers that ``names`` may name.

    Raises:
        ValueError: A name is neither a reader's nor a writer's.

    >>> import pyarrow as pa
    >>> sink = pa.BufferOutputStream()
    >>> with pa.ipc.new_stream(sink, pa.schema([("a", pa.int8())])) as writer:
    ...     writer.write_batch(pa.record_batch([pa.array([1, None], pa.int8())], names=["a"]))
    >>> with IpcPool(["pyarrow"]) as pool:
    ...     [answer] = pool.read([Job("one", "stream", sink.getvalue().to_pybytes())])
    >>> answer.outcome, answer.table.columns
    (<Outcome.ROWS: 'rows'>, ([1, None],))
    """

    def __init__(
        self,
        names: Sequence[str] | None = None,
        *,
        limits: JobLimits = JobLimits(),  # noqa: B008  # frozen
        programs: JobLimits | None = None,
        workers: int = 2,
        readers: Mapping[str, IpcReaderInfo] = IPC_READERS,
        writers: Mapping[str, IpcWriterInfo] = IPC_WRITERS,
    ) -> None:
        if workers < 1:
            raise ValueError(f"expected at least one worker but got workers={workers!r}")
        known = list(dict.fromkeys([*readers, *writers]))
        chosen = known if names is None else list(dict.fromkeys(names))
        unknown = [name for name in chosen if name not in known]
        if unknown:
            raise ValueError(f"expected names among {sorted(known)} but got {unknown!r}")
        self.names: tuple[str, ...] = tuple(chosen)
        self._reading = [name for name in chosen if name in readers]
        self._writing = [name for name in chosen if name in writers]
        both = limits, programs or limits
        self._runners = {name: _runner(readers.get(name), writers.get(name), *both) for name in chosen}
        self._threads = concurrent.futures.ThreadPoolExecutor(workers, thread_name_prefix="ipc-readers")

    def __enter__(self) -> Self:
        for runner in self._runners.values():
            runner.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End every process; jobs in progress are answered as unavailable."""
        for runner in self._runners.values():
            runner.kill()
        self._threads.shutdown(wait=True, cancel_futures=True)
        for runner in self._runners.values():
            runner.close()

    def hello(self, name: str) -> Hello:
        """The declaration of an implementation: version, kinds, options.

        Raises:
            Unavailable: It is not installed; the text says what is missing.
        """
        return self._runners[name].hello()

    def absent(self) -> dict[str, str]:
        """The readers and writers that are not installed, with what is missing."""
        missing = {}
        for name in self.names:
            try:
                self.hello(name)
            except Unavailable as error:
                missing[name] = str(error)
        return missing

    def read(self, jobs: Iterable[Job], names: Sequence[str] | None = None) -> Iterator[JobAnswer]:
        """Every reader's answer to every job, as they arrive; the answers of one reader come in the order of the
        jobs.

        An error of a reader never raises here. The iterable is consumed one window of jobs at a time.
        """
        return self._run("read", jobs, self._reading if names is None else names)

    def write(self, jobs: Iterable[Job], names: Sequence[str] | None = None) -> Iterator[JobAnswer]:
        """Every writer's answer to every job, in the same order as those of :meth:`read`."""
        return self._run("write", jobs, self._writing if names is None else names)

    def _run(self, op: Op, jobs: Iterable[Job], names: Sequence[str]) -> Iterator[JobAnswer]:
        absent = [name for name in names if name not in self._runners]
        if absent:
            raise ValueError(f"expected names among {list(self.names)} but got {absent!r}")
        left = iter(jobs)
        while window := list(itertools.islice(left, WINDOW)):
            yield from self._hand_out(op, window, names)

    def _hand_out(self, op: Op, window: Sequence[Job], names: Sequence[str]) -> Iterator[JobAnswer]:
        answers: queue.SimpleQueue[JobAnswer | None] = queue.SimpleQueue()
        stop = threading.Event()
        tasks = [self._threads.submit(_work, self._runners[name], op, window, answers, stop) for name in names]
        going = len(tasks)
        try:
            while going:
                answer = answers.get()
                if answer is None:
                    going -= 1
                else:
                    yield answer
        finally:
            stop.set()  # the caller may start another round, and only one thread at a time may drive a runner
            concurrent.futures.wait(tasks)
        for task in tasks:
            task.result()  # raise errors of the suite, which would otherwise look like missing answers


def _work(
    runner: Runner[Any],
    op: Op,
    window: Sequence[Job],
    answers: queue.SimpleQueue[JobAnswer | None],
    stop: threading.Event,
) -> None:
    try:
        for job in window:
            if stop.is_set():
                return
            answers.put(runner.run(op, job))
    finally:
        answers.put(None)


def _runner(
    reader: IpcReaderInfo | None, writer: IpcWriterInfo | None, limits: JobLimits, of_programs: JobLimits
) -> Runner[Any]:
    info = reader or writer
    assert info is not None
    if info.adapter is None:
        return PythonRunner(reader, writer, limits)
    # Imported here because reading with Python libraries needs neither psutil nor jsonschema.
    from conformance.readers.ipc.programrunner import ProgramRunner  # noqa: PLC0415

    return ProgramRunner(info.name, functools.partial(_command, info), of_programs)


def _command(info: IpcReaderInfo | IpcWriterInfo) -> list[str]:
    assert info.adapter is not None
    return ready_command(load_adapter(info.adapter / "adapter.toml"))
