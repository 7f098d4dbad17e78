"""The pool: every job is answered by every reader, in order, and nothing that a reader does disturbs another."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from conformance.readers.ipc import (
    IPC_READERS,
    IPC_WRITERS,
    IpcPool,
    IpcReaderInfo,
    Job,
    JobLimits,
    JobOutcome,
    Unavailable,
)
from conformance.readers.ipc import jobpool as pool_module
from tests.patience import LONG
from tests.readers.ipc import absent_library, faulty_library

READERS = {"liar": faulty_library.READER, "absent": absent_library.READER}
WRITERS = {"liar": faulty_library.WRITER}


@pytest.fixture(scope="module")
def pool() -> Iterator[IpcPool]:
    """A faulty library, and an absent one."""
    with IpcPool(limits=JobLimits(seconds=LONG, reuse=8), readers=READERS, writers=WRITERS) as started:
        yield started


def jobs(words: list[bytes]) -> list[Job]:
    """A job for each word, with its number as id."""
    return [Job(str(number), "stream", word) for number, word in enumerate(words)]


def test_every_job_is_answered_in_order(pool: IpcPool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each reader answers all jobs in their order, over several windows, deaths among them."""
    monkeypatch.setattr(pool_module, "WINDOW", 3)
    asked = jobs([b"one", b"segv", b"two", b"panic", b"three", b"abort", b"four"])
    answers = list(pool.read(iter(asked)))

    for name in READERS:
        assert [answer.id for answer in answers if answer.reader == name] == [job.id for job in asked]
    outcomes = [answer.outcome for answer in answers if answer.reader == "liar"]
    assert outcomes == ["rows", "died", "rows", "refused", "rows", "died", "rows"]
    assert {answer.outcome for answer in answers if answer.reader == "absent"} == {JobOutcome.UNAVAILABLE}


def test_jobs_are_taken_a_window_at_a_time(pool: IpcPool, monkeypatch: pytest.MonkeyPatch) -> None:
    """The source of jobs may be endless."""
    monkeypatch.setattr(pool_module, "WINDOW", 2)

    def endless() -> Iterator[Job]:
        while True:
            yield Job("x", "stream", b"healthy")

    answers = pool.read(endless(), ["liar"])

    assert [next(answers).outcome for _ in range(5)] == [JobOutcome.ROWS] * 5
    answers.close()  # type: ignore[attr-defined]  # it is a generator


def test_who_stops_listening_may_ask_again(pool: IpcPool) -> None:
    """Answers that nobody took do not turn up among the next ones."""
    for answer in pool.read(jobs([b"one"] * 20), ["liar"]):
        assert answer.id == "0"
        break

    assert [answer.id for answer in pool.read([Job("later", "stream", b"two")], ["liar"])] == ["later"]


def test_written(pool: IpcPool) -> None:
    """Only writers are asked to write."""
    [answer] = pool.write(jobs([b"stream"]))

    assert (answer.reader, answer.outcome, answer.data) == ("liar", JobOutcome.WRITTEN, b"streamstream")


def test_hello(pool: IpcPool) -> None:
    """An implementation reports its version and the inputs that it takes; an absent one, why it is absent."""
    reported = pool.hello("liar")

    assert (reported.version, reported.reads, reported.writes) == ("0.1", ("stream",), ("stream",))
    with pytest.raises(Unavailable, match="not installed here"):
        pool.hello("absent")


def test_adapter_that_is_not_built(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A program that was not built is unavailable, with the command that builds it."""
    monkeypatch.setenv("CONFORMANCE_ADAPTERS", str(tmp_path / "nothing"))
    (tmp_path / "adapter.toml").write_text('name = "far"\ntitle = "Far"\nlanguage = "Far"\n')
    info = IpcReaderInfo("far", "Far", "Far", adapter=tmp_path)
    with IpcPool(readers={"far": info}, writers={}) as pool:
        [answer] = pool.read(jobs([b"one"]))

    assert answer.outcome is JobOutcome.UNAVAILABLE
    assert "run python -m adapters far" in answer.error_text


def test_unknown_names(pool: IpcPool) -> None:
    """A name that nobody has is an error, with those that there are."""
    with pytest.raises(ValueError, match=r"expected names among \['absent', 'liar'\] but got \['lair'\]"):
        IpcPool(["lair"], readers=READERS, writers=WRITERS)
    with pytest.raises(ValueError, match="but got"):
        next(pool.read([], ["lair"]))


def test_no_workers() -> None:
    """A pool needs a worker."""
    with pytest.raises(ValueError, match="at least one worker"):
        IpcPool(workers=0)


def test_registry() -> None:
    """Names are the infos' own, every Python library is there, and who validates does not write."""
    assert {name: info.name for name, info in {**IPC_READERS, **IPC_WRITERS}.items()} == {
        name: name for name in {**IPC_READERS, **IPC_WRITERS}
    }
    libraries = {name for name, info in IPC_READERS.items() if info.adapter is None}
    assert libraries == {"pyarrow", "pyarrow-validated", "nanoarrow", "arro3", "polars"}
    assert set(IPC_READERS) - set(IPC_WRITERS) == {"pyarrow-validated"}
