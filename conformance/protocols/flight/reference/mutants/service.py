"""Mutants of the service as a whole: the number and the form of answers, hanging and dying."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Sequence

from conformance.protocols.flight.contract.encoding import part, text
from conformance.protocols.flight.reference.register import mutant, process_mutant
from conformance.protocols.flight.reference.service import FlightService, Messages
from conformance.protocols.flight.reference.store import Flight
from conformance.reference.statuses import Refusal
from conformance.wire.protobufmessages import ProtoMessage

_UNREADABLE = b"\x0a\xff"
"""A field that ends before its end."""


@mutant("flight-service.info-twice", kills="flight-service.one-answer")
class InfoTwice(FlightService):
    """GetFlightInfo answers with two messages."""

    def get_flight_info(self, requests: Iterator[bytes]) -> Messages:
        found = list(super().get_flight_info(requests))
        yield from (*found, *found)


@mutant("flight-service.no-schema-result", kills="flight-service.one-answer")
class NoSchemaResult(FlightService):
    """GetSchema ends in OK without an answer."""

    def get_schema(self, requests: Iterator[bytes]) -> Messages:
        self.find(self.the_one(requests))
        return ()


@mutant("flight-service.info-unreadable", kills="flight-service.answers-decode")
class InfoUnreadable(FlightService):
    """A FlightInfo ends in the middle of a field."""

    def after_info(self, flight: Flight) -> bytes:
        return super().after_info(flight) + _UNREADABLE


@mutant("flight-service.endpoint-unreadable", kills="flight-service.answers-decode")
class EndpointUnreadable(FlightService):
    """An endpoint in a FlightInfo is no message."""

    def endpoints(self, flight: Flight) -> Sequence[bytes]:
        return [*super().endpoints(flight), _UNREADABLE]


@mutant("flight-service.location-not-text", kills="flight-service.answers-decode")
class LocationNotText(FlightService):
    """The URI of a location is not UTF-8, as a string of protobuf has to be."""

    def endpoint(self, ticket: bytes) -> bytes:
        return super().endpoint(ticket) + part(2, part(1, b"\xff\xfe"))


@mutant("flight-service.data-unreadable", kills="flight-service.answers-decode")
class DataUnreadable(FlightService):
    """The last message of a stream is no FlightData."""

    def stream(self, flight: Flight) -> Messages:
        yield from super().stream(flight)
        yield _UNREADABLE


@mutant("flight-service.action-without-name", kills="flight-service.actions-have-names")
class ActionWithoutName(FlightService):
    """An action is listed without a name."""

    def list_actions(self, requests: Iterator[bytes]) -> Messages:
        yield from super().list_actions(requests)
        yield text(2, "something")


@mutant("flight-service.action-twice", kills="flight-service.actions-have-names")
class ActionTwice(FlightService):
    """Each action is listed twice."""

    def list_actions(self, requests: Iterator[bytes]) -> Messages:
        found = list(super().list_actions(requests))
        yield from (*found, *found)


@process_mutant(
    "flight-service.hangs",
    kills="calls.end-in-time",
    also={"flight-service.later-calls-end": "ListActions is asked after calls that were given up, too"},
)
class Hangs(FlightService):
    """ListActions never ends."""

    def list_actions(self, requests: Iterator[bytes]) -> Messages:
        yield from super().list_actions(requests)
        threading.Event().wait(10)


@mutant("flight-service.endless", kills="calls.stay-within-reason")
class Endless(FlightService):
    """DoGet sends its batches again without end."""

    def stream(self, flight: Flight) -> Messages:
        schema, *rest = super().stream(flight)
        yield schema
        while rest:
            yield from rest


@process_mutant("flight-service.dies", kills="calls.leave-the-server-alive")
class Dies(FlightService):
    """A request that is no message ends the process."""

    def decode(self, kind: str, message: bytes) -> ProtoMessage:
        try:
            return super().decode(kind, message)
        except Refusal:
            os._exit(3)
