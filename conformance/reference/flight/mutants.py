"""The mutants of the Flight reference: each replaces one step of the service, and its docstring states the fault."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Sequence

import pyarrow as pa
from grpc import StatusCode

from conformance.contract.flight.decoding import read_data
from conformance.contract.flight.encoding import data, descriptor, double, number, part, text
from conformance.records import Descriptor
from conformance.reference.flatbuffers import write
from conformance.reference.flight.register import FLIGHT_MUTANTS, mutant, process_mutant
from conformance.reference.flight.service import FlightService, Messages
from conformance.reference.flight.store import Batch, Flight
from conformance.reference.message import END_OF_STREAM, Message
from conformance.reference.refusals import Refusal
from conformance.wire.protobufmessages import ProtoMessage

__all__ = ["flight_service"]

_UNREADABLE = b"\x0a\xff"
"""A field that ends before its end."""
_STREAM = "flight-data.is-an-arrow-stream"
_BROKEN = {_STREAM: "the bytes are no stream then"}
_BATCH = 3


def flight_service(name: str | None) -> type[FlightService]:
    """The service with the fault of that name, or the reference.

    Raises:
        KeyError: no mutant has that name.
    """
    if name is None:
        return FlightService
    found = FLIGHT_MUTANTS.get(name)
    if found is None:
        raise KeyError(f"no mutant of the Flight reference is called {name!r}; there are {', '.join(FLIGHT_MUTANTS)}")
    assert found.flight is not None
    assert issubclass(found.flight, FlightService)
    return found.flight


# --- the number and the form of answers ---------------------------------------------------------------


@mutant("service.info-twice", kills="flight-service.one-answer")
class InfoTwice(FlightService):
    """GetFlightInfo answers with two messages."""

    def get_flight_info(self, requests: Iterator[bytes]) -> Messages:
        """As stated above."""
        found = list(super().get_flight_info(requests))
        yield from (*found, *found)


@mutant("service.no-schema-result", kills="flight-service.one-answer")
class NoSchemaResult(FlightService):
    """GetSchema ends in OK without an answer."""

    def get_schema(self, requests: Iterator[bytes]) -> Messages:
        """As stated above."""
        self.find(self.the_one(requests))
        return ()


@mutant("service.info-unreadable", kills="flight-service.answers-decode")
class InfoUnreadable(FlightService):
    """A FlightInfo ends in the middle of a field."""

    def after_info(self, flight: Flight) -> bytes:
        """As stated above."""
        return super().after_info(flight) + _UNREADABLE


@mutant("service.endpoint-unreadable", kills="flight-service.answers-decode")
class EndpointUnreadable(FlightService):
    """An endpoint in a FlightInfo is no message."""

    def endpoints(self, flight: Flight) -> Sequence[bytes]:
        """As stated above."""
        return [*super().endpoints(flight), _UNREADABLE]


@mutant("service.location-not-text", kills="flight-service.answers-decode")
class LocationNotText(FlightService):
    """The URI of a location is not UTF-8, as a string of protobuf has to be."""

    def endpoint(self, ticket: bytes) -> bytes:
        """As stated above."""
        return super().endpoint(ticket) + part(2, part(1, b"\xff\xfe"))


@mutant("service.data-unreadable", kills="flight-service.answers-decode")
class DataUnreadable(FlightService):
    """The last message of a stream is no FlightData."""

    def stream(self, flight: Flight) -> Messages:
        """As stated above."""
        yield from super().stream(flight)
        yield _UNREADABLE


@mutant("service.action-without-name", kills="flight-service.actions-have-names")
class ActionWithoutName(FlightService):
    """An action is listed without a name."""

    def list_actions(self, requests: Iterator[bytes]) -> Messages:
        """As stated above."""
        yield from super().list_actions(requests)
        yield text(2, "something")


@mutant("service.action-twice", kills="flight-service.actions-have-names")
class ActionTwice(FlightService):
    """Each action is listed twice."""

    def list_actions(self, requests: Iterator[bytes]) -> Messages:
        """As stated above."""
        found = list(super().list_actions(requests))
        yield from (*found, *found)


@mutant("service.hangs", kills="calls.end-in-time")
class Hangs(FlightService):
    """ListActions never ends."""

    def list_actions(self, requests: Iterator[bytes]) -> Messages:
        """As stated above."""
        yield from super().list_actions(requests)
        threading.Event().wait(10)


@mutant("service.endless", kills="calls.stay-within-reason")
class Endless(FlightService):
    """DoGet sends its batches again without end."""

    def stream(self, flight: Flight) -> Messages:
        """As stated above."""
        schema, *rest = super().stream(flight)
        yield schema
        while rest:
            yield from rest


@process_mutant("service.dies", kills="calls.leave-the-server-alive")
class Dies(FlightService):
    """A request that is no message ends the process."""

    def decode(self, kind: str, message: bytes) -> ProtoMessage:
        """As stated above."""
        try:
            return super().decode(kind, message)
        except Refusal:
            os._exit(3)


# --- infos ----------------------------------------------------------------------------------------------


@mutant("info.schema-bare", kills="flight-info.schema-is-a-message")
class SchemaBare(FlightService):
    """The schema of an info has no prefix: it is the Message alone."""

    def info_schema(self, flight: Flight) -> bytes:
        """As stated above."""
        return super().info_schema(flight)[8:]


@mutant("info.schema-cut", kills="flight-info.schema-is-a-message")
class SchemaCut(FlightService):
    """The schema of an info ends too early."""

    def info_schema(self, flight: Flight) -> bytes:
        """As stated above."""
        return super().info_schema(flight)[:-16]


@mutant("info.schema-result-of-a-batch", kills="flight-info.schema-is-a-message")
class SchemaResultOfABatch(FlightService):
    """GetSchema answers with an end-of-stream marker in the place of the schema."""

    def result_schema(self, flight: Flight) -> bytes:  # noqa: ARG002  # the signature
        """As stated above."""
        return END_OF_STREAM


@mutant("info.schema-with-marker", kills="flight-info.schema-ends")
class SchemaWithMarker(FlightService):
    """An end-of-stream marker follows the schema of an info."""

    def info_schema(self, flight: Flight) -> bytes:
        """As stated above."""
        return super().info_schema(flight) + END_OF_STREAM


def _without_last(flight: Flight) -> Flight:
    schema = pa.schema(list(flight.schema)[:-1])
    batches = tuple(Batch(batch.rows.select(schema.names), batch.metadata) for batch in flight.batches)
    return Flight(flight.descriptor, schema, batches)


@mutant(
    "info.schema-of-less",
    kills="flight-info.schema-is-that-of-the-stream",
    also={"flight-info.get-schema-agrees": "GetSchema names all columns"},
)
class SchemaOfLess(FlightService):
    """The schema of an info lacks the last column."""

    def info_schema(self, flight: Flight) -> bytes:
        """As stated above."""
        return super().info_schema(_without_last(flight))


@mutant("info.schema-result-of-less", kills="flight-info.get-schema-agrees")
class SchemaResultOfLess(FlightService):
    """GetSchema lacks the last column."""

    def result_schema(self, flight: Flight) -> bytes:
        """As stated above."""
        return super().result_schema(_without_last(flight))


@mutant("info.one-record-more", kills="flight-info.total-records")
class OneRecordMore(FlightService):
    """An info states one record more than there is."""

    def total_records(self, flight: Flight) -> int:
        """As stated above."""
        return super().total_records(flight) + 1


@mutant("info.no-records", kills="flight-info.total-records")
class NoRecords(FlightService):
    """An info leaves the number of records at 0, which is not "unknown"."""

    def total_records(self, flight: Flight) -> int:  # noqa: ARG002  # the signature
        """As stated above."""
        return 0


@mutant("info.bytes-below", kills="flight-info.totals-from-minus-one")
class BytesBelow(FlightService):
    """An info states -2 bytes."""

    def total_bytes(self, flight: Flight) -> int:  # noqa: ARG002  # the signature
        """As stated above."""
        return -2


@mutant("info.another-descriptor", kills="flight-info.descriptor-is-the-one-asked-for")
class AnotherDescriptor(FlightService):
    """An info names the descriptor of another flight."""

    def echo(self, flight: Flight) -> bytes:  # noqa: ARG002  # the signature
        """As stated above."""
        return part(2, descriptor(Descriptor(path=("another",))))


@mutant("info.ticket-void", kills="flight-info.tickets-are-redeemed")
class TicketVoid(FlightService):
    """The ticket of an info is not the one that is redeemed."""

    def endpoint(self, ticket: bytes) -> bytes:
        """As stated above."""
        return super().endpoint(ticket + b"x")


@mutant("info.second-ticket-void", kills="flight-info.tickets-are-redeemed")
class SecondTicketVoid(FlightService):
    """An info has a second endpoint, whose ticket nobody redeems."""

    def endpoints(self, flight: Flight) -> Sequence[bytes]:
        """As stated above."""
        return [*super().endpoints(flight), self.endpoint(b"void")]


@mutant("info.no-ticket", kills="flight-info.endpoints-have-tickets")
class NoTicket(FlightService):
    """An endpoint has no ticket."""

    def endpoint(self, ticket: bytes) -> bytes:  # noqa: ARG002  # the signature
        """As stated above."""
        return b""


# --- data -----------------------------------------------------------------------------------------------


@mutant("data.no-schema", kills="flight-data.schema-comes-first", also=_BROKEN)
class NoSchema(FlightService):
    """A stream begins with its first batch."""

    def stream(self, flight: Flight) -> Messages:
        """As stated above."""
        _, *rest = super().stream(flight)
        yield from rest


@mutant("data.no-message", kills="flight-data.schema-comes-first")
class NoMessage(FlightService):
    """DoGet ends in OK without any message."""

    def stream(self, flight: Flight) -> Messages:  # noqa: ARG002  # the signature
        """As stated above."""
        return ()


@mutant("data.schema-last", kills="flight-data.schema-comes-first", also=_BROKEN)
class SchemaLast(FlightService):
    """The schema comes after the batches."""

    def stream(self, flight: Flight) -> Messages:
        """As stated above."""
        schema, *rest = super().stream(flight)
        yield from (*rest, schema)


@mutant(
    "data.header-with-prefix",
    kills="flight-data.header-without-prefix",
    also={**_BROKEN, "flight-data.schema-comes-first": "what the message is cannot be seen behind the prefix"},
)
class HeaderWithPrefix(FlightService):
    """``data_header`` is an encapsulated message, prefix included."""

    def encode(self, message: Message) -> tuple[bytes, bytes]:
        """As stated above."""
        header, body = super().encode(message)
        return b"\xff\xff\xff\xff" + len(header).to_bytes(4, "little") + header, body


@mutant(
    "data.body-without-header",
    kills=("flight-data.body-has-a-header", "flight-put.nothing-is-lost"),
    also={"flight-info.total-records": "fewer records can be read than there are"},
)
class BodyWithoutHeader(FlightService):
    """The last message of a stream has a body and no header."""

    def stream(self, flight: Flight) -> Messages:
        """As stated above."""
        *before, last = super().stream(flight)
        yield from before
        message = read_data(last)
        yield last if message is None or not message.body else data(b"", message.body)


@mutant("data.body-cut", kills="flight-data.body-is-as-long-as-declared", also=_BROKEN)
class BodyCut(FlightService):
    """Bodies lack their last eight bytes."""

    def encode(self, message: Message) -> tuple[bytes, bytes]:
        """As stated above."""
        header, body = super().encode(message)
        return header, body[:-8]


@mutant(
    "data.body-longer",
    kills="flight-data.body-is-as-long-as-declared",
    also={**_BROKEN, "flight-data.is-an-arrow-stream-as-advised": "the bytes beyond look like a marker"},
)
class BodyLonger(FlightService):
    """Bodies have eight bytes more than their headers declare."""

    def encode(self, message: Message) -> tuple[bytes, bytes]:
        """As stated above."""
        header, body = super().encode(message)
        return header, body + bytes(8) if body else body


@mutant("data.too-many-rows", kills=_STREAM)
class TooManyRows(FlightService):
    """Batches declare one row more than their buffers hold."""

    def encode(self, message: Message) -> tuple[bytes, bytes]:
        """As stated above."""
        tree, body = message.complete()
        if tree["header_type"] == _BATCH:
            tree = {**tree, "header": {**tree["header"], "length": tree["header"]["length"] + 1}}
        return write("Message", tree, layout=message.layout), body


@mutant("data.schema-again", kills=_STREAM)
class SchemaAgain(FlightService):
    """The schema comes again before each batch."""

    def stream(self, flight: Flight) -> Messages:
        """As stated above."""
        schema, *rest = super().stream(flight)
        yield schema
        for message in rest:
            yield from (schema, message)


@mutant("data.dirty-padding", kills="flight-data.is-an-arrow-stream-as-advised")
class DirtyPadding(FlightService):
    """The padding between buffers is not zero: it holds what was in memory before."""

    def encode(self, message: Message) -> tuple[bytes, bytes]:
        """As stated above."""
        header, body = super().encode(message)
        used = message.body()[0] if body else []
        dirty = bytearray(b"\xaa" * len(body))
        for start, size in used:
            dirty[start : start + size] = body[start : start + size]
        return header, bytes(dirty)


@mutant("data.descriptor", kills="flight-data.no-descriptor-from-the-server")
class DataDescriptor(FlightService):
    """The first message of a DoGet names a descriptor."""

    def stream(self, flight: Flight) -> Messages:
        """As stated above."""
        schema, *rest = super().stream(flight)
        yield from (part(1, flight.descriptor) + schema, *rest)


# --- put ------------------------------------------------------------------------------------------------


class _Keeping(FlightService):
    """A service that stores something else than it was sent."""

    def keep(self, key: bytes, came: Sequence[bytes]) -> None:
        """Store what :meth:`instead` gives."""
        schema, batches = self.table_of(came)
        self.store.put(self.instead(Flight(key, schema, batches)))

    def instead(self, flight: Flight) -> Flight:
        """What is stored in the place of a flight."""
        return flight


def _of(flight: Flight, rows: Sequence[pa.RecordBatch]) -> Flight:
    schema = rows[0].schema if rows else flight.schema
    return Flight(flight.descriptor, schema, tuple(map(Batch, rows)))


def _rows(flight: Flight) -> list[pa.RecordBatch]:
    return [batch.rows for batch in flight.batches]


@mutant("put.forgets", kills="flight-put.is-found")
class Forgets(FlightService):
    """DoPut ends in OK and stores nothing."""

    def keep(self, key: bytes, came: Sequence[bytes]) -> None:  # noqa: ARG002  # the signature
        """As stated above."""
        self.table_of(came)


@mutant("put.first-batch-only", kills="flight-put.nothing-is-lost")
class FirstBatchOnly(_Keeping):
    """Only the first batch of a DoPut is stored."""

    def instead(self, flight: Flight) -> Flight:
        """As stated above."""
        return _of(flight, _rows(flight)[:1])


@mutant("put.last-row-lost", kills="flight-put.nothing-is-lost")
class LastRowLost(_Keeping):
    """Each batch is stored without its last row."""

    def instead(self, flight: Flight) -> Flight:
        """As stated above."""
        return _of(flight, [rows.slice(0, max(0, rows.num_rows - 1)) for rows in _rows(flight)])


@mutant("put.no-endpoint", kills="flight-put.nothing-is-lost")
class NoEndpoint(FlightService):
    """An info has no endpoint, so that its rows cannot be read."""

    def endpoints(self, flight: Flight) -> Sequence[bytes]:  # noqa: ARG002  # the signature
        """As stated above."""
        return []


@mutant("put.batch-twice", kills="flight-put.nothing-is-added")
class BatchTwice(_Keeping):
    """The first batch is stored twice."""

    def instead(self, flight: Flight) -> Flight:
        """As stated above."""
        rows = _rows(flight)
        return _of(flight, rows[:1] + rows)


@mutant(
    "put.endpoints-overlap",
    kills="flight-put.nothing-is-added",
    also={"flight-info.total-records": "the rows of all endpoints are twice as many"},
)
class EndpointsOverlap(FlightService):
    """Two endpoints of an info give the same rows."""

    def endpoints(self, flight: Flight) -> Sequence[bytes]:
        """As stated above."""
        return [*super().endpoints(flight), *super().endpoints(flight)]


def _with(rows: pa.RecordBatch, name: str, column: pa.Array) -> pa.RecordBatch:
    at = rows.schema.get_field_index(name)
    if at < 0:
        return rows
    columns = [*rows.columns[:at], column, *rows.columns[at + 1 :]]
    fields = [field.with_type(column.type) if field.name == name else field for field in rows.schema]
    return pa.record_batch(columns, schema=pa.schema(fields))


@mutant("put.nulls-are-empty", kills="flight-put.values-are-kept")
class NullsAreEmpty(_Keeping):
    """A text that is NULL is stored as an empty one."""

    def instead(self, flight: Flight) -> Flight:
        """As stated above."""
        filled = [_with(rows, "word", rows.column("word").fill_null("")) for rows in _rows(flight)]
        return _of(flight, filled)


@mutant("put.floats-are-rounded", kills="flight-put.values-are-kept")
class FloatsAreRounded(_Keeping):
    """A number is stored with 32 bits and comes back with 64."""

    def instead(self, flight: Flight) -> Flight:
        """As stated above."""
        rounded = [
            _with(rows, "number", rows.column("number").cast(pa.float32(), safe=False).cast(pa.float64()))
            for rows in _rows(flight)
        ]
        return _of(flight, rounded)


@mutant("put.column-lost", kills="flight-put.columns-are-kept")
class ColumnLost(_Keeping):
    """The last column of a DoPut is not stored."""

    def instead(self, flight: Flight) -> Flight:
        """As stated above."""
        return _without_last(flight)


@mutant("put.texts-are-bytes", kills="flight-put.columns-are-kept")
class TextsAreBytes(_Keeping):
    """Columns of text come back as columns of bytes."""

    def instead(self, flight: Flight) -> Flight:
        """As stated above."""
        cast = [_with(rows, "word", rows.column("word").cast(pa.binary())) for rows in _rows(flight)]
        return _of(flight, cast)


@mutant("put.broken-is-accepted", kills="flight-put.broken-data-is-refused")
class BrokenIsAccepted(FlightService):
    """A DoPut that cannot be read ends in OK."""

    def keep(self, key: bytes, came: Sequence[bytes]) -> None:
        """As stated above."""
        try:
            super().keep(key, came)
        except Refusal:
            return


@mutant("put.without-descriptor-is-accepted", kills="flight-put.descriptor-is-needed")
class WithoutDescriptorIsAccepted(FlightService):
    """A DoPut without a descriptor ends in OK."""

    def do_put(self, requests: Iterator[bytes]) -> Messages:
        """As stated above."""
        came = list(requests)
        first = read_data(came[0]) if came else None
        if first is not None and first.descriptor is None:
            return ()
        return super().do_put(iter(came))


# --- errors ---------------------------------------------------------------------------------------------


class _Refusing(FlightService):
    """A service that refuses what is unknown in another way."""

    code = StatusCode.NOT_FOUND
    details = "no"

    def refuse(self, code: StatusCode, details: str) -> None:  # type: ignore[override]  # it never returns either
        """End the call with the status of the class, if something is unknown."""
        if code is StatusCode.NOT_FOUND:
            raise Refusal(self.code, self.details)
        raise Refusal(code, details)


@mutant(
    "errors.code-of-no-table",
    kills="flight-errors.code-of-the-table",
    also={"flight-errors.code-of-an-unknown-thing": "it is none of the permitted codes"},
)
class CodeOfNoTable(_Refusing):
    """What is unknown is refused with DATA_LOSS, which Flight does not know."""

    code = StatusCode.DATA_LOSS


@mutant("errors.internal", kills="flight-errors.code-of-an-unknown-thing")
class Internal(_Refusing):
    """What is unknown is refused with INTERNAL, as if the server had failed."""

    code = StatusCode.INTERNAL


@mutant("errors.no-message", kills="flight-errors.message-says-something")
class NoWords(_Refusing):
    """What is unknown is refused without a message."""

    details = ""


@mutant("errors.any-ticket", kills="flight-errors.unknown-ticket-is-refused")
class AnyTicket(FlightService):
    """A ticket that nobody gave out gives an empty stream."""

    def do_get(self, requests: Iterator[bytes]) -> Messages:
        """As stated above."""
        try:
            yield from super().do_get(requests)
        except Refusal as refusal:
            if refusal.code is not StatusCode.NOT_FOUND:
                raise
            yield from self.stream(Flight(b"", pa.schema([]), ()))


@mutant("errors.any-flight", kills="flight-errors.unknown-flight-is-refused")
class AnyFlight(FlightService):
    """A descriptor that names nothing gives an empty flight."""

    def find(self, message: bytes) -> Flight:
        """As stated above."""
        try:
            return super().find(message)
        except Refusal as refusal:
            if refusal.code is not StatusCode.NOT_FOUND:
                raise
            return Flight(message, pa.schema([]), ())


@mutant("errors.any-action", kills="flight-errors.unknown-action-is-refused")
class AnyAction(FlightService):
    """An action that nobody knows ends in OK without a result."""

    def do_action(self, requests: Iterator[bytes]) -> Messages:
        """As stated above."""
        try:
            yield from super().do_action(requests)
        except Refusal as refusal:
            if refusal.code is not StatusCode.NOT_FOUND:
                raise


@mutant("errors.undecodable-is-empty", kills="flight-errors.undecodable-is-refused")
class UndecodableIsEmpty(FlightService):
    """A request that is no message counts as an empty one."""

    def decode(self, kind: str, message: bytes) -> ProtoMessage:
        """As stated above."""
        try:
            return super().decode(kind, message)
        except Refusal:
            return super().decode(kind, b"")


# --- polling and actions --------------------------------------------------------------------------------


@mutant("poll.progress-in-percent", kills="flight-poll.progress-from-0-to-1")
class ProgressInPercent(FlightService):
    """The progress of a query is given in percent."""

    def poll(self, flight: Flight, *, ended: bool) -> bytes:
        """As stated above."""
        return super().poll(flight, ended=ended) + double(3, 50.0)


@mutant("poll.other-endpoints", kills="flight-poll.endpoints-are-appended")
class OtherEndpoints(FlightService):
    """Each PollInfo has another ticket in the place of the first."""

    def polled_info(self, flight: Flight) -> bytes:
        """As stated above."""
        return self.info(flight)


@mutant("poll.ended-without-info", kills="flight-poll.ended-has-an-info")
class EndedWithoutInfo(FlightService):
    """The last PollInfo of a query has no info."""

    def poll(self, flight: Flight, *, ended: bool) -> bytes:
        """As stated above."""
        return double(3, 1.0) if ended else super().poll(flight, ended=ended)


@mutant("actions.cancel-unspecified", kills="flight-actions.cancel-says-what-happened")
class CancelUnspecified(FlightService):
    """CancelFlightInfo answers with the status UNSPECIFIED."""

    def cancel(self, body: bytes) -> bytes:
        """As stated above."""
        super().cancel(body)
        return number(1, 0)


@mutant("actions.cancel-in-words", kills="flight-actions.cancel-says-what-happened")
class CancelInWords(FlightService):
    """CancelFlightInfo answers with a text in the place of a result."""

    def cancel(self, body: bytes) -> bytes:
        """As stated above."""
        super().cancel(body)
        return b"cancelled"


@mutant("actions.renewed-without-time", kills="flight-actions.renewed-is-an-endpoint")
class RenewedWithoutTime(FlightService):
    """A renewed endpoint has no expiration time."""

    def renew(self, body: bytes) -> bytes:
        """As stated above."""
        super().renew(body)
        return self.endpoint(b"renewed")
