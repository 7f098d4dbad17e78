"""The slot of a reader pool that is a client program: one process reads by all paths of the client.

The program stays warm between jobs. If a job ends it, that job is lost and the next one starts it again. The first job
of each start is a small read that is not judged: a virtual machine loads its classes then, and a deadline would count
that as a hang. The deadline counts processor time of the program where it uses any; only a program that waits is
ended by the clock.
"""

from __future__ import annotations

import contextlib
import functools
import threading
from collections.abc import Callable, Sequence
from typing import Final

import pyarrow as pa

from conformance.contain.errors import CannotStart
from conformance.contract import proto
from conformance.formats.messages import ARROW
from conformance.readers.fullread import FullRead, RecordedStream
from conformance.readers.ipc.implementation import Unavailable
from conformance.readers.ipc.job import LIMIT, MEMORY, JobAnswer, JobLimits, JobOutcome
from conformance.readers.ipc.programrunner import ProgramRunner
from conformance.readers.programs.backend import Backend, PlainBackend
from conformance.readers.programs.clientspec import ClientProgram
from conformance.readers.programs.clienttable import plain_to_arrow, sent_schema
from conformance.readers.tables import InvalidTable, to_stream_bytes, validate
from conformance.records import CANNOT, BqType, Column, Reading, ReadingOutcome

__all__ = ["ONE_STREAM", "WARM_UP", "ProgramSlot", "outcome_of", "warm_up_read"]

WARM_UP: Final = 5.0
"""How many times the time of an answer the first one may take: a virtual machine loads its classes in it."""

ONE_STREAM: Final = "this client asks for a session of one stream"
"""Why a path with ``one_stream`` does not read a recorded session of several."""

_OUTCOMES: Final = {
    JobOutcome.REFUSED: ReadingOutcome.ERROR,
    JobOutcome.DIED: ReadingOutcome.CRASH,
    JobOutcome.HUNG: ReadingOutcome.HANG,
    JobOutcome.EXHAUSTED: ReadingOutcome.HANG,
    JobOutcome.UNSUPPORTED: ReadingOutcome.UNAVAILABLE,
    JobOutcome.UNAVAILABLE: ReadingOutcome.UNAVAILABLE,
}


class ProgramSlot:
    """A client program with the servers that it reads from; ``readers`` are the names of its paths.

    ``secure`` makes the servers of a program that reads over TLS alone; it raises Unavailable if it cannot.
    """

    def __init__(
        self,
        program: ClientProgram,
        paths: Sequence[str],
        *,
        deadline: float,
        memory: int,
        secure: Callable[[], Backend] | None = None,
    ) -> None:
        self._program = program
        self._paths = {program.paths[path].name: path for path in paths}
        self.readers = frozenset(self._paths)
        seconds = program.patience * deadline
        limits = JobLimits.of_work(seconds, memory=memory)
        self._runner = ProgramRunner(program.adapter.name, program.command, limits)
        self._open: Callable[[], Backend] = (secure or _no_secure) if program.tls else PlainBackend
        self._backend: Backend | None = None
        self._warm: object = None
        self._lock = threading.Lock()
        self._closing = False

    def warm(self) -> None:
        """Start the program and let it read once by each path."""
        with self._lock, contextlib.suppress(CannotStart, Unavailable):  # the first reading reports it
            self._ready()

    def read(self, whole: FullRead, readers: Sequence[str]) -> list[Reading]:
        """One reading per reader, in order, even if the program ends."""
        with self._lock:
            return [self._reading(whole, name) for name in readers]

    def close(self) -> None:
        """End the program, even during a reading, and the servers."""
        self._closing = True
        self._runner.kill()
        with self._lock:
            self._runner.close()
            if self._backend is not None:
                self._backend.close()
                self._backend = None

    def _reading(self, whole: FullRead, name: str) -> Reading:
        make = functools.partial(Reading, name, whole.case_id, whole.label)
        if self._closing:
            return make(ReadingOutcome.UNAVAILABLE, error_text="the pool was closed")
        if self._program.paths[self._paths[name]].one_stream and len(whole.streams) > 1:
            # Its streams could be joined, but the server did not send these bytes in one stream.
            return make(ReadingOutcome.UNAVAILABLE, error_class=CANNOT, error_text=ONE_STREAM)
        try:
            backend = self._ready()
        except (CannotStart, Unavailable) as error:
            return make(ReadingOutcome.UNAVAILABLE, error_text=str(error))
        answer = self._fetch(backend, whole, self._paths[name])
        outcome, text = outcome_of(answer)
        if answer.table is None:
            states = answer.outcome is JobOutcome.UNSUPPORTED
            return make(outcome, error_class=CANNOT if states else answer.error_class, error_text=text)
        try:
            table = plain_to_arrow(answer.table, sent_schema(whole))
            validate(table)
        except (pa.ArrowException, InvalidTable) as error:
            return make(ReadingOutcome.ERROR, error_class=type(error).__qualname__, error_text=str(error))
        return make(ReadingOutcome.TABLE, to_stream_bytes(table))

    def _ready(self) -> Backend:
        """The servers of a program that is warm; raises CannotStart or Unavailable."""
        if self._backend is None:
            self._backend = self._open()
        running = self._runner.ready()
        if running is not self._warm:
            self._runner.hello()
            for path in self._paths.values():
                self._fetch(self._backend, warm_up_read(), path, times=WARM_UP)
            self._warm = self._runner.ready()
        return self._backend

    def _fetch(self, backend: Backend, whole: FullRead, path: str, *, times: float = 1.0) -> JobAnswer:
        return self._runner.fetch(whole.case_id, {"path": path, **backend.play(whole)}, times=times)


