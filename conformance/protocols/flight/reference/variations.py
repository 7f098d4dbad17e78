"""Legal variations of the Flight reference: real servers differ from it in them, and none is wrong.

A judge that calls one of these a fault raises a false alarm. Each names the text that permits it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

import pyarrow as pa
from grpc import StatusCode

from conformance.contract.sources import COLUMNAR, PROTOBUF
from conformance.protocols.flight.contract.encoding import data, number, part, text
from conformance.protocols.flight.contract.sources import FLIGHT_PAGE, FLIGHT_PROTO
from conformance.protocols.flight.reference import (  # noqa: F401  # each registers its variations
    damagefreedoms,
    datafreedoms,
    exchangevariations,
    freedoms,
    historyfreedoms,
    lapsefreedoms,
    listedfreedoms,
)
from conformance.protocols.flight.reference.actions import RENEW
from conformance.protocols.flight.reference.register import FLIGHT_VARIATIONS, variation
from conformance.protocols.flight.reference.service import FlightService, Messages
from conformance.protocols.flight.reference.sql import variations as _  # noqa: F401  # those of Flight SQL register themselves
from conformance.protocols.flight.reference.store import Batch, Flight, Store
from conformance.reference.ipc.options import WriterOptions
from conformance.reference.statuses import Refusal
from conformance.wire.protobufmessages import ProtoMessage

__all__ = ["FLIGHT_VARIATIONS"]

_REUSE = "arrow-flight-reuse-connection://?"
_UNKNOWN = number(77, 5) + part(78, b"x")
"""Fields that this version of Flight does not have."""


@variation("flight-info.no-descriptor", FLIGHT_PROTO)
class NoDescriptor(FlightService):
    """An info names no descriptor."""

    def echo(self, flight: Flight) -> bytes:
        return b""


@variation("flight-info.several-endpoints", FLIGHT_PROTO)
class SeveralEndpoints(FlightService):
    """Each batch has an endpoint of its own."""

    def endpoints(self, flight: Flight) -> Sequence[bytes]:
        parts = [flight.batches[at : at + 1] for at in range(max(1, len(flight.batches)))]
        return [self.endpoint(self.store.ticket(flight, one)) for one in parts]


@variation("flight-info.ordered-endpoints", FLIGHT_PROTO)
class OrderedEndpoints(SeveralEndpoints):
    """Each batch has an endpoint of its own, and the info says that they are in order."""

    def after_info(self, flight: Flight) -> bytes:
        return super().after_info(flight) + number(6, 1)


@variation("flight-location.reuse-connection", FLIGHT_PAGE)
class ReuseConnection(FlightService):
    """Each endpoint names the connection on which it came."""

    locations = (_REUSE,)


@variation("flight-location.empty", FLIGHT_PROTO)
class EmptyLocation(FlightService):
    """Each endpoint has a location whose URI is empty, which is the same."""

    locations = ("",)


@variation("flight-location.several", FLIGHT_PAGE)
class SeveralLocations(FlightService):
    """Each endpoint names further places, which a client need not be able to use."""

    locations = ("https://data.invalid/part", "grpc+tls://data.invalid:443", "later-scheme://x", _REUSE)


@variation("flight-location.elsewhere", FLIGHT_PAGE)
class EndpointsElsewhere(FlightService):
    """Each endpoint is at a place that this client cannot reach."""

    locations = ("grpc+tls://data.invalid:443",)


@variation("flight-location.without-ticket", FLIGHT_PAGE)
class LocationWithoutTicket(FlightService):
    """Each endpoint is a file on a web server, for which nobody needs a ticket."""

    def endpoint(self, ticket: bytes) -> bytes:  # there is none
        return part(2, text(1, "https://data.invalid/part"))


@variation("flight-info.ticket-of-single-use", FLIGHT_PAGE)
class TicketOfSingleUse(FlightService):
    """A ticket is redeemed once, and no endpoint is renewed."""

    def __init__(self, store: Store | None = None) -> None:
        super().__init__(store)
        self._used: set[bytes] = set()

    def do_get(self, requests: Iterator[bytes]) -> Messages:
        request = self.the_one(requests)
        if request in self._used:
            self.refuse(StatusCode.NOT_FOUND, "the ticket has been used")
        self._used.add(request)
        yield from super().do_get(iter([request]))

    @property
    def actions(self) -> Mapping[str, tuple[str, Callable[[bytes], bytes]]]:
        return {name: one for name, one in super().actions.items() if name != RENEW}


@variation("flight-info.expiration", FLIGHT_PROTO)
class Expiration(FlightService):
    """Each endpoint has an expiration time and metadata."""

    def endpoint(self, ticket: bytes) -> bytes:
        return super().endpoint(ticket) + part(3, self.expiry()) + part(4, b"metadata")


@variation("flight-info.metadata", FLIGHT_PROTO)
class InfoMetadata(FlightService):
    """An info has metadata of the application."""

    def after_info(self, flight: Flight) -> bytes:
        return super().after_info(flight) + part(7, b"\x00\xff")


@variation("flight-info.totals-unknown", FLIGHT_PROTO)
class TotalsUnknown(FlightService):
    """An info does not know the number of records."""

    def total_records(self, flight: Flight) -> int:
        return -1


@variation("flight-info.schema-legacy", FLIGHT_PROTO)
class SchemaLegacy(FlightService):
    """The continuation before a schema is left out."""

    def schema_of(self, flight: Flight) -> bytes:
        return super().schema_of(flight)[4:]


@variation("flight-info.schema-unstated", FLIGHT_PROTO)
class SchemaUnstated(FlightService):
    """An info states no schema; GetSchema does."""

    def info_schema(self, flight: Flight) -> bytes:
        return b""


@variation("flight-info.schema-metadata", FLIGHT_PROTO)
class SchemaMetadata(FlightService):
    """The schema of an info has metadata that the stream has not."""

    def info_schema(self, flight: Flight) -> bytes:
        return super().info_schema(Flight(b"", flight.schema.with_metadata({"k": "v"}), ()))


@variation("flight-messages.unknown-fields", PROTOBUF)
class UnknownFields(FlightService):
    """Every message has fields that this version of Flight does not have."""

    @property
    def methods(self) -> Mapping[str, Callable[[Iterator[bytes]], Messages]]:
        return {name: _each(method, lambda message: message + _UNKNOWN) for name, method in super().methods.items()}

    def endpoint(self, ticket: bytes) -> bytes:
        return _UNKNOWN + super().endpoint(ticket)


def _each(
    method: Callable[[Iterator[bytes]], Messages], change: Callable[[bytes], bytes]
) -> Callable[[Iterator[bytes]], Messages]:
    def changed(requests: Iterator[bytes]) -> Messages:
        for message in method(requests):
            yield change(message)

    return changed


@variation("flight-messages.body-first", PROTOBUF)
class BodyFirst(FlightService):
    """The fields of a FlightData come in the opposite order, and the header twice: the last one counts."""

    def flight_data(self, place: int, header: bytes, body: bytes, metadata: bytes | None) -> bytes:
        return data(b"", body, metadata=metadata) + data(b"\xff") + data(header)


@variation("flight-data.metadata-only", FLIGHT_PROTO)
class MetadataOnly(FlightService):
    """Messages of metadata alone, and empty ones, come before, between and after the others."""

    def stream(self, flight: Flight) -> Messages:
        for message in super().stream(flight):
            yield from (data(metadata=b"alone"), message, b"")


@variation("flight-data.metadata-on-the-schema", FLIGHT_PROTO)
class MetadataOnTheSchema(FlightService):
    """Every message of a stream has metadata, that of the schema too."""

    def flight_data(self, place: int, header: bytes, body: bytes, metadata: bytes | None) -> bytes:
        return super().flight_data(place, header, body, metadata or b"%d" % place)


@variation("flight-data.padded-header", COLUMNAR)
class PaddedHeader(FlightService):
    """Zeros pad ``data_header`` to a multiple of 64."""

    def flight_data(self, place: int, header: bytes, body: bytes, metadata: bytes | None) -> bytes:
        return super().flight_data(place, header + bytes(-len(header) % 64), body, metadata)


def _written(name: str, what: str, options: WriterOptions) -> None:
    variation(name, COLUMNAR)(type(name, (FlightService,), {"__doc__": what, "options": options}))


_written("flight-data.lz4", "Buffers are compressed by LZ4.", WriterOptions(end="close", codec="lz4"))
_written("flight-data.zstd", "Buffers are compressed by ZSTD.", WriterOptions(end="close", codec="zstd"))
_written("flight-data.v4", "Messages have the metadata version V4.", WriterOptions(end="close", version="V4"))
_written("flight-data.aligned-to-64", "Buffers are aligned to 64 bytes.", WriterOptions(end="close", alignment=64))
_written("flight-data.all-bitmaps", "Every field has a bitmap.", WriterOptions(end="close", validity="always"))
_written(
    "data.message-metadata",
    "Batches have metadata of their own.",
    WriterOptions(end="close", message_metadata={"k": "v"}),
)


@variation("flight-data.rows-alone", FLIGHT_PROTO)
class RowsAlone(FlightService):
    """A stream has other batches than were put: several rows each, and one without rows."""

    def stream(self, flight: Flight) -> Messages:
        parts = [
            Batch(batch.rows.slice(at, 3))
            for batch in flight.batches
            for at in (*range(0, min(batch.rows.num_rows, 30), 3), *([30] if batch.rows.num_rows > 30 else []))
            if at < 30 or batch.rows.num_rows == 0
        ]
        rest = [Batch(batch.rows.slice(30)) for batch in flight.batches if batch.rows.num_rows > 30]
        empty = [Batch(batch.rows.slice(0, 0)) for batch in flight.batches[:1]]
        return super().stream(Flight(flight.descriptor, flight.schema, (*empty, *parts, *rest)))


@variation("flight-data.rows-in-another-order", FLIGHT_PAGE)
class AnotherOrder(FlightService):
    """The batches come back in another order: nothing says which one a server keeps."""

    def stream(self, flight: Flight) -> Messages:
        return super().stream(Flight(flight.descriptor, flight.schema, flight.batches[::-1]))


@variation("flight-data.dictionaries", COLUMNAR)
class DictionaryEncoded(FlightService):
    """A column of text comes back dictionary-encoded, and is stated so."""

    def keep(self, key: bytes, came: Sequence[bytes]) -> None:
        schema, batches = self.table_of(came)
        encoded = [_encoded(batch.rows) for batch in batches]
        kept = _encoded(schema.empty_table().to_batches()[0] if schema.empty_table().to_batches() else _none(schema))
        self.store.put(Flight(key, kept.schema, tuple(map(Batch, encoded))))


def _none(schema: pa.Schema) -> pa.RecordBatch:
    return pa.RecordBatch.from_pylist([], schema=schema)


def _encoded(rows: pa.RecordBatch) -> pa.RecordBatch:
    columns = [column.dictionary_encode() if pa.types.is_string(column.type) else column for column in rows.columns]
    fields = [field.with_type(column.type) for field, column in zip(rows.schema, columns, strict=True)]
    return pa.record_batch(columns, schema=pa.schema(fields))


@variation("flight-put.no-results", FLIGHT_PAGE)
class NoResults(FlightService):
    """DoPut answers nothing before its status."""

    def acknowledge(self, message: ProtoMessage) -> Messages:
        return ()


@variation("flight-put.one-result", FLIGHT_PAGE)
class OneResult(NoResults):
    """DoPut answers once, at its end."""

    def do_put(self, requests: Iterator[bytes]) -> Messages:
        yield from super().do_put(requests)
        yield part(1, b"done")


@variation("flight-methods.few", FLIGHT_PAGE)
class FewMethods(FlightService):
    """The service implements DoPut, GetFlightInfo and DoGet alone, and Handshake."""

    @property
    def methods(self) -> Mapping[str, Callable[[Iterator[bytes]], Messages]]:
        few = ("DoPut", "GetFlightInfo", "DoGet", "Handshake")
        return {name: super(FewMethods, self).methods[name] for name in few}


@variation("flight-errors.invalid-argument", FLIGHT_PAGE)
class InvalidArgument(FlightService):
    """What is unknown is refused as an argument that is not valid."""

    def find(self, message: bytes) -> Flight:
        try:
            return super().find(message)
        except Refusal as refusal:
            raise Refusal(StatusCode.INVALID_ARGUMENT, refusal.details) from None


@variation("flight-poll.at-once", FLIGHT_PAGE)
class PollAtOnce(FlightService):
    """A query has ended when it is first asked about, and its progress is not known."""

    def poll(self, flight: Flight, *, ended: bool) -> bytes:
        return part(1, self.polled_info(flight))


@variation("flight-actions.not-cancellable", FLIGHT_PROTO)
class NotCancellable(FlightService):
    """An info cannot be cancelled."""

    def cancel(self, body: bytes) -> bytes:
        super().cancel(body)
        return number(1, 3)


@variation("flight-actions.unknown-query", FLIGHT_PROTO)
class UnknownQuery(FlightService):
    """A query that has ended is not known any more."""

    def cancel(self, body: bytes) -> bytes:
        super().cancel(body)
        return self.refuse(StatusCode.NOT_FOUND, "the query has ended")
