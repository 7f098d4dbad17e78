"""Mutants of locations."""

from __future__ import annotations

from collections.abc import Iterator

from conformance.protocols.flight.contract.encoding import part, text
from conformance.protocols.flight.reference.register import mutant, process_mutant
from conformance.protocols.flight.reference.service import FlightService, Messages
from conformance.protocols.flight.reference.store import Store

_REUSE = "arrow-flight-reuse-connection://?"


def _at(name: str, kills: str, what: str, *locations: str) -> None:
    mutant(name, kills=kills)(type(name, (FlightService,), {"__doc__": what, "locations": locations}))


_URI, _FORM, _WHERE = "flight-location.is-a-uri", "flight-location.reuse-has-one-form", "flight-location.says-where"

_at("flight-location.no-scheme", _URI, "A location is a host and a port.", "data.invalid:8815", _REUSE)
_at("flight-location.blanks", _URI, "A location ends with a line feed.", "grpc://data.invalid:1\n", _REUSE)
_at("flight-location.not-a-number", _URI, "A port is no number.", "grpc://data.invalid:http", _REUSE)
_at(
    "flight-location.reuse-without-query",
    _FORM,
    "The URI of the connection that there is lacks its question mark.",
    "arrow-flight-reuse-connection://",
    _REUSE,
)
_at(
    "flight-location.reuse-with-host",
    _FORM,
    "The URI of the connection that there is names a host.",
    "arrow-flight-reuse-connection://localhost?",
    _REUSE,
)
_at("flight-location.no-port", _WHERE, "A URI of gRPC has no port.", "grpc+tls://data.invalid", _REUSE)
_at("flight-location.no-host", _WHERE, "A URI of gRPC has no host.", "grpc+tcp://:8815", _REUSE)
_at("flight-location.no-path", _WHERE, "A URI of a socket has no path.", "grpc+unix://", _REUSE)
_at("flight-location.nowhere-on-the-web", _WHERE, "A URL has no host.", "https:///part", _REUSE)


_at(
    "flight-location.unspecified",
    "flight-location.host-is-specified",
    "A URI of gRPC has the address at which the server listens on every interface.",
    "grpc+tcp://[::]:8815",
    _REUSE,
)


@process_mutant("flight-location.one-is-dead", kills="flight-location.each-is-reached")
class OneIsDead(FlightService):
    """The second location of each endpoint is a port of this machine at which nobody listens."""

    locations = (_REUSE, "grpc://127.0.0.1:1")


@process_mutant("flight-location.dead", kills="flight-info.tickets-are-redeemed")
class DeadLocation(FlightService):
    """The one location of each endpoint is a port of this machine at which nobody listens."""

    locations = ("grpc://127.0.0.1:1",)


class _TwoPlaces(FlightService):
    """A service whose endpoints name the connection of their info, and the server's own address."""

    def __init__(self, store: Store | None = None) -> None:
        super().__init__(store)
        self._peers: dict[bytes, str] = {}

    def endpoint(self, ticket: bytes) -> bytes:
        self._peers[ticket] = self.peer
        places = ("arrow-flight-reuse-connection://?", self.here)
        return super().endpoint(ticket) + b"".join(part(2, text(1, uri)) for uri in places)

    def do_get(self, requests: Iterator[bytes]) -> Messages:
        request = self.the_one(requests)
        ticket = bytes(self.decode("Ticket", request).data("ticket"))
        found = super().do_get(iter([request]))
        return self.away(list(found)) if self._peers.get(ticket, self.peer) != self.peer else found

    def away(self, messages: list[bytes]) -> Messages:
        """The answer over another connection than that of the info."""
        return messages


@mutant("flight-location.other-place-lags", kills="flight-location.places-are-equivalent")
class OtherPlaceLags(_TwoPlaces):
    """The other place of an endpoint does not have the last batch yet."""

    def away(self, messages: list[bytes]) -> Messages:
        return messages[:-1]


@mutant("flight-location.other-place-is-empty", kills="flight-location.places-are-equivalent")
class OtherPlaceIsEmpty(_TwoPlaces):
    """The other place of an endpoint gives the schema alone."""

    def away(self, messages: list[bytes]) -> Messages:
        return messages[:1]
