"""Programs by line JSON: whatever a program does, there is an answer, and it costs one job."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from conformance.readers.ipc import IpcReaderInfo, Job, JobAnswer, JobLimits, JobOutcome, JobStage, Unavailable
from conformance.readers.ipc.programrunner import ProgramRunner
from tests.patience import LONG

INFO = IpcReaderInfo("liar", "a program that lies", "Python")
PROGRAM = [sys.executable, str(Path(__file__).parent / "faulty_program.py")]
LIMITS = JobLimits(seconds=LONG, memory=100 << 20)


@pytest.fixture(scope="module")
def faulty() -> Iterator[ProgramRunner]:
    """A program that does what the bytes say."""
    with contextlib.closing(ProgramRunner(INFO.name, lambda: PROGRAM, LIMITS)) as runner:
        yield runner


def reported(runner: ProgramRunner, word: bytes) -> JobAnswer:
    """The program's answer to a word."""
    return runner.run("read", Job(word.decode(), "stream", word))


@pytest.mark.parametrize(
    ("word", "outcome", "error_class", "said"),
    [
        (b"segv", JobOutcome.DIED, "SIGSEGV", "about to crash"),
        (b"exit", JobOutcome.DIED, "exit", "fatal error: stack overflow"),
        (
            b"long words",
            JobOutcome.EXHAUSTED,
            "exit",
            "runtime: out of memory: cannot allocate 4 bytes; the process exited",
        ),
        (b"allocate", JobOutcome.EXHAUSTED, "memory", "MiB more than before, of 100 allowed"),
        (b"garbage", JobOutcome.UNAVAILABLE, "protocol", "expected a JSON object on one line but got b'warning"),
        (b"wrong id", JobOutcome.UNAVAILABLE, "protocol", "but got the id 99"),
        (b"no columns", JobOutcome.UNAVAILABLE, "protocol", "'columns' is a required property"),
        (b"bad value", JobOutcome.UNAVAILABLE, "protocol", "expected plain values in column 0, but got 1.5"),
        (b"wrong count", JobOutcome.REFUSED, "PlainError", "has 2 values in a table of 1 rows"),
        (b"other counts", JobOutcome.UNAVAILABLE, "protocol", "'bytes' was unexpected"),
        (b"wrong columns", JobOutcome.UNAVAILABLE, "protocol", "0 columns for 1 names"),
        (b"refuse", JobOutcome.REFUSED, "java.io.IOException", "bad magic"),
        (b"no memory", JobOutcome.EXHAUSTED, "java.lang.OutOfMemoryError", "Java heap space"),
        (b"unsupported", JobOutcome.UNSUPPORTED, "", "no such type"),
    ],
)
def test_deed_and_outcome(faulty: ProgramRunner, word: bytes, outcome: JobOutcome, error_class: str, said: str) -> None:
    """Each way to end or to break the protocol has its outcome, and the job after it is answered."""
    answer = reported(faulty, word)

    assert (answer.outcome, answer.error_class) == (outcome, error_class)
    assert said in answer.error_text
    assert reported(faulty, b"healthy").outcome is JobOutcome.ROWS


def test_what_a_program_counts_is_in_its_answer(faulty: ProgramRunner) -> None:
    """One that does not count has no counts."""
    assert reported(faulty, b"counts").statistics == {"messages": 2, "record_batches": 1}
    assert reported(faulty, b"healthy").statistics == {}


def test_the_differences_that_a_program_notes_are_in_its_answer(faulty: ProgramRunner) -> None:
    """One that compared nothing has None."""
    assert reported(faulty, b"two ways").ways == ("sliced: column 0 'process', row 0: expected 1, got 2",)
    assert reported(faulty, b"healthy").ways is None


