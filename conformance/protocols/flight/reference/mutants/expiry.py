"""Mutants of expiration times, of reading again, and of renewing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from grpc import StatusCode

from conformance.protocols.flight.contract.encoding import number, part
from conformance.protocols.flight.reference.expiring import Expiring
from conformance.protocols.flight.reference.register import mutant
from conformance.protocols.flight.reference.service import FlightService, Messages
from conformance.protocols.flight.reference.store import Batch, Flight, Store

_IS_A_TIME = "flight-expiry.is-a-time"
_UNTIL = "flight-expiry.is-read-until-then"
_SAME = "flight-data.read-again-is-the-same"


@mutant("flight-expiry.in-milliseconds", kills=_IS_A_TIME)
class InMilliseconds(FlightService):
    """An expiration time is given in milliseconds."""

    def expiry(self) -> bytes:
        return number(1, int(self.clock() + 3600) * 1000)


@mutant("flight-expiry.nanoseconds-of-more", kills=_IS_A_TIME)
class NanosecondsOfMore(FlightService):
    """An expiration time has more nanoseconds than a second."""

    def expiry(self) -> bytes:
        return super().expiry() + number(2, 1_000_000_000)


@mutant("flight-expiry.below-zero", kills=_IS_A_TIME)
class BelowZero(FlightService):
    """An expiration time has nanoseconds below zero."""

    def expiry(self) -> bytes:
        return super().expiry() + number(2, -5)


@mutant("flight-expiry.over", kills="flight-expiry.is-not-over")
class Over(FlightService):
    """An expiration time is that of the year 1970."""

    def expiry(self) -> bytes:
        return number(1, 3600)


@mutant("flight-expiry.earlier", kills="flight-expiry.renewed-is-not-earlier")
class Earlier(FlightService):
    """An endpoint that is renewed again has less time than before."""

    def __init__(self, store: Store | None = None) -> None:
        super().__init__(store)
        self._given = iter(range(10_000, 0, -1))

    def expiry(self) -> bytes:
        return number(1, int(self.clock()) + 600 + next(self._given))


class _Counting(Expiring):
    """A service that counts the reads of each ticket."""

    def __init__(self, store: Store | None = None) -> None:
        super().__init__(store)
        self._reads: dict[bytes, int] = {}

    def do_get(self, requests: Iterator[bytes]) -> Messages:
        request = self.the_one(requests)
        self._reads[request] = self._reads.get(request, 0) + 1
        yield from self.nth_read(request, self._reads[request])

    def nth_read(self, request: bytes, times: int) -> Messages:
        """The answer to the read number ``times`` of a ticket."""
        return super().do_get(iter([request]))


@mutant("flight-expiry.read-once", kills=_UNTIL)
class ReadOnce(_Counting):
    """A ticket is redeemed once, whatever its expiration time says."""

    def nth_read(self, request: bytes, times: int) -> Messages:
        if times > 1:
            self.refuse(StatusCode.NOT_FOUND, "the ticket has been used")
        return super().nth_read(request, times)


@mutant("flight-expiry.renewed-is-void", kills=_UNTIL)
class RenewedIsVoid(FlightService):
    """A renewed endpoint has a ticket that nobody redeems."""

    def renew(self, body: bytes) -> bytes:
        super().renew(body)
        return self.endpoint(b"renewed") + part(3, self.expiry())


@mutant("flight-expiry.renewing-ends-it", kills=_UNTIL)
class RenewingEndsIt(FlightService):
    """Renewing an endpoint revokes its ticket, and gives it out again."""

    def renew(self, body: bytes) -> bytes:
        renewed = super().renew(body)
        for ticket in list(self.store.tickets):
            self.store.revoke(ticket)
        return renewed


@mutant("flight-expiry.second-read-is-short", kills=_SAME)
class SecondReadIsShort(_Counting):
    """The second read of a ticket lacks the last batch."""

    def nth_read(self, request: bytes, times: int) -> Messages:
        found = list(super().nth_read(request, times))
        return found[:-1] if times > 1 else found


@mutant("flight-expiry.second-read-is-empty", kills=_SAME)
class SecondReadIsEmpty(_Counting):
    """The second read of a ticket gives the schema alone, as if the flight had no rows."""

    def nth_read(self, request: bytes, times: int) -> Messages:
        found = list(super().nth_read(request, times))
        return found[:1] if times > 1 else found


@mutant("flight-actions.cancelled-is-empty", kills=_SAME)
class CancelledIsEmpty(FlightService):
    """The ticket of a cancelled info gives an empty stream."""

    def __init__(self, store: Store | None = None) -> None:
        super().__init__(store)
        self._void: dict[bytes, Flight] = {}

    def cancel(self, body: bytes) -> bytes:
        before = dict(self.store.tickets)
        result = super().cancel(body)
        self._void.update((ticket, before[ticket]) for ticket in before.keys() - self.store.tickets.keys())
        return result

    def do_get(self, requests: Iterator[bytes]) -> Messages:
        request = self.the_one(requests)
        flight = self._void.get(bytes(self.decode("Ticket", request).data("ticket")))
        if flight is not None:
            return self.stream(Flight(flight.descriptor, flight.schema, ()))
        return super().do_get(iter([request]))


@mutant("flight-expiry.renewed-is-short", kills="flight-expiry.renewed-is-the-same-data")
class RenewedIsShort(FlightService):
    """A renewed endpoint has another ticket, which gives the first batch alone."""

    def renew(self, body: bytes) -> bytes:
        super().renew(body)
        asked = self.decode("RenewFlightEndpointRequest", body).message("endpoint")
        ticket = None if asked is None else asked.message("ticket")
        flight = self.store.tickets[b"" if ticket is None else bytes(ticket.data("ticket"))]
        return self.endpoint(self.store.ticket(flight, self.kept(flight))) + part(3, self.expiry())

    def kept(self, flight: Flight) -> Sequence[Batch]:
        """The batches behind the new ticket."""
        return flight.batches[:1]


@mutant("flight-expiry.renewed-is-empty", kills="flight-expiry.renewed-is-the-same-data")
class RenewedIsEmpty(RenewedIsShort):
    """A renewed endpoint has another ticket, which gives no rows."""

    def kept(self, flight: Flight) -> Sequence[Batch]:
        return ()


@mutant("flight-data.second-read-in-another-order", kills="flight-data.order-stays")
class SecondReadInAnotherOrder(_Counting):
    """An info says that its endpoints are in order, and the second read of a ticket has the batches in another one."""

    def after_info(self, flight: Flight) -> bytes:
        return super().after_info(flight) + number(6, 1)

    def nth_read(self, request: bytes, times: int) -> Messages:
        schema, *batches = super().nth_read(request, times)
        return [schema, *(batches[::-1] if times > 1 else batches)]
