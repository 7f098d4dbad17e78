"""The scenarios of actions: endpoints that expire, and the options of a session.

Source: https://github.com/apache/arrow/blob/main/cpp/src/arrow/flight/integration_tests/test_integration.cc.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
from typing import Final

import pyarrow as pa

from conformance.protocols.flight.contract.decoding import message_of, read_endpoint
from conformance.protocols.flight.contract.encoding import double, part, text, varint
from conformance.protocols.flight.contract.scenarios.form import ANY_ERROR, Answers, Unlike, register
from conformance.protocols.flight.contract.scenarios.plain import concatenated
from conformance.protocols.flight.records import Descriptor, DoAction, DoGet, GetFlightInfo, ListActions
from conformance.protocols.flight.wire.messages import CANCEL, CLOSE_SESSION, GET_OPTIONS, RENEW, SET_OPTIONS
from conformance.wire.protobufmessages import ProtoMessage

__all__ = ["OPTIONS"]

_EXPIRING: Final = GetFlightInfo(Descriptor(cmd=b"expiration_time"))
_NUMBERS: Final = pa.schema([pa.field("number", pa.uint32())])
_CANCELLED: Final = 1


@register("expiration_time:do_get", "Endpoints with and without a lifetime are read once each", _EXPIRING, DoGet())
def do_get(answers: Answers) -> Iterator[Unlike]:
    """The first endpoint has no expiration time, the two others have one, and together they have three rows."""
    for index, info in answers.infos(0):
        found = [endpoint.expires is not None for endpoint in info.endpoints]
        if found != [False, True, True]:
            yield Unlike("expiration times of the second and the third of three endpoints", f"{found}", index)
        for endpoint in info.endpoints:
            if endpoint.locations:
                yield Unlike("endpoints without locations", f"a location {endpoint.locations[0]!r}", index)
    yield from concatenated(answers, 1, _NUMBERS, [0, 1, 2])


@register("expiration_time:list_actions", "Two actions are listed", ListActions())
def list_actions(answers: Answers) -> Iterator[Unlike]:
    """They are those that cancel and renew, and there are no others."""
    wanted = [CANCEL, RENEW]
    for index, call in answers.of(0):
        kinds = [message_of("ActionType", answer) for answer in call.responses]
        found = sorted("" if one is None else one.text("type") for one in kinds)
        if found != wanted:
            yield Unlike(f"the actions {wanted}", f"{found}", index)


@register(
    "expiration_time:cancel_flight_info",
    "A cancelled info is not read",
    _EXPIRING,
    DoAction(CANCEL, info="i"),
    DoGet(expect=ANY_ERROR),
)
def cancel(answers: Answers) -> Iterator[Unlike]:
    """The status is CANCELLED, and every DoGet fails."""
    for index, results in answers.results(1):
        found = message_of("CancelFlightInfoResult", results[0]) if len(results) == 1 else None
        if found is None or found.number("status") != _CANCELLED:
            yield Unlike("CANCELLED", "no result" if found is None else f"the status {found.number('status')}", index)


@register(
    "expiration_time:renew_flight_endpoint",
    "Endpoints are renewed",
    _EXPIRING,
    DoAction(RENEW, info="i", endpoint="1"),
    DoAction(RENEW, info="i", endpoint="2"),
)
def renew(answers: Answers) -> Iterator[Unlike]:
    """A renewed endpoint expires later than before."""
    endpoints = [endpoint for _, info in answers.infos(0) for endpoint in info.endpoints]
    for step in (1, 2):
        for index, results in answers.results(step):
            before = endpoints[step]
            after = read_endpoint(results[0]) if len(results) == 1 else None
            if after is None or after.expires is None:
                yield Unlike("an endpoint with an expiration time", "none", index)
            elif (after.expires, after.nanos) <= (before.expires or 0, before.nanos):
                said = f"{after.expires}.{after.nanos:09} s"
                yield Unlike(f"a time after {before.expires}.{before.nanos:09} s", said, index)


def _option(name: str, value: bytes) -> bytes:
    return part(1, text(1, name) + part(2, value))


def _fixed64(field: int, value: int) -> bytes:
    return varint(field << 3 | 1) + struct.pack("<q", value)


OPTIONS: Final[Mapping[str, bytes]] = {
    "foolong": _fixed64(3, 123),
    "bardouble": double(4, 456.0),
    "big_ol_string_list": part(
        5, b"".join(text(1, one) for one in ("a", "b", "sea", "dee", " ", "  ", "geee", "(づ｡◕‿‿◕｡)づ"))
    ),
}
"""The options that the server accepts, as SessionOptionValues."""
_REFUSED: Final = {
    "lol_invalid": (text(1, "this won't get set"), 1),
    "key_with_invalid_value": (text(1, "lol_invalid"), 2),
}
_CLOSED: Final = 1
_SET: Final = b"".join(
    _option(name, value) for name, value in (*OPTIONS.items(), *((name, one) for name, (one, _) in _REFUSED.items()))
)


@register(
    "session_options",
    "Options of a session are set, read back, cleared and closed",
    DoAction(GET_OPTIONS),
    DoAction(SET_OPTIONS, _SET),
    DoAction(GET_OPTIONS),
    DoAction(SET_OPTIONS, _option("foolong", b"")),
    DoAction(GET_OPTIONS),
    DoAction(CLOSE_SESSION),
)
def session(answers: Answers) -> Iterator[Unlike]:
    """A new session is empty; two options are refused, each with its reason; the others are read back until cleared."""
    kept = {name: value for name, value in OPTIONS.items() if name != "foolong"}
    for step, options in ((0, {}), (2, OPTIONS), (4, kept)):
        wanted = {name: _value(message_of("SessionOptionValue", value)) for name, value in options.items()}
        yield from _compared(answers, step, "GetSessionOptionsResult", "session_options", wanted)
    errors = {name: {"value": error} for name, (_, error) in _REFUSED.items()}
    yield from _compared(answers, 1, "SetSessionOptionsResult", "errors", errors)
    yield from _compared(answers, 3, "SetSessionOptionsResult", "errors", {})
    for index, results in answers.results(5):
        closed = message_of("CloseSessionResult", results[0]) if len(results) == 1 else None
        if closed is None or closed.number("status") != _CLOSED:
            yield Unlike("CLOSED", "no result" if closed is None else f"the status {closed.number('status')}", index)


def _compared(
    answers: Answers, step: int, name: str, field: str, wanted: Mapping[str, Mapping[str, object]]
) -> Iterator[Unlike]:
    """What is unlike a map in the one result of a step."""
    for index, results in answers.results(step):
        result = message_of(name, results[0]) if len(results) == 1 else None
        if result is None:
            yield Unlike(f"one {name}", f"{len(results)} results", index)
            continue
        found = {one.text("key"): _value(one.message("value")) for one in result.messages(field)}
        if found != wanted:
            yield Unlike(f"{field} {dict(wanted)}", f"{field} {found}", index)


def _value(message: ProtoMessage | None) -> Mapping[str, object]:
    """The fields of a value by name, whatever their bytes."""
    fields = () if message is None else message.fields
    return {one.name: one.value.texts("values") if isinstance(one.value, ProtoMessage) else one.value for one in fields}
