"""The steps of a case of Arrow Flight RPC: one for each method, and one that sends messages as they are.

A step may refer to the answer of an earlier one by its label: the answer is then part of the request, byte for byte.
"""

from __future__ import annotations

from typing import ClassVar, TypeAlias

from conformance._codec import RecordError
from conformance.records.base import record
from conformance.records.closed import FlightMethod
from conformance.records.steps import Expect

__all__ = [
    "Descriptor",
    "DoAction",
    "DoExchange",
    "DoGet",
    "DoPut",
    "FlightStep",
    "GetFlightInfo",
    "GetSchema",
    "Handshake",
    "ListActions",
    "ListFlights",
    "PollFlightInfo",
    "SendMessages",
]


@record
class Descriptor:
    """The name of a flight: a ``path`` or an opaque command ``cmd``.

    The target file says how the suite's own paths become those of the server; one that is ``known`` is the server's.
    """

    path: tuple[str, ...] = ()
    cmd: bytes = b""
    known: bool = False

    def __post_init__(self) -> None:
        if bool(self.path) == bool(self.cmd):
            raise RecordError("descriptor", "either a path or a cmd", self.path)


@record
class Handshake:
    """Call Handshake with these payloads, one message each."""

    TAG: ClassVar[str] = "handshake"

    payloads: tuple[bytes, ...] = ()
    expect: Expect = Expect()


@record
class ListFlights:
    """Call ListFlights with these criteria."""

    TAG: ClassVar[str] = "list-flights"

    criteria: bytes = b""
    expect: Expect = Expect()


@record
class GetFlightInfo:
    """Call GetFlightInfo and remember the answer as ``label``."""

    TAG: ClassVar[str] = "get-flight-info"

    descriptor: Descriptor
    label: str = "i"
    expect: Expect = Expect()


@record
class PollFlightInfo:
    """Call PollFlightInfo until an answer names no further descriptor, at most ``most`` times.

    Each call after the first has the descriptor of the answer before it. The latest FlightInfo is remembered as
    ``label``.
    """

    TAG: ClassVar[str] = "poll-flight-info"

    descriptor: Descriptor
    label: str = "i"
    most: int = 20
    expect: Expect = Expect()


@record
class GetSchema:
    """Call GetSchema."""

    TAG: ClassVar[str] = "get-schema"

    descriptor: Descriptor
    expect: Expect = Expect()


@record
class DoGet:
    """Call DoGet with the tickets of the FlightInfo ``info``, or with a literal ``ticket``.

    ``endpoint`` is ``"*"`` (each endpoint, one call each) or an endpoint's index. ``take`` is the number of messages
    after which the driver cancels. An endpoint that no location of it lets the driver redeem is left out; if there is
    no other, the step is skipped.
    """

    TAG: ClassVar[str] = "do-get"

    info: str = "i"
    endpoint: str = "*"
    ticket: bytes | None = None
    take: int | None = None
    expect: Expect = Expect()


@record
class DoPut:
    """Call DoPut with the case's table; ``in_turns``: the client waits for an answer after each message with rows.

    The descriptor comes with the schema; with ``ahead``, in a message of its own before it.
    """

    TAG: ClassVar[str] = "do-put"

    descriptor: Descriptor
    in_turns: bool = False
    ahead: bool = False
    expect: Expect = Expect()


@record
class DoExchange:
    """Call DoExchange with the case's table, as :class:`DoPut`."""

    TAG: ClassVar[str] = "do-exchange"

    descriptor: Descriptor
    in_turns: bool = False
    expect: Expect = Expect()


@record
class DoAction:
    """Call DoAction with an action of this type.

    ``body`` is its body. If ``info`` names a FlightInfo, the body is a message whose field 1 is that info, as
    CancelFlightInfo takes it; with ``endpoint``, it is the endpoint of that index, as RenewFlightEndpoint takes it.
    """

    TAG: ClassVar[str] = "do-action"

    type: str
    body: bytes = b""
    info: str = ""
    endpoint: str = ""
    expect: Expect = Expect()


@record
class ListActions:
    """Call ListActions."""

    TAG: ClassVar[str] = "list-actions"

    expect: Expect = Expect()


@record
class SendMessages:
    """Call ``method`` with these request messages as they are, whatever they mean, and half-close."""

    TAG: ClassVar[str] = "send"

    method: FlightMethod
    messages: tuple[bytes, ...] = ()
    expect: Expect = Expect()


FlightStep: TypeAlias = (
    Handshake
    | ListFlights
    | GetFlightInfo
    | PollFlightInfo
    | GetSchema
    | DoGet
    | DoPut
    | DoExchange
    | DoAction
    | ListActions
    | SendMessages
)
