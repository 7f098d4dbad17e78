"""The reference service of Arrow Flight: one small overridable method per step, in bytes.

A mutant is a subclass that replaces one method in a few lines. This module decides behaviour; transport is
:mod:`conformance.reference.flight.server`'s. What is stored by DoPut comes back under the same descriptor; DoExchange
sends back what it gets.

Sources: https://github.com/apache/arrow/blob/main/format/Flight.proto and
https://arrow.apache.org/docs/format/Flight.html.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final, NoReturn

import pyarrow as pa
from grpc import StatusCode

from conformance.contract.flight.decoding import meaning_of, message_of, read_data, read_endpoint, read_info
from conformance.contract.flight.encoding import data, descriptor, double, number, part, text
from conformance.records import Descriptor
from conformance.reference.flatbuffers import write
from conformance.reference.flight.store import Batch, Flight, Store
from conformance.reference.ipc.options import WriterOptions
from conformance.reference.ipc.writer import stream_model
from conformance.reference.message import Message
from conformance.reference.refusals import Refusal
from conformance.wire import DecodingError, Header
from conformance.wire.flightdata import read_flight
from conformance.wire.protobufmessages import ProtoMessage

__all__ = ["CANCEL", "RENEW", "FlightService", "Messages"]

CANCEL: Final = "CancelFlightInfo"
RENEW: Final = "RenewFlightEndpoint"
_CANCELLED: Final = 1
_RECORD_BATCH: Final = 3
LIFETIME: Final = 3600
"""Seconds that a renewed endpoint is valid for."""
POLLED: Final = b"poll:"
"""The beginning of the command that asks again about a query."""

Messages = Iterable[bytes]


class FlightService:
    """An Arrow Flight service over a store. Each public method takes the request messages and gives the answers.

    Raises:
        Refusal: from every public method, where the call ends in a status other than OK.
    """

    options = WriterOptions(end="close")
    """How data is written."""
    locations: tuple[str, ...] = ()
    """The URIs of each endpoint."""

    def __init__(self, store: Store | None = None) -> None:
        self.store = store or Store()
        self._queries: dict[bytes, bytes] = {}

    @property
    def methods(self) -> Mapping[str, Callable[[Iterator[bytes]], Messages]]:
        """The methods by their names; a method that is missing is UNIMPLEMENTED."""
        return {
            "Handshake": self.handshake,
            "ListFlights": self.list_flights,
            "GetFlightInfo": self.get_flight_info,
            "PollFlightInfo": self.poll_flight_info,
            "GetSchema": self.get_schema,
            "DoGet": self.do_get,
            "DoPut": self.do_put,
            "DoExchange": self.do_exchange,
            "DoAction": self.do_action,
            "ListActions": self.list_actions,
        }

    def refuse(self, code: StatusCode, details: str) -> NoReturn:
        """End the call with this status."""
        raise Refusal(code, details)

    # --- requests -----------------------------------------------------------------------------------

    def decode(self, kind: str, message: bytes) -> ProtoMessage:
        """A request as a message of that kind; bytes that break the encoding are refused."""
        found = message_of(kind, message)
        if found is None:
            self.refuse(StatusCode.INVALID_ARGUMENT, f"the request is no {kind}")
        return found

    def the_one(self, requests: Iterator[bytes]) -> bytes:
        """The request of a method that takes one."""
        return next(requests, b"")

    def find(self, message: bytes) -> Flight:
        """The flight that a FlightDescriptor names."""
        if not self.decode("FlightDescriptor", message).fields:
            self.refuse(StatusCode.INVALID_ARGUMENT, "the descriptor is empty")
        flight = self.store.get(self.key_of(message))
        if flight is None:
            self.refuse(StatusCode.NOT_FOUND, "no flight has this descriptor")
        return flight

    def key_of(self, message: bytes) -> bytes:
        """The bytes of a descriptor, whatever the order of its fields."""
        _, command, path = meaning_of(self.decode("FlightDescriptor", message))
        return descriptor(Descriptor(path=path) if path else Descriptor(cmd=command or b"\x00"))

    # --- flights ------------------------------------------------------------------------------------

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
        yield self.poll(flight, ended=again)

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
        return number(1, int(time.time()) + LIFETIME)

    # --- data ---------------------------------------------------------------------------------------

    def do_get(self, requests: Iterator[bytes]) -> Messages:
        """The data of a ticket."""
        ticket = bytes(self.decode("Ticket", self.the_one(requests)).data("ticket"))
        flight = self.store.redeem(ticket)
        if flight is None:
            self.refuse(StatusCode.NOT_FOUND, "no such ticket was given out")
        yield from self.stream(flight)

    def stream(self, flight: Flight) -> Messages:
        """The FlightData of a flight: the schema, and the messages of each batch."""
        model = stream_model([batch.rows for batch in flight.batches], self.options, schema=flight.schema)
        left = iter(flight.batches)
        for place, message in enumerate(model.messages):
            assert isinstance(message, Message), "the reference writes models"
            header, body = self.encode(message)
            rows = message.tree["header_type"] == _RECORD_BATCH
            yield self.flight_data(place, header, body, next(left).metadata if rows else None)

    def encode(self, message: Message) -> tuple[bytes, bytes]:
        """The metadata of a message without its prefix, and its body."""
        tree, body = message.complete()
        return write("Message", tree, layout=message.layout), body

    def flight_data(self, place: int, header: bytes, body: bytes, metadata: bytes | None) -> bytes:  # noqa: ARG002
        """The message number ``place`` of a stream."""
        return data(header, body, metadata=metadata)

    def do_put(self, requests: Iterator[bytes]) -> Messages:
        """Store a table under the descriptor of the first message; each batch is answered when it has come."""
        came: list[bytes] = []
        for request in requests:
            message = self.decode("FlightData", request)
            came.append(request)
            if message.has("data_body") or message.has("app_metadata"):
                yield from self.acknowledge(message)
        named = message_of("FlightData", came[0]) if came else None
        place = None if named is None else named.last("flight_descriptor")
        if place is None:
            self.refuse(StatusCode.INVALID_ARGUMENT, "the first message has no descriptor")
        self.keep(self.key_of(came[0][place.value_start : place.end]), came)

    def acknowledge(self, message: ProtoMessage) -> Messages:
        """The PutResult of a message with rows or metadata."""
        yield part(1, bytes(message.data("app_metadata"))) if message.has("app_metadata") else b""

    def keep(self, key: bytes, came: Sequence[bytes]) -> None:
        """Store the rows of a DoPut."""
        schema, batches = self.table_of(came)
        self.store.put(Flight(key, schema, batches))

    def table_of(self, came: Sequence[bytes]) -> tuple[pa.Schema, tuple[Batch, ...]]:
        """The batches in the messages; what is no Arrow stream is refused."""
        reading = read_flight(came)
        content = reading.content
        if content.violations or content.schema is None:
            said = str(content.violations[0]) if content.violations else "there is no schema"
            self.refuse(StatusCode.INVALID_ARGUMENT, f"the data is no Arrow stream: {said}")
        try:
            schema, batches = content.to_arrow().schema, content.to_batches()
        except DecodingError as error:
            self.refuse(StatusCode.UNIMPLEMENTED, f"the data cannot be stored: {error}")
        stream = reading.stream
        framed = zip((stream.parts[at].reading.message for at in stream.filled), content.messages, strict=True)
        metadata = [
            bytes(message.data("app_metadata")) if message.has("app_metadata") else None
            for message, found in framed
            if found.header is Header.RECORD_BATCH
        ]
        return schema, tuple(Batch(rows, held) for rows, held in zip(batches, metadata, strict=True))

    def do_exchange(self, requests: Iterator[bytes]) -> Messages:
        """Send back each message as it comes, without the descriptor."""
        for request in requests:
            message = read_data(request)
            if message is None:
                self.refuse(StatusCode.INVALID_ARGUMENT, "a message is no FlightData")
            if message.header or message.metadata is not None:
                yield data(message.header or b"", message.body or b"", metadata=message.metadata)

    # --- actions and handshake ----------------------------------------------------------------------

    def handshake(self, requests: Iterator[bytes]) -> Messages:
        """Answer each payload with itself: everybody may use this server."""
        for request in requests:
            yield part(2, bytes(self.decode("HandshakeRequest", request).data("payload")))

    def list_actions(self, requests: Iterator[bytes]) -> Messages:
        """The actions that are served."""
        self.decode("Empty", self.the_one(requests))
        yield text(1, CANCEL) + text(2, "Cancel a FlightInfo: its tickets are void.")
        yield text(1, RENEW) + text(2, "Renew an endpoint: its ticket is valid for longer.")

    def do_action(self, requests: Iterator[bytes]) -> Messages:
        """Cancel an info or renew an endpoint."""
        asked = self.decode("Action", self.the_one(requests))
        body = bytes(asked.data("body"))
        match asked.text("type"):
            case "CancelFlightInfo":
                yield part(1, self.cancel(body))
            case "RenewFlightEndpoint":
                yield part(1, self.renew(body))
            case _:
                self.refuse(StatusCode.NOT_FOUND, "no such action; ListActions names those that there are")

    def cancel(self, body: bytes) -> bytes:
        """The CancelFlightInfoResult; an info whose tickets nobody gave out is NOT_FOUND."""
        asked = self.decode("CancelFlightInfoRequest", body).last("info")
        info = None if asked is None else read_info(body[asked.value_start : asked.end])
        if info is None:
            self.refuse(StatusCode.INVALID_ARGUMENT, "the request has no info")
        revoked = [self.store.revoke(one.ticket or b"") for one in info.endpoints]
        if not any(revoked):
            self.refuse(StatusCode.NOT_FOUND, "no ticket of this info was given out")
        return number(1, _CANCELLED)

    def renew(self, body: bytes) -> bytes:
        """The endpoint with an expiration time that lies ahead."""
        asked = self.decode("RenewFlightEndpointRequest", body).last("endpoint")
        endpoint = None if asked is None else read_endpoint(body[asked.value_start : asked.end])
        if endpoint is None or self.store.redeem(endpoint.ticket or b"") is None:
            self.refuse(StatusCode.NOT_FOUND, "the ticket of this endpoint was not given out")
        return self.endpoint(endpoint.ticket or b"") + part(3, self.expiry())
