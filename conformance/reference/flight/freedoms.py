"""Legal variations of sessions, logins, locations, expiration, actions, polling and uploads.

As in :mod:`.variations`, each names the text that permits it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

import pyarrow as pa
import pyarrow.compute as pc
from grpc import StatusCode

from conformance.contract.flight.encoding import descriptor, double, number, part, text
from conformance.contract.sources import COLUMNAR, FLIGHT_PAGE, FLIGHT_PROTO
from conformance.records import Descriptor
from conformance.reference.flight.infos import POLLED
from conformance.reference.flight.register import variation
from conformance.reference.flight.service import FlightService, Messages
from conformance.reference.flight.sessions import CLOSE, GET, SET, Options
from conformance.reference.flight.store import Batch, Flight, Store
from conformance.reference.ipc.options import WriterOptions
from conformance.reference.refusals import Refusal
from conformance.wire.protobufmessages import ProtoMessage

# --- sessions -----------------------------------------------------------------------------------------


@variation("flight-session.none", FLIGHT_PAGE)
class NoSessions(FlightService):
    """The service has no sessions: their actions are neither listed nor served."""

    @property
    def actions(self) -> Mapping[str, tuple[str, Callable[[bytes], bytes]]]:
        return {name: one for name, one in super().actions.items() if name not in (SET, GET, CLOSE)}


@variation("flight-session.begins-with-any-call", FLIGHT_PROTO)
class BeginsWithAnyCall(FlightService):
    """A session begins with any call that needs one, and has no options then."""

    def session(self) -> Options:
        return self.begin()

    def forget(self) -> None:
        self._sessions.pop(self.session_id, None)


@variation("flight-session.not-closeable", FLIGHT_PROTO)
class NotCloseable(FlightService):
    """A session cannot be closed."""

    def close_session(self, body: bytes) -> bytes:
        self.decode("CloseSessionRequest", body)
        return number(1, 3)


@variation("flight-session.closing", FLIGHT_PROTO)
class Closing(FlightService):
    """A session is closed later."""

    def close_session(self, body: bytes) -> bytes:
        self.decode("CloseSessionRequest", body)
        return number(1, 2)


@variation("flight-session.no-lists", FLIGHT_PROTO)
class NoLists(FlightService):
    """A list of texts is a value that is not valid here, and an option cannot change its kind."""

    def error_of(self, name: str, value: ProtoMessage | None) -> int:
        listed = value is not None and value.has("string_list_value")
        retyped = name == "conformance_number" and value is not None and value.has("string_value")
        return super().error_of(name, value) or (2 if listed else 3 if retyped else 0)


@variation("flight-session.more-options", FLIGHT_PROTO)
class MoreOptions(FlightService):
    """A session has options of the server's own."""

    def begin(self) -> Options:
        options = super().begin()
        options.setdefault("catalog", text(1, "main"))
        return options


@variation("flight-session.cookie-in-the-trailers", FLIGHT_PROTO)
class CookieInTheTrailers(FlightService):
    """The cookie of a session comes with the status, and the call has other headers and trailers as well."""

    def begin(self) -> Options:
        options = super().begin()
        self.trailers += [*self.reply, ("x-served-by", "conformance"), ("x-data-bin", b"\x00\xff")]
        self.reply[:] = [("x-request-id", "5f0c2a91")]
        return options


# --- logging in ---------------------------------------------------------------------------------------


@variation("flight-handshake.several-answers", FLIGHT_PAGE)
class SeveralAnswers(FlightService):
    """A Handshake has an answer that says hello before the one with the token."""

    def handshake(self, requests: Iterator[bytes]) -> Messages:
        said = False
        for answer in super().handshake(requests):
            if not said:
                yield number(1, 1) + part(2, b"hello")
                said = True
            yield answer


@variation("flight-handshake.one-token", FLIGHT_PAGE)
class OneToken(FlightService):
    """A client that logs in again gets the token that it has."""

    def token_for(self, user: str, password: str) -> bytes:
        token = super().token_for(user, password)
        if len(self._tokens) > 1:
            self._tokens.discard(token)
        return next(iter(self._tokens))


@variation("flight-handshake.unimplemented-first", FLIGHT_PAGE)
class UnimplementedFirst(FlightService):
    """A method that the service does not have is UNIMPLEMENTED for everybody."""

    @property
    def methods(self) -> Mapping[str, Callable[[Iterator[bytes]], Messages]]:
        return {name: method for name, method in super().methods.items() if name != "ListFlights"}


# --- locations and expiration -------------------------------------------------------------------------


@variation("flight-location.of-every-kind", FLIGHT_PAGE)
class OfEveryKind(FlightService):
    """An endpoint names places of all transports, of which a client can use one."""

    locations = (
        "grpc+unix:///run/flight.sock",
        "grpc+tcp://[2001:db8::1]:8815",
        "grpc+tls://user@data.invalid:443/path?query=1",
        "http://data.invalid",
        "s3://bucket/part",
        "arrow-flight-reuse-connection://?",
    )


