"""A pool of warm worker processes that read. A crash or a hang costs one reading, and the worker is replaced.

Each slot of the pool has a share of the readers, so that a worker imports only those, once. A thread of its own does
a slot's work and waits for answers with a deadline; no slot waits for another one. POSIX only.
"""

from __future__ import annotations

import concurrent.futures
import contextlib
import dataclasses
import functools
import threading
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final, Protocol, Self

from conformance.contain.errors import CannotStart
from conformance.readers.fullread import FullRead
from conformance.readers.info import ReaderInfo
from conformance.readers.plugin import reads_of
from conformance.readers.process import Broke, Died, WorkerProcess
from conformance.readers.registry import MODULES, client_programs, reader_module
from conformance.records import CANNOT, Case, Exchange, Reading, ReadingOutcome

if TYPE_CHECKING:
    from conformance.readers.programs.backend import Backend
    from conformance.readers.programs.clientspec import ClientProgram

__all__ = ["ReaderPool"]

DEADLINE: Final = 30.0
"""Seconds for one reading: the slowest reading without a fault (100 MiB through a client) takes under five on one
busy core.
"""
MEMORY: Final = 4 << 30
"""Bytes that a reading may map in addition to its loaded libraries: several copies of the largest response, with a
reserve.
"""

_CLOSED: Final = "the pool was closed"


class _AnySlot(Protocol):
    """A part of the readers, with the process in which they read."""

    @property
    def readers(self) -> frozenset[str]: ...

    def warm(self) -> None: ...

    def read(self, whole: FullRead, readers: Sequence[str]) -> list[Reading]: ...

    def close(self) -> None: ...


class _Slot:
    """A slot for one worker process, which starts when it is first needed, and again whenever it has died."""

    def __init__(self, modules: Mapping[str, str], *, deadline: float, memory: int) -> None:
        self.readers = frozenset(modules)
        self._start = functools.partial(WorkerProcess, modules, deadline=deadline, memory=memory)
        self._process: WorkerProcess | None = None
        self._lock = threading.Lock()
        self._closing = False

    def warm(self) -> None:
        """Start the process, so that its imports are done before the first reading."""
        with self._lock, contextlib.suppress(CannotStart):  # the first reading reports it
            self._ready()

    def _ready(self) -> WorkerProcess:
        """The process, started if necessary; if another thread closes the slot meanwhile, the process is killed."""
        if self._process is None:
            self._process = self._start()
            if self._closing:
                self._process.kill()
        return self._process

    def _replace(self) -> None:
        """Start a process in place of one that has ended, so that its imports are done before the next reading."""
        self._process = None
        if not self._closing:
            with contextlib.suppress(CannotStart):  # as above
                self._ready()

    def read(self, whole: FullRead, readers: Sequence[str]) -> list[Reading]:
        """One reading per reader, in order, even if the process ends."""
        with self._lock:
            done: list[Reading] = []
            why = _CLOSED
            try:
                while len(done) < len(readers) and not self._closing:
                    done += self._run(whole, readers[len(done) :])
            except CannotStart as error:
                why = str(error)
            left = readers[len(done) :]
            return done + [_reading(name, whole, ReadingOutcome.UNAVAILABLE, text=why) for name in left]

    def _run(self, whole: FullRead, readers: Sequence[str]) -> list[Reading]:
        """The readings up to and including the first one that ends the process.

        Raises:
            Broke: The suite's own code broke on a reading; the process has answered for all the others.
        """
        done: list[Reading] = []
        broke = ""
        process = self._ready()
        try:
            absent = process.loaded()
            process.ask(whole, [name for name in readers if name not in absent])
            retiring = False
            for name in readers:
                if name in absent:
                    done.append(_reading(name, whole, ReadingOutcome.UNAVAILABLE, text=absent[name]))
                    continue
                answer = process.answer()
                retiring = retiring or answer.retiring
                broke = broke or answer.broke
                texts = {"kind": answer.error_class, "text": answer.error_text}
                done.append(_reading(name, whole, answer.outcome, table=answer.table, **texts))
            if retiring:
                process.close()
                self._replace()
        except Died as end:
            self._replace()
            name = readers[len(done)]
            done.append(_reading(name, whole, end.outcome, kind=end.error_class, text=end.text))
        if broke:
            raise Broke(f"after a reader had read: {broke}")
        return done

    def close(self) -> None:
        """End the process, even during a reading."""
        self._closing = True
        if self._process is not None:
            self._process.kill()
        with self._lock:
            if self._process is not None:
                self._process.close()
                self._process = None


def _reading(
    reader: str, whole: FullRead, outcome: ReadingOutcome, *, table: bytes = b"", kind: str = "", text: str = ""
) -> Reading:
    return Reading(reader, whole.case_id, whole.label, outcome, table, error_class=kind, error_text=text)


def _sharing(readings: Sequence[Reading]) -> list[Reading]:
    """The readings, equal tables as one object: most readers make the same bytes, and one copy of them is enough."""
    tables: list[bytes] = []
    shared = []
    for reading in readings:
        table = next((one for one in tables if one == reading.table), reading.table)
        tables.append(table)
        shared.append(reading if table is reading.table else dataclasses.replace(reading, table=table))
    return shared


