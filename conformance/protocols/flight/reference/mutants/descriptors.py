"""Mutants of the descriptors that a server sends."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from grpc import StatusCode

from conformance.protocols.flight.contract.decoding import meaning_of
from conformance.protocols.flight.contract.encoding import descriptor as encoded
from conformance.protocols.flight.contract.encoding import double, number, part
from conformance.protocols.flight.records import Descriptor
from conformance.protocols.flight.reference.register import mutant
from conformance.protocols.flight.reference.service import FlightService, Messages
from conformance.protocols.flight.reference.store import Flight, Store
from conformance.wire.protobufmessages import ProtoMessage

_APART = "flight-descriptor.paths-are-apart"
_ECHO = {"flight-info.descriptor-is-the-one-asked-for": "it is another one then"}


@mutant("flight-descriptor.unknown", kills="flight-descriptor.has-a-kind", also=_ECHO)
class UnknownKind(FlightService):
    """The descriptor of an info has the type UNKNOWN."""

    def echo(self, flight: Flight) -> bytes:
        return part(2, flight.descriptor + number(1, 0))


@mutant("flight-descriptor.of-no-number", kills="flight-descriptor.has-a-kind", also=_ECHO)
class KindOfNoNumber(FlightService):
    """The descriptor of an info has a type that Flight does not define."""

    def echo(self, flight: Flight) -> bytes:
        return part(2, flight.descriptor + number(1, 7))


@mutant("flight-descriptor.both", kills="flight-descriptor.fields-are-of-the-kind", also=_ECHO)
class BothKinds(FlightService):
    """The descriptor of an info has a path and a command."""

    def echo(self, flight: Flight) -> bytes:
        return part(2, flight.descriptor + part(2, b"command"))


@mutant("flight-descriptor.path-as-command", kills="flight-descriptor.fields-are-of-the-kind", also=_ECHO)
class PathAsCommand(FlightService):
    """The descriptor of an info is a CMD with a path."""

    def echo(self, flight: Flight) -> bytes:
        return part(2, flight.descriptor + number(1, 2))


@mutant("flight-descriptor.next-is-empty", kills="flight-descriptor.has-a-kind")
class NextIsEmpty(FlightService):
    """The PollInfo of a query that has ended has an empty descriptor in the place of none."""

    def poll(self, flight: Flight, *, ended: bool) -> bytes:
        return super().poll(flight, ended=ended) + (part(2, b"") if ended else b"")


@mutant("flight-poll.progress-not-a-number", kills="flight-poll.progress-from-0-to-1")
class ProgressNotANumber(FlightService):
    """The progress of a query is NaN."""

    def poll(self, flight: Flight, *, ended: bool) -> bytes:
        return super().poll(flight, ended=ended) + double(3, float("nan"))


@mutant("flight-poll.progress-below-zero", kills="flight-poll.progress-from-0-to-1")
class ProgressBelowZero(FlightService):
    """The progress of a query is -1, as long as it is not known."""

    def poll(self, flight: Flight, *, ended: bool) -> bytes:
        return super().poll(flight, ended=ended) + (b"" if ended else double(3, -1.0))


@mutant("flight-poll.latest-alone", kills="flight-poll.older-descriptor-is-recognised")
class LatestAlone(FlightService):
    """A descriptor is forgotten once it was used."""

    def __init__(self, store: Store | None = None) -> None:
        super().__init__(store)
        self._used: set[bytes] = set()

    def poll_flight_info(self, requests: Iterator[bytes]) -> Messages:
        request = self.the_one(requests)
        if b"poll:" in request:
            if request in self._used:
                self.refuse(StatusCode.NOT_FOUND, "the query has ended")
            self._used.add(request)
        return super().poll_flight_info(iter([request]))


@mutant(
    "flight-poll.last-endpoint-missing",
    kills="flight-put.nothing-is-lost",
    also={
        "flight-poll.endpoints-are-appended": "the answer before had it",
    },
)
class LastEndpointMissing(FlightService):
    """The last PollInfo of a query has no endpoint, so that its rows cannot be read."""

    def poll(self, flight: Flight, *, ended: bool) -> bytes:
        if not ended:
            return super().poll(flight, ended=ended)
        empty = self.info(Flight(flight.descriptor, flight.schema, ()))
        return part(1, empty) + double(3, 1.0)


class _Alike(FlightService):
    """A service to which some descriptors are the same; its infos name none."""

    def key_by(self, named: ProtoMessage) -> bytes:
        _, command, path = meaning_of(named)
        return self.key(command, path)

    def key(self, command: bytes, path: Sequence[str]) -> bytes:
        """What a flight is stored under."""
        return encoded(Descriptor(path=tuple(path)) if path else Descriptor(cmd=command or b"\x00"))

    def echo(self, flight: Flight) -> bytes:
        return b""


@mutant("flight-descriptor.joined-by-slashes", kills=_APART)
class JoinedBySlashes(_Alike):
    """The elements of a path are joined by slashes, and the flight is found by that text."""

    def key(self, command: bytes, path: Sequence[str]) -> bytes:
        return super().key(command, ["/".join(path)] if path else [])


@mutant("flight-descriptor.without-empty-elements", kills=_APART)
class WithoutEmptyElements(_Alike):
    """Empty elements of a path are passed over."""

    def key(self, command: bytes, path: Sequence[str]) -> bytes:
        return super().key(command, [one for one in path if one])


@mutant("flight-descriptor.command-is-a-path", kills="flight-put.nothing-is-added")
class CommandIsAPath(_Alike):
    """A command is taken for the path of the same bytes."""

    def key(self, command: bytes, path: Sequence[str]) -> bytes:
        return super().key(path[0].encode(), ()) if len(path) == 1 else super().key(command, path)