class _Expiring(FlightService):
    """A service whose endpoints have an expiration time."""

    def endpoint(self, ticket: bytes) -> bytes:
        return super().endpoint(ticket) + part(3, self.expiry())


@variation("flight-expiry.at-the-end-of-time", FLIGHT_PAGE)
class AtTheEndOfTime(_Expiring):
    """An endpoint expires at the last instant of a Timestamp, and a renewed one at the same."""

    def expiry(self) -> bytes:
        return number(1, 253_402_300_799) + number(2, 999_999_999)


@variation("flight-expiry.now", FLIGHT_PAGE)
class Now(_Expiring):
    """An endpoint expires at once, and is read once."""

    def __init__(self, store: Store | None = None) -> None:
        super().__init__(store)
        self._used: set[bytes] = set()

    def expiry(self) -> bytes:
        return number(1, int(self.clock()))

    def do_get(self, requests: Iterator[bytes]) -> Messages:
        request = self.the_one(requests)
        if request in self._used:
            self.refuse(StatusCode.NOT_FOUND, "the ticket has expired")
        self._used.add(request)
        return super().do_get(iter([request]))


@variation("flight-expiry.renewed-has-another-ticket", FLIGHT_PAGE)
class RenewedHasAnotherTicket(FlightService):
    """A renewed endpoint has another ticket, and the one before is void."""

    def renew(self, body: bytes) -> bytes:
        super().renew(body)
        asked = self.decode("RenewFlightEndpointRequest", body).message("endpoint")
        ticket = None if asked is None else asked.message("ticket")
        old = b"" if ticket is None else bytes(ticket.data("ticket"))
        flight = self.store.tickets[old]
        self.store.revoke(old)
        return self.endpoint(self.store.ticket(flight, flight.batches)) + part(3, self.expiry())


# --- actions ------------------------------------------------------------------------------------------


@variation("flight-actions.cancelled-again", FLIGHT_PROTO)
class CancelledAgain(FlightService):
    """An info that was CANCELLED is so when it is cancelled again."""

    def __init__(self, store: Store | None = None) -> None:
        super().__init__(store)
        self._done: set[bytes] = set()

    def cancel(self, body: bytes) -> bytes:
        if body not in self._done:
            super().cancel(body)
        self._done.add(body)
        return number(1, 1)


@variation("flight-actions.cancelling", FLIGHT_PROTO)
class Cancelling(FlightService):
    """Cancelling takes time: the first answer is CANCELLING, and the tickets are valid until then."""

    def __init__(self, store: Store | None = None) -> None:
        super().__init__(store)
        self._begun: set[bytes] = set()

    def cancel(self, body: bytes) -> bytes:
        if body in self._begun:
            return super().cancel(body)
        asked = self.decode("CancelFlightInfoRequest", body).message("info")
        tickets = [] if asked is None else [one.message("ticket") for one in asked.messages("endpoint")]
        if not any(one is not None and self.store.redeem(bytes(one.data("ticket"))) for one in tickets):
            return super().cancel(body)
        self._begun.add(body)
        return number(1, 2)


@variation("flight-actions.unknown-is-not-cancellable", FLIGHT_PROTO)
class UnknownIsNotCancellable(FlightService):
    """An info that is not known cannot be cancelled."""

    def cancel(self, body: bytes) -> bytes:
        try:
            super().cancel(body)
        except Refusal as refusal:
            if refusal.code is not StatusCode.NOT_FOUND or self.store.tickets:
                raise
        return number(1, 3)


@variation("flight-actions.more", FLIGHT_PROTO)
class MoreActions(FlightService):
    """The list has actions of the application, one of them without a description."""

    def list_actions(self, requests: Iterator[bytes]) -> Messages:
        yield from super().list_actions(requests)
        yield text(1, "Seal") + text(2, "Seal a table.")
        yield text(1, "Drop")


# --- polling ------------------------------------------------------------------------------------------


