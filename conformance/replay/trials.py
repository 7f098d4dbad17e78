"""The test server of ``read_retry.json``: each trial is a table of its own, that one client reads once.

A client asks for a trial of a test, reads its table, and reports the values that it got, or its error. The server knows
which instructions happened to the client's calls, and judges: the client need not know what happens to it, and sends no
header. Source: the test server of Google's storage clients does the same for another API
(https://github.com/googleapis/storage-testbench).
"""

from __future__ import annotations

import dataclasses
import itertools
import threading
import time
from collections import Counter
from typing import Any, Final

import pyarrow as pa

from conformance.contain.text import many, safe, unknown
from conformance.contract import proto
from conformance.formats.messages import ARROW
from conformance.readers.tape import RecordedEnding, Tape, TapeStream
from conformance.records import BqType, Column, Mode, PlannedFault, to_json
from conformance.reference.serializer import REFERENCE
from conformance.replay.retrytable import ReadOutcome, RetryTable, RetryTest
from conformance.replay.sessions import SessionAnswers
from conformance.replay.shelf import Held, Shelf

__all__ = ["ReadTrial", "TrialError", "TrialVerdict", "Trials", "recording_of", "verdict_of"]

RESPONSES: Final = 4
ROWS: Final = 100
"""Rows of each response."""
PROJECT: Final = "retry"
EXPIRES: Final = 6 * 3600
"""Seconds of a session's life, as the service says."""
_COLUMNS: Final = (Column("n", BqType.INT64, Mode.REQUIRED),)
_SCHEMA: Final = pa.schema([pa.field("n", pa.int64(), nullable=False)])


class TrialError(ValueError):
    """A request that the server cannot carry out; the text says why."""


@dataclasses.dataclass(frozen=True, slots=True)
class TrialVerdict:
    """What a trial shows: ``held``, ``differs`` from what sources recommend, ``failed``, or ``not consumed``."""

    verdict: str
    outcome: str
    why: str


@dataclasses.dataclass
class ReadTrial:
    """One read of a table by one client; ``verdict`` is None until the client has reported."""

    id: str
    test: RetryTest
    held: Held
    verdict: TrialVerdict | None = None

    @property
    def happened(self) -> tuple[int, ...]:
        """For each instruction, the number of calls to which it happened."""
        counts = Counter(map(_key, self.held.happened))
        return tuple(sum(counts[_key(fault)] for fault in one.faults()) for one in self.test.instructions)

    @property
    def calls(self) -> int:
        """The most calls of one stream that the instructions are about, or of CreateReadSession."""
        methods = {one.method for one in self.test.instructions}
        return max((count for (method, _), count in self.held.faults.calls().items() if method in methods), default=0)

    def state(self) -> dict[str, Any]:
        """The trial as JSON."""
        instructions = [
            to_json(one) | {"happened": count} for one, count in zip(self.test.instructions, self.happened, strict=True)
        ]
        made: dict[str, Any] = {"id": self.id, "test": self.test.id, "table": self.held.table, "calls": self.calls}
        made |= {"parent": f"projects/{PROJECT}", "streams": self.test.streams, "instructions": instructions}
        return made if self.verdict is None else made | dataclasses.asdict(self.verdict)


class Trials:
    """The trials of one server; threads may share it."""

    def __init__(self, table: RetryTable, shelf: Shelf) -> None:
        self.table = table
        self._tests = table.by_id()
        self._shelf = shelf
        self._numbers = itertools.count(1)
        self._trials: dict[str, ReadTrial] = {}
        self._lock = threading.Lock()

    def begin(self, name: str) -> ReadTrial:
        """A new trial of a test; raises :class:`TrialError`."""
        test = self._tests.get(name)
        if test is None:
            raise TrialError(unknown("test", name, tuple(self._tests), "GET /replay/retry/tests lists them all"))
        with self._lock:
            number = f"trial-{next(self._numbers)}"
            held = recording_of(test, number)
            self._shelf.put(held)
            trial = self._trials[number] = ReadTrial(number, test, held)
        return trial

    def report(self, number: str, message: dict[str, Any]) -> ReadTrial:
        """Judge what a client reports of a trial, and take its table away; raises :class:`TrialError`."""
        trial = self.get(number)
        if set(message) not in ({"rows"}, {"error"}, {"no_answer"}):
            forms = '{"rows": [values of n]}, {"error": "text"} or {"no_answer": "text"}'
            raise TrialError(f"expected {forms}, got other keys")
        rows = message.get("rows")
        if "rows" in message and not (isinstance(rows, list) and all(isinstance(value, int) for value in rows)):
            raise TrialError('expected "rows" as an array of integers')
        if "no_answer" in message:
            said = safe(str(message["no_answer"]))
            trial.verdict = TrialVerdict(
                "failed", "no answer", f"the client returned neither rows nor an error: {said}"
            )
        else:
            trial.verdict = verdict_of(trial, rows)
        self._shelf.drop(number)
        return trial

    def get(self, number: str) -> ReadTrial:
        """The trial with this id; raises :class:`TrialError`."""
        trial = self._trials.get(number)
        if trial is None:
            raise TrialError(f"no trial {number!r}; POST /replay/retry begins one")
        return trial

    def summary(self) -> dict[str, Any]:
        """Every trial, the number of trials with each verdict, and the tests that nobody tried."""
        with self._lock:
            trials = list(self._trials.values())
        counts = Counter(trial.verdict.verdict if trial.verdict else "not reported" for trial in trials)
        tried = {trial.test.id for trial in trials}
        left = [name for name in self._tests if name not in tried]
        return {"verdicts": dict(counts), "not_tried": left, "trials": [trial.state() for trial in trials]}


