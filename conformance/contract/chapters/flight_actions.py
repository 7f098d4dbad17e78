"""The actions that Flight itself defines: cancelling an info, and renewing an endpoint."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Final

from conformance.contain.text import many
from conformance.contract.clause import FLIGHT, Role, Violation, clause
from conformance.contract.flight.actions import result_body
from conformance.contract.flight.decoding import message_of, read_endpoint
from conformance.contract.flight.subjects import about
from conformance.contract.flight.view import FlightCall, FlightView
from conformance.contract.sources import FLIGHT_PAGE, FLIGHT_PROTO
from conformance.records import DoAction, Level, Step

_clause = functools.partial(clause, source=(FLIGHT_PROTO, FLIGHT_PAGE), profiles=FLIGHT, role=Role.APPLICATION)

_STATUSES: Final = {1: "CANCELLED", 2: "CANCELLING", 3: "NOT_CANCELLABLE"}


def _served(kind: str) -> Callable[[FlightView], list[FlightCall]]:
    def select(view: FlightView) -> list[FlightCall]:
        return [call for call in view.flight_calls if call.ok and _is(call.step, kind)]

    return select


def _is(step: Step, kind: str) -> bool:
    """True for an action of that type on something that the server gave out."""
    return isinstance(step, DoAction) and step.type == kind and bool(step.info)


@_clause(
    "flight-actions.cancel-says-what-happened",
    over=about(_served("CancelFlightInfo")),
    level=Level.SHOULD,
    breaks="clients that ask again until the query is cancelled",
)
def cancel_says_what_happened(call: FlightCall) -> Iterator[Violation]:
    """CancelFlightInfo that ends in OK has one result: CANCELLED, CANCELLING or NOT_CANCELLABLE.

    Flight.proto, on UNSPECIFIED: "Servers should avoid using this value (send a NOT_FOUND error if the requested query
    is not known)."
    """
    body = result_body(call)
    result = None if body is None else message_of("CancelFlightInfoResult", body)
    wanted = f"one result with the status {', '.join(_STATUSES.values())}"
    if body is None:
        yield Violation(wanted, many(len(call.raw.responses), "message"))
    elif result is None:
        yield Violation(wanted, f"{many(len(body), 'byte')} that are no message")
    elif result.number("status") not in _STATUSES:
        yield Violation(wanted, f"the status {result.number('status')}")


@_clause(
    "flight-actions.renewed-is-an-endpoint",
    over=about(_served("RenewFlightEndpoint")),
    level=Level.SHOULD,
    breaks="clients that wait for the new time before they read",
)
def renewed_is_an_endpoint(call: FlightCall) -> Iterator[Violation]:
    """RenewFlightEndpoint that ends in OK has one result: an endpoint with its expiration time.

    The page: a client "may be able to extend the expiration time by RenewFlightEndpoint action".
    """
    body = result_body(call)
    endpoint = None if body is None else read_endpoint(body)
    if endpoint is None or endpoint.expires is None:
        observed = many(len(call.raw.responses), "message") if endpoint is None else "an endpoint without that time"
        yield Violation("one FlightEndpoint with an expiration_time", observed)
