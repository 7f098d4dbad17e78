"""Mutants of the actions that Flight itself defines: the list of them, and cancelling."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from grpc import StatusCode

from conformance.protocols.flight.contract.encoding import number, part, text
from conformance.protocols.flight.reference.actions import CANCEL, RENEW
from conformance.protocols.flight.reference.register import mutant
from conformance.protocols.flight.reference.service import FlightService, Messages
from conformance.reference.statuses import Refusal


@mutant("flight-actions.listed-alone", kills="flight-actions.listed-is-served")
class ListedAlone(FlightService):
    """RenewFlightEndpoint is listed and not implemented."""

    def renew(self, body: bytes) -> bytes:
        return self.refuse(StatusCode.UNIMPLEMENTED, "not implemented")


@mutant("flight-actions.hidden", kills="flight-actions.served-is-listed")
class Hidden(FlightService):
    """CancelFlightInfo is served and not listed."""

    def list_actions(self, requests: Iterator[bytes]) -> Messages:
        return (one for one in super().list_actions(requests) if not one.startswith(text(1, CANCEL)))


@mutant("flight-actions.no-list", kills="flight-actions.served-is-listed")
class NoList(FlightService):
    """The list of actions is empty."""

    def list_actions(self, requests: Iterator[bytes]) -> Messages:
        list(super().list_actions(requests))
        return ()


class _Cancelling(FlightService):
    """A service that answers in another way to an info whose tickets it does not know."""

    status = 0

    def cancel(self, body: bytes) -> bytes:
        try:
            return super().cancel(body)
        except Refusal as refusal:
            if refusal.code is not StatusCode.NOT_FOUND:
                raise
            return self.unknown()

    def unknown(self) -> bytes:
        """The result for an info that is not known."""
        return number(1, self.status)


@mutant("flight-actions.cancels-anything", kills="flight-actions.unknown-query-is-not-cancelled")
class CancelsAnything(_Cancelling):
    """An info that the server did not give out is CANCELLED."""

    status = 1


@mutant(
    "flight-actions.cancelling-for-ever",
    kills=("flight-actions.cancelled-stays-so", "flight-actions.unknown-query-is-not-cancelled"),
)
class CancellingForEver(_Cancelling):
    """What is not known, or not known any more, is CANCELLING."""

    status = 2


@mutant("flight-actions.cancelled-is-not-cancellable", kills="flight-actions.cancelled-stays-so")
class CancelledIsNotCancellable(_Cancelling):
    """What was CANCELLED is NOT_CANCELLABLE when it is cancelled again."""

    status = 3


@mutant("flight-actions.cancelled-is-unavailable", kills="flight-actions.cancelled-stays-so")
class CancelledIsUnavailable(_Cancelling):
    """What was CANCELLED ends in UNAVAILABLE when it is cancelled again."""

    def unknown(self) -> bytes:
        raise Refusal(StatusCode.UNAVAILABLE, "the query is gone")


@mutant("flight-actions.renews-anything", kills="flight-actions.unknown-endpoint-is-not-renewed")
class RenewsAnything(FlightService):
    """An endpoint that the server did not give out is renewed."""

    @property
    def actions(self) -> Mapping[str, tuple[str, Callable[[bytes], bytes]]]:
        return {**super().actions, RENEW: ("Renew an endpoint.", self._renew_anything)}

    def _renew_anything(self, body: bytes) -> bytes:
        try:
            return self.renew(body)
        except Refusal as refusal:
            if refusal.code is not StatusCode.NOT_FOUND:
                raise
            return self.endpoint(b"anything") + part(3, self.expiry())


@mutant("flight-actions.two-results", kills="flight-actions.cancel-says-what-happened")
class TwoResults(FlightService):
    """CancelFlightInfo answers twice."""

    def do_action(self, requests: Iterator[bytes]) -> Messages:
        request = self.the_one(requests)
        found = list(super().do_action(iter([request])))
        return found * 2 if self.decode("Action", request).text("type") == CANCEL else found


@mutant(
    "flight-actions.renewed-in-words",
    kills="flight-actions.results-decode",
    also={
        "flight-actions.renewed-is-an-endpoint": "it is none",
    },
)
class RenewedInWords(FlightService):
    """RenewFlightEndpoint answers with a text in the place of an endpoint."""

    def renew(self, body: bytes) -> bytes:
        super().renew(body)
        return b"renewed"


@mutant("flight-actions.undecodable-is-empty", kills="flight-errors.undecodable-is-refused")
class UndecodableOptions(FlightService):
    """The body of an action that is no message sets no options, and ends in OK."""

    def set_options(self, body: bytes) -> bytes:
        try:
            return super().set_options(body)
        except Refusal:
            return b""
