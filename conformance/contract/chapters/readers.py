"""The results of real clients and independent decoders on the bytes.

If several implementations agree, a message is good in practice. A disagreement shows that it is not, or that one of
them is wrong. A reader is compared with the rows that the bytes contain, as this suite decodes them: the clauses on
values report the server's wrong values, once. Readers that are not installed, or that report that they do not
support a type, are not judged.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import Final, NamedTuple

from conformance.contract.clause import Violation, clause
from conformance.contract.sources import IPC_FORMAT, PYTHON_CLIENT
from conformance.contract.view import View, once_per_view
from conformance.records import Reading, ReadingOutcome


class StreamReadings:
    """One full stream, and the result of each available reader on it."""

    response: int | None = None

    def __init__(self, call: int | None, readings: Sequence[Reading]) -> None:
        self.call = call
        self.readings = readings

    def ended(self, outcome: ReadingOutcome) -> Iterator[Reading]:
        """The readings with this outcome."""
        return (reading for reading in self.readings if reading.outcome is outcome)


@once_per_view
def _reads(view: View) -> list[StreamReadings]:
    """Return the full streams that at least one reader read and whose readings could be compared."""
    by_label: dict[str, list[Reading]] = {}
    for reading in view.readings:
        if reading.outcome is not ReadingOutcome.UNAVAILABLE and reading.camp:
            by_label.setdefault(reading.label, []).append(reading)
    return [StreamReadings(view.calls_read.get(label), readings) for label, readings in by_label.items()]


class ShownReadings(NamedTuple):
    """The contents of clean readings: whether any exist, and whether a stream has several."""

    some: bool
    several: bool


class ReadingAspect:
    """The readings of an exchange; clean if all of them are tables, without differences, in one camp."""

    def state(self, view: View) -> Hashable | None:
        """Return the contents of the readings if all are clean, else None."""
        reads = _reads(view) if view.readings else []
        return None if any(map(_is_remarkable, reads)) else ShownReadings(bool(reads), any(map(_is_shared, reads)))


def _is_remarkable(read: StreamReadings) -> bool:
    camps = {reading.camp for reading in read.readings}
    return len(camps) > 1 or any(one.outcome is not ReadingOutcome.TABLE or one.differences for one in read.readings)


def _is_shared(read: StreamReadings) -> bool:
    return len(read.readings) > 1


class Reads:
    """A selector of streams whose readings satisfy a condition; ``clean`` decides whether clean ones do."""

    aspect = ReadingAspect()

    def __init__(self, shows: Callable[[StreamReadings], bool], clean: Callable[[ShownReadings], bool]) -> None:
        self._shows = shows
        self._clean = clean

    def __call__(self, view: View) -> Sequence[StreamReadings]:
        """Return these streams."""
        return [read for read in _reads(view) if self._shows(read)]

    def shown_by(self, state: ShownReadings) -> bool:
        """True if an exchange with these clean readings has such a stream."""
        return self._clean(state)


_ANY: Final = Reads(lambda _read: True, lambda shown: shown.some)
_SOME_TABLE: Final = Reads(lambda read: any(True for _ in read.ended(ReadingOutcome.TABLE)), lambda shown: shown.some)
_SEVERAL: Final = Reads(_is_shared, lambda shown: shown.several)


def _failed(read: StreamReadings, outcome: ReadingOutcome, wanted: str) -> Iterator[Violation]:
    for reading in read.ended(outcome):
        ending = f"{reading.reader} ends in {reading.error_class or outcome}"
        yield Violation(wanted, f"{ending}: {reading.error_text}" if reading.error_text else ending, reading.reader)


@clause("readers.read-without-error", over=_ANY, source=PYTHON_CLIENT, breaks="the client that the finding names")
def read_without_error(read: StreamReadings) -> Iterator[Violation]:
    """No reader refuses the bytes of a server: real clients and independent decoders read them to the end."""
    return _failed(read, ReadingOutcome.ERROR, "a table")


@clause("readers.read-without-crash", over=_ANY, source=PYTHON_CLIENT, breaks="the client that the finding names")
def read_without_crash(read: StreamReadings) -> Iterator[Violation]:
    """No reader's process dies on the bytes of a server."""
    return _failed(read, ReadingOutcome.CRASH, "a table, or an error")


@clause("readers.read-without-hang", over=_ANY, source=PYTHON_CLIENT, breaks="the client that the finding names")
def read_without_hang(read: StreamReadings) -> Iterator[Violation]:
    """Every reader ends on the bytes of a server."""
    return _failed(read, ReadingOutcome.HANG, "an end within the deadline")


@clause("readers.find-the-values", over=_SOME_TABLE, source=IPC_FORMAT, breaks="the client that the finding names")
def find_the_values(read: StreamReadings) -> Iterator[Violation]:
    """The table of a reader has the rows that the bytes contain: none lost, none repeated, none changed.

    The clause aims at silent loss: an end-of-stream marker after a batch makes readers of streams stop there.
    """
    for reading in read.ended(ReadingOutcome.TABLE):
        for difference in reading.differences:
            yield Violation("the rows that the bytes hold", difference, reading.reader)


@clause("readers.agree", over=_SEVERAL, source=IPC_FORMAT, breaks="users who move from one client to another")
def agree(read: StreamReadings) -> Iterator[Violation]:
    """All readers return the same result for one stream.

    If readers differ, a user's result depends on the client, whichever reader is right.
    """
    camps: dict[str, list[str]] = {}
    for reading in read.readings:
        camps.setdefault(reading.camp, []).append(f"{reading.reader} ({reading.outcome})")
    if len(camps) > 1:
        against = " against ".join(", ".join(readers) for readers in camps.values())
        yield Violation("one result", f"{len(camps)} results: {against}")