def _no_secure() -> Backend:
    raise Unavailable("it reads over TLS alone, and this pool has no servers with TLS")


def outcome_of(answer: JobAnswer) -> tuple[ReadingOutcome, str]:
    """The outcome of a client's answer as that of a reading, and its text."""
    if answer.outcome is JobOutcome.ROWS:
        return ReadingOutcome.TABLE, ""
    if answer.error_class == "answer":
        return ReadingOutcome.UNAVAILABLE, f"the table is longer than what is brought back: {answer.error_text}"
    if answer.panicked:
        return ReadingOutcome.CRASH, answer.error_text
    if answer.outcome is JobOutcome.EXHAUSTED and answer.error_class not in (LIMIT, MEMORY):
        # A program that ends by itself because it has no memory has died; one that reports it has not.
        died = answer.error_class == "exit" or answer.error_class.startswith("SIG")
        return ReadingOutcome.CRASH if died else ReadingOutcome.ERROR, answer.error_text
    return _OUTCOMES[answer.outcome], answer.error_text


@functools.cache
def warm_up_read() -> FullRead:
    """One column of one row in one stream."""
    table = "projects/conformance/datasets/warm/tables/up"
    session = "projects/conformance/locations/us/sessions/warm"
    batch = pa.record_batch([pa.array([1], pa.int64())], names=["x"])
    request = proto.CreateReadSessionRequest(parent="projects/conformance")
    request.read_session.table = table
    request.read_session.data_format = proto.DATA_FORMAT["ARROW"]
    made = proto.ReadSession(name=session, table=table, data_format=proto.DATA_FORMAT["ARROW"])
    ARROW.put_schema(made, batch.schema.serialize().to_pybytes())
    made.streams.add(name=f"{session}/streams/0")
    response = proto.ReadRowsResponse(row_count=1)
    ARROW.put_schema(response, batch.schema.serialize().to_pybytes())
    ARROW.put_rows(response, batch.serialize().to_pybytes())
    return FullRead(
        case_id="warm-up",
        label="warm-up",
        request=request.SerializeToString(),
        session=made.SerializeToString(),
        streams=(RecordedStream(f"{session}/streams/0", (response.SerializeToString(),)),),
        columns=(Column("x", BqType.INT64),),
    )
