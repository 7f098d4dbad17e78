"""How a Flight server refuses: with a code of the table of Flight, with a message, and never with OK."""

from __future__ import annotations

import functools
from collections.abc import Iterator

from conformance.contain.text import many
from conformance.contract.clause import Role, Violation, clause
from conformance.contract.sources import ERROR_GUIDE, PROTOBUF, STATUS_CODES, Inferred
from conformance.protocols.flight.contract import FLIGHT
from conformance.protocols.flight.contract.sources import FLIGHT_PAGE, FLIGHT_PROTO
from conformance.protocols.flight.contract.subjects import CODES, LARGE, REFUSALS, about, asked_for, refusals
from conformance.protocols.flight.contract.view import FlightCall
from conformance.records import Level

_clause = functools.partial(clause, profiles=FLIGHT, role=Role.APPLICATION)

EXHAUSTED = "RESOURCE_EXHAUSTED"
UNKNOWN = ("unknown-flight", "unknown-ticket", "unknown-action")
"""The reasons of requests for something that there is not."""


def _answered(call: FlightCall, what: str) -> Iterator[Violation]:
    if call.ok:
        yield Violation(f"a status other than OK for {what}", f"OK after {many(len(call.raw.responses), 'message')}")


@_clause("flight-errors.code-of-the-table", over=refusals, source=FLIGHT_PAGE, level=Level.SHOULD)
def code_of_the_table(call: FlightCall) -> Iterator[Violation]:
    """A status other than OK is one to which an error code of Flight belongs.

    The page: "Arrow Flight defines its own set of error codes." Libraries map other gRPC statuses in different ways. A
    message that is too large for the gRPC library is refused with RESOURCE_EXHAUSTED before Flight sees it.
    """
    if call.raw.status not in CODES and not (call.raw.status == EXHAUSTED and call.step.expect.reason == LARGE):
        yield Violation(f"one of {', '.join(sorted(CODES))}", call.raw.status)


@_clause(
    "flight-errors.code-of-an-unknown-thing",
    over=about(lambda view: [call for call in asked_for(*UNKNOWN)(view) if not call.ok]),
    source=FLIGHT_PAGE,
    level=Level.SHOULD,
    breaks="clients that ask again after an error of the server",
)
def code_of_an_unknown_thing(call: FlightCall) -> Iterator[Violation]:
    """A request for a flight, a ticket or an action that there is not is refused as an error of the client.

    The page, NOT_FOUND: "The requested resource (action, data stream) was not found." INVALID_ARGUMENT, UNIMPLEMENTED,
    UNAUTHENTICATED and PERMISSION_DENIED are permitted here as well: servers refuse so before they look.
    """
    if call.raw.status not in REFUSALS:
        yield Violation(f"one of {', '.join(sorted(REFUSALS))}", f"{call.raw.status}: {call.raw.details}")


@_clause("flight-errors.message-says-something", over=refusals, source=ERROR_GUIDE, level=Level.MAY)
def message_says_something(call: FlightCall) -> Iterator[Violation]:
    """A refusal has a message for people: a bare code does not show them what was wrong."""
    if not call.raw.details.strip():
        yield Violation("a message", f"no message with the status {call.raw.status!r}")


@_clause(
    "flight-errors.unknown-ticket-is-refused",
    over=about(asked_for("unknown-ticket")),
    source=(FLIGHT_PAGE, Inferred(FLIGHT_PROTO)),
    breaks="every client with a ticket that has expired: it takes the answer for the data",
)
def unknown_ticket_is_refused(call: FlightCall) -> Iterator[Violation]:
    """A ticket that the server did not give out does not end in OK: an empty stream would look like an empty flight.

    The page, NOT_FOUND: "The requested resource (action, data stream) was not found." Flight.proto, Ticket: "An opaque
    identifier that the service can use to retrieve a particular portion of a stream."
    """
    yield from _answered(call, "a ticket that was not given out")


@_clause(
    "flight-errors.unknown-flight-is-refused",
    over=about(asked_for("unknown-flight")),
    source=FLIGHT_PAGE,
    level=Level.SHOULD,
)
def unknown_flight_is_refused(call: FlightCall) -> Iterator[Violation]:
    """A descriptor that names nothing does not end in OK.

    The page, NOT_FOUND: "The requested resource (action, data stream) was not found." It is no MUST, because a
    service may make a flight for any descriptor.
    """
    yield from _answered(call, "a descriptor that names nothing")


@_clause(
    "flight-errors.unknown-action-is-refused",
    over=about(asked_for("unknown-action")),
    source=(FLIGHT_PAGE, FLIGHT_PROTO),
    level=Level.SHOULD,
)
def unknown_action_is_refused(call: FlightCall) -> Iterator[Violation]:
    """An action that nobody knows does not end in OK.

    The page, NOT_FOUND: "The requested resource (action, data stream) was not found." Flight.proto, ListActions: "A
    flight service exposes all of the available action types that it has along with descriptions."
    """
    yield from _answered(call, "an action that nobody knows")


@clause(
    "flight-errors.undecodable-is-refused",
    over=about(asked_for("undecodable")),
    source=(STATUS_CODES, Inferred(PROTOBUF)),
    level=Level.SHOULD,
    profiles=FLIGHT,
    role=Role.LIBRARY,
)
def undecodable_is_refused(call: FlightCall) -> Iterator[Violation]:
    """A request that is no protobuf message does not end in OK: whatever is answered was not asked for.

    The status codes of gRPC: "Error parsing request proto" is INTERNAL. Other statuses are permitted here as well.
    """
    yield from _answered(call, "bytes that are no message")
