"""Times in records: seconds from anywhere are checked where they are read, because reports add and print them."""

from __future__ import annotations

from typing import Final

from conformance._codec import RecordError

__all__ = ["MOST_SECONDS", "is_instant", "keep_seconds"]

MOST_SECONDS: Final = 1e11
"""Three thousand years, because a recording may count from 1970; the sum of all times of a log is still a number."""


def keep_seconds(record: object, *names: str) -> None:
    """Refuse a record whose fields ``names`` are not seconds from 0 to :data:`MOST_SECONDS`; ``nan`` is none.

    Raises:
        RecordError: naming the field.
    """
    for name in names:
        value = getattr(record, name)
        if not 0 <= value <= MOST_SECONDS:
            raise RecordError(name, f"seconds from 0 to {MOST_SECONDS:g}", value)


def is_instant(now: int, started: float) -> bool:
    """True if ``now`` microseconds since the Unix epoch and ``started`` seconds more are an instant of a recording.

    A number from anywhere may be too large for a sum in floating point, so ``now`` is compared first.
    """
    return 0 <= now <= MOST_SECONDS * 1e6 and 0 <= now / 1e6 + started <= MOST_SECONDS