def _shares(readers: Sequence[str], workers: int) -> list[Sequence[str]]:
    """The readers of each worker. Neighbours share a worker, so that a crashing decoder does not make clients repeat
    their slow imports.
    """
    size = -(-len(readers) // workers)
    return [readers[start : start + size] for start in range(0, len(readers), size)] if size else []


def _program_slots(
    programs: Mapping[str, ClientProgram],
    readers: Sequence[str],
    secure: Callable[[], Backend] | None,
    *,
    deadline: float,
    memory: int,
) -> Iterator[_AnySlot]:
    """A slot for each program with a path among the readers."""
    from conformance.readers.programs.slot import ProgramSlot  # noqa: PLC0415  # workers do not need it

    for program in programs.values():
        paths = [path for path, info in program.paths.items() if info.name in readers]
        if paths:
            yield ProgramSlot(program, paths, deadline=deadline, memory=memory, secure=secure)


class ReaderPool:
    """Reads exchanges with independent decoders and real clients, in processes that may die.

    Use as a context manager; ``read`` may be called from several threads.

    Args:
        workers: Number of worker processes; the readers are distributed over them.
        readers: Names of the readers of the pool, those of client programs too; by default all in Python that ship
            with the suite.
        programs: Further client programs, by name.
        secure: Makes the servers of a client program that reads over TLS alone; without it, that one is unavailable.
        modules: Import paths of further reader modules (see :mod:`conformance.readers.info`).
        deadline: Seconds for one reading of few responses.
        multiplier: The factor of that deadline.
        memory_limit: Bytes that a reading may map in addition to its loaded libraries, on platforms that can limit
        this; a table of more than an eighth of it is not returned.
    """

    def __init__(
        self,
        workers: int = 2,
        *,
        readers: Sequence[str] | None = None,
        modules: Sequence[str] = (),
        programs: Mapping[str, ClientProgram] | None = None,
        secure: Callable[[], Backend] | None = None,
        deadline: float = DEADLINE,
        multiplier: float = 1.0,
        memory_limit: int = MEMORY,
    ) -> None:
        if workers < 1:
            raise ValueError(f"expected at least one worker but got workers={workers!r}")
        known = {**MODULES, **{reader_module(path).INFO.name: path for path in modules}}
        chosen = list(known) if readers is None else list(readers)
        others = [name for name in chosen if name not in known]
        clients = {**client_programs(), **(programs or {})} if others else {}
        paths = {info.name: info for program in clients.values() for info in program.paths.values()}
        unknown = [name for name in others if name not in paths]
        if unknown:
            raise ValueError(f"expected readers among {sorted([*known, *paths])} but got {unknown!r}")
        self.readers: Mapping[str, ReaderInfo] = {
            name: paths[name] if name in paths else reader_module(known[name]).INFO for name in chosen
        }
        local = [name for name in chosen if name not in paths]
        deadline *= multiplier
        shares = [{name: known[name] for name in share} for share in _shares(local, workers)]
        self._slots: list[_AnySlot] = [_Slot(share, deadline=deadline, memory=memory_limit) for share in shares]
        self._slots += _program_slots(clients, others, secure, deadline=deadline, memory=memory_limit)
        self._threads = [concurrent.futures.ThreadPoolExecutor(1, thread_name_prefix="readers") for _ in self._slots]

    def __enter__(self) -> Self:
        for thread, slot in zip(self._threads, self._slots, strict=True):
            thread.submit(slot.warm)
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End every worker process; readings in progress end as crashed or unavailable."""
        for slot in self._slots:
            slot.close()
        for thread in self._threads:
            thread.shutdown(wait=True, cancel_futures=True)

    def read(self, case: Case, exchange: Exchange, readers: Sequence[str] | None = None) -> list[Reading]:
        """The readings of each full read of the exchange: grouped by full read, in the order of the readers.

        Errors of a reader never raise: an exception, a crash, a hang and a missing library are readings. The list is
        empty if the exchange has no full read (see :func:`conformance.readers.plugin.reads_of`).

        Raises:
            Broke: The suite's own code raised an exception on what a reader gave.
            ValueError: A name in ``readers`` is not a reader of the pool.
        """
        names = list(self.readers) if readers is None else list(readers)
        unknown = [name for name in names if name not in self.readers]
        if unknown:
            raise ValueError(f"expected readers among {sorted(self.readers)} but got {unknown!r}")
        reads = reads_of(case, exchange)
        asked = [[name for name in names if self.readers[name].takes_read(whole)] for whole in reads]
        found = [self._refusals(whole, takers) for whole, takers in zip(reads, asked, strict=True)]
        shares = list(zip(asked, found, strict=True))
        jobs = [
            thread.submit(_read_in_turn, slot, reads, [_share(slot, takers, refused) for takers, refused in shares])
            for thread, slot in zip(self._threads, self._slots, strict=True)
        ]
        for job in jobs:
            for readings, made in zip(found, job.result(), strict=True):
                readings.update(made)
        together = zip(asked, found, strict=True)
        return [one for takers, readings in together for one in _sharing([readings[name] for name in takers])]

    def _refusals(self, whole: FullRead, names: Sequence[str]) -> dict[str, Reading]:
        """The readings of those that state that they cannot read this."""
        reasons = {name: reason for name in names if (reason := self.readers[name].refusal(whole))}
        return {
            name: _reading(name, whole, ReadingOutcome.UNAVAILABLE, kind=CANNOT, text=reason)
            for name, reason in reasons.items()
        }


def _share(slot: _AnySlot, names: Sequence[str], refused: Container[str]) -> Sequence[str]:
    return [name for name in names if name in slot.readers and name not in refused]


def _read_in_turn(
    slot: _AnySlot, reads: Sequence[FullRead], shares: Sequence[Sequence[str]]
) -> list[dict[str, Reading]]:
    """The readings of one slot, by reader, for each read."""
    return [
        {reading.reader: reading for reading in slot.read(whole, share)} if share else {}
        for whole, share in zip(reads, shares, strict=True)
    ]
