"""What real clients and independent decoders make of the bytes.

Agreement of several implementations shows that a message is good in practice, and a disagreement shows where it is
not, or where one of them is wrong. A reader is measured against what the bytes hold, as this suite decodes them: what
a server got wrong in the values is told by the clauses on values, once. Readers that are not installed, or that say
that they cannot take a type, are not asked.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import Final, NamedTuple

from conformance.contract.clause import Violation, clause
from conformance.contract.sources import IPC_FORMAT, PYTHON_CLIENT
from conformance.contract.subjects import once_per_view
from conformance.contract.view import View
from conformance.records import Reading, ReadingOutcome


class Read:
    """One whole read and what each available reader made of it."""

    response: int | None = None

    def __init__(self, call: int | None, readings: Sequence[Reading]) -> None:
        self.call = call
        self.readings = readings

    def ended(self, outcome: ReadingOutcome) -> Iterator[Reading]:
        """The readings that ended so."""
        return (reading for reading in self.readings if reading.outcome is outcome)


@once_per_view
def _reads(view: View) -> list[Read]:
    """The whole reads that somebody read and that could be compared."""
    if not view.readings:
        return []
    by_label: dict[str, list[Reading]] = {}
    for reading in view.readings:
        if reading.outcome is not ReadingOutcome.UNAVAILABLE and reading.camp:
            by_label.setdefault(reading.label, []).append(reading)
    calls = {session.step.label: session.index for session in view.sessions}
    return [Read(calls.get(label), readings) for label, readings in by_label.items()]


class ShownReadings(NamedTuple):
    """What readings show that are all the rows that the bytes hold: whether there are any, and several of one read."""

    some: bool
    several: bool


class ReadingAspect:
    """The readings of an exchange; they are clean if all of them are tables, without differences, in one camp."""

    def state(self, view: View) -> Hashable | None:
        """What is shown, where all of it is clean."""
        reads = _reads(view)
        return None if any(map(_is_remarkable, reads)) else ShownReadings(bool(reads), any(map(_is_shared, reads)))


def _is_remarkable(read: Read) -> bool:
    camps = {reading.camp for reading in read.readings}
    return len(camps) > 1 or any(one.outcome is not ReadingOutcome.TABLE or one.differences for one in read.readings)


def _is_shared(read: Read) -> bool:
    return len(read.readings) > 1


class Reads:
    """The selector of whole reads that satisfy a condition; ``clean`` says whether clean ones do."""

    aspect = ReadingAspect()

    def __init__(self, shows: Callable[[Read], bool], clean: Callable[[ShownReadings], bool]) -> None:
        self._shows = shows
        self._clean = clean

    def __call__(self, view: View) -> Sequence[Read]:
        """Those reads."""
        return [read for read in _reads(view) if self._shows(read)]

    def shown_by(self, state: ShownReadings) -> bool:
        """Whether there are any in an exchange whose readings show this."""
        return self._clean(state)


_ANY: Final = Reads(lambda _read: True, lambda shown: shown.some)
_SOME_TABLE: Final = Reads(lambda read: any(True for _ in read.ended(ReadingOutcome.TABLE)), lambda shown: shown.some)
_SEVERAL: Final = Reads(_is_shared, lambda shown: shown.several)


def _failed(read: Read, outcome: ReadingOutcome, wanted: str) -> Iterator[Violation]:
    for reading in read.ended(outcome):
        ending = f"{reading.reader} ends in {reading.error_class or outcome}"
        yield Violation(wanted, f"{ending}: {reading.error_text}" if reading.error_text else ending, reading.reader)


@clause("readers.read-without-error", over=_ANY, source=PYTHON_CLIENT, breaks="the client that the finding names")
def read_without_error(read: Read) -> Iterator[Violation]:
    """No reader refuses what a server sent: real clients and independent decoders read it to the end."""
    return _failed(read, ReadingOutcome.ERROR, "a table")


@clause("readers.read-without-crash", over=_ANY, source=PYTHON_CLIENT, breaks="the client that the finding names")
def read_without_crash(read: Read) -> Iterator[Violation]:
    """No reader's process dies of what a server sent."""
    return _failed(read, ReadingOutcome.CRASH, "a table, or an error")


@clause("readers.read-without-hang", over=_ANY, source=PYTHON_CLIENT, breaks="the client that the finding names")
def read_without_hang(read: Read) -> Iterator[Violation]:
    """Every reader comes to an end with what a server sent."""
    return _failed(read, ReadingOutcome.HANG, "an end within the deadline")


@clause("readers.find-the-values", over=_SOME_TABLE, source=IPC_FORMAT, breaks="the client that the finding names")
def find_the_values(read: Read) -> Iterator[Violation]:
    """A reader that gives a table gives the rows that are in the bytes: none lost, none twice, none changed.

    Silent loss is what this looks for: an end-of-stream marker behind a batch makes readers of streams stop there.
    """
    for reading in read.ended(ReadingOutcome.TABLE):
        for difference in reading.differences:
            yield Violation("the rows that the bytes hold", difference, reading.reader)


@clause("readers.agree", over=_SEVERAL, source=IPC_FORMAT, breaks="users who move from one client to another")
def agree(read: Read) -> Iterator[Violation]:
    """All readers make the same of one read.

    Whatever is right, readers that differ mean that a user's answer depends on the client.
    """
    camps: dict[str, list[str]] = {}
    for reading in read.readings:
        camps.setdefault(reading.camp, []).append(f"{reading.reader} ({reading.outcome})")
    if len(camps) > 1:
        against = " against ".join(", ".join(readers) for readers in camps.values())
        yield Violation("one result", f"{len(camps)} results: {against}")
