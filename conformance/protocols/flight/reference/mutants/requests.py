"""Mutants that read requests by other rules than those of protobuf, and that are harmed by what a client does."""

from __future__ import annotations

import threading
from collections.abc import Iterator

from grpc import StatusCode

from conformance.protocols.flight.contract.decoding import meaning_of
from conformance.protocols.flight.contract.encoding import descriptor
from conformance.protocols.flight.records import Descriptor
from conformance.protocols.flight.reference.register import mutant, process_mutant
from conformance.protocols.flight.reference.service import FlightService, Messages
from conformance.protocols.flight.reference.store import Batch, Flight, Store
from conformance.wire.protobufmessages import ProtoMessage

_FOUND = "flight-put.is-found"
_REDEEMED = "flight-info.tickets-are-redeemed"


@mutant("flight-service.by-the-bytes", kills=_FOUND)
class ByTheBytes(FlightService):
    """A flight is found by the bytes of its descriptor, and not by what they say."""

    def find(self, message: bytes) -> Flight:
        flight = super().find(message)
        _, command, path = meaning_of(self.decode("FlightDescriptor", message))
        if message != descriptor(Descriptor(path=path) if path else Descriptor(cmd=command)):
            self.refuse(StatusCode.NOT_FOUND, "no flight has this descriptor")
        return flight


@mutant("flight-service.unknown-fields-are-refused", kills=_FOUND)
class UnknownFieldsAreRefused(FlightService):
    """A descriptor with a field that the server does not know is refused."""

    def find(self, message: bytes) -> Flight:
        if any(field.spec is None for field in self.decode("FlightDescriptor", message).fields):
            self.refuse(StatusCode.INVALID_ARGUMENT, "the descriptor has an unknown field")
        return super().find(message)


@mutant("flight-service.first-value-counts", kills=_FOUND)
class FirstValueCounts(FlightService):
    """Of a type that comes twice the first value counts."""

    def find(self, message: bytes) -> Flight:
        first = self.decode("FlightDescriptor", message).all("type")[:1]
        if first and first[0].value == 0:
            self.refuse(StatusCode.INVALID_ARGUMENT, "the descriptor is of no type")
        return super().find(message)


@mutant("flight-service.last-half-counts", kills=_FOUND)
class LastHalfCounts(FlightService):
    """Of a descriptor that comes in two parts the last one counts."""

    def named(self, message: ProtoMessage) -> ProtoMessage | None:
        return next(reversed(message.messages("flight_descriptor")), None)


@mutant("flight-service.ticket-by-its-bytes", kills=_REDEEMED)
class TicketByItsBytes(FlightService):
    """A Ticket with another field than its one is refused."""

    def do_get(self, requests: Iterator[bytes]) -> Messages:
        request = self.the_one(requests)
        if len(self.decode("Ticket", request).fields) != 1 and request:
            self.refuse(StatusCode.INVALID_ARGUMENT, "the ticket has several fields")
        return super().do_get(iter([request]))


@mutant("flight-service.first-ticket-counts", kills=_REDEEMED)
class FirstTicketCounts(FlightService):
    """Of a ticket that comes twice the first one is redeemed."""

    def do_get(self, requests: Iterator[bytes]) -> Messages:
        request = self.the_one(requests)
        first = self.decode("Ticket", request).all("ticket")[:1]
        return super().do_get(iter([request[first[0].start : first[0].end] if first else request]))


@mutant(
    "flight-service.header-comes-first",
    kills="flight-put.nothing-is-lost",
    also={"flight-put.damaged-is-whole-or-refused": "a body without a header is such a message, if it is the last"},
)
class HeaderComesFirst(FlightService):
    """The rows of a message whose body comes before its header are passed over."""

    def table_of(self, came: list[bytes]) -> tuple[object, tuple[Batch, ...]]:  # type: ignore[override]  # one type
        schema, batches = super().table_of(came)
        first = self.decode("FlightData", came[-1]).fields[:1]
        return schema, batches[:1] if first and first[0].name == "data_body" else batches


@process_mutant(
    "flight-service.read-in-part-hangs",
    kills="calls.end-in-time",
    also={"flight-service.later-calls-end": "the next read is a call after one that was given up"},
)
class ReadInPartHangs(FlightService):
    """A stream that its client leaves holds a lock, which the next read waits for."""

    def __init__(self, store: Store | None = None) -> None:
        super().__init__(store)
        self._reading = threading.Semaphore(1)

    def do_get(self, requests: Iterator[bytes]) -> Messages:
        self._reading.acquire(timeout=10)
        yield from super().do_get(requests)
        self._reading.release()


@mutant("flight-put.read-in-part-is-used-up", kills="flight-put.nothing-is-lost")
class ReadInPartIsUsedUp(FlightService):
    """A batch that was sent is not sent again, whoever asks."""

    def stream(self, flight: Flight) -> Messages:
        found = iter(super().stream(flight))
        yield next(found)
        for message in found:
            stored = self.store.get(flight.descriptor)
            if stored is not None and len(stored.batches) > 1:
                self.store.put(Flight(stored.descriptor, stored.schema, stored.batches[1:]))
            yield message
