"""The table of calls for untrusted input: how answers are counted, and that the page is that of the counts."""

from __future__ import annotations

import json

import pytest

from conformance.readers.ipc import IPC_READERS, Job, JobAnswer, JobOutcome, JobStage
from publish.tables.untrusted import COUNTS, rows
from publish.untrusted import CALLS, CallCount, Untrusted, answer_of, counted, joined
from tests.engine.ipc_standins import stream


def count(reader: str, inputs: int) -> CallCount:
    """The counts of a call."""
    return CallCount(reader, "a library", "a call", inputs, {"refused": inputs})


@pytest.mark.parametrize(
    ("answer", "group"),
    [
        (JobAnswer("x", "y", JobOutcome.REFUSED), "refused"),
        (JobAnswer("x", "y", JobOutcome.UNSUPPORTED), "refused"),
        (JobAnswer("x", "y", JobOutcome.EXHAUSTED, error_class="MemoryError"), "refused"),
        (JobAnswer("x", "y", JobOutcome.REFUSED, panicked=True), "panicked"),
        (JobAnswer("x", "y", JobOutcome.UNSUPPORTED, panicked=True), "panicked"),
        (JobAnswer("x", "y", JobOutcome.ROWS, stage=JobStage.VALUES), "through"),
        (JobAnswer("x", "y", JobOutcome.REFUSED, stage=JobStage.VALUES), "through"),
        (JobAnswer("x", "y", JobOutcome.DIED, stage=JobStage.VALUES), "through"),
        (JobAnswer("x", "y", JobOutcome.DIED, stage=JobStage.OWN), "ended"),
        (JobAnswer("x", "y", JobOutcome.DIED), "ended"),
        (JobAnswer("x", "y", JobOutcome.HUNG), "ended"),
        (JobAnswer("x", "y", JobOutcome.EXHAUSTED, error_class="limit"), "ended"),
    ],
)
def test_answers_are_counted_by_group(answer: JobAnswer, group: str) -> None:
    """A failure while rows are looked at follows from what got through."""
    assert answer_of(answer) == group


def test_a_count_is_of_what_a_call_was_given() -> None:
    """The three calls of pyarrow read a stream, and refuse a part of one."""
    whole = stream("x")
    jobs = {"stream": [Job("whole", "stream", whole), Job("cut", "stream", whole[:-40])]}

    found = counted(jobs, ["pyarrow", "pyarrow-structure", "pyarrow-validated"])

    assert [each.reader for each in found] == ["pyarrow", "pyarrow-structure", "pyarrow-validated"]
    for each in found:
        assert (each.inputs, each.answers) == (2, {"refused": 1, "through": 1, "panicked": 0, "ended": 0})


def test_every_reader_has_its_call() -> None:
    """The table says what the reader calls."""
    assert set(CALLS) == {*IPC_READERS, "pyarrow-structure"}


def test_the_counts_add_up() -> None:
    """Each input has one answer."""
    counts = json.loads(COUNTS.read_text(encoding="utf-8"))

    for each in counts["calls"]:
        assert sum(each["answers"].values()) == each["inputs"] <= counts["inputs"]
    assert len(list(rows(counts["calls"]))) == len(counts["calls"])


def test_counts_of_other_calls_are_kept() -> None:
    """They stay in the order of the calls; a call that was counted again has its new counts."""
    before = Untrusted("1", 9, (count("pyarrow", 1), count("arro3", 1), count("arrow-js", 1)))
    made = Untrusted("1", 9, (count("arrow-js", 2), count("polars", 2)))

    calls = joined(before, made).calls

    assert [(each.reader, each.inputs) for each in calls] == [
        ("pyarrow", 1),
        ("arro3", 1),
        ("polars", 2),
        ("arrow-js", 2),
    ]


@pytest.mark.parametrize(
    "before", [None, Untrusted("2", 9, (count("pyarrow", 1),)), Untrusted("1", 8, (count("pyarrow", 1),))]
)
def test_counts_of_another_corpus_are_not(before: Untrusted | None) -> None:
    """Two corpora are not compared in one table."""
    made = Untrusted("1", 9, (count("polars", 2),))

    assert joined(before, made) == made
