"""Recorded calls of Arrow Flight: a call is found by its method and by what its first message asks for.

That is a descriptor, a ticket, an action or criteria, whatever the order of fields.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final, TypeAlias

from conformance.protocols.flight.contract.decoding import message_of
from conformance.protocols.flight.records import FlightMethod
from conformance.protocols.flight.wire.messages import METHODS
from conformance.replay.inturn import in_turn
from conformance.wire.protobufmessages import ProtoMessage

__all__ = ["key_of", "wanted"]


_Words: TypeAlias = "dict[str, str | list[str]]"


def _descriptor(asked: ProtoMessage | None) -> _Words:
    if asked is None:
        return {}
    path: _Words = {"path": asked.texts("path")} if asked.has("path") else {}
    return path | ({"command": _text(asked, "cmd")} if asked.has("cmd") else {})


def _text(asked: ProtoMessage, field: str) -> str:
    """The bytes of a field as Python writes them: as text where they are ASCII."""
    return repr(bytes(asked.data(field)))[2:-1]


_IN_WORDS: Final[Mapping[str, Callable[[ProtoMessage], _Words]]] = MappingProxyType(
    {
        "FlightDescriptor": _descriptor,
        "FlightData": lambda asked: _descriptor(asked.message("flight_descriptor")),
        "Ticket": lambda asked: {"ticket": _text(asked, "ticket")},
        "Action": lambda asked: {"action": asked.text("type"), "body": _text(asked, "body")},
        "Criteria": lambda asked: {"criteria": _text(asked, "expression")},
    }
)
"""What the first message of a call asks for, by its type; the others ask for nothing."""


def wanted(method: str, request: bytes) -> _Words:
    """What the first message of a call asks for, in words; bytes that are no such message are given as they are."""
    kind = METHODS[method].request
    asked = message_of(kind, request)
    if asked is None:
        return {"bytes": request.hex()}
    return _IN_WORDS[kind](asked) if kind in _IN_WORDS else {}


def key_of(method: str, request: bytes) -> str:
    """The name by which a call finds its recording."""
    return ", ".join([method, *(f"{name} {value!r}" for name, value in wanted(method, request).items())])


_STREAMED: Final = frozenset({FlightMethod.HANDSHAKE, FlightMethod.DO_PUT, FlightMethod.DO_EXCHANGE})
PLUGIN: Final = in_turn(METHODS, key_of, wanted, streamed=_STREAMED)
