"""Legal variations of what several clients and several DoPuts do; each names the text that permits it."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence

from grpc import StatusCode

from conformance.protocols.flight.contract.sources import FLIGHT_PAGE, FLIGHT_PROTO
from conformance.protocols.flight.reference.register import variation
from conformance.protocols.flight.reference.resident import is_resident
from conformance.protocols.flight.reference.service import FlightService, Messages
from conformance.protocols.flight.reference.store import Flight, Store


@variation("flight-history.appends", FLIGHT_PROTO)
class Appends(FlightService):
    """A further DoPut under a descriptor appends its rows."""

    def __init__(self, store: Store | None = None) -> None:
        super().__init__(store)
        self.one_at_a_time = threading.RLock()

    def keep(self, key: bytes, came: Sequence[bytes]) -> None:
        schema, batches = self.table_of(came)
        with self.one_at_a_time:
            before = self.store.get(key)
            self.store.put(Flight(key, schema, (*(before.batches if before is not None else ()), *batches)))


@variation("flight-history.single-stream", FLIGHT_PROTO)
class SingleStream(FlightService):
    """A descriptor takes one DoPut alone; a further one is refused."""

    def __init__(self, store: Store | None = None) -> None:
        super().__init__(store)
        self._one_at_a_time = threading.Lock()

    def keep(self, key: bytes, came: Sequence[bytes]) -> None:
        with self._one_at_a_time:
            if self.store.get(key) is not None:
                self.refuse(StatusCode.ALREADY_EXISTS, "there is a flight under this descriptor")
            super().keep(key, came)


@variation("flight-history.ticket-of-the-moment", FLIGHT_PROTO)
class TicketOfTheMoment(FlightService):
    """A ticket gives the flight as it is when the ticket is redeemed."""

    def stream(self, flight: Flight) -> Messages:
        return super().stream(self.store.get(flight.descriptor) or flight)


@variation("flight-history.put-voids-tickets", FLIGHT_PROTO)
class PutVoidsTickets(FlightService):
    """A further DoPut makes the tickets void that were given out for the flight before."""

    def keep(self, key: bytes, came: Sequence[bytes]) -> None:
        super().keep(key, came)
        for ticket, flight in list(self.store.tickets.items()):
            if flight.descriptor == key:
                self.store.revoke(ticket)
        self._queries.pop(key, None)


@variation("flight-history.flights-of-each-connection", FLIGHT_PAGE)
class FlightsOfEachConnection(FlightService):
    """Each client has flights of its own: what another one has put under the same descriptor is another flight."""

    def __init__(self, store: Store | None = None) -> None:
        super().__init__(store)
        self._own: dict[tuple[str, bytes], Flight] = {}

    def keep(self, key: bytes, came: Sequence[bytes]) -> None:
        super().keep(key, came)
        self._own[self.peer, key] = Flight(key, *self.table_of(came))

    def find(self, message: bytes) -> Flight:
        found = super().find(message)
        flight = found if is_resident(found) else self._own.get((self.peer, self.key_of(message)))
        if flight is None:
            self.refuse(StatusCode.NOT_FOUND, "this client has no flight of this descriptor")
        return flight


@variation("flight-history.session-of-the-user", FLIGHT_PROTO)
class SessionOfTheUser(FlightService):
    """All clients of a user have one session, and no cookie."""

    @property
    def session_id(self) -> str:
        return "user"

    def begin(self) -> dict[str, bytes]:
        return self._sessions.setdefault(self.session_id, {})


@variation("flight-history.cancel-ends-the-flight", FLIGHT_PROTO)
class CancelEndsTheFlight(FlightService):
    """A flight whose info was cancelled gives no rows until it is put again."""

    def __init__(self, store: Store | None = None) -> None:
        super().__init__(store)
        self._over: set[bytes] = set()

    def cancel(self, body: bytes) -> bytes:
        before = dict(self.store.tickets)
        result = super().cancel(body)
        gone = before.keys() - self.store.tickets.keys()
        self._over.update(before[ticket].descriptor for ticket in gone)
        return result

    def keep(self, key: bytes, came: Sequence[bytes]) -> None:
        super().keep(key, came)
        self._over.discard(key)

    def do_get(self, requests: Iterator[bytes]) -> Messages:
        request = self.the_one(requests)
        flight = self.store.redeem(bytes(self.decode("Ticket", request).data("ticket")))
        if flight is not None and flight.descriptor in self._over:
            self.refuse(StatusCode.NOT_FOUND, "the flight was cancelled")
        yield from super().do_get(iter([request]))
