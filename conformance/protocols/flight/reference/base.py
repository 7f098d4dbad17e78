"""The part of the Flight reference that all groups of methods share: the store, requests as messages, and refusals."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NoReturn, Self

from grpc import StatusCode

from conformance.protocols.flight.contract.decoding import meaning_of, message_of
from conformance.protocols.flight.contract.encoding import descriptor
from conformance.protocols.flight.records import Descriptor
from conformance.protocols.flight.reference.store import Flight, Store
from conformance.protocols.flight.wire.data import FlightReading, read_flight
from conformance.reference.statuses import Refusal
from conformance.wire import Header
from conformance.wire.messages import read_apart
from conformance.wire.protobufmessages import ProtoMessage

__all__ = ["FlightBase", "Messages", "is_schema"]

Messages = Iterable[bytes]


def is_schema(header: bytes | memoryview | None) -> bool:
    """True if a ``data_header`` is that of a schema."""
    if not header:
        return False
    return read_apart(0, bytes(header), memoryview(b""), []).message.header is Header.SCHEMA


class FlightBase:
    """A service over a store; each group of methods extends it.

    Each call over a connection has a copy of the service, so that a method can read ``headers``, the metadata of the
    call; ``peer`` tells the connections of clients apart. What a method adds to ``reply`` goes out before the first
    message, and ``trailers`` with the status. ``here`` is the address at which it is served.
    """

    scenario: str | None = None
    """The one scenario of Arrow's integration tests that a mutant plays; None if any case can be put to the service."""

    def __init__(self, store: Store | None = None) -> None:
        self.store = store or Store()
        self.here = ""
        self.peer = ""
        self.headers: Mapping[str, bytes] = {}
        self.reply: list[tuple[str, str | bytes]] = []
        self.trailers: list[tuple[str, str | bytes]] = []

    def clock(self) -> float:
        """The time in seconds since the Unix epoch, by the clock of the store."""
        return self.store.clock()

    def for_call(self, method: str, headers: Mapping[str, bytes], peer: str = "") -> Self:  # noqa: ARG002  # mutants use it
        """The service for one call of ``method``: what it stores is shared."""
        one = copy.copy(self)
        one.headers, one.peer, one.reply, one.trailers = headers, peer, [], []
        return one

    def refuse(self, code: StatusCode, details: str) -> NoReturn:
        """End the call with this status."""
        raise Refusal(code, details)

    def decode(self, kind: str, message: bytes) -> ProtoMessage:
        """A request as a message of that kind; bytes that break the encoding are refused."""
        found = message_of(kind, message)
        if found is None:
            self.refuse(StatusCode.INVALID_ARGUMENT, f"the request is no {kind}")
        return found

    def stream_of(self, came: Sequence[bytes]) -> FlightReading:
        """The Arrow stream in the messages of a client; what is none is refused."""
        reading = read_flight(came)
        if any(part.reading.violations for part in reading.stream.parts):
            self.refuse(StatusCode.INVALID_ARGUMENT, "a message is no FlightData")
        content = reading.content
        if content.violations or content.schema is None:
            said = str(content.violations[0]) if content.violations else "there is no schema"
            self.refuse(StatusCode.INVALID_ARGUMENT, f"the data is no Arrow stream: {said}")
        return reading

    def the_one(self, requests: Iterator[bytes]) -> bytes:
        """The request of a method that takes one."""
        return next(requests, b"")

    def find(self, message: bytes) -> Flight:
        """The flight that a FlightDescriptor names."""
        if not self.decode("FlightDescriptor", message).fields:
            self.refuse(StatusCode.INVALID_ARGUMENT, "the descriptor is empty")
        flight = self.store.get(self.key_of(message))
        if flight is None:
            self.refuse(StatusCode.NOT_FOUND, "no flight has this descriptor")
        return flight

    def key_of(self, message: bytes) -> bytes:
        """The bytes of a descriptor, whatever the order of its fields."""
        return self.key_by(self.decode("FlightDescriptor", message))

    def key_by(self, named: ProtoMessage) -> bytes:
        """As :meth:`key_of`, for a descriptor that was read."""
        _, command, path = meaning_of(named)
        return descriptor(Descriptor(path=path) if path else Descriptor(cmd=command or b"\x00"))
