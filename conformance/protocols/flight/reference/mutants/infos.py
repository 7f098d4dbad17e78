"""Mutants of FlightInfo: schemas, totals, descriptors, tickets."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from conformance.protocols.flight.contract.encoding import descriptor, part
from conformance.protocols.flight.records import Descriptor
from conformance.protocols.flight.reference.register import mutant
from conformance.protocols.flight.reference.service import FlightService
from conformance.protocols.flight.reference.store import Flight
from conformance.reference.message import END_OF_STREAM


@mutant("flight-info.schema-bare", kills="flight-info.schema-is-a-message")
class SchemaBare(FlightService):
    """The schema of an info has no prefix: it is the Message alone."""

    def info_schema(self, flight: Flight) -> bytes:
        return super().info_schema(flight)[8:]


@mutant("flight-info.schema-cut", kills="flight-info.schema-is-a-message")
class SchemaCut(FlightService):
    """The schema of an info ends too early."""

    def info_schema(self, flight: Flight) -> bytes:
        return super().info_schema(flight)[:-16]


@mutant("flight-info.schema-result-of-a-batch", kills="flight-info.schema-is-a-message")
class SchemaResultOfABatch(FlightService):
    """GetSchema answers with an end-of-stream marker in the place of the schema."""

    def result_schema(self, flight: Flight) -> bytes:
        return END_OF_STREAM


@mutant("flight-info.schema-with-marker", kills="flight-info.schema-ends")
class SchemaWithMarker(FlightService):
    """An end-of-stream marker follows the schema of an info."""

    def info_schema(self, flight: Flight) -> bytes:
        return super().info_schema(flight) + END_OF_STREAM


@mutant(
    "flight-info.schema-of-less",
    kills="flight-info.schema-is-that-of-the-stream",
    also={"flight-info.get-schema-agrees": "GetSchema names all columns"},
)
class SchemaOfLess(FlightService):
    """The schema of an info lacks the last column."""

    def info_schema(self, flight: Flight) -> bytes:
        return super().info_schema(flight.without_last_column())


@mutant("flight-info.schema-result-of-less", kills="flight-info.get-schema-agrees")
class SchemaResultOfLess(FlightService):
    """GetSchema lacks the last column."""

    def result_schema(self, flight: Flight) -> bytes:
        return super().result_schema(flight.without_last_column())


@mutant("flight-info.all-nullable", kills="flight-info.nullable-as-in-the-stream")
class InfoAllNullable(FlightService):
    """The schema of an info says that every column is nullable; the streams say that some are not."""

    def info_schema(self, flight: Flight) -> bytes:
        fields = [field.with_nullable(nullable=True) for field in flight.schema]
        return super().info_schema(Flight(b"", pa.schema(fields), ()))


@mutant(
    "flight-info.all-required",
    kills="flight-info.required-has-no-nulls",
    also={
        "flight-info.nullable-as-in-the-stream": "columns that the streams call nullable are not nullable in the info"
    },
)
class AllRequired(FlightService):
    """The schema of an info says that no column is nullable; some have NULLs."""

    def info_schema(self, flight: Flight) -> bytes:
        fields = [field.with_nullable(nullable=False) for field in flight.schema]
        return super().info_schema(Flight(b"", pa.schema(fields), ()))


@mutant("flight-info.one-record-more", kills="flight-info.total-records")
class OneRecordMore(FlightService):
    """An info states one record more than there is."""

    def total_records(self, flight: Flight) -> int:
        return super().total_records(flight) + 1


@mutant("flight-info.no-records", kills="flight-info.total-records")
class NoRecords(FlightService):
    """An info leaves the number of records at 0, which is not "unknown"."""

    def total_records(self, flight: Flight) -> int:
        return 0


@mutant("flight-info.bytes-below", kills="flight-info.totals-from-minus-one")
class BytesBelow(FlightService):
    """An info states -2 bytes."""

    def total_bytes(self, flight: Flight) -> int:
        return -2


@mutant(
    "flight-info.another-descriptor",
    kills="flight-info.descriptor-is-the-one-asked-for",
    also={"flight-listed.is-found": "the list names that descriptor as well"},
)
class AnotherDescriptor(FlightService):
    """An info names the descriptor of another flight."""

    def echo(self, flight: Flight) -> bytes:
        return part(2, descriptor(Descriptor(path=("another",))))


@mutant(
    "flight-info.ticket-void",
    kills="flight-info.tickets-are-redeemed",
    also={
        "flight-poll.descriptor-is-known-until-then": "the reference takes a query with void tickets for cancelled",
        "flight-listed.tickets-are-redeemed": "so are the tickets of the server's own flights",
    },
)
class TicketVoid(FlightService):
    """The ticket of an info is not the one that is redeemed."""

    def endpoint(self, ticket: bytes) -> bytes:
        return super().endpoint(ticket + b"x")


@mutant(
    "flight-info.second-ticket-void",
    kills="flight-info.tickets-are-redeemed",
    also={"flight-listed.tickets-are-redeemed": "so are those of the server's own flights"},
)
class SecondTicketVoid(FlightService):
    """An info has a second endpoint, whose ticket nobody redeems."""

    def endpoints(self, flight: Flight) -> Sequence[bytes]:
        return [*super().endpoints(flight), self.endpoint(b"void")]


@mutant("flight-info.no-ticket", kills="flight-info.endpoints-have-tickets")
class NoTicket(FlightService):
    """An endpoint has no ticket."""

    def endpoint(self, ticket: bytes) -> bytes:
        return b""
