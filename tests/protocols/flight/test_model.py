"""Every contradiction between what was put into a flight and what was read is found; no freedom of a server is one."""

from __future__ import annotations

import dataclasses

import pytest

from conformance.protocols.flight.model import FlightHistory, FlightPut, ModelRead, PutEnd, flight_deviations
from conformance.protocols.flight.model import HistoryFault as Fault


def history(*events: FlightPut | ModelRead) -> FlightHistory:
    """Puts and reads, one after another unless an event says when; the number of each is its call."""
    placed = [
        dataclasses.replace(one, call=call, at=call if one.at < 0 else one.at)
        if isinstance(one, FlightPut)
        else dataclasses.replace(one, call=call, since=call if one.since < 0 else one.since, until=call)
        for call, one in enumerate(events)
    ]
    puts = tuple(one for one in placed if isinstance(one, FlightPut))
    return FlightHistory(puts, tuple(one for one in placed if isinstance(one, ModelRead)))


def put(rows: str, at: int = -1, *, end: PutEnd = PutEnd.STORED, client: str = "") -> FlightPut:
    """A put of rows, each a letter; several with one instant are made at the same time."""
    return FlightPut(0, at, tuple(rows), end, together=at >= 0, client=client)


def read(rows: str, since: int = -1, *, loose: bool = False, client: str = "") -> ModelRead:
    """A read of an info that was asked for at an instant, by default that of the read."""
    return ModelRead(0, since, 0, tuple(rows), loose, client)


PERMITTED = {
    "the rows that were put": (put("ab"), read("ba")),
    "a further put appends": (put("ab"), put("c"), read("abc"), read("abc")),
    "a further put replaces": (put("ab"), put("c"), read("c")),
    "each put chooses": (put("a"), put("b"), read("ab"), put("c"), read("c"), put("d"), read("cd")),
    "a refused put": (put("ab"), put("c", end=PutEnd.REFUSED), read("ab")),
    "a put without an answer": (put("ab"), put("cd", end=PutEnd.OPEN), read("abc"), read("")),
    "at once, either is the later": (put("a", 0), put("b", 0), read("a"), read("a")),
    "at once, and both": (put("a", 0), put("b", 0), read("ab")),
    "during a put, some of it": (put("ab"), put("cd"), read("ad", since=1)),
    "an old info, and what is there now": (put("ab"), put("c"), read("c", since=0)),
    "no rows of another client": (put("a"), put("b", client="other"), read("a")),
    "the rows of another client alone": (put("a"), put("b", client="other"), read("b")),
    "another client sees none of it": (put("a"), read("", client="other")),
    "rows that were cancelled": (put("ab"), read("", loose=True)),
    "nothing was put": (read(""),),
}

FAULTS = {
    "a row of another flight": (Fault.FOREIGN, (put("ab"), read("abx"))),
    "a row twice": (Fault.FOREIGN, (put("ab"), read("abb"))),
    "a row before it was put": (Fault.FOREIGN, (put("a"), read("ab"), put("b"))),
    "another client's row while it is put": (Fault.FOREIGN, (put("ab"), put("cd"), read("ax", since=1))),
    "a row lost": (Fault.LOST, (put("ab"), read("a"))),
    "the second put lost": (Fault.LOST, (put("ab"), put("c"), read("ab"))),
    "one of two at once lost in part": (Fault.LOST_TOGETHER, (put("ab", 0), put("cd", 0), read("ac"))),
    "a part of the first put stays": (Fault.MIXED, (put("ab"), put("c"), read("ac"))),
    "the first put is gone later": (Fault.CHANGED, (put("a"), put("b"), read("ab"), read("b"))),
}


@pytest.mark.parametrize("events", PERMITTED.values(), ids=PERMITTED)
def test_a_freedom_is_no_contradiction(events: tuple[FlightPut | ModelRead, ...]) -> None:
    """Servers may append or replace, and keep clients apart; what is put at the time of a read is open."""
    assert not flight_deviations(history(*events))


@pytest.mark.parametrize(("kind", "events"), FAULTS.values(), ids=FAULTS)
def test_a_contradiction_is_found(kind: Fault, events: tuple[FlightPut | ModelRead, ...]) -> None:
    """By its kind, at the last read."""
    found = flight_deviations(history(*events))

    assert [one.kind for one in found] == [kind]
    assert found[0].rows
