"""A service whose endpoints have an expiration time, for variations and mutants of that time."""

from __future__ import annotations

from conformance.protocols.flight.contract.encoding import part
from conformance.protocols.flight.reference.service import FlightService

__all__ = ["Expiring"]


class Expiring(FlightService):
    """A service whose endpoints have an expiration time."""

    def endpoint(self, ticket: bytes) -> bytes:
        """The FlightEndpoint of the service, with an expiration time."""
        return super().endpoint(ticket) + part(3, self.expiry())
