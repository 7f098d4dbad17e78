"""FlightInfos: endpoints in order, their locations, and metadata of the application."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import pyarrow as pa

from conformance.protocols.flight.contract.decoding import meaning_of
from conformance.protocols.flight.contract.encoding import number, part
from conformance.protocols.flight.reference.scenarios.register import Commanded, numbers, scenario
from conformance.protocols.flight.reference.store import Flight

__all__ = ["CommandComesBack", "Ordered", "Reused"]

REUSE: Final = "arrow-flight-reuse-connection://?"


@scenario("ordered")
class Ordered(Commanded):
    """Three endpoints, whose data has an order."""

    def flight(self, command: bytes) -> Flight:
        """Three batches of three numbers."""
        del command
        return numbers(pa.int32(), [1, 2, 3], [10, 20, 30], [100, 200, 300])

    def endpoints(self, flight: Flight) -> Sequence[bytes]:
        """An endpoint for each batch."""
        return [self.endpoint(self.store.ticket(flight, [batch])) for batch in flight.batches]

    def after_info(self, flight: Flight) -> bytes:
        """The mark of order, for the command of that name."""
        return number(6, 1) if self.command(flight) == b"ordered" else b""

    def command(self, flight: Flight) -> bytes:
        """The command of a flight."""
        return meaning_of(self.decode("FlightDescriptor", flight.descriptor))[1]


@scenario("location:reuse_connection")
class Reused(Commanded):
    """The endpoint names the connection on which it came."""

    locations = (REUSE,)


@scenario("app_metadata_flight_info_endpoint")
class CommandComesBack(Ordered):
    """The command comes back as metadata of the info and of its endpoint."""

    def flight(self, command: bytes) -> Flight:
        """One batch without rows."""
        del command
        return numbers(pa.uint32(), [])

    def endpoints(self, flight: Flight) -> Sequence[bytes]:
        """One endpoint, with the command."""
        return [one + part(4, self.command(flight)) for one in super().endpoints(flight)]

    def after_info(self, flight: Flight) -> bytes:
        """The command."""
        return part(7, self.command(flight))
