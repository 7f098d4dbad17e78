"""Python libraries in forks: whatever a library does, there is an answer, and it costs one job."""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Iterator

import pytest

from conformance.readers.ipc import Job, JobAnswer, JobLimits, JobOutcome, JobStage, Unavailable
from conformance.readers.ipc.python import PythonRunner
from tests.patience import LONG
from tests.readers.ipc import absent_library, faulty_library

LIMITS = JobLimits(seconds=LONG, memory=256 << 20, values=1000)


@pytest.fixture(scope="module")
def faulty() -> Iterator[PythonRunner]:
    """A library that does what the bytes say."""
    with contextlib.closing(PythonRunner(faulty_library.READER, faulty_library.WRITER, LIMITS)) as runner:
        yield runner


def reported(runner: PythonRunner, word: bytes, **options: object) -> JobAnswer:
    """The library's answer to a word."""
    return runner.run("read", Job(word.decode(), "stream", word, options=options))


def process(answer: JobAnswer) -> object:
    """The number of the process that answered."""
    assert answer.table is not None, answer
    return answer.table.columns[0][0]


@pytest.mark.parametrize(
    ("word", "outcome", "error_class"),
    [
        (b"segv", JobOutcome.DIED, "SIGSEGV"),
        (b"abort", JobOutcome.DIED, "SIGABRT"),
        (b"exit", JobOutcome.DIED, "exit"),
        (b"abort without memory", JobOutcome.EXHAUSTED, "SIGABRT"),
        (b"allocate", JobOutcome.EXHAUSTED, "MemoryError"),
        (b"processor", JobOutcome.EXHAUSTED, "SIGXCPU"),
        (b"panic", JobOutcome.REFUSED, "PanicException"),
        (b"panic for lack", JobOutcome.UNSUPPORTED, "PanicException"),
        (b"refuse", JobOutcome.REFUSED, "ValueError"),
        (b"unsupported", JobOutcome.UNSUPPORTED, ""),
        (b"scribble", JobOutcome.DIED, "frame"),
    ],
)
def test_deed_and_outcome(faulty: PythonRunner, word: bytes, outcome: JobOutcome, error_class: str) -> None:
    """Each way to end has its outcome and its class, and the job after it is answered."""
    answer = reported(faulty, word)

    assert (answer.outcome, answer.error_class) == (outcome, error_class)
    assert answer.panicked == word.startswith(b"panic")
    assert answer.stage is JobStage.LIBRARY
    assert reported(faulty, b"healthy").outcome is JobOutcome.ROWS


@pytest.mark.parametrize("word", [b"loop", b"block"])
def test_no_answer_in_time(faulty: PythonRunner, monkeypatch: pytest.MonkeyPatch, word: bytes) -> None:
    """A library that loops or waits has hung, and the next job is answered."""
    with monkeypatch.context() as patch:
        patch.setattr(faulty, "_limits", JobLimits(seconds=0.2))
        answer = reported(faulty, word)

    assert (answer.outcome, answer.error_class, answer.seconds) == (JobOutcome.HUNG, "deadline", 0.2)
    assert reported(faulty, b"healthy").outcome is JobOutcome.ROWS


def test_processor_time_is_limited(faulty: PythonRunner, monkeypatch: pytest.MonkeyPatch) -> None:
    """A loop within the deadline ends at the limit of processor time."""
    monkeypatch.setattr(faulty, "_limits", JobLimits(seconds=60, cpu=0.1))
    answer = reported(faulty, b"loop")

    assert (answer.outcome, answer.error_class) == (JobOutcome.EXHAUSTED, "SIGXCPU")


def test_last_words(faulty: PythonRunner) -> None:
    """The library's output to standard error before it died is in the answer."""
    assert "assertion failed: offsets.len() > 0" in reported(faulty, b"abort").error_text


def test_words_on_memory(faulty: PythonRunner) -> None:
    """A runtime that says that memory ran out is quoted with that, not with the hint after it."""
    assert reported(faulty, b"abort without memory").error_text.endswith("memory allocation of 4096 bytes failed")


def test_words_of_an_earlier_job_are_gone(faulty: PythonRunner) -> None:
    """A death without words does not borrow those of the death before."""
    reported(faulty, b"abort")

    assert "assertion" not in reported(faulty, b"segv").error_text


def test_end_while_the_values_are_looked_at(faulty: PythonRunner) -> None:
    """A crash after the library's reading is distinguished from one in it."""
    answer = reported(faulty, b"unsound")

    assert (answer.outcome, answer.error_class, answer.stage) == (JobOutcome.DIED, "SIGSEGV", JobStage.VALUES)


def test_each_job_has_its_own_process(faulty: PythonRunner) -> None:
    """By default no two jobs share memory."""
    assert process(reported(faulty, b"one")) != process(reported(faulty, b"two"))


def test_poison_does_not_outlive_its_job(faulty: PythonRunner) -> None:
    """A job's change of the library's memory does not reach the next job."""
    reported(faulty, b"poison segv")

    assert reported(faulty, b"healthy").outcome is JobOutcome.ROWS