@variation("flight-poll.endpoint-by-endpoint", FLIGHT_PAGE)
class EndpointByEndpoint(FlightService):
    """A query has another endpoint each time that it is asked about; its progress goes up and down."""

    def poll_flight_info(self, requests: Iterator[bytes]) -> Messages:
        request = self.the_one(requests)
        command = bytes(self.decode("FlightDescriptor", request).data("cmd"))
        ready = command[len(POLLED)] if command.startswith(POLLED) else 0
        flight = self.find(command[len(POLLED) + 1 :] if ready else request)
        tickets = self._queries.setdefault(flight.descriptor, b"".join(self._tickets_of(flight)))
        size = len(tickets) // max(1, len(flight.batches))
        every = [tickets[at : at + size] for at in range(0, len(tickets), size)] if tickets else []
        info = part(1, self.info_schema(flight)) + b"".join(part(3, part(1, part(1, one))) for one in every[:ready])
        info += number(4, -1) + number(5, -1)
        yield part(1, info) + self.later(flight, ready, of=len(every))

    def _tickets_of(self, flight: Flight) -> list[bytes]:
        return [self.store.ticket(flight, [batch]) for batch in flight.batches]

    def later(self, flight: Flight, ready: int, *, of: int) -> bytes:
        """The descriptor of the next call, unless everything is ready."""
        if ready >= max(1, of):
            return b""
        named = Descriptor(cmd=POLLED + bytes([ready + 1]) + flight.descriptor)
        return part(2, descriptor(named)) + double(3, 0.9 if ready % 2 else 0.1)


# --- uploads ------------------------------------------------------------------------------------------


class _Refusing(FlightService):
    """A service that refuses some tables."""

    def refused(self, schema: pa.Schema, came: Sequence[ProtoMessage]) -> bool:
        """True for a table that is refused."""
        return False

    def keep(self, key: bytes, came: Sequence[bytes]) -> None:
        schema, _ = self.table_of(came)
        if self.refused(schema, [self.decode("FlightData", one) for one in came]):
            self.refuse(StatusCode.UNIMPLEMENTED, "such data is not stored here")
        super().keep(key, came)


@variation("flight-put.no-dictionaries", FLIGHT_PAGE)
class NoDictionaries(_Refusing):
    """Tables with dictionaries are refused."""

    def refused(self, schema: pa.Schema, came: Sequence[ProtoMessage]) -> bool:
        return any(pa.types.is_dictionary(field.type) for field in schema)


@variation("flight-put.one-name", FLIGHT_PAGE)
class OneName(_Refusing):
    """A DoPut in which a later message has a descriptor is refused."""

    def refused(self, schema: pa.Schema, came: Sequence[ProtoMessage]) -> bool:
        return any(one.has("flight_descriptor") for one in came[1:])


@variation("flight-put.no-metadata", FLIGHT_PROTO)
class NoMetadata(_Refusing):
    """A DoPut with metadata of the application is refused."""

    def refused(self, schema: pa.Schema, came: Sequence[ProtoMessage]) -> bool:
        return any(one.has("app_metadata") for one in came)


@variation("flight-put.small-tables-alone", FLIGHT_PAGE)
class SmallTablesAlone(_Refusing):
    """A message of more than 4 MiB is refused as gRPC libraries do."""

    def do_put(self, requests: Iterator[bytes]) -> Messages:
        return super().do_put(self._small(requests))

    def _small(self, requests: Iterator[bytes]) -> Iterator[bytes]:
        for request in requests:
            if len(request) > 4 << 20:
                self.refuse(StatusCode.RESOURCE_EXHAUSTED, "the message is larger than 4194304 bytes")
            yield request


# --- dictionaries in streams --------------------------------------------------------------------------


class _Encoding(FlightService):
    """A service that sends each batch with a dictionary of its own."""

    def stream(self, flight: Flight) -> Messages:
        if not any(pa.types.is_string(field.type) for field in flight.schema):
            return super().stream(flight)
        words: dict[str, None] = {}
        encoded = [self.encoded(batch.rows, words) for batch in flight.batches]
        schema = (
            encoded[0].schema if encoded else self.encoded(pa.RecordBatch.from_pylist([], flight.schema), {}).schema
        )
        batches = tuple(Batch(rows, batch.metadata) for rows, batch in zip(encoded, flight.batches, strict=True))
        return super().stream(Flight(flight.descriptor, schema, batches))

    def encoded(self, rows: pa.RecordBatch, words: dict[str, None]) -> pa.RecordBatch:
        """The rows with their texts as indices into ``words``, to which the new ones are added."""
        words.update((word, None) for word in self.texts(rows) if word is not None)
        known = pa.array(list(words), pa.string())
        columns = [
            pa.DictionaryArray.from_arrays(pc.index_in(column, known), known)
            if pa.types.is_string(column.type)
            else column
            for column in rows.columns
        ]
        fields = [field.with_type(column.type) for field, column in zip(rows.schema, columns, strict=True)]
        return pa.record_batch(columns, schema=pa.schema(fields))

    def texts(self, rows: pa.RecordBatch) -> list[str | None]:
        """Every text of the rows."""
        return [word for column in rows.columns if pa.types.is_string(column.type) for word in column.to_pylist()]

    def info_schema(self, flight: Flight) -> bytes:
        return b""  # that of the flight is not the one of the stream

    def result_schema(self, flight: Flight) -> bytes:
        return self.refuse(StatusCode.UNIMPLEMENTED, "GetSchema is not implemented")


