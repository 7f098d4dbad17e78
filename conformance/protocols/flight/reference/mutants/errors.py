"""Mutants of refusals."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa
from grpc import StatusCode

from conformance.protocols.flight.reference.register import mutant
from conformance.protocols.flight.reference.service import FlightService, Messages
from conformance.protocols.flight.reference.store import Flight
from conformance.reference.statuses import Refusal
from conformance.wire.protobufmessages import ProtoMessage

_NOT_FOUND = "an info that was cancelled is unknown, too"


class _Refusing(FlightService):
    """A service that refuses what is unknown in another way."""

    code = StatusCode.NOT_FOUND
    details = "no"

    def refuse(self, code: StatusCode, details: str) -> None:  # type: ignore[override]  # it never returns either
        """End the call with the status of the class, if something is unknown."""
        if code is StatusCode.NOT_FOUND:
            raise Refusal(self.code, self.details)
        raise Refusal(code, details)


@mutant(
    "flight-errors.code-of-no-table",
    kills="flight-errors.code-of-the-table",
    also={
        "flight-errors.code-of-an-unknown-thing": "it is none of the permitted codes",
        "flight-actions.cancelled-stays-so": _NOT_FOUND,
    },
)
class CodeOfNoTable(_Refusing):
    """What is unknown is refused with DATA_LOSS, which Flight does not know."""

    code = StatusCode.DATA_LOSS


@mutant(
    "flight-errors.internal",
    kills="flight-errors.code-of-an-unknown-thing",
    also={"flight-actions.cancelled-stays-so": _NOT_FOUND},
)
class Internal(_Refusing):
    """What is unknown is refused with INTERNAL, as if the server had failed."""

    code = StatusCode.INTERNAL


@mutant("flight-errors.no-message", kills="flight-errors.message-says-something")
class NoWords(_Refusing):
    """What is unknown is refused without a message."""

    details = ""


@mutant(
    "flight-errors.any-ticket",
    kills="flight-errors.unknown-ticket-is-refused",
    also={"flight-data.read-again-is-the-same": "a ticket that was cancelled gives an empty stream too"},
)
class AnyTicket(FlightService):
    """A ticket that nobody gave out gives an empty stream."""

    def do_get(self, requests: Iterator[bytes]) -> Messages:
        try:
            yield from super().do_get(requests)
        except Refusal as refusal:
            if refusal.code is not StatusCode.NOT_FOUND:
                raise
            yield from self.stream(Flight(b"", pa.schema([]), ()))


@mutant("flight-errors.any-flight", kills="flight-errors.unknown-flight-is-refused")
class AnyFlight(FlightService):
    """A descriptor that names nothing gives an empty flight."""

    def find(self, message: bytes) -> Flight:
        try:
            return super().find(message)
        except Refusal as refusal:
            if refusal.code is not StatusCode.NOT_FOUND:
                raise
            return Flight(message, pa.schema([]), ())


@mutant(
    "flight-errors.any-action",
    kills="flight-errors.unknown-action-is-refused",
    also={
        "flight-actions.cancel-says-what-happened": "it says nothing",
        "flight-actions.unknown-endpoint-is-not-renewed": "what is unknown to an action ends in OK as well",
        "flight-session.close-says-what-happened": "it says nothing",
    },
)
class AnyAction(FlightService):
    """An action that nobody knows ends in OK without a result."""

    def do_action(self, requests: Iterator[bytes]) -> Messages:
        try:
            yield from super().do_action(requests)
        except Refusal as refusal:
            if refusal.code is not StatusCode.NOT_FOUND:
                raise


@mutant("flight-errors.undecodable-is-empty", kills="flight-errors.undecodable-is-refused")
class UndecodableIsEmpty(FlightService):
    """A request that is no message counts as an empty one."""

    def decode(self, kind: str, message: bytes) -> ProtoMessage:
        try:
            return super().decode(kind, message)
        except Refusal:
            return super().decode(kind, b"")
