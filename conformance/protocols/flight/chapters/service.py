"""The methods of a Flight service: how many messages an answer has, and whether they can be read at all."""

from __future__ import annotations

import functools
from collections.abc import Iterator

from conformance.contain.text import many
from conformance.contract.clause import Role, Violation, clause
from conformance.contract.sources import GRPC, GRPC_CANCELLATION, PROTOBUF, Inferred
from conformance.contract.subjects import after_abandoned
from conformance.protocols.flight.contract import FLIGHT
from conformance.protocols.flight.contract.decoding import message_of
from conformance.protocols.flight.contract.sources import FLIGHT_PROTO
from conformance.protocols.flight.contract.subjects import about, answered_calls, of_method
from conformance.protocols.flight.contract.view import FlightCall, FlightView
from conformance.protocols.flight.records import FlightMethod
from conformance.protocols.flight.wire.messages import FLIGHT as FLIGHT_MESSAGES
from conformance.protocols.flight.wire.messages import METHODS
from conformance.records import CallEnd, Level
from conformance.wire.protobuf import read_protobuf


@clause(
    "flight-service.one-answer",
    over=of_method(FlightMethod.GET_FLIGHT_INFO, FlightMethod.GET_SCHEMA, FlightMethod.POLL_FLIGHT_INFO),
    source=(FLIGHT_PROTO, GRPC),
    breaks="every client: gRPC gives it no answer, or one of several",
    profiles=FLIGHT,
    role=Role.LIBRARY,
)
def one_answer(call: FlightCall) -> Iterator[Violation]:
    """GetFlightInfo, GetSchema and PollFlightInfo answer with one message each.

    Flight.proto: "rpc GetFlightInfo(FlightDescriptor) returns (FlightInfo) {}", and the same form for the other two.
    """
    if len(call.raw.responses) != 1:
        yield Violation("one message before the status OK", many(len(call.raw.responses), "message"))


@clause(
    "flight-service.answers-decode",
    over=answered_calls,
    source=(PROTOBUF, FLIGHT_PROTO),
    breaks="every client: its protobuf library refuses the message",
    profiles=FLIGHT,
    role=Role.LIBRARY,
)
def answers_decode(call: FlightCall) -> Iterator[Violation]:
    """Every message of an answer is of the type that the method declares, and so are the messages in its fields.

    Unknown fields and any order of fields are permitted.
    """
    spec = FLIGHT_MESSAGES[METHODS[call.raw.method].response]
    for at, data in enumerate(call.raw.responses):
        for fault in read_protobuf(data, spec).violations[:1]:
            yield Violation(fault.required, fault.observed, fault.path, start=fault.start, end=fault.end, response=at)


@clause(
    "flight-service.actions-have-names",
    over=of_method(FlightMethod.LIST_ACTIONS),
    source=FLIGHT_PROTO,
    level=Level.SHOULD,
    profiles=FLIGHT,
    role=Role.APPLICATION,
)
def actions_have_names(call: FlightCall) -> Iterator[Violation]:
    """Each action that is listed has a name of its own.

    Flight.proto, ActionType: "the name used for execution along with a short description of the purpose of the action".
    """
    seen: set[str] = set()
    for at, data in enumerate(call.raw.responses):
        listed = message_of("ActionType", data)
        if listed is None:
            continue
        name = listed.text("type")
        if not name or name in seen:
            yield Violation("the name of another action", repr(name), response=at)
        seen.add(name)


_ASKING = frozenset({FlightMethod.LIST_ACTIONS, FlightMethod.LIST_FLIGHTS, FlightMethod.GET_FLIGHT_INFO})
"""Methods that change nothing: the same request may be made again."""


@about
def _asked_again(view: FlightView) -> list[FlightCall]:
    """Return the calls whose request ended in OK before a client gave a call up, with no other change between."""
    found: list[FlightCall] = []
    served: dict[tuple[str, bytes], bool] = {}
    for call in view.flight_calls:
        key = (call.raw.method, call.raw.request)
        if call.raw.method in _ASKING:
            if call.answered and served.get(key):
                found.append(call)
            elif call.ok:
                served.setdefault(key, False)
        elif call.raw.end is CallEnd.CANCELLED:
            served = dict.fromkeys(served, True)
        elif call.raw.method not in (FlightMethod.DO_GET, FlightMethod.HANDSHAKE):
            served.clear()  # it may have changed what is served
    return found


@clause(
    "flight-service.serves-on",
    over=_asked_again,
    source=(GRPC_CANCELLATION, Inferred(FLIGHT_PROTO)),
    level=Level.SHOULD,
    breaks="every other client of the server: one that gives up a call takes the service from it",
    profiles=FLIGHT,
    role=Role.LIBRARY,
)
def serves_on(call: FlightCall) -> Iterator[Violation]:
    """A request that was served before a client gave up another call is served after it.

    The guide of gRPC on cancellation: a cancelled call ends, and the server is to stop the work for it. It says nothing
    of other calls: they do not depend on it.
    """
    if not call.ok:
        yield Violation("status OK, as before a client gave up a call", f"{call.raw.status}: {call.raw.details}")


_AFTER = functools.partial(
    clause,
    over=about(lambda view: [call for call in view.flight_calls if after_abandoned(call)]),
    source=(GRPC, Inferred(GRPC_CANCELLATION)),
    breaks="every other client of the server: one that gives up a call takes the service from it",
    profiles=FLIGHT,
    role=Role.LIBRARY,
)


@_AFTER("flight-service.later-calls-end")
def later_calls_end(call: FlightCall) -> Iterator[Violation]:
    """After a client gave a call up, every call ends within its deadline: no thread, slot or lock stays occupied.

    The protocol of gRPC: each call ends with trailers that have a status. The guide on cancellation: a server stops
    the work for a call that was cancelled.
    """
    if call.raw.end is CallEnd.DEADLINE:
        yield Violation("a status", f"no status by the deadline, after {many(len(call.raw.responses), 'response')}")


@_AFTER("flight-service.lives-on")
def lives_on(call: FlightCall) -> Iterator[Violation]:
    """After a client gave a call up, the server still runs, and so does the connection.

    The protocol of gRPC: each call ends with trailers that have a status. A call that was cancelled is over; the others
    on its connection are not.
    """
    if call.raw.end is CallEnd.CRASH:
        yield Violation("a status", f"the server died or hung up: {call.raw.details}")
