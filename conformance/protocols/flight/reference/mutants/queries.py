"""Mutants of polling, cancelling and renewing."""

from __future__ import annotations

from collections.abc import Iterator

from grpc import StatusCode

from conformance.protocols.flight.contract.decoding import read_info
from conformance.protocols.flight.contract.encoding import double, number
from conformance.protocols.flight.reference.infos import POLLED
from conformance.protocols.flight.reference.register import mutant
from conformance.protocols.flight.reference.service import FlightService, Messages
from conformance.protocols.flight.reference.store import Flight, Store


@mutant("flight-poll.progress-in-percent", kills="flight-poll.progress-from-0-to-1")
class ProgressInPercent(FlightService):
    """The progress of a query is given in percent."""

    def poll(self, flight: Flight, *, ended: bool) -> bytes:
        return super().poll(flight, ended=ended) + double(3, 50.0)


@mutant("flight-poll.other-endpoints", kills="flight-poll.endpoints-are-appended")
class OtherEndpoints(FlightService):
    """Each PollInfo has another ticket in the place of the first."""

    def polled_info(self, flight: Flight) -> bytes:
        return self.info(flight)


@mutant("flight-poll.ended-without-info", kills="flight-poll.ended-has-an-info")
class EndedWithoutInfo(FlightService):
    """The last PollInfo of a query has no info."""

    def poll(self, flight: Flight, *, ended: bool) -> bytes:
        return double(3, 1.0) if ended else super().poll(flight, ended=ended)


@mutant("flight-actions.cancel-unspecified", kills="flight-actions.cancel-says-what-happened")
class CancelUnspecified(FlightService):
    """CancelFlightInfo answers with the status UNSPECIFIED."""

    def cancel(self, body: bytes) -> bytes:
        super().cancel(body)
        return number(1, 0)


@mutant(
    "flight-actions.cancel-in-words",
    kills=("flight-actions.cancel-says-what-happened", "flight-actions.results-decode"),
)
class CancelInWords(FlightService):
    """CancelFlightInfo answers with a text in the place of a result."""

    def cancel(self, body: bytes) -> bytes:
        super().cancel(body)
        return b"cancelled"


@mutant("flight-actions.renewed-without-time", kills="flight-actions.renewed-is-an-endpoint")
class RenewedWithoutTime(FlightService):
    """A renewed endpoint has no expiration time."""

    def renew(self, body: bytes) -> bytes:
        super().renew(body)
        return self.endpoint(b"renewed")


@mutant("flight-poll.forgets-at-once", kills="flight-poll.descriptor-is-known-until-then")
class ForgetsAtOnce(FlightService):
    """The descriptor of a query that runs is unknown when it is asked with."""

    def poll_flight_info(self, requests: Iterator[bytes]) -> Messages:
        request = self.the_one(requests)
        if bytes(self.decode("FlightDescriptor", request).data("cmd")).startswith(POLLED):
            self.refuse(StatusCode.NOT_FOUND, "no such query")
        return super().poll_flight_info(iter([request]))


@mutant("flight-poll.cancelled-runs-on", kills="flight-poll.cancelled-has-ended")
class CancelledRunsOn(FlightService):
    """A query that was cancelled runs for ever."""

    def forgotten(self, flight: Flight) -> None:
        self._ended.append(flight.descriptor)

    def __init__(self, store: Store | None = None) -> None:
        super().__init__(store)
        self._ended: list[bytes] = []

    def poll(self, flight: Flight, *, ended: bool) -> bytes:
        return super().poll(flight, ended=ended and flight.descriptor not in self._ended)


@mutant("flight-poll.tickets-of-later", kills="flight-info.tickets-are-redeemed")
class TicketsOfLater(FlightService):
    """The tickets in the info of a query that runs are valid when it has ended."""

    def __init__(self, store: Store | None = None) -> None:
        super().__init__(store)
        self._running: set[bytes] = set()

    def poll(self, flight: Flight, *, ended: bool) -> bytes:
        info = read_info(self.polled_info(flight))
        tickets = {one.ticket or b"" for one in info.endpoints} if info is not None else set()
        if ended:
            self._running -= tickets
        else:
            self._running |= tickets
        return super().poll(flight, ended=ended)

    def do_get(self, requests: Iterator[bytes]) -> Messages:
        request = self.the_one(requests)
        if bytes(self.decode("Ticket", request).data("ticket")) in self._running:
            self.refuse(StatusCode.NOT_FOUND, "the query runs")
        return super().do_get(iter([request]))
