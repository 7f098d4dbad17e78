"""What each client makes of a server with a fault, as one of nine classes: the cells of the consequence matrix.

A cell is a path of a client in one situation: a plan of faults, broken bytes, or a mutant of the reference. It is
measured several times. The measurements are kept as JSON lines, each written when it was made, so that a matrix that
was interrupted goes on where it ended.
"""

from __future__ import annotations

import dataclasses
import enum
import functools
import json
import re
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Generic, Protocol, Self, TypeVar

import pyarrow as pa

from conformance.clients.givenrows import Compared
from conformance.clients.task import Situated
from conformance.contain.text import safe
from conformance.disk.files import naming, read_whole
from conformance.disk.jsonlines import LineFile, line_of
from conformance.readers.agreement import DifferenceKind
from conformance.readers.info import ReaderInfo
from conformance.readers.ipc.implementation import Hello
from conformance.readers.ipc.job import MEMORY, JobAnswer, JobOutcome
from conformance.readers.programs.clientspec import ClientProgram
from conformance.readers.programs.slot import outcome_of
from conformance.records import ReadingOutcome, RecordError, from_json, to_json
from conformance.records.base import record
from conformance.wire import PlainTable

__all__ = ["Consequence", "Measured", "Measurements", "Measuring", "Suite", "consequence"]

SHOWN: Final = 240
"""The most characters of a client's text that are kept."""
AT_ONCE: Final = 2
"""Programs that are measured at the same time."""


class Consequence(enum.StrEnum):
    """What a user of the client gets."""

    UNHARMED = "unharmed"
    """The rows of the table: the fault is repaired, or does not matter to this client."""
    REFUSED = "refused"
    """An error."""
    CRASH = "crash"
    """The process ends."""
    HANG = "hang"
    """No answer within the limit of time."""
    MEMORY = "memory"
    """The client takes more memory than its limit, and the suite ends it: with more memory, it may answer."""
    LOSS = "silent loss"
    """Fewer rows without an error."""
    DUPLICATES = "silent duplicates"
    """Rows twice without an error, and all others."""
    WRONG = "wrong values"
    """Other values, types, columns, or another order of one stream, without an error."""
    UNABLE = "not asked"
    """Nothing: the client documents that it does not read this table or makes no such request."""


@record
class Suite:
    """The suite that measured: version, commit and day; ``modified`` if its files differ from the commit."""

    version: str = ""
    commit: str = ""
    modified: bool = False
    date: str = ""


UNKNOWN: Final = Suite()


@record
class Measured:
    """One measurement. ``digest`` is of what was served, ``round`` counts from 0, ``text`` is what the client said or
    gave, ``suite`` what measured.
    """

    client: str
    version: str
    situation: str
    digest: str
    round: int
    consequence: Consequence
    text: str = ""
    seconds: float = 0.0
    suite: Suite = UNKNOWN


class WithRows(Situated, Protocol):
    """A situation whose rows are known."""

    @property
    def expected(self) -> pa.Table: ...  # see the class


S = TypeVar("S", bound=WithRows)


class MeasuredPool(Protocol[S]):
    """A pool of programs that are put into situations of one protocol."""

    infos: dict[str, ReaderInfo]

    @property
    def names(self) -> tuple[str, ...]: ...  # see ProgramPool

    def absent(self) -> dict[str, str]: ...  # as above

    def hello(self, name: str) -> Hello: ...  # as above

    def put(self, name: str, asked: S) -> tuple[S, str]: ...  # see the pools of the protocols

    def served_digest(self, asked: S) -> str: ...  # as above

    def compared(self, info: ReaderInfo, asked: S, got: PlainTable) -> Compared: ...  # as above

    def fetch(self, name: str, asked: S) -> tuple[JobAnswer, Sequence[dict[str, Any]]]: ...  # as above


def consequence(
    asked: WithRows, answer: JobAnswer, compare: Callable[[PlainTable], Compared]
) -> tuple[Consequence, str]:
    """The class of a client's answer, and a sentence about it; ``compare`` finds the differences of its rows."""
    outcome, text = outcome_of(answer)
    if outcome is ReadingOutcome.UNAVAILABLE:
        return Consequence.UNABLE, text
    if answer.table is None:
        said = f"{answer.error_class}: {text}" if answer.error_class else text
        at_limit = answer.outcome is JobOutcome.EXHAUSTED and answer.error_class == MEMORY
        return Consequence.MEMORY if at_limit else _ENDS[outcome], said
    rows, found, order = compare(answer.table)
    if not found and not order:
        return Consequence.UNHARMED, ""
    if not rows and asked.expected.num_rows:
        return Consequence.LOSS, f"no row of {asked.expected.num_rows}"
    kinds = {one.kind for one in found}
    said = "; ".join(map(str, found)) or order
    if order or kinds & _OTHER:
        return Consequence.WRONG, said
    return (Consequence.LOSS if DifferenceKind.LOST in kinds else Consequence.DUPLICATES), said


