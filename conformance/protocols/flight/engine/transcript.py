"""Show the messages of Flight as text: field by field, with what is inside of them.

The body of an action, the result of one and the command of a descriptor are bytes whose meaning only the action's type
or an ``Any`` tells. They are shown as the message that they hold. An Arrow message is annotated byte by byte.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Final

from conformance._protobuftables import FieldKind, MessageSpec
from conformance.contain.text import many
from conformance.protocols.flight.contract.decoding import action_of
from conformance.protocols.flight.contract.sqlmessages import type_of
from conformance.protocols.flight.wire.messages import FLIGHT, METHODS
from conformance.protocols.flight.wire.plugin import PLUGIN
from conformance.protocols.flight.wire.sql import ANY, FLIGHT_SQL
from conformance.records import Call
from conformance.wire import lines as dump_lines
from conformance.wire.protobuf import read_protobuf
from conformance.wire.protobufdissect import dissect_protobuf
from conformance.wire.protobufmessages import ProtoField, ProtoMessage
from conformance.wire.types import Schema

__all__ = ["FlightTranscript"]

MAX_TEXT: Final = 200
"""The most characters of one field's value."""
_LONGEST_HEX: Final = 64
"""The most bytes that are shown as hexadecimal digits: enough for a handle or a ticket."""


_PUT_RESULTS: Final = {
    "CommandPreparedStatementQuery": "DoPutPreparedStatementResult",
    **dict.fromkeys(
        ("CommandStatementUpdate", "CommandPreparedStatementUpdate", "CommandStatementIngest"), "DoPutUpdateResult"
    ),
}
"""The message in the ``app_metadata`` of a PutResult, by the command that was put."""


class FlightTranscript:
    """The messages of one call, in the order in which they came: a batch is annotated by the schema before it."""

    def __init__(self, call: Call, most: int) -> None:
        """``most`` is the most lines of one message."""
        self._call = call
        self._most = most
        self._schemas: dict[bool, Schema | None] = {True: None, False: None}
        action = action_of(call) if call.method == "DoAction" and call.requests else None
        self._action = "" if action is None else action.text("type")

    def lines(self, data: bytes, *, request: bool) -> Iterator[str]:
        """The lines of one request or response."""
        method = METHODS[self._call.method]
        spec = FLIGHT[method.request if request else method.response]
        yield from self._bounded("    ", self._message(data, spec, "    ", request=request))
        if spec.name == "FlightData":
            yield from self._bounded("      ", self._arrow(data, spec, request=request))

    def _bounded(self, indent: str, lines: Iterator[str]) -> Iterator[str]:
        """The first of the lines, and a word on those that are left out: a hostile message has thousands of fields."""
        yield from itertools.islice(lines, self._most)
        if left := sum(1 for _ in lines):
            yield f"{indent}… {left} more lines; `conformance extract` saves the bytes"

    def _arrow(self, data: bytes, spec: MessageSpec, *, request: bool) -> Iterator[str]:
        dissection = dissect_protobuf(data, spec, PLUGIN, self._schemas[request])
        self._schemas[request] = dissection.schema
        if dissection.messages:
            yield from (f"      {line}" for line in dump_lines(dissection))

    def _message(self, data: bytes, spec: MessageSpec, indent: str, *, request: bool) -> Iterator[str]:
        if not data:
            yield f"{indent}{spec.name}, which is empty"
            return
        reading = read_protobuf(data, spec)
        yield f"{indent}{spec.name}"
        yield from self._fields(reading.message, indent + "  ", request=request)
        yield from (f"{indent}  not a message of this kind: {fault.observed}" for fault in reading.violations)
        if reading.violations:
            yield f"{indent}{_shortened(data.hex(' '))}"

    def _fields(self, message: ProtoMessage, indent: str, *, request: bool) -> Iterator[str]:
        for field in message.fields:
            name = f"{indent}{field.number} {field.name}"
            if isinstance(field.value, ProtoMessage):
                yield name
                yield from self._fields(field.value, indent + "  ", request=request)
                continue
            yield f"{name} = {_scalar(field, message.spec)}"
            inner = self._inside(message.spec.name, field, request=request)
            if inner is not None:
                data, spec = inner
                yield from self._message(data, spec, indent + "  ", request=request)

    def _inside(self, within: str, field: ProtoField, *, request: bool) -> tuple[bytes, MessageSpec] | None:
        """The message in a field of bytes, and what it is; None if it holds none that is known."""
        if not isinstance(field.value, memoryview):
            return None
        data, place = bytes(field.value), (within, field.name)
        if place in (("FlightDescriptor", "cmd"), ("Action", "body"), ("Result", "body")) and (found := type_of(data)):
            value = bytes(read_protobuf(data, ANY).message.data("value"))
            return (value, FLIGHT_SQL[found]) if found in FLIGHT_SQL else None
        if place in (("Action", "body"), ("Result", "body")):
            own = FLIGHT.get(f"{self._action}{'Request' if request else 'Result'}")
            own = FLIGHT["FlightEndpoint"] if self._action == "RenewFlightEndpoint" and not request else own
            return (data, own) if own is not None else None
        if place == ("PutResult", "app_metadata") and self._updates():
            return data, FLIGHT_SQL[self._updates()]
        return None

    def _updates(self) -> str:
        """The message that answers a DoPut whose command is one of Flight SQL; empty if it is none of Flight SQL."""
        first = read_protobuf(self._call.requests[0], FLIGHT["FlightData"]).message if self._call.requests else None
        descriptor = None if first is None else first.last("flight_descriptor")
        if descriptor is None or not isinstance(descriptor.value, ProtoMessage):
            return ""
        return _PUT_RESULTS.get(type_of(bytes(descriptor.value.data("cmd"))), "")


def _scalar(field: ProtoField, spec: MessageSpec) -> str:
    value = field.value
    if isinstance(value, memoryview):
        data = bytes(value)
        shown = _readable(data)
        return many(len(data), "byte") + (f": {shown}" if shown else "")
    if field.spec is not None and field.spec.kind is FieldKind.ENUM and isinstance(value, int):
        return f"{value} {spec.enums[field.spec.of].get(value, 'unknown')}"
    return _shortened(repr(value))


def _readable(data: bytes) -> str:
    """A text as it is, few bytes as hexadecimal digits, and nothing of many."""
    try:
        text = data.decode()
    except UnicodeDecodeError:
        text = ""
    if text and text.isprintable():
        return _shortened(repr(text))
    return data.hex(" ") if len(data) <= _LONGEST_HEX else ""


def _shortened(text: str) -> str:
    return text if len(text) <= MAX_TEXT else f"{text[:MAX_TEXT]}… ({len(text)} characters)"
