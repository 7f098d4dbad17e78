"""Legal variations of sessions, logins, locations, expiration, actions and polling.

As in :mod:`.variations`, each names the text that permits it; :mod:`.datafreedoms` has those of rows and their streams.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from grpc import StatusCode

from conformance.protocols.flight.contract.encoding import descriptor, double, number, part, text
from conformance.protocols.flight.contract.sources import FLIGHT_PAGE, FLIGHT_PROTO
from conformance.protocols.flight.records import Descriptor
from conformance.protocols.flight.reference.expiring import Expiring
from conformance.protocols.flight.reference.infos import POLLED
from conformance.protocols.flight.reference.register import variation
from conformance.protocols.flight.reference.service import FlightService, Messages
from conformance.protocols.flight.reference.sessions import CLOSE, GET, SET, Options
from conformance.protocols.flight.reference.store import Flight, Store
from conformance.reference.statuses import Refusal
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


@variation("flight-expiry.at-the-end-of-time", FLIGHT_PAGE)
class AtTheEndOfTime(Expiring):
    """An endpoint expires at the last instant of a Timestamp, and a renewed one at the same."""

    def expiry(self) -> bytes:
        return number(1, 253_402_300_799) + number(2, 999_999_999)


@variation("flight-expiry.now", FLIGHT_PAGE)
class Now(Expiring):
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


@variation("flight-location.two-places", FLIGHT_PROTO)
class TwoPlaces(FlightService):
    """An endpoint names the connection of its info, and the server's own address."""

    def endpoint(self, ticket: bytes) -> bytes:
        places = ("arrow-flight-reuse-connection://?", self.here)
        return super().endpoint(ticket) + b"".join(part(2, text(1, uri)) for uri in places)


@variation("flight-expiry.over-at-once", FLIGHT_PAGE)
class OverAtOnce(Expiring):
    """The clock of the server is half a minute slow; an endpoint has expired before it is read, and is refused."""

    def expiry(self) -> bytes:
        return number(1, int(self.clock()) - 30)

    def do_get(self, requests: Iterator[bytes]) -> Messages:
        ticket = bytes(self.decode("Ticket", self.the_one(requests)).data("ticket"))
        return self.refuse(StatusCode.NOT_FOUND, f"no ticket {ticket!r}, or it has expired")


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
