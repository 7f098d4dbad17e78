"""The parts of Flight messages that clauses and the driver need, from foreign bytes.

:mod:`conformance.wire.protobuf` walks the bytes; what breaks the encoding is None here. Fields may come in any order,
and unknown fields are passed over.
"""

from __future__ import annotations

import dataclasses
import functools
from typing import Final

from conformance.protocols.flight.records import FlightMethod
from conformance.protocols.flight.wire.data import FlightPart
from conformance.protocols.flight.wire.messages import FLIGHT
from conformance.records import Call
from conformance.wire.protobuf import MAX_FIELDS, read_protobuf
from conformance.wire.protobufmessages import ProtoMessage

__all__ = [
    "AT",
    "Data",
    "DecodedEndpoint",
    "Info",
    "Meaning",
    "Poll",
    "action_of",
    "data_of",
    "in_words",
    "meaning_of",
    "message_of",
    "read_data",
    "read_endpoint",
    "read_info",
    "read_poll",
]

AT: Final = " at "
"""What stands before the address in the label of a call to another place, or over another connection."""
SHORT_BYTES: Final = 1024
"""The longest messages whose reading is kept: descriptors, tickets and actions, which clause after clause reads."""
Meaning = tuple[int, bytes, tuple[str, ...]]
"""The type, the command and the path of a descriptor."""


@dataclasses.dataclass(frozen=True, slots=True)
class DecodedEndpoint:
    """A FlightEndpoint; ``raw`` are its bytes, ``ticket`` is None if it has none.

    ``locations`` are the URIs, ``expires`` the seconds of its expiration time since the Unix epoch, None without one,
    and ``nanos`` the further nanoseconds.
    """

    raw: bytes
    ticket: bytes | None
    locations: tuple[str, ...]
    expires: int | None
    nanos: int = 0


@dataclasses.dataclass(frozen=True, slots=True)
class Info:
    """A FlightInfo; ``raw`` are its bytes, ``descriptor`` is None if it has none."""

    raw: bytes
    schema: bytes
    descriptor: Meaning | None
    endpoints: tuple[DecodedEndpoint, ...]
    records: int
    bytes: int
    ordered: bool


@dataclasses.dataclass(frozen=True, slots=True)
class Poll:
    """A PollInfo; ``descriptor`` are the bytes of that of the next call, None if the query has ended; ``progress`` and
    ``expires``, seconds and nanoseconds, are None if they are unset.
    """

    info: Info | None
    descriptor: bytes | None
    progress: float | None
    expires: tuple[int, int] | None = None


@dataclasses.dataclass(frozen=True, slots=True)
class Data:
    """A FlightData; each part is None if the message does not have the field."""

    descriptor: Meaning | None
    header: bytes | None
    metadata: bytes | None
    body: bytes | None


def message_of(name: str, data: bytes) -> ProtoMessage | None:
    """The message of Flight with that name in these bytes; None if they break the encoding."""
    # A view would keep the buffer that it is of.
    is_kept = type(data) is bytes and len(data) <= SHORT_BYTES
    return _short_message_of(name, data) if is_kept else _message_of(name, data)


def _message_of(name: str, data: bytes) -> ProtoMessage | None:
    reading = read_protobuf(data, FLIGHT[name])
    return None if reading.violations else reading.message


def is_cut(name: str, data: bytes) -> bool:
    """True if the message of Flight with that name in these bytes has more fields than are read."""
    # Of two bytes at least each; a packed value needs one, and no message of Flight has packed fields.
    return len(data) > 2 * MAX_FIELDS and read_protobuf(data, FLIGHT[name]).cut


KEPT: Final = 1 << 14
"""The messages that are kept: more than a case of 10,000 calls has, or each clause would read all of them again."""
_short_message_of = functools.lru_cache(maxsize=KEPT)(_message_of)


def action_of(call: Call) -> ProtoMessage | None:
    """The Action that a call asks for; None of a call of another method, and of bytes that break the encoding."""
    return message_of("Action", call.request) if call.method == FlightMethod.DO_ACTION else None


def meaning_of(descriptor: ProtoMessage) -> Meaning:
    """What a FlightDescriptor says, whatever the order of its fields."""
    return descriptor.number("type"), bytes(descriptor.data("cmd")), tuple(descriptor.texts("path"))


def in_words(meaning: Meaning) -> str:
    """A descriptor for people: its path or its command."""
    kind, command, path = meaning
    parts = [f"path {'/'.join(path)!r}" if path else "", f"command {command!r}" if command else ""]
    return " and ".join(filter(None, parts)) or f"a descriptor of the type {kind} without path and command"


def read_info(data: bytes) -> Info | None:
    """The FlightInfo in these bytes; None if they break the encoding."""
    message = message_of("FlightInfo", data)
    return None if message is None else _info(message, data)


def read_endpoint(data: bytes) -> DecodedEndpoint | None:
    """The FlightEndpoint in these bytes; None if they break the encoding."""
    message = message_of("FlightEndpoint", data)
    return None if message is None else _endpoint(message, data)


def read_poll(data: bytes) -> Poll | None:
    """The PollInfo in these bytes; None if they break the encoding."""
    message = message_of("PollInfo", data)
    if message is None:
        return None
    held, later = message.last("info"), message.last("flight_descriptor")
    expires = message.message("expiration_time")
    return Poll(
        None if held is None else read_info(data[held.value_start : held.end]),
        None if later is None else data[later.value_start : later.end],
        message.real("progress") if message.has("progress") else None,
        None if expires is None else (expires.number("seconds"), expires.number("nanos")),
    )


def read_data(data: bytes) -> Data | None:
    """The FlightData in these bytes; None if they break the encoding."""
    message = message_of("FlightData", data)
    return None if message is None else _data(message)


def data_of(part: FlightPart) -> Data | None:
    """The FlightData of a part of a stream; None if its bytes break the encoding."""
    return None if part.reading.violations else _data(part.reading.message)


def _info(message: ProtoMessage, data: bytes) -> Info:
    descriptor = message.message("flight_descriptor")
    return Info(
        data,
        bytes(message.data("schema")),
        None if descriptor is None else meaning_of(descriptor),
        tuple(_endpoint(one, data) for one in message.messages("endpoint")),
        message.number("total_records"),
        message.number("total_bytes"),
        bool(message.number("ordered")),
    )


def _endpoint(message: ProtoMessage, data: bytes) -> DecodedEndpoint:
    ticket, expires = message.message("ticket"), message.message("expiration_time")
    return DecodedEndpoint(
        data[message.start : message.end],
        None if ticket is None else bytes(ticket.data("ticket")),
        tuple(location.text("uri") for location in message.messages("location")),
        None if expires is None else expires.number("seconds"),
        0 if expires is None else expires.number("nanos"),
    )


def _data(message: ProtoMessage) -> Data:
    descriptor = message.message("flight_descriptor")
    header, metadata, body = (
        bytes(message.data(name)) if message.has(name) else None
        for name in ("data_header", "app_metadata", "data_body")
    )
    return Data(None if descriptor is None else meaning_of(descriptor), header, metadata, body)
