"""Mutants of the passing of time: of renewals, and of what ends where something expires."""

from __future__ import annotations

import abc
from collections.abc import Sequence

from conformance.protocols.flight.contract.decoding import read_endpoint
from conformance.protocols.flight.reference.register import mutant
from conformance.protocols.flight.reference.service import FlightService
from conformance.protocols.flight.reference.store import Flight, Store
from conformance.wire.protobufmessages import ProtoMessage

_LASTS = "flight-history.renewed-lasts"
_OTHERS = "flight-history.expiry-leaves-others"
_RENEWED = {_LASTS: "an endpoint that was renewed is among those that end"}


def _ticket_in(body: bytes, request: ProtoMessage) -> bytes:
    """The ticket of the endpoint that is to be renewed."""
    asked = request.last("endpoint")
    endpoint = None if asked is None else read_endpoint(body[asked.value_start : asked.end])
    return b"" if endpoint is None else endpoint.ticket or b""


@mutant("flight-history.renewed-in-words", kills=_LASTS)
class RenewedInWords(FlightService):
    """A renewal answers a later time, but the endpoint still ends at the old one."""

    def prolonged(self, ticket: bytes) -> bytes:
        until = self.store.ends(ticket)
        renewed = super().prolonged(ticket)
        if until is not None:
            self.store.end(ticket, until)
        return renewed


@mutant("flight-history.renewal-shortens", kills=_LASTS)
class RenewalShortens(FlightService):
    """A second renewal answers a later time, and the endpoint ends a minute after it."""

    def prolonged(self, ticket: bytes) -> bytes:
        again = self.store.ends(ticket) is not None
        renewed = super().prolonged(ticket)
        if again:
            self.store.end(ticket, self.clock() + 60)
        return renewed


class _OfTwoEndpoints(FlightService):
    """A service whose flights have two endpoints with expiration times; the second one is without rows."""

    def endpoints(self, flight: Flight) -> Sequence[bytes]:
        return [self.prolonged(self.store.ticket(flight, part)) for part in (flight.batches, ())]


@mutant("flight-history.renews-the-last-endpoint", kills=_LASTS)
class RenewsTheLastEndpoint(_OfTwoEndpoints):
    """Renewing the first endpoint of a flight extends the time of the last one."""

    def __init__(self, store: Store | None = None) -> None:
        super().__init__(store)
        self._last: dict[bytes, bytes] = {}

    def endpoints(self, flight: Flight) -> Sequence[bytes]:
        made = super().endpoints(flight)
        first, last = (found.ticket or b"" for found in map(read_endpoint, made) if found is not None)
        self._last[first] = last
        return made

    def renew(self, body: bytes) -> bytes:
        ticket = _ticket_in(body, self.decode("RenewFlightEndpointRequest", body))
        until = self.store.ends(ticket)
        renewed = super().renew(body)
        if ticket in self._last and until is not None:
            self.prolonged(self._last[ticket])
            self.store.end(ticket, until)
        return renewed


class _Sweeping(FlightService, abc.ABC):
    """A service that looks for expired tickets at each read, and does something then."""

    def __init__(self, store: Store | None = None) -> None:
        super().__init__(store)
        self._swept: set[bytes] = set()

    def redeemed(self, ticket: bytes) -> Flight | None:
        for over in list(self.store.tickets):
            if self.store.is_over(over) and over not in self._swept:
                self._swept.add(over)
                self.sweep(over)
        return super().redeemed(ticket)

    @abc.abstractmethod
    def sweep(self, over: bytes) -> None:
        """A ticket has expired."""


@mutant("flight-history.expiry-is-for-all", kills=_OTHERS, also=_RENEWED)
class ExpiryIsForAll(_Sweeping):
    """When an endpoint has expired, all tickets are void that were given out by then."""

    def sweep(self, over: bytes) -> None:  # whichever it is
        for ticket in list(self.store.tickets):
            self.store.revoke(ticket)


@mutant("flight-history.expiry-ends-another-flight", kills=_OTHERS, also=_RENEWED)
class ExpiryEndsAnotherFlight(_Sweeping):
    """When an endpoint has expired, the tickets of the other flights are void, and it is read on."""

    def sweep(self, over: bytes) -> None:
        gone = self.store.tickets[over].descriptor
        self.store.end(over, float("inf"))
        for ticket, flight in list(self.store.tickets.items()):
            if flight.descriptor != gone:
                self.store.revoke(ticket)


@mutant(
    "flight-history.expired-is-empty",
    kills="flight-history.none-is-lost",
    also={
        "flight-data.read-again-is-the-same": "the ticket may have been redeemed before",
        "flight-history.keeps-its-rows": "so may those of another info",
        "flight-info.total-records": "its info counted the rows",
        "flight-put.nothing-is-lost": "one DoPut alone was made",
    },
)
class ExpiredIsEmpty(FlightService):
    """The ticket of an expired endpoint gives a stream without rows, in OK."""

    def redeemed(self, ticket: bytes) -> Flight | None:
        flight = self.store.tickets.get(ticket)
        over = flight is not None and self.store.is_over(ticket)
        return Flight(flight.descriptor, flight.schema, ()) if flight and over else super().redeemed(ticket)


@mutant("flight-history.cancelled-comes-back", kills="flight-history.cancelled-is-not-renewed")
class CancelledComesBack(FlightService):
    """Renewing an endpoint whose info was cancelled gives its ticket out again."""

    def __init__(self, store: Store | None = None) -> None:
        super().__init__(store)
        self._cancelled: dict[bytes, Flight] = {}

    def cancel(self, body: bytes) -> bytes:
        before = dict(self.store.tickets)
        result = super().cancel(body)
        self._cancelled.update((ticket, before[ticket]) for ticket in before.keys() - self.store.tickets.keys())
        return result

    def renew(self, body: bytes) -> bytes:
        ticket = _ticket_in(body, self.decode("RenewFlightEndpointRequest", body))
        flight = self._cancelled.pop(ticket, None)
        if flight is None:
            return super().renew(body)
        self.store.give_out(ticket, flight)
        return self.prolonged(ticket)
