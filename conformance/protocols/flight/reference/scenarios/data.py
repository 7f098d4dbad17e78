"""Tables that are stored and read back, in both directions."""

from __future__ import annotations

from conformance.protocols.flight.contract.encoding import part, text
from conformance.protocols.flight.reference.scenarios.register import scenario
from conformance.protocols.flight.reference.service import FlightService

__all__ = ["Echo", "PlainTables"]


@scenario("")
class PlainTables(FlightService):
    """DoPut stores a table; its endpoint names the address of this server."""

    def endpoint(self, ticket: bytes) -> bytes:
        """An endpoint with one location."""
        return super().endpoint(ticket) + part(2, text(1, self.here))


@scenario("do_exchange:echo")
class Echo(FlightService):
    """DoExchange sends each batch back at once, with its metadata."""
