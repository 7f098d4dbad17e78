"""The actions that Flight itself defines: cancelling an info, renewing an endpoint, those of sessions.

What one of them says, what is listed against what is served, and what cancelling twice says.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping
from typing import Final

from conformance.contain.text import many
from conformance.contract.clause import Role, Violation, clause
from conformance.protocols.flight.contract import FLIGHT
from conformance.protocols.flight.contract.actions import result_body
from conformance.protocols.flight.contract.decoding import message_of, read_endpoint
from conformance.protocols.flight.contract.sources import FLIGHT_PAGE, FLIGHT_PROTO
from conformance.protocols.flight.contract.subjects import about, asked_for
from conformance.protocols.flight.contract.view import FlightCall, FlightView
from conformance.protocols.flight.records import DoAction, FlightMethod
from conformance.protocols.flight.wire.messages import CANCEL, CLOSE_SESSION, GET_OPTIONS, RENEW, SET_OPTIONS
from conformance.protocols.flight.wire.messages import FLIGHT as FLIGHT_MESSAGES
from conformance.records import Level, Step
from conformance.wire.protobuf import read_protobuf

_clause = functools.partial(clause, source=(FLIGHT_PROTO, FLIGHT_PAGE), profiles=FLIGHT, role=Role.APPLICATION)

_predefined_clause = functools.partial(clause, source=FLIGHT_PROTO, profiles=FLIGHT, role=Role.APPLICATION)

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
    over=about(_served(CANCEL)),
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
    over=about(_served(RENEW)),
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


_CANCELLED: Final = 1
RESULTS: Final[Mapping[str, str]] = {
    CANCEL: "CancelFlightInfoResult",
    RENEW: "FlightEndpoint",
    SET_OPTIONS: "SetSessionOptionsResult",
    GET_OPTIONS: "GetSessionOptionsResult",
    CLOSE_SESSION: "CloseSessionResult",
}
"""The messages in the results of the actions that Flight itself defines."""


def _type(call: FlightCall) -> str:
    return call.step.type if isinstance(call.step, DoAction) else ""


def _predefined(view: FlightView) -> list[FlightCall]:
    return [call for call in view.flight_calls if call.answered and _type(call) in RESULTS]


def _listed(view: FlightView) -> frozenset[str] | None:
    """The names of the actions that the server lists; None if it was not asked, or does not say."""
    for call in view.flight_calls:
        if call.raw.method == FlightMethod.LIST_ACTIONS and call.ok:
            found = [message_of("ActionType", data) for data in call.raw.responses]
            return None if None in found else frozenset(one.text("type") for one in found if one is not None)
    return None


@about
def _of_the_list(view: FlightView) -> list[FlightCall]:
    names = _listed(view)
    return [] if names is None else [call for call in _predefined(view) if _type(call) in names]


@about
def _beside_the_list(view: FlightView) -> list[FlightCall]:
    names = _listed(view)
    return [] if names is None else [call for call in _predefined(view) if call.ok]


_EXPOSES: Final = (
    'Flight.proto, ListActions: "A flight service exposes all of the available action types that it has along with'
    ' descriptions. This allows different flight consumers to understand the capabilities of the flight service."'
)


@_predefined_clause(
    "flight-actions.listed-is-served",
    over=_of_the_list,
    level=Level.SHOULD,
    breaks="clients that look at the list first",
    says=f"An action that is listed is not UNIMPLEMENTED.\n\n{_EXPOSES}",
)
def _listed_is_served(call: FlightCall) -> Iterator[Violation]:
    if call.raw.status == "UNIMPLEMENTED":
        yield Violation(f"{_type(call)}, which is listed", f"UNIMPLEMENTED: {call.raw.details}")


@_predefined_clause(
    "flight-actions.served-is-listed",
    over=_beside_the_list,
    level=Level.SHOULD,
    breaks="clients that look at the list first",
    says=f"An action that ends in OK is listed.\n\n{_EXPOSES}",
)
def _served_is_listed(call: FlightCall) -> Iterator[Violation]:
    names = _listed(call.view) or frozenset()
    if _type(call) not in names:
        listed = f": {', '.join(sorted(names))}" if names else ""
        yield Violation(f"{_type(call)!r} in the list", f"{many(len(names), 'action')}{listed}")


@clause(
    "flight-actions.results-decode",
    over=about(lambda view: [call for call in _predefined(view) if call.ok]),
    source=FLIGHT_PROTO,
    breaks="every client that calls the action by its library: the library cannot read the result",
    profiles=FLIGHT,
    role=Role.LIBRARY,
)
def results_decode(call: FlightCall) -> Iterator[Violation]:
    """The body of the result of a predefined action is the message that Flight defines for it.

    Flight.proto, CancelFlightInfoResult: "The result should be stored in Result.body." A library reads nothing else.
    """
    body = result_body(call)
    if body is None:
        return
    for fault in read_protobuf(body, FLIGHT_MESSAGES[RESULTS[_type(call)]]).violations[:1]:
        # The path names the message: one fault in the results of all actions is one class of failures.
        yield Violation(fault.required, fault.observed, fault.path, response=0)


def _status(call: FlightCall) -> int | None:
    body = result_body(call) if call.ok else None
    result = None if body is None else message_of("CancelFlightInfoResult", body)
    return None if result is None else result.number("status")


@about
def _cancelled_again(view: FlightView) -> list[FlightCall]:
    """Return the answers to a cancellation of what was CANCELLED before, by the same payload."""
    found: list[FlightCall] = []
    done: set[bytes] = set()
    for call in view.flight_calls:
        if _type(call) == CANCEL and call.answered:
            if call.raw.request in done:
                found.append(call)
            if _status(call) == _CANCELLED:
                done.add(call.raw.request)
    return found


@_predefined_clause("flight-actions.cancelled-stays-so", over=_cancelled_again, level=Level.SHOULD)
def cancelled_stays_so(call: FlightCall) -> Iterator[Violation]:
    """What was CANCELLED is CANCELLED or NOT_FOUND when it is cancelled again.

    Flight.proto, on CANCELLED: "Subsequent requests with the same payload may return CANCELLED or a NOT_FOUND error."
    """
    status = _status(call)
    if status is not None and status != _CANCELLED:
        yield Violation("CANCELLED, or an error such as NOT_FOUND", f"the status {status}", response=0)
    elif not call.ok and call.raw.status != "NOT_FOUND":
        yield Violation("CANCELLED, or NOT_FOUND", f"{call.raw.status}: {call.raw.details}")


@_predefined_clause(
    "flight-actions.unknown-query-is-not-cancelled", over=about(asked_for("unknown-query")), level=Level.SHOULD
)
def unknown_query_is_not_cancelled(call: FlightCall) -> Iterator[Violation]:
    """An info that the server did not give out is not CANCELLED.

    Flight.proto: "send a NOT_FOUND error if the requested query is not known". NOT_CANCELLABLE is permitted here as
    well, because it says that nothing was cancelled.
    """
    status = _status(call)
    if status is not None and status != _NOT_CANCELLABLE:
        yield Violation("NOT_FOUND, or that nothing was cancelled", f"the status {status}", response=0)


_NOT_CANCELLABLE: Final = 3


@clause(
    "flight-actions.unknown-endpoint-is-not-renewed",
    over=about(asked_for("unknown-endpoint")),
    source=FLIGHT_PAGE,
    level=Level.SHOULD,
    profiles=FLIGHT,
    role=Role.APPLICATION,
)
def unknown_endpoint_is_not_renewed(call: FlightCall) -> Iterator[Violation]:
    """An endpoint whose ticket the server did not give out is not renewed.

    The page, NOT_FOUND: "The requested resource (action, data stream) was not found."
    """
    if call.ok:
        yield Violation("a status other than OK for a ticket that was not given out", "OK")