def test_reused_fork(faulty: PythonRunner, monkeypatch: pytest.MonkeyPatch) -> None:
    """With reuse, jobs share a process as often as they may."""
    monkeypatch.setattr(faulty, "_limits", JobLimits(reuse=2))
    first, second, third, _ = (process(reported(faulty, word)) for word in (b"one", b"two", b"three", b"four"))

    assert first == second != third


def test_fork_that_keeps_memory_is_not_reused(faulty: PythonRunner, monkeypatch: pytest.MonkeyPatch) -> None:
    """Memory that one job leaves does not count against the next."""
    monkeypatch.setattr(faulty, "_limits", JobLimits(reuse=2, memory=256 << 20))

    assert process(reported(faulty, b"keep")) != process(reported(faulty, b"two"))


def test_death_in_a_reused_fork_is_tried_alone(faulty: PythonRunner, monkeypatch: pytest.MonkeyPatch) -> None:
    """A job that dies of what an earlier one did is answered by a fresh process."""
    monkeypatch.setattr(faulty, "_limits", JobLimits(reuse=2))
    reported(faulty, b"poison segv")

    assert reported(faulty, b"healthy").outcome is JobOutcome.ROWS
    assert reported(faulty, b"segv").outcome is JobOutcome.DIED


def test_too_many_values(faulty: PythonRunner) -> None:
    """Rows beyond the limit of values are counted and not brought back."""
    answer = reported(faulty, b"1001")

    assert (answer.outcome, answer.rows, answer.table) == (JobOutcome.ROWS, 1001, None)
    assert "more than 1000 values" in answer.error_text


def test_no_batches(faulty: PythonRunner) -> None:
    """Without batches there are columns, and no rows."""
    answer = reported(faulty, b"0")

    assert answer.table is not None
    assert answer.table.to_json() == {"names": ["a"], "rows": 0, "columns": [[]]}


@pytest.mark.parametrize(
    ("job", "said"),
    [
        (Job("1", "file", b""), "liar does not read kind file, only stream"),
        (Job("1", "stream", b"", options={"native_endian": True}), "liar cannot be asked for native_endian"),
        (Job("1", "stream", b"", options={"threads": False}), "liar cannot be asked for threads False, only [True]"),
    ],
)
def test_what_it_cannot_be_asked_for(faulty: PythonRunner, job: Job, said: str) -> None:
    """A kind or an option that the library does not declare is unsupported, and says which."""
    answer = faulty.run("read", job)

    assert answer.outcome is JobOutcome.UNSUPPORTED
    assert said in answer.error_text


def test_option_with_any_value(faulty: PythonRunner) -> None:
    """An option without values listed takes any."""
    assert reported(faulty, b"healthy", chunk=7).outcome is JobOutcome.ROWS


def test_written(faulty: PythonRunner) -> None:
    """A writer's bytes come back."""
    answer = faulty.run("write", Job("1", "stream", b"stream"))

    assert (answer.outcome, answer.data) == (JobOutcome.WRITTEN, b"streamstream")


@pytest.mark.parametrize(("word", "stage"), [(b"bad source", JobStage.SOURCE), (b"refuse", JobStage.LIBRARY)])
def test_refused_source(faulty: PythonRunner, word: bytes, stage: JobStage) -> None:
    """A library that cannot read its input is distinguished from one that cannot write it."""
    answer = faulty.run("write", Job("1", "stream", word))

    assert (answer.outcome, answer.stage) == (JobOutcome.REFUSED, stage)


def test_death_of_a_writer(faulty: PythonRunner) -> None:
    """A writer that dies costs its job, in its own stage."""
    answer = faulty.run("write", Job("1", "stream", b"segv"))

    assert (answer.outcome, answer.stage) == (JobOutcome.DIED, JobStage.LIBRARY)


def test_absent_library() -> None:
    """A library that is not installed is unavailable, with the reason."""
    with contextlib.closing(PythonRunner(absent_library.READER, None, LIMITS)) as runner:
        answer = reported(runner, b"healthy")

        assert (answer.outcome, answer.error_text) == (
            JobOutcome.UNAVAILABLE,
            "not installed here: No module named 'absent'",
        )
        with pytest.raises(Unavailable, match="not installed here"):
            runner.hello()


def test_worker_that_is_killed() -> None:
    """A worker that is gone says nothing about the library; a new one answers the next job."""
    with contextlib.closing(PythonRunner(faulty_library.READER, None, LIMITS)) as runner:
        reported(runner, b"healthy")
        assert runner._process is not None
        os.kill(runner._process._worker._process.pid, signal.SIGKILL)

        lost, after = reported(runner, b"healthy"), reported(runner, b"healthy")

    assert (lost.outcome, lost.error_class) == (JobOutcome.UNAVAILABLE, "worker")
    assert after.outcome is JobOutcome.ROWS


def test_closed_runner() -> None:
    """Once closed, nothing is started again."""
    runner = PythonRunner(faulty_library.READER, None, LIMITS)
    runner.close()

    assert reported(runner, b"healthy").outcome is JobOutcome.UNAVAILABLE
