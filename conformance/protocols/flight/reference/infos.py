"""Flights of the reference: ListFlights, the FlightInfo and the schema of a descriptor, and queries that are polled."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from grpc import StatusCode

from conformance.protocols.flight.contract.decoding import read_info
from conformance.protocols.flight.contract.encoding import descriptor, double, number, part, text
from conformance.protocols.flight.records import Descriptor
from conformance.protocols.flight.reference.base import FlightBase, Messages
from conformance.protocols.flight.reference.store import Flight, Store
from conformance.reference.ipc.options import WriterOptions
from conformance.reference.ipc.writer import stream_model

__all__ = ["LIFETIME", "POLLED", "Infos"]

LIFETIME: Final = 3600
"""Seconds that a renewed endpoint is valid for."""
POLLED: Final = b"poll:"
"""The beginning of the command that asks again about a query."""


class Infos(FlightBase):
    """ListFlights, GetFlightInfo, PollFlightInfo and GetSchema."""

    options = WriterOptions(end="close")
    """How data is written."""
    locations: tuple[str, ...] = ()
    """The URIs of each endpoint."""

    def __init__(self, store: Store | None = None) -> None:
        super().__init__(store)
        self._queries: dict[bytes, bytes] = {}

    def list_flights(self, requests: Iterator[bytes]) -> Messages:
        """Every flight; an expression selects those whose descriptor contains it."""
        wanted = bytes(self.decode("Criteria", self.the_one(requests)).data("expression"))
        for flight in self.store.every():
            if wanted in flight.descriptor:
                yield self.info(flight)

    def get_flight_info(self, requests: Iterator[bytes]) -> Messages:
        """The FlightInfo of a descriptor."""
        yield self.info(self.find(self.the_one(requests)))

    def poll_flight_info(self, requests: Iterator[bytes]) -> Messages:
        """The query runs when it is first asked about, and has ended when it is asked about again."""
        request = self.the_one(requests)
        command = bytes(self.decode("FlightDescriptor", request).data("cmd"))
        again = command.startswith(POLLED)
        flight = self.find(command.removeprefix(POLLED) if again else request)
        if self.is_void(flight):
            if again:
                self.forgotten(flight)
            else:
                del self._queries[flight.descriptor]
        yield self.poll(flight, ended=again)

    def is_void(self, flight: Flight) -> bool:
        """True if the query of a flight was cancelled: none of the tickets in its info is valid any more."""
        info = read_info(self._queries.get(flight.descriptor, b""))
        tickets = [] if info is None else [one.ticket for one in info.endpoints if one.ticket is not None]
        return bool(tickets) and not any(map(self.store.redeem, tickets))

    def forgotten(self, flight: Flight) -> None:  # noqa: ARG002  # mutants use it
        """What becomes of a call with the descriptor of a query that was cancelled."""
        self.refuse(StatusCode.NOT_FOUND, "the query was cancelled")

    def poll(self, flight: Flight, *, ended: bool) -> bytes:
        """The PollInfo of a query that runs or has ended."""
        info = part(1, self.polled_info(flight))
        if ended:
            return info + double(3, 1.0)
        later = descriptor(Descriptor(cmd=POLLED + flight.descriptor))
        return info + part(2, later) + double(3, 0.5) + part(4, self.expiry())

    def polled_info(self, flight: Flight) -> bytes:
        """The FlightInfo of a query: the same in each PollInfo."""
        return self._queries.setdefault(flight.descriptor, self.info(flight))

    def get_schema(self, requests: Iterator[bytes]) -> Messages:
        """The SchemaResult of a descriptor."""
        yield part(1, self.result_schema(self.find(self.the_one(requests))))

    def info(self, flight: Flight) -> bytes:
        """The FlightInfo of a flight."""
        return b"".join(
            (
                part(1, self.info_schema(flight)),
                self.echo(flight),
                *(part(3, endpoint) for endpoint in self.endpoints(flight)),
                number(4, self.total_records(flight)),
                number(5, self.total_bytes(flight)),
                self.after_info(flight),
            )
        )

    def schema_of(self, flight: Flight) -> bytes:
        """The schema as an encapsulated message."""
        return stream_model([], self.options, schema=flight.schema).messages[0].encode()

    def info_schema(self, flight: Flight) -> bytes:
        """The schema in a FlightInfo."""
        return self.schema_of(flight)

    def result_schema(self, flight: Flight) -> bytes:
        """The schema in a SchemaResult."""
        return self.schema_of(flight)

    def echo(self, flight: Flight) -> bytes:
        """The field of the descriptor."""
        return part(2, flight.descriptor)

    def total_records(self, flight: Flight) -> int:
        """The number of records, or -1."""
        return flight.rows

    def total_bytes(self, flight: Flight) -> int:  # noqa: ARG002  # mutants use it
        """The number of bytes, or -1."""
        return -1

    def after_info(self, flight: Flight) -> bytes:  # noqa: ARG002  # mutants use it
        """Further fields of the FlightInfo."""
        return b""

    def endpoints(self, flight: Flight) -> Sequence[bytes]:
        """The endpoints of a flight: one, with all of its batches."""
        return [self.endpoint(self.store.ticket(flight, flight.batches))]

    def endpoint(self, ticket: bytes) -> bytes:
        """A FlightEndpoint; without locations, its ticket is redeemed where it was given out."""
        return part(1, part(1, ticket)) + b"".join(part(2, text(1, uri)) for uri in self.locations)

    def expiry(self) -> bytes:
        """A Timestamp that lies ahead."""
        return number(1, int(self.clock()) + LIFETIME)
