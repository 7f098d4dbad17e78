"""Legal variations of a server's own flights: their data changes, they end, and not everybody may read them."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterator

import pyarrow as pa
from grpc import StatusCode

from conformance.protocols.flight.contract.encoding import number, part
from conformance.protocols.flight.contract.sources import FLIGHT_PAGE, FLIGHT_PROTO
from conformance.protocols.flight.reference.register import variation
from conformance.protocols.flight.reference.resident import is_resident
from conformance.protocols.flight.reference.service import FlightService, Messages
from conformance.protocols.flight.reference.store import Batch, Flight, Store
from conformance.reference.ipc.writer import stream_model


@variation("flight-listed.grows", FLIGHT_PROTO)
class Grows(FlightService):
    """Each read of a flight of the server itself has a row more than the one before it."""

    def __init__(self, store: Store | None = None) -> None:
        super().__init__(store)
        self._reads = itertools.count(1)

    def total_records(self, flight: Flight) -> int:
        return -1 if is_resident(flight) else super().total_records(flight)

    def redeemed(self, ticket: bytes) -> Flight | None:
        found = super().redeemed(ticket)
        if found is None or not is_resident(found):
            return found
        rows = [{"row_id": 1000 + one, "word": None} for one in range(next(self._reads))]
        later = Batch(pa.RecordBatch.from_pylist(rows, schema=found.schema))
        return dataclasses.replace(found, batches=(*found.batches, later))


@variation("flight-listed.does-not-last", FLIGHT_PROTO)
class DoesNotLast(FlightService):
    """A flight of the server itself is listed once, and is over then."""

    def __init__(self, store: Store | None = None) -> None:
        super().__init__(store)
        self._over: set[bytes] = set()

    def list_flights(self, requests: Iterator[bytes]) -> Messages:
        self.decode("Criteria", self.the_one(requests))
        every = [flight for flight in self.store.every() if flight.descriptor not in self._over]
        self._over.update(flight.descriptor for flight in every if is_resident(flight))
        return [self.info(flight) for flight in every]

    def find(self, message: bytes) -> Flight:
        found = super().find(message)
        if found.descriptor in self._over:
            self.refuse(StatusCode.NOT_FOUND, "the flight is over")
        return found

    def redeemed(self, ticket: bytes) -> Flight | None:
        found = super().redeemed(ticket)
        return None if found is not None and found.descriptor in self._over else found


@variation("flight-listed.for-others", FLIGHT_PAGE)
class ForOthers(FlightService):
    """The flights of the server itself are listed for everybody, and read by nobody of the suite."""

    def redeemed(self, ticket: bytes) -> Flight | None:
        found = super().redeemed(ticket)
        if found is not None and is_resident(found):
            self.refuse(StatusCode.PERMISSION_DENIED, "this flight is not for you")
        return found


@variation("flight-listed.names-alone", FLIGHT_PROTO)
class NamesAlone(FlightService):
    """The list has descriptors alone: no schema, no totals, and tickets that the flight is read by."""

    def list_flights(self, requests: Iterator[bytes]) -> Messages:
        self.decode("Criteria", self.the_one(requests))
        nothing = stream_model([], self.options, schema=pa.schema([])).messages[0].encode()
        for flight in self.store.every():
            endpoints = (part(3, one) for one in self.endpoints(flight))
            yield part(1, nothing) + self.echo(flight) + b"".join(endpoints) + number(4, -1) + number(5, -1)


@variation("flight-listed.has-no-end", FLIGHT_PAGE)
class HasNoEnd(FlightService):
    """A flight of the server itself goes on for ever."""

    def stream(self, flight: Flight) -> Messages:
        schema, *rest = super().stream(flight)
        yield schema
        while rest:
            yield from rest
            if not is_resident(flight):
                return
