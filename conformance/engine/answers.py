"""The answers of the readers in a case, as the log keeps them.

A clause that passed says nothing about one reader: it may have read, may be missing here, or may state that it cannot
read the table. The log keeps these apart, so that a report can say what each client gives on a server.
"""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Iterable
from typing import Final

from conformance.contain.text import keep_safe
from conformance.records import CANNOT, Reading, ReadingOutcome

__all__ = ["JUDGED", "Answer", "Answered", "answered"]

TEXT: Final = 200
"""The most characters kept of a reader's text; the findings of the clauses have more."""


class Answer(enum.StrEnum):
    """The kinds of answer of a reader to a read of a full stream."""

    ROWS = "rows"
    """The rows that the bytes contain."""
    OTHER_ROWS = "other-rows"
    """A table with other rows, without an error."""
    ERROR = "error"
    CRASH = "crash"
    HANG = "hang"
    CANNOT = "cannot"
    """Nothing: the reader itself states that it does not read this, and was not judged."""
    NO_ANSWER = "no-answer"
    """Nothing: the reader is not here, or its answer could not be brought back."""
    UNCOMPARED = "uncompared"
    """Something, but the suite cannot decode the bytes, so that nobody knows what is right."""


JUDGED: Final = frozenset({Answer.ROWS, Answer.OTHER_ROWS, Answer.ERROR, Answer.CRASH, Answer.HANG})
"""The answers that were judged."""


@dataclasses.dataclass(frozen=True, slots=True)
class Answered:
    """The readers that gave the same answer in a case; ``text`` is what was different, the error, or the statement."""

    answer: Answer
    readers: tuple[str, ...]
    text: str = ""

    def __post_init__(self) -> None:
        keep_safe(self, "text", limit=TEXT)


def answered(readings: Iterable[Reading]) -> tuple[Answered, ...]:
    """The readings of a case by answer. A reader with several reads occurs with each of its answers; its answer is
    *rows* only if no other was judged.
    """
    found: dict[str, dict[tuple[Answer, str], None]] = {}
    for reading in readings:
        found.setdefault(reading.reader, {})[_answer(reading)] = None
    together: dict[tuple[Answer, str], list[str]] = {}
    for reader, answers in found.items():
        others = {answer for answer, _ in answers} & JUDGED - {Answer.ROWS}
        for key in answers:
            if key[0] is not Answer.ROWS or not others:
                together.setdefault(key, []).append(reader)
    return tuple(Answered(answer, tuple(readers), text) for (answer, text), readers in together.items())


def _answer(reading: Reading) -> tuple[Answer, str]:
    said = ": ".join(filter(None, (reading.error_class, reading.error_text)))
    if reading.outcome is ReadingOutcome.UNAVAILABLE:
        return (Answer.CANNOT, reading.error_text) if reading.error_class == CANNOT else (Answer.NO_ANSWER, said)
    if not reading.camp:
        return Answer.UNCOMPARED, ""
    if reading.outcome is ReadingOutcome.TABLE:
        return (Answer.OTHER_ROWS, reading.differences[0]) if reading.differences else (Answer.ROWS, "")
    return Answer(reading.outcome.value), said
