"""Mutants of the flights that a server lists, and of readers that change something for others."""

from __future__ import annotations

import dataclasses
import threading
from collections.abc import Sequence

from grpc import StatusCode

from conformance.protocols.flight.contract.encoding import part
from conformance.protocols.flight.reference.register import mutant
from conformance.protocols.flight.reference.resident import is_resident
from conformance.protocols.flight.reference.service import FlightService
from conformance.protocols.flight.reference.store import Batch, Flight, Store


@mutant("flight-listed.name-of-its-own", kills="flight-listed.is-found")
class NameOfItsOwn(FlightService):
    """The flights of the server itself are not found under the descriptors of its list."""

    def find(self, message: bytes) -> Flight:
        found = super().find(message)
        if is_resident(found):
            self.refuse(StatusCode.NOT_FOUND, "no flight has this descriptor")
        return found


@mutant("flight-listed.no-endpoints", kills="flight-listed.records-have-endpoints")
class NoEndpoints(FlightService):
    """The info of a flight of the server itself counts its rows, and has no endpoint."""

    def endpoints(self, flight: Flight) -> Sequence[bytes]:
        return [] if is_resident(flight) else super().endpoints(flight)


@mutant("flight-listed.ticket-of-nothing", kills="flight-listed.tickets-are-redeemed")
class TicketOfNothing(FlightService):
    """The tickets of the server's own flights are those of nothing."""

    def endpoint(self, ticket: bytes) -> bytes:
        flight = self.store.redeem(ticket)
        if flight is None or not is_resident(flight):
            return super().endpoint(ticket)
        return part(1, part(1, ticket + b"?"))


class _OwnTickets(FlightService):
    """A service in which the ticket of a flight of its own is always the same."""

    def endpoints(self, flight: Flight) -> Sequence[bytes]:
        if not is_resident(flight):
            return super().endpoints(flight)
        self.store.give_out(flight.descriptor, flight)
        return [self.endpoint(flight.descriptor)]


@mutant("flight-listed.read-once", kills="flight-listed.is-read-again")
class ReadOnce(_OwnTickets):
    """A flight of the server itself is not read a second time, though its ticket is given out again."""

    def __init__(self, store: Store | None = None) -> None:
        super().__init__(store)
        self._read: set[bytes] = set()

    def redeemed(self, ticket: bytes) -> Flight | None:
        found = super().redeemed(ticket)
        if found is not None and is_resident(found):
            if ticket in self._read:
                self.refuse(StatusCode.INTERNAL, "the cursor is at its end")
            self._read.add(ticket)
        return found


@mutant("flight-listed.second-read-is-short", kills="flight-listed.reads-agree")
class SecondOfListedIsShort(_OwnTickets):
    """The second read of a flight of the server itself lacks a row."""

    def __init__(self, store: Store | None = None) -> None:
        super().__init__(store)
        self._lock = threading.Lock()
        self._reads: dict[bytes, int] = {}

    def redeemed(self, ticket: bytes) -> Flight | None:
        found = super().redeemed(ticket)
        if found is None or not is_resident(found) or not found.batches:
            return found
        with self._lock:
            self._reads[ticket] = number = self._reads.get(ticket, 0) + 1
        first, *rest = found.batches
        return self.changed(found, first, rest) if number == 2 else found

    def total_records(self, flight: Flight) -> int:
        return -1 if is_resident(flight) else super().total_records(flight)

    def changed(self, flight: Flight, first: Batch, rest: Sequence[Batch]) -> Flight:
        """What the second read gives."""
        return dataclasses.replace(flight, batches=(Batch(first.rows.slice(1)), *rest))


@mutant("flight-listed.second-read-is-reversed", kills="flight-listed.order-stays")
class SecondOfListedIsReversed(SecondOfListedIsShort):
    """The second read of a flight of the server itself has another order, though its info is ordered."""

    def after_info(self, flight: Flight) -> bytes:
        return super().after_info(flight) + (b"\x30\x01" if is_resident(flight) else b"")

    def changed(self, flight: Flight, first: Batch, rest: Sequence[Batch]) -> Flight:
        back = first.rows.take(list(reversed(range(first.rows.num_rows))))
        return dataclasses.replace(flight, batches=(Batch(back), *rest))
