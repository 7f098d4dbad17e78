"""Legal variations of what becomes of endpoints, flights and sessions when time passes; each names its text."""

from __future__ import annotations

import abc
from collections.abc import Callable, Mapping, Sequence
from typing import Self

from grpc import StatusCode

from conformance.protocols.flight.contract.decoding import read_endpoint
from conformance.protocols.flight.contract.encoding import number, part
from conformance.protocols.flight.contract.sources import FLIGHT_PAGE, FLIGHT_PROTO
from conformance.protocols.flight.reference.register import variation
from conformance.protocols.flight.reference.service import RENEW, FlightService
from conformance.protocols.flight.reference.store import Flight, Store


class _Lapsing(FlightService):
    """A service whose endpoints have an expiration time from the beginning, and end then."""

    def endpoints(self, flight: Flight) -> Sequence[bytes]:
        return [self.prolonged(self.store.ticket(flight, flight.batches))]


@variation("flight-history.endpoints-expire", FLIGHT_PAGE)
class EndpointsExpire(_Lapsing):
    """Each endpoint has an expiration time in its info; after it, the ticket is NOT_FOUND and is not renewed."""


@variation("flight-history.served-after-its-time", FLIGHT_PAGE)
class ServedAfterItsTime(FlightService):
    """A ticket is redeemed after its expiration time, too; it is not renewed then."""

    def redeemed(self, ticket: bytes) -> Flight | None:
        return self.store.tickets.get(ticket)


@variation("flight-history.renewed-after-its-time", FLIGHT_PAGE)
class RenewedAfterItsTime(_Lapsing):
    """An endpoint that has expired can be renewed, and is read again then."""

    def renew(self, body: bytes) -> bytes:
        asked = self.decode("RenewFlightEndpointRequest", body).last("endpoint")
        endpoint = None if asked is None else read_endpoint(body[asked.value_start : asked.end])
        if endpoint is not None and self.store.is_over(endpoint.ticket or b""):
            return self.prolonged(endpoint.ticket or b"")
        return super().renew(body)


@variation("flight-history.renews-nothing", FLIGHT_PAGE)
class RenewsNothing(_Lapsing):
    """Endpoints expire, and there is no action that renews them."""

    @property
    def actions(self) -> Mapping[str, tuple[str, Callable[[bytes], bytes]]]:
        return {name: one for name, one in super().actions.items() if name != RENEW}


@variation("flight-history.renewed-for-the-same-time", FLIGHT_PAGE)
class RenewedForTheSameTime(FlightService):
    """An endpoint that has an expiration time keeps it when it is renewed."""

    def prolonged(self, ticket: bytes) -> bytes:
        until = self.store.ends(ticket)
        if until is None:
            return super().prolonged(ticket)
        return self.endpoint(ticket) + part(3, number(1, int(until)))


@variation("flight-history.flight-ends-with-its-endpoint", FLIGHT_PROTO)
class FlightEndsWithItsEndpoint(_Lapsing):
    """A flight is gone when one of its endpoints has expired, until it is put again."""

    def find(self, message: bytes) -> Flight:
        flight = super().find(message)
        ended = (
            self.store.is_over(ticket) for ticket, one in self.store.tickets.items() if one.schema is flight.schema
        )
        if any(ended):
            self.refuse(StatusCode.NOT_FOUND, "the flight of this descriptor has expired")
        return flight


class _Forgetful(FlightService, abc.ABC):
    """A service that forgets something after half an hour."""

    def __init__(self, store: Store | None = None) -> None:
        super().__init__(store)
        self._since = [self.clock()]

    def for_call(self, method: str, headers: Mapping[str, bytes], peer: str = "") -> Self:
        if self.clock() >= self._since[0] + 1750:
            self._since[0] = self.clock()
            self.forget_all()
        return super().for_call(method, headers, peer)

    @abc.abstractmethod
    def forget_all(self) -> None:
        """Half an hour has passed."""


@variation("flight-history.forgets-sessions-and-tickets", FLIGHT_PROTO)
class ForgetsSessionsAndTickets(_Forgetful):
    """Sessions, and tickets without an expiration time, end after half an hour."""

    def forget_all(self) -> None:
        self._sessions.clear()
        for ticket in list(self.store.tickets):
            if self.store.ends(ticket) is None:
                self.store.revoke(ticket)


@variation("flight-history.forgets-logins", FLIGHT_PAGE)
class ForgetsLogins(_Forgetful):
    """A login ends after half an hour."""

    def forget_all(self) -> None:
        self._tokens.clear()