def verdict_of(trial: ReadTrial, rows: list[int] | None) -> TrialVerdict:
    """Judge a client that read ``rows``, or that reported an error if they are None."""
    test, happened = trial.test, trial.happened
    total = test.streams * RESPONSES * ROWS
    outcome = ReadOutcome.ERROR if rows is None else ReadOutcome.ROWS
    if rows is not None and sorted(rows) != list(range(total)):
        return TrialVerdict("failed", "other rows", f"expected {total} rows once each, got {_difference(rows, total)}")
    if not any(happened) or (outcome is ReadOutcome.ROWS and not all(happened)):
        met = f"{sum(map(bool, happened))} of {many(len(happened), 'instruction')} happened"
        return TrialVerdict("not consumed", outcome, f"the client's calls did not meet the plan: {met}")
    if outcome not in test.permitted:
        said = " or ".join(test.permitted)
        return TrialVerdict("failed", outcome, f"expected {said}, got {outcome}")
    if test.should not in (None, outcome):
        return TrialVerdict("differs", outcome, f"recommended: {test.should}")
    if test.should_calls is not None and trial.calls > test.should_calls:
        asked = f"the client made {many(trial.calls, 'call')}"
        return TrialVerdict("differs", outcome, f"{asked}, recommended: at most {test.should_calls}")
    return TrialVerdict("held", outcome, "")


def _difference(rows: list[int], total: int) -> str:
    counts = Counter(rows)
    missing = sum(not counts[value] for value in range(total))
    more = sum(count - 1 for value, count in counts.items() if 0 <= value < total)
    others = sum(count for value, count in counts.items() if not 0 <= value < total)
    parts = ((missing, "missing"), (more, "more than once"), (others, "that are not in the table"))
    return ", ".join(f"{many(count, 'row')} {what}" for count, what in parts if count)


def _key(fault: PlannedFault) -> tuple[object, ...]:
    return (fault.kind, fault.method, fault.stream, fault.call, fault.responses, fault.bytes, fault.code)


def recording_of(test: RetryTest, number: str) -> Held:
    """The table of a trial: streams of four responses of 100 rows, whose values count on from stream to stream."""
    table = f"projects/{PROJECT}/datasets/retry/tables/{number}"
    arrow = proto.DATA_FORMAT["ARROW"]
    schema = REFERENCE.serialize_schema(_SCHEMA)
    request = proto.CreateReadSessionRequest(parent=f"projects/{PROJECT}")
    request.read_session.table, request.read_session.data_format = table, arrow
    session = proto.ReadSession(name=f"projects/{PROJECT}/locations/us/sessions/{number}", table=table)
    session.data_format = arrow
    ARROW.put_schema(session, schema)
    session.expire_time.FromSeconds(int(time.time()) + EXPIRES)
    session.estimated_row_count = test.streams * RESPONSES * ROWS
    streams = []
    for stream in range(test.streams):
        name = f"{session.name}/streams/{stream}"
        session.streams.add(name=name)
        streams.append(TapeStream(name, tuple(_response(schema, stream, index) for index in range(RESPONSES))))
    made = (request.SerializeToString(), session.SerializeToString())
    tape = Tape(table, *made, RecordedEnding(), tuple(streams), _COLUMNS)
    return Held(number, SessionAnswers([tape]), test.plan())


def _response(schema: bytes, stream: int, index: int) -> bytes:
    first = (stream * RESPONSES + index) * ROWS
    batch = pa.record_batch([pa.array(range(first, first + ROWS), pa.int64())], schema=_SCHEMA)
    response = proto.ReadRowsResponse(row_count=ROWS)
    ARROW.put_rows(response, REFERENCE.serialize_batch(batch))
    response.stats.progress.at_response_start = index / RESPONSES
    response.stats.progress.at_response_end = (index + 1) / RESPONSES
    if index == 0:
        ARROW.put_schema(response, schema)
    data: bytes = response.SerializeToString()
    return data
