"""The steps of a case of Arrow Flight RPC: one for each method whose request follows from the case alone.

PollFlightInfo is missing: its next request depends on the answers.
"""

from __future__ import annotations

from typing import ClassVar, TypeAlias

from conformance._codec import RecordError
from conformance.records.base import record
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
]


@record
class Descriptor:
    """The name of a flight: a ``path`` or an opaque command ``cmd``."""

    path: tuple[str, ...] = ()
    cmd: bytes = b""

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
class GetSchema:
    """Call GetSchema."""

    TAG: ClassVar[str] = "get-schema"

    descriptor: Descriptor
    expect: Expect = Expect()


@record
class DoGet:
    """Call DoGet with the tickets of the FlightInfo ``info``, or with a literal ``ticket``.

    ``endpoint`` is ``"*"`` (each endpoint, one call each) or an endpoint's index. ``take`` is the number of messages
    after which the driver cancels.
    """

    TAG: ClassVar[str] = "do-get"

    info: str = "i"
    endpoint: str = "*"
    ticket: bytes | None = None
    take: int | None = None
    expect: Expect = Expect()


@record
class DoPut:
    """Call DoPut with the case's table; ``in_turns``: the client waits for an answer after each message with rows."""

    TAG: ClassVar[str] = "do-put"

    descriptor: Descriptor
    in_turns: bool = False
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
    """Call DoAction with an action of this type."""

    TAG: ClassVar[str] = "do-action"

    type: str
    body: bytes = b""
    expect: Expect = Expect()


@record
class ListActions:
    """Call ListActions."""

    TAG: ClassVar[str] = "list-actions"

    expect: Expect = Expect()


FlightStep: TypeAlias = (
    Handshake | ListFlights | GetFlightInfo | GetSchema | DoGet | DoPut | DoExchange | DoAction | ListActions
)
