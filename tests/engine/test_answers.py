"""The log keeps what each reader gave, and why a reader gave nothing."""

from __future__ import annotations

import pytest

from conformance.engine.answers import Answer, Answered, answered
from conformance.records import CANNOT, Reading, ReadingOutcome


def reading(
    outcome: ReadingOutcome, *, reader: str = "a", camp: str = "all", error: str = "", text: str = ""
) -> Reading:
    """A reading without a table's bytes."""
    return Reading(reader, "case", "s", outcome, error_class=error, error_text=text, camp=camp)


@pytest.mark.parametrize(
    ("given", "answer", "text"),
    [
        (reading(ReadingOutcome.TABLE), Answer.ROWS, ""),
        (reading(ReadingOutcome.ERROR, error="ValueError", text="no"), Answer.ERROR, "ValueError: no"),
        (reading(ReadingOutcome.CRASH, error="SIGSEGV"), Answer.CRASH, "SIGSEGV"),
        (reading(ReadingOutcome.HANG, text="30 s"), Answer.HANG, "30 s"),
        (reading(ReadingOutcome.UNAVAILABLE, error=CANNOT, text="RANGE: no"), Answer.CANNOT, "RANGE: no"),
        (reading(ReadingOutcome.UNAVAILABLE, text="not built"), Answer.NO_ANSWER, "not built"),
        (reading(ReadingOutcome.TABLE, camp=""), Answer.UNCOMPARED, ""),
    ],
)
def test_each_reading_is_one_answer(given: Reading, answer: Answer, text: str) -> None:
    """A statement of the reader itself is apart from a reader that is missing here."""
    assert answered([given]) == (Answered(answer, ("a",), text),)


def test_readers_with_one_answer_are_together() -> None:
    """Nearly every case is one line: all readers have the rows."""
    readings = [reading(ReadingOutcome.TABLE, reader=name) for name in ("a", "b", "c")]

    assert answered(readings) == (Answered(Answer.ROWS, ("a", "b", "c")),)


def test_a_reader_has_the_rows_only_if_every_read_gave_them() -> None:
    """A case with two reads of which one fails shows the failure alone."""
    readings = [reading(ReadingOutcome.TABLE), reading(ReadingOutcome.ERROR, error="E")]

    assert answered(readings) == (Answered(Answer.ERROR, ("a",), "E"),)
