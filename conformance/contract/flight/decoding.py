"""Reads the messages of Arrow Flight RPC from foreign bytes, as far as a protobuf library would.

Fields may come in any order, the last value of a field that may occur once counts, and unknown fields are passed over
(https://protobuf.dev/programming-guides/encoding/). No bytes make these functions raise: what cannot be read is None.
"""

from __future__ import annotations

import dataclasses
import struct
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

__all__ = ["Data", "Endpoint", "Fields", "Info", "Poll", "fields_of", "read_data", "read_info", "read_poll"]

_VARINT, _FIXED64, _DELIMITED, _FIXED32 = 0, 1, 2, 5
_SIGN: Final = 1 << 63

Value = int | bytes


class _UndecodableError(Exception):
    """The bytes are no message."""


@dataclasses.dataclass(frozen=True, slots=True)
class Fields:
    """The fields of a message by number, each with its values in their order: integers of varints, bytes of all
    others.
    """

    found: Mapping[int, Sequence[Value]]

    def part(self, field: int) -> bytes | None:
        """The last value of a field of bytes; None if there is none."""
        return next((value for value in reversed(self.found.get(field, ())) if isinstance(value, bytes)), None)

    def parts(self, field: int) -> tuple[bytes, ...]:
        """Every value of a repeated field of bytes."""
        return tuple(value for value in self.found.get(field, ()) if isinstance(value, bytes))

    def number(self, field: int) -> int:
        """The last value of a signed integer; 0 if there is none."""
        value = next((value for value in reversed(self.found.get(field, ())) if isinstance(value, int)), 0)
        return value - (1 << 64) if value & _SIGN else value

    def text(self, field: int) -> str | None:
        """The last value of a field of text, "" if there is none; None if it is not UTF-8."""
        try:
            return (self.part(field) or b"").decode()
        except UnicodeDecodeError:
            return None


def fields_of(message: bytes) -> Fields | None:
    """The fields of a message; None if the bytes are none."""
    found: dict[int, list[Value]] = {}
    try:
        for field, value in _walk(message):
            found.setdefault(field, []).append(value)
    except _UndecodableError:
        return None
    return Fields(found)


def _walk(message: bytes) -> Iterator[tuple[int, Value]]:
    at = 0
    while at < len(message):
        tag, at = _varint(message, at)
        field, kind = tag >> 3, tag & 7
        if not 0 < field < 1 << 29:
            raise _UndecodableError
        match kind:
            case 0:
                value, at = _varint(message, at)
                yield field, value
                continue
            case 1:
                size = 8
            case 2:
                size, at = _varint(message, at)
            case 5:
                size = 4
            case _:  # groups, which proto3 does not have
                raise _UndecodableError
        if at + size > len(message):
            raise _UndecodableError
        yield field, message[at : at + size]
        at += size


def _varint(message: bytes, at: int) -> tuple[int, int]:
    value = 0
    for shift in range(0, 70, 7):
        if at >= len(message):
            break
        byte = message[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if not byte & 0x80:
            return value & ((1 << 64) - 1), at
    raise _UndecodableError


@dataclasses.dataclass(frozen=True, slots=True)
class Endpoint:
    """A FlightEndpoint; ``raw`` are its bytes, ``ticket`` is None if it has none.

    ``locations`` are the URIs, ``expires`` the seconds of its expiration time since the Unix epoch, None without one.
    """

    raw: bytes
    ticket: bytes | None
    locations: tuple[str, ...]
    expires: int | None


@dataclasses.dataclass(frozen=True, slots=True)
class Info:
    """A FlightInfo; ``raw`` are its bytes, ``descriptor`` is None if it has none."""

    raw: bytes
    schema: bytes
    descriptor: bytes | None
    endpoints: tuple[Endpoint, ...]
    records: int
    bytes: int
    ordered: bool


@dataclasses.dataclass(frozen=True, slots=True)
class Poll:
    """A PollInfo; ``descriptor`` is that of the next call, None if the query has ended, ``progress`` None if unset."""

    info: Info | None
    descriptor: bytes | None
    progress: float | None


@dataclasses.dataclass(frozen=True, slots=True)
class Data:
    """A FlightData; each part is None if the message does not have the field."""

    descriptor: bytes | None
    header: bytes | None
    metadata: bytes | None
    body: bytes | None


def read_info(message: bytes) -> Info | None:
    """The FlightInfo in these bytes; None if they, or those of an endpoint, are no message."""
    fields = fields_of(message)
    if fields is None:
        return None
    endpoints = [read_endpoint(raw) for raw in fields.parts(3)]
    if any(one is None for one in endpoints):
        return None
    return Info(
        message,
        fields.part(1) or b"",
        fields.part(2),
        tuple(one for one in endpoints if one is not None),
        fields.number(4),
        fields.number(5),
        bool(fields.number(6)),
    )


def read_endpoint(raw: bytes) -> Endpoint | None:
    """The FlightEndpoint in these bytes; None if they, or those of a part, are no message."""
    fields = fields_of(raw)
    if fields is None:
        return None
    held = [fields_of(part) for part in (*fields.parts(1)[-1:], *fields.parts(2), *fields.parts(3)[-1:])]
    if any(one is None for one in held):
        return None
    sound = [one for one in held if one is not None]
    ticket = sound.pop(0).part(1) or b"" if fields.parts(1) else None
    expires = sound.pop().number(1) if fields.parts(3) else None
    uris = [one.text(1) for one in sound]
    if any(uri is None for uri in uris):
        return None
    return Endpoint(raw, ticket, tuple(uri for uri in uris if uri is not None), expires)


def read_poll(message: bytes) -> Poll | None:
    """The PollInfo in these bytes; None if they, or those of its info, are no message."""
    fields = fields_of(message)
    if fields is None:
        return None
    held = fields.part(1)
    info = None if held is None else read_info(held)
    if held is not None and info is None:
        return None
    progress = fields.part(3)
    measured = struct.unpack("<d", progress)[0] if progress is not None and len(progress) == 8 else None
    return Poll(info, fields.part(2), measured)


def read_data(message: bytes) -> Data | None:
    """The FlightData in these bytes; None if they are no message."""
    fields = fields_of(message)
    return None if fields is None else Data(*(fields.part(field) for field in (1, 2, 3, 1000)))
