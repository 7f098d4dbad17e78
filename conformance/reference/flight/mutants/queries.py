"""Mutants of polling, cancelling and renewing."""

from __future__ import annotations

from conformance.contract.flight.encoding import double, number
from conformance.reference.flight.register import mutant
from conformance.reference.flight.service import FlightService
from conformance.reference.flight.store import Flight


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
