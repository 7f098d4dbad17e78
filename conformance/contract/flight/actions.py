"""The requests and the results of actions, and the values in them."""

from __future__ import annotations

import dataclasses

from conformance.contract.flight.decoding import action_of, message_of
from conformance.contract.flight.view import FlightCall

__all__ = ["Option", "action_body", "result_body"]


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