_ENDS: Final = {
    ReadingOutcome.ERROR: Consequence.REFUSED,
    ReadingOutcome.CRASH: Consequence.CRASH,
    ReadingOutcome.HANG: Consequence.HANG,
}
_AT_MEMORY: Final = re.compile(r"limit: it held \d+ MiB more than before, of \d+ allowed")
"""The reason in a measurement of a time when the end at either limit was a hang."""
_OTHER: Final = frozenset({DifferenceKind.COLUMNS, DifferenceKind.TYPE, DifferenceKind.FOREIGN, DifferenceKind.CHANGED})


class Measurements:
    """The file of measurements; use it as a context manager, which holds its lock. Threads may share it.

    ``published`` were made before those in the file, which need not have them.

    Raises:
        InUseError: another process measures into this file.
        ValueError: a line of the file is no measurement; the text names the line.
        DiskError: the file cannot be written.
    """

    def __init__(self, path: Path, published: Iterable[Measured] = ()) -> None:
        self.path = path
        self.all: list[Measured] = [*published]
        self._lock = threading.Lock()
        self._file = LineFile(path, advice="wait until it ends, or name another file with --measured")
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            stack.enter_context(self._file)
            with naming(self.path):
                found, whole = _read(self.path)
            self.all += found
            self._file.truncate(whole)  # a process that was killed can leave part of a line
            self._stack = stack.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()

    def add(self, one: Measured) -> None:
        """Keep a measurement: it is in the file when this returns."""
        with self._lock:
            self._file.append(line_of(to_json(one)))
            self.all.append(one)

    def known(self) -> set[tuple[str, str, str, str, int]]:
        """What was measured: client, version, situation, digest and round."""
        with self._lock:
            return {_key(one) for one in self.all}


def _key(one: Measured) -> tuple[str, str, str, str, int]:
    return one.client, one.version, one.situation, one.digest, one.round


def _read(path: Path) -> tuple[list[Measured], int]:
    """The measurements in a file, and the number of bytes of its whole lines."""
    data = read_whole(path)
    whole = data.rfind(b"\n") + 1
    found = []
    for number, line in enumerate(data[:whole].splitlines(), 1):
        try:
            found.append(_classed(from_json(Measured, json.loads(line), path=f"{path}, line {number}")))
        except (ValueError, RecordError, RecursionError) as error:
            raise ValueError(f"{path}, line {number}: expected a measurement, got {line[:60]!r}: {error}") from None
    return found, whole


def _classed(one: Measured) -> Measured:
    """The measurement with the class of the end that its text records."""
    if one.consequence is Consequence.HANG and _AT_MEMORY.match(one.text):
        return dataclasses.replace(one, consequence=Consequence.MEMORY)
    return one


class Measuring(Generic[S]):
    """Client programs that are warm, and what they are measured into; use it as a context manager.

    ``pool`` makes a :class:`MeasuredPool`. ``seconds`` is the processor time of one answer. ``suite`` goes into each
    measurement. ``absent`` names the paths that are not here, with the reason.
    """

    def __init__(
        self,
        programs: Mapping[str, ClientProgram],
        names: Sequence[str],
        into: Measurements,
        *,
        pool: Callable[..., Any],
        rounds: int = 2,
        seconds: float = 5.0,
        suite: Suite = UNKNOWN,
    ) -> None:
        self.absent: dict[str, str] = {}
        self._suite = suite
        self._into = into
        self._rounds = rounds
        used = {name: [path for path in names if path.partition(".")[0] == name] for name in programs}
        self._pools = [pool({name: programs[name]}, paths, seconds=seconds) for name, paths in used.items() if paths]
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        for pool in self._pools:
            self._stack.enter_context(pool)
            self.absent |= pool.absent()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()

    def measure(self, situations: Sequence[S]) -> None:
        """Measure each path in each situation in every round, but for what was measured before.

        A round is whole before the next begins, so that the measurements of one cell do not follow each other.
        """
        for number in range(self._rounds):
            with ThreadPoolExecutor(AT_ONCE) as workers:
                for job in [workers.submit(self._round, pool, situations, number) for pool in self._pools]:
                    job.result()

    def _round(self, pool: MeasuredPool[S], situations: Sequence[S], number: int) -> None:
        known = self._into.known()
        for asked in situations:
            for name in pool.names:
                if name in self.absent:
                    continue
                key = (name, pool.hello(name).version, asked.id, pool.served_digest(asked), number)
                if key not in known:
                    self._into.add(dataclasses.replace(_measured(pool, asked, key), suite=self._suite))


def _measured(pool: MeasuredPool[S], asked: S, key: tuple[str, str, str, str, int]) -> Measured:
    name, version, situation, served, number = key
    began = time.monotonic()
    info = pool.infos[name]
    asked, refusal = pool.put(name, asked)
    if refusal:
        found, text = Consequence.UNABLE, refusal
    else:
        found, text = consequence(asked, pool.fetch(name, asked)[0], functools.partial(pool.compared, info, asked))
    seconds = round(time.monotonic() - began, 3)
    return Measured(name, version, situation, served, number, found, safe(text, limit=SHOWN), seconds)