def test_no_answer_in_time(faulty: ProgramRunner, monkeypatch: pytest.MonkeyPatch) -> None:
    """A program that does not answer has hung, and a new one answers the next job."""
    with monkeypatch.context() as patch:
        patch.setattr(faulty, "_limits", JobLimits(seconds=0.2))
        answer = reported(faulty, b"block")

    assert (answer.outcome, answer.error_class) == (JobOutcome.HUNG, "deadline")
    assert reported(faulty, b"healthy").outcome is JobOutcome.ROWS


def test_processor_time_is_limited(faulty: ProgramRunner, monkeypatch: pytest.MonkeyPatch) -> None:
    """A program that loops within the deadline is ended at the limit of processor time."""
    monkeypatch.setattr(faulty, "_limits", JobLimits(seconds=60, cpu=0.1))
    answer = reported(faulty, b"loop")

    assert (answer.outcome, answer.error_class) == (JobOutcome.EXHAUSTED, "limit")
    assert "of processor time" in answer.error_text


def test_program_stays_warm(faulty: ProgramRunner) -> None:
    """Jobs that go well are answered by one process."""
    first, second = reported(faulty, b"one"), reported(faulty, b"two")

    assert first.table == second.table is not None


def test_panic(faulty: ProgramRunner) -> None:
    """An adapter distinguishes a broken assertion from a refusal, and reports its stage."""
    answer = reported(faulty, b"panic")

    assert (answer.outcome, answer.panicked, answer.stage) == (JobOutcome.REFUSED, True, JobStage.VALUES)


def test_schema_of_a_message(faulty: ProgramRunner) -> None:
    """The schema message is sent with the record batch message."""
    answer = faulty.run("read", Job("1", "message", b"batch", schema=b"the schema"))

    assert answer.table is not None
    assert answer.table.names == ("the schema",)


def test_written(faulty: ProgramRunner) -> None:
    """A writer's bytes come back."""
    answer = faulty.run("write", Job("1", "file", b"stream"))

    assert (answer.outcome, answer.data) == (JobOutcome.WRITTEN, b"stream")


def test_what_it_cannot_be_asked_for(faulty: ProgramRunner) -> None:
    """Options that hello does not declare are not requested."""
    assert faulty.run("read", Job("1", "tensor", b"")).outcome is JobOutcome.UNSUPPORTED
    assert faulty.run("write", Job("1", "file", b"", options={"codec": "lz4"})).outcome is JobOutcome.UNSUPPORTED


@pytest.mark.parametrize(
    ("how", "said"),
    [("mute", "cannot load the library"), ("old", "1 was expected")],
)
def test_no_hello(how: str, said: str) -> None:
    """A program that does not start, or speaks another protocol, is unavailable with the reason, and is left alone."""
    with contextlib.closing(ProgramRunner(INFO.name, lambda: [*PROGRAM, how], LIMITS)) as runner:
        with pytest.raises(Unavailable, match=said):
            runner.hello()

        assert reported(runner, b"healthy").outcome is JobOutcome.UNAVAILABLE


def test_program_that_is_not_there() -> None:
    """A command that cannot be started is unavailable."""
    with contextlib.closing(ProgramRunner(INFO.name, lambda: ["/no/such/program"], LIMITS)) as runner:
        answer = reported(runner, b"healthy")

    assert answer.outcome is JobOutcome.UNAVAILABLE
    assert "no such program" in answer.error_text


def test_command_that_is_not_ready() -> None:
    """An adapter that has not been built is unavailable, with what to do."""

    def command() -> list[str]:
        raise Unavailable("not built: run python -m adapters liar")

    with contextlib.closing(ProgramRunner(INFO.name, command, LIMITS)) as runner:
        answer = reported(runner, b"healthy")

    assert (answer.outcome, answer.error_text) == (JobOutcome.UNAVAILABLE, "not built: run python -m adapters liar")


def test_closed_runner() -> None:
    """Once closed, nothing is started again."""
    runner = ProgramRunner(INFO.name, lambda: PROGRAM, LIMITS)
    runner.close()

    assert reported(runner, b"healthy").outcome is JobOutcome.UNAVAILABLE
