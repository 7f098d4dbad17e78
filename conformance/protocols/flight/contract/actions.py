"""The requests and the results of actions, and the values in them."""

from __future__ import annotations

import dataclasses
from typing import Final

from conformance.protocols.flight.contract.decoding import (
    DecodedEndpoint,
    action_of,
    message_of,
    read_endpoint,
    read_info,
)
from conformance.protocols.flight.contract.view import FlightCall
from conformance.protocols.flight.records import DoAction
from conformance.protocols.flight.wire.messages import CANCEL, RENEW

__all__ = ["Option", "action_body", "asked_to_renew", "cancelled_tickets", "renewed", "result_body"]

_CANCELLED: Final = 1


@dataclasses.dataclass(frozen=True, slots=True)
class Option:
    """The value of a session option, with its field of SessionOptionValue."""

    kind: str
    value: object

    def __str__(self) -> str:
        return f"{self.kind} {self.value!r}"


def action_body(call: FlightCall) -> bytes:
    """The body of the Action that was sent."""
    action = action_of(call.raw)
    return b"" if action is None else bytes(action.data("body"))


def result_body(call: FlightCall) -> bytes | None:
    """The body of the one Result; None if there is not exactly one that can be read."""
    if len(call.raw.responses) != 1:
        return None
    result = message_of("Result", call.raw.responses[0])
    return None if result is None else bytes(result.data("body"))


def renewed(call: FlightCall) -> DecodedEndpoint | None:
    """The endpoint in the result of RenewFlightEndpoint."""
    if not call.ok or not isinstance(call.step, DoAction) or call.step.type != RENEW:
        return None
    body = result_body(call)
    return None if body is None else read_endpoint(body)


def asked_to_renew(call: FlightCall) -> DecodedEndpoint | None:
    """The endpoint in a request of RenewFlightEndpoint."""
    body = action_body(call)
    asked = message_of("RenewFlightEndpointRequest", body)
    held = None if asked is None else asked.last("endpoint")
    return None if held is None else read_endpoint(body[held.value_start : held.end])


def cancelled_tickets(call: FlightCall) -> frozenset[bytes] | None:
    """The tickets of the info that CancelFlightInfo said is CANCELLED; None if it did not."""
    if not call.ok or not isinstance(call.step, DoAction) or call.step.type != CANCEL:
        return None
    body, asked = result_body(call), action_body(call)
    result = None if body is None else message_of("CancelFlightInfoResult", body)
    request = message_of("CancelFlightInfoRequest", asked)
    held = None if request is None else request.last("info")
    info = None if held is None else read_info(asked[held.value_start : held.end])
    if result is None or info is None or result.number("status") != _CANCELLED:
        return None
    return frozenset(one.ticket for one in info.endpoints if one.ticket is not None)
