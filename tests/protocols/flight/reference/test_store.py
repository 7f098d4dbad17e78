"""Flights by descriptor, and parts of them by ticket."""

from __future__ import annotations

import pyarrow as pa

from conformance.protocols.flight.reference.store import Batch, Flight, Store

ROWS = pa.record_batch({"n": [1, 2], "w": ["a", "b"]})
FLIGHT = Flight(b"d", ROWS.schema, (Batch(ROWS, b"m"), Batch(ROWS)))


def test_a_flight_is_found_by_its_descriptor() -> None:
    """A later one takes the place of an earlier one, and keeps its place in the list."""
    store = Store()
    store.put(Flight(b"d", ROWS.schema, ()))
    store.put(Flight(b"e", ROWS.schema, ()))
    store.put(FLIGHT)

    assert store.get(b"d") is FLIGHT
    assert store.get(b"f") is None
    assert [flight.descriptor for flight in store.every()] == [b"d", b"e"]


def test_a_ticket_stands_for_some_batches_until_it_is_revoked() -> None:
    """Each ticket is new, and no text."""
    store = Store()
    first, second = store.ticket(FLIGHT, FLIGHT.batches[:1]), store.ticket(FLIGHT, FLIGHT.batches)

    part = store.redeem(first)
    assert part is not None
    assert (part.rows, FLIGHT.rows) == (2, 4)
    assert first != second
    assert first.startswith(b"\xff")
    assert (store.revoke(first), store.revoke(first)) == (True, False)
    assert store.redeem(first) is None
    assert store.redeem(second) == FLIGHT


def test_a_ticket_expires_by_the_clock_of_the_store() -> None:
    """A later time takes the place of an earlier one; without a time it does not expire."""
    store = Store(lambda: 100.0)
    ticket, other = store.ticket(FLIGHT, FLIGHT.batches), store.ticket(FLIGHT, FLIGHT.batches)
    store.end(ticket, 160)
    store.ahead = 60
    assert (store.is_over(ticket), store.redeem(ticket)) == (True, None)

    store.end(ticket, 161)

    assert (store.ends(ticket), store.ends(other)) == (161, None)
    assert store.redeem(ticket) == store.redeem(other) == FLIGHT


def test_a_ticket_that_was_revoked_can_be_given_out_again() -> None:
    """A read gets the flight that it is given out for the second time."""
    store = Store()
    ticket = store.ticket(FLIGHT, FLIGHT.batches)
    store.revoke(ticket)
    store.give_out(ticket, FLIGHT)

    assert store.redeem(ticket) is FLIGHT


def test_a_flight_without_its_last_column_keeps_the_rest() -> None:
    """Rows and their metadata included."""
    less = FLIGHT.without_last_column()

    assert less.schema.names == ["n"]
    assert [batch.metadata for batch in less.batches] == [b"m", None]
    assert less.rows == 4
