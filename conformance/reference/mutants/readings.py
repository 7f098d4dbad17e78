"""Mutants of readings: the bytes are right, and one reader decodes them wrongly or not at all."""

from __future__ import annotations

import dataclasses

from conformance.records import Reading, ReadingOutcome
from conformance.reference.register import reading_mutant


def _last(readings: list[Reading], **changed: object) -> list[Reading]:
    """The readings with the last reader's changed; a changed result puts that reader into a camp of its own."""
    *others, last = readings
    return [*others, dataclasses.replace(last, **changed)]  # type: ignore[arg-type]


@reading_mutant(
    "reader.refuses",
    kills="readers.read-without-error",
    also={"readers.agree": "a reader that refuses does not agree with those that read"},
)
def refuses(readings: list[Reading]) -> list[Reading]:
    """One of the readers refuses input that the others read."""
    error = {"error_class": "ArrowInvalid", "error_text": "Expected to read a message"}
    return _last(readings, outcome=ReadingOutcome.ERROR, camp="error", **error)


@reading_mutant(
    "reader.crashes",
    kills="readers.read-without-crash",
    also={"readers.agree": "a reader that dies does not agree with those that read"},
)
def crashes(readings: list[Reading]) -> list[Reading]:
    """One of the readers crashes on input that the others read."""
    return _last(readings, outcome=ReadingOutcome.CRASH, camp="crash", error_text="signal 11")


@reading_mutant(
    "reader.hangs",
    kills="readers.read-without-hang",
    also={"readers.agree": "a reader that never ends does not agree with those that read"},
)
def hangs(readings: list[Reading]) -> list[Reading]:
    """One of the readers hangs on input that the others read."""
    return _last(readings, outcome=ReadingOutcome.HANG, camp="hang")


@reading_mutant("reader.loses-rows", kills="readers.find-the-values")
def loses_rows(readings: list[Reading]) -> list[Reading]:
    """All readers lose the same row."""
    return [dataclasses.replace(reading, differences=("the last row is missing",)) for reading in readings]


@reading_mutant("reader.differs", kills="readers.agree")
def differs(readings: list[Reading]) -> list[Reading]:
    """One of the readers decodes another value than the others."""
    return _last(readings, camp="another")
