"""The methods of a Flight service: how many messages an answer has, and whether they can be read at all."""

from __future__ import annotations

from collections.abc import Iterator

from conformance.contain.text import many
from conformance.contract.clause import FLIGHT, Role, Violation, clause
from conformance.contract.flight.decoding import message_of
from conformance.contract.flight.subjects import answered_calls, of_method
from conformance.contract.flight.view import FlightCall
from conformance.contract.sources import FLIGHT_PROTO, GRPC, PROTOBUF
from conformance.records import FlightMethod, Level
from conformance.wire.flight import FLIGHT as FLIGHT_MESSAGES
from conformance.wire.flight import METHODS
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
