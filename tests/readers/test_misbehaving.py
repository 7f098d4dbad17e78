"""Readers that crash, hang, answer wrongly or are absent: each costs a reading, and the pool goes on."""

from __future__ import annotations

import concurrent.futures
import signal
import threading
from collections.abc import Iterator, Sequence

import pyarrow as pa
import pytest

from conformance.campaign import storedrows
from conformance.campaign.runfolders import SCHEMAS, Stage
from conformance.contain.text import safe
from conformance.readers import READERS, FullRead, ReaderPool, full_reads
from conformance.readers.agreement import reported
from conformance.readers.process import Broke, WorkerProcess
from conformance.records import Reading, ReadingOutcome
from tests.patience import LONG
from tests.readers.recorded import (
    batch,
    bytes_of,
    case,
    exchange,
)

BYTES = [name for name, info in READERS.items() if info.takes.name not in ("SERVER", "QUERY")]
CLIENTS = [name for name, info in READERS.items() if info.takes.name == "SERVER"]
SLOTS = ["pyarrow.slots", *CLIENTS]
STREAMS = [name for name in BYTES if name.endswith(".stream")]


def misbehave(pool: ReaderPool, act: str) -> Reading:
    """The reading of the misbehaving reader; the session's label selects its behaviour."""
    (reading,) = pool.read(case(label=act), exchange(bytes_of(batch(1, 2, 3))), ["misbehaving"])
    return reading


@pytest.fixture(scope="module")
def fragile() -> Iterator[ReaderPool]:
    """A pool that holds the misbehaving reader."""
    modules = ["tests.readers.misbehaving", "tests.readers.absent"]
    with ReaderPool(1, readers=["misbehaving", "absent", "pyarrow.slots"], modules=modules, deadline=LONG) as readers:
        yield readers


@pytest.mark.parametrize(
    ("act", "outcome", "error_class", "text"),
    [
        (
            "abort",
            "crash",
            "SIGABRT",
            "the process was ended by SIGABRT; it last said: assertion failed: offsets.len() > 0",
        ),
        ("exit", "crash", "exit", "the process exited with status 3"),
        ("babble", "crash", "exit", "the process exited with status 0"),
        ("panic", "error", "Panic", "index out of bounds"),
        ("allocate", "error", "MemoryError", ""),
    ],
)
def test_misbehaviour_is_a_reading(fragile: ReaderPool, act: str, outcome: str, error_class: str, text: str) -> None:
    """A crash, a hang, an exit and an exception are each a reading that says what happened."""
    reading = misbehave(fragile, act)

    assert (reading.outcome, reading.error_class, reading.error_text) == (outcome, error_class, text)


def test_invalid_result_is_an_error(fragile: ReaderPool) -> None:
    """A table that breaks the Arrow rules is no table."""
    reading = misbehave(fragile, "break the rules")

    assert (reading.outcome, reading.error_class) == (ReadingOutcome.ERROR, "InvalidTable")
    assert "UTF8" in reading.error_text


def test_lists_without_slots_need_no_offsets(fragile: ReaderPool) -> None:
    """A legal table comes back: its size is taken without pyarrow's ``nbytes``, which crashes on it."""
    assert misbehave(fragile, "no offsets").outcome is ReadingOutcome.TABLE


def test_what_breaks_after_reading_is_no_reading(fragile: ReaderPool) -> None:
    """An exception of the suite's own code is raised, with its place, and the worker goes on."""
    with pytest.raises(Broke, match="in _brought_back"):
        misbehave(fragile, "no table")

    assert misbehave(fragile, "behave").outcome is ReadingOutcome.TABLE


@pytest.mark.parametrize("act", ["speak", "last words", "names"])
def test_what_a_reader_says_is_text(fragile: ReaderPool, act: str) -> None:
    """Class, message, last words and columns may be anything; the reading and its row in a campaign are plain text."""
    recorded = exchange(bytes_of(batch(1, 2, 3)))
    held = {act: pa.Table.from_batches([batch(1, 2, 3)])}

    (reading,) = reported(fragile.read(case(label=act), recorded, ["misbehaving"]), held, readers=fragile.readers)

    said = [reading.error_class, reading.error_text, *reading.differences]
    assert any(":error::x" in text for text in said)
    assert [safe(text) for text in said] == said
    pa.Table.from_pylist(storedrows.readings(0, [reading]), schema=SCHEMAS[Stage.READ]).validate(full=True)


def test_crash_costs_one_reading(fragile: ReaderPool) -> None:
    """Readers before and after a crash in the same worker give their readings."""
    recorded, names = exchange(bytes_of(batch(1, 2, 3))), ["pyarrow.slots", "misbehaving", "absent", "pyarrow.slots"]

    readings = fragile.read(case(label="abort"), recorded, names[1:])

    assert [reading.outcome for reading in readings] == ["crash", "unavailable", "table"]
    assert readings[1].error_text == "not installed here: No module named 'no_such_library_anywhere'"


def test_deadline_is_kept() -> None:
    """A hang is a reading that costs the deadline, its factor and the number of responses counted, and no more."""
    recorded = exchange(*[bytes_of(batch(4))] * 500)
    modules = ["tests.readers.misbehaving"]
    with ReaderPool(1, readers=["misbehaving"], modules=modules, deadline=0.25, multiplier=2) as pool:
        (reading,) = pool.read(case(label="loop"), recorded, ["misbehaving"])

    said = (reading.outcome, reading.error_class, reading.error_text)
    assert said == ("hang", "deadline", "no answer within 1.5 s")


def test_looping_worker_does_not_outlive_its_pool() -> None:
    """A worker that loops while its pool is gone is ended by its limit on processor time."""
    (whole,) = full_reads(case(label="loop"), exchange(bytes_of(batch(1))))
    process = WorkerProcess({"misbehaving": "tests.readers.misbehaving"}, deadline=0.2, memory=1 << 30)
    process.loaded()
    process.ask(whole, ["misbehaving"])

    process._worker.channel.close()

    assert process._worker.wait(LONG)
    assert process._worker.code == -signal.SIGXCPU
    process.close()


def test_closing_ends_a_reading_under_way(monkeypatch: pytest.MonkeyPatch) -> None:
    """A pool that is closed does not wait for a reader that hangs."""
    asked, ask = threading.Event(), WorkerProcess.ask

    def ask_and_tell(process: WorkerProcess, whole: FullRead, readers: Sequence[str]) -> None:
        ask(process, whole, readers)
        asked.set()

    monkeypatch.setattr(WorkerProcess, "ask", ask_and_tell)
    pool = ReaderPool(1, readers=["misbehaving"], modules=["tests.readers.misbehaving"], deadline=LONG)
    with concurrent.futures.ThreadPoolExecutor(1) as other:
        hanging = other.submit(pool.read, case(label="loop"), exchange(bytes_of(batch(1, 2, 3))))
        assert asked.wait(LONG)

        pool.close()

        (reading,) = hanging.result(LONG)
    assert (reading.outcome, reading.error_class) == (ReadingOutcome.CRASH, "SIGKILL")
