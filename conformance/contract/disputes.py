"""Disputed clauses: requirements that the owner of the suite has put aside for everybody, for a limited time.

Somebody has shown that a requirement may be wrong, and it is not known yet who is right. Until then no run judges the
clause, and every report says so, with the reason and the date. An entry expires: from the day after ``until`` on, runs
judge the clause again and say that the entry has expired, and a test of the suite fails until somebody has decided:
the clause is withdrawn or corrected, or the entry is removed.
"""

from __future__ import annotations

import dataclasses
import datetime as dt
from collections.abc import Collection, Iterator, Sequence
from typing import Final

__all__ = ["DISPUTES", "LONGEST", "Dispute", "complaints", "current", "dispute_of", "expired"]

LONGEST: Final = dt.timedelta(days=180)
"""The longest time for which a clause may be put aside: half a year is enough to measure the service."""

DISPUTED: Final = "disputed"
"""The first word of the reason why a clause is put aside."""


@dataclasses.dataclass(frozen=True, slots=True)
class Dispute:
    """A clause that is put aside from ``since`` to ``until``: what is in doubt, and where that is discussed."""

    clause: str
    reason: str
    source: str
    since: dt.date
    until: dt.date

    @property
    def text(self) -> str:
        """One line for reports."""
        return f"{DISPUTED} until {self.until}: {self.reason} ({self.source})"


DISPUTES: Final[tuple[Dispute, ...]] = ()
"""The disputes, by clause id. ``docs/disputes.md`` says how an entry is made and how it ends."""


def current(on: dt.date) -> Iterator[Dispute]:
    """The disputes because of which clauses are not judged on that day."""
    return (one for one in DISPUTES if on <= one.until)


def dispute_of(clause: str, on: dt.date) -> Dispute | None:
    """The dispute because of which ``clause`` is not judged on that day, if there is one."""
    return next((one for one in current(on) if one.clause == clause), None)


def expired(on: dt.date) -> Iterator[str]:
    """A sentence for each entry that has expired by that day."""
    for one in DISPUTES:
        if one.until < on:
            yield f"the dispute of {one.clause} expired on {one.until}, so the clause is judged again ({one.source})"


def complaints(disputes: Sequence[Dispute], clauses: Collection[str], on: dt.date) -> Iterator[str]:
    """The faults of a list of disputes on that day, one sentence each."""
    names = [one.clause for one in disputes]
    for one in disputes:
        if one.clause not in clauses:
            yield f"{one.clause} is no clause; remove its dispute"
        if names.count(one.clause) > 1:
            yield f"{one.clause} is disputed twice; keep one entry"
        if not one.reason or not one.source.startswith("https://"):
            yield f"the dispute of {one.clause} needs a reason and an https:// address"
        if not one.since <= one.until <= one.since + LONGEST:
            yield f"the dispute of {one.clause} lasts from {one.since} to {one.until}, not at most {LONGEST.days} days"
        if one.until < on:
            cure = "withdraw or correct the clause, or remove the entry"
            yield f"the dispute of {one.clause} expired on {one.until}: {cure}"
    if names != sorted(names):
        yield "the disputes are not in the order of their clauses"