@variation("flight-data.dictionary-deltas", COLUMNAR)
class DictionaryDeltas(_Encoding):
    """Texts are dictionary-encoded, and the dictionary grows by deltas."""

    options = WriterOptions(end="close", deltas=True)


@variation("flight-data.replaced-dictionaries", COLUMNAR)
class ReplacedDictionaries(_Encoding):
    """Texts are dictionary-encoded, and each batch has a dictionary of its own."""

    def encoded(self, rows: pa.RecordBatch, words: dict[str, None]) -> pa.RecordBatch:
        return super().encoded(rows, {})


# --- calls that a client gives up, and paths of several elements -------------------------------------


@variation("flight-put.given-up-keeps-what-came", FLIGHT_PROTO)
class GivenUpKeepsWhatCame(FlightService):
    """What came of a DoPut before its client gave it up is stored."""

    def given_up(self, came: Sequence[bytes]) -> None:
        named = self.decode("FlightData", came[0]).last("flight_descriptor") if came else None
        if named is not None:
            self.keep(self.key_of(came[0][named.value_start : named.end]), came)


@variation("flight-put.given-up-keeps-a-batch", FLIGHT_PROTO)
class GivenUpKeepsABatch(GivenUpKeepsWhatCame):
    """The first batch of a DoPut that its client gave up is stored, whatever came after it."""

    def given_up(self, came: Sequence[bytes]) -> None:
        super().given_up(came[:2])


@variation("flight-put.one-element", FLIGHT_PAGE)
class OneElement(FlightService):
    """A flight is named by a path of one element that is not empty; any other is refused."""

    def key_of(self, message: bytes) -> bytes:
        path = self.decode("FlightDescriptor", message).texts("path")
        if len(path) > 1 or "" in path or any("/" in one for one in path):
            self.refuse(StatusCode.INVALID_ARGUMENT, "the path of a flight has one element")
        return super().key_of(message)


@variation("flight-location.two-places", FLIGHT_PROTO)
class TwoPlaces(FlightService):
    """An endpoint names the connection of its info, and the server's own address."""

    def endpoint(self, ticket: bytes) -> bytes:
        places = ("arrow-flight-reuse-connection://?", self.here)
        return super().endpoint(ticket) + b"".join(part(2, text(1, uri)) for uri in places)


@variation("flight-expiry.over-at-once", FLIGHT_PAGE)
class OverAtOnce(_Expiring):
    """The clock of the server is half a minute slow; an endpoint has expired before it is read, and is refused."""

    def expiry(self) -> bytes:
        return number(1, int(self.clock()) - 30)

    def do_get(self, requests: Iterator[bytes]) -> Messages:
        ticket = bytes(self.decode("Ticket", self.the_one(requests)).data("ticket"))
        return self.refuse(StatusCode.NOT_FOUND, f"no ticket {ticket!r}, or it has expired")


@variation("flight-poll.cancelled-has-its-result", FLIGHT_PAGE)
class CancelledHasItsResult(FlightService):
    """A query that was cancelled has ended; its info, whose tickets are void, is all that there was."""

    def poll_flight_info(self, requests: Iterator[bytes]) -> Messages:
        request = self.the_one(requests)
        command = bytes(self.decode("FlightDescriptor", request).data("cmd"))
        kept = self._queries.get(command.removeprefix(POLLED)) if command.startswith(POLLED) else None
        if kept is not None:
            return (part(1, kept),)
        return super().poll_flight_info(iter([request]))


@variation("flight-handshake.of-the-connection", FLIGHT_PAGE)
class OfTheConnection(FlightService):
    """A connection over which a client has logged in needs no token; its tokens are good elsewhere as well."""

    def __init__(self, store: Store | None = None) -> None:
        super().__init__(store)
        self._known: set[str] = set()

    def admit(self, headers: Mapping[str, bytes]) -> None:
        if self.peer not in self._known:
            super().admit(headers)

    def token_for(self, user: str, password: str) -> bytes:
        token = super().token_for(user, password)
        self._known.add(self.peer)
        return token


@variation("flight-handshake.answers-at-the-end", FLIGHT_PROTO)
class AnswersAtTheEnd(FlightService):
    """A Handshake is answered when the client has said everything."""

    def handshake(self, requests: Iterator[bytes]) -> Messages:
        yield from super().handshake(iter([*requests]))


@variation("flight-handshake.of-two-rounds", FLIGHT_PROTO)
class OfTwoRounds(FlightService):
    """Without a login, a Handshake of several rounds ends after the second one."""

    def handshake(self, requests: Iterator[bytes]) -> Messages:
        for number_of, answer in enumerate(super().handshake(requests)):
            yield answer
            if self.login is None and number_of == 1:
                return
