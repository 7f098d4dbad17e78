"""What a program's answer says about its client."""

from __future__ import annotations

import pytest

from conformance.readers.ipc.job import JobAnswer, JobOutcome
from conformance.readers.programs.slot import outcome_of
from conformance.records import ReadingOutcome


@pytest.mark.parametrize(
    ("outcome", "error_class", "wanted"),
    [
        (JobOutcome.REFUSED, "NotFound", ReadingOutcome.ERROR),
        (JobOutcome.EXHAUSTED, "org.apache.arrow.memory.OutOfMemoryException", ReadingOutcome.ERROR),
        (JobOutcome.EXHAUSTED, "SIGABRT", ReadingOutcome.CRASH),
        (JobOutcome.EXHAUSTED, "exit", ReadingOutcome.CRASH),
        (JobOutcome.EXHAUSTED, "limit", ReadingOutcome.HANG),
        (JobOutcome.EXHAUSTED, "memory", ReadingOutcome.HANG),
        (JobOutcome.DIED, "SIGSEGV", ReadingOutcome.CRASH),
        (JobOutcome.HUNG, "deadline", ReadingOutcome.HANG),
    ],
)
def test_only_a_program_that_ended_has_crashed(outcome: JobOutcome, error_class: str, wanted: ReadingOutcome) -> None:
    """A library that reports that it has no memory for a message has refused the message."""
    answer = JobAnswer("a", "c", outcome, error_class=error_class, error_text="why")

    assert outcome_of(answer) == (wanted, "why")


def test_a_failed_assertion_is_a_crash() -> None:
    """A program that catches it answers all the same; the next user's does not."""
    answer = JobAnswer("a", "c", JobOutcome.REFUSED, error_class="panic: x", error_text="why", panicked=True)

    assert outcome_of(answer) == (ReadingOutcome.CRASH, "why")
