"""The messages of a Flight stream as one IPC stream, so that the strict reader judges them, and the way back.

Each ``FlightData`` carries an IPC message in two fields: ``data_header`` is the metadata without the prefix, and
``data_body`` is the body (https://github.com/apache/arrow/blob/main/format/Flight.proto). A header of any length is
legal in Flight. The reader gets both where they are, and counts offsets as in the stream that the messages would be
with prefix and padding. :meth:`FlightStream.place` converts a range of this stream to a range of the message that it
came from, so that a fault names the bytes that were sent.
"""

from __future__ import annotations

import bisect
import dataclasses
import struct
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from conformance.contain.text import many
from conformance.protocols.flight.wire.messages import FLIGHT
from conformance.wire.faults import Fault, Rule, report
from conformance.wire.messages import PREFIX, Bytes, Header, read_messages
from conformance.wire.protobuf import read_protobuf
from conformance.wire.protobufmessages import ProtobufReading
from conformance.wire.stream import StreamReading, read_framed

__all__ = [
    "FlightFault",
    "FlightPart",
    "FlightPlace",
    "FlightReading",
    "FlightStream",
    "is_flight_data",
    "join_flight",
    "read_flight",
]

_PREFIX: Final = struct.Struct("<Ii")
_CONTINUATION: Final = 0xFFFFFFFF


class FlightPlace(NamedTuple):
    """Bytes ``start`` to ``end`` (exclusive) of the message with this index."""

    message: int
    start: int
    end: int


class FlightFault(NamedTuple):
    """A fault, whose offsets count in the bytes of the message with this index."""

    message: int
    fault: Fault


@dataclasses.dataclass(frozen=True, slots=True)
class FlightPart:
    """One ``FlightData``: its bytes and fields, and where its IPC message is in the stream.

    ``start`` and ``end`` are equal if the message carries no IPC message, as one with ``app_metadata`` alone.
    ``header`` and ``body`` are the ranges of the two fields in the bytes of the ``FlightData``.
    """

    message: memoryview
    reading: ProtobufReading
    start: int
    end: int
    header: tuple[int, int]
    body: tuple[int, int]

    @property
    def apart(self) -> tuple[bytes, memoryview]:
        """The metadata of the IPC message, padded, and its body."""
        first, end = self.header
        return bytes(self.message[first:end]) + bytes(-(end - first) % 8), self.message[slice(*self.body)]

    def back(self, start: int, end: int) -> tuple[int, int]:
        """The range in the ``FlightData`` of a range in the stream; prefix and padding belong to the header.

        A range over both fields ends with the header if the body comes first in the ``FlightData``.
        """
        body_at = self.end - (self.body[1] - self.body[0])
        if start >= body_at and self.body[1]:
            return self._in(self.body, start - body_at), self._in(self.body, end - body_at)
        metadata_at = self.start + PREFIX
        first = self._in(self.header, start - metadata_at)
        if end <= body_at:
            return first, self._in(self.header, end - metadata_at)
        last = self._in(self.body, end - body_at)
        return first, last if last > first else self.header[1]

    @property
    def faults(self) -> list[Fault]:
        """The faults of the message that are not faults of the IPC message in it."""
        faults = list(self.reading.faults)
        start, end = self.body
        if start < end and self.end == self.start:
            observed = f"a body of {many(end - start, 'byte')} without data_header"
            report(faults, Rule.MESSAGE_HEADER_MISSING, self.body, "FlightData.data_header", observed)
        return faults

    @staticmethod
    def _in(field: tuple[int, int], offset: int) -> int:
        return min(field[0] + max(offset, 0), field[1])


@dataclasses.dataclass(frozen=True, slots=True)
class FlightStream:
    """The IPC stream in the messages of one call.

    ``filled`` are the indices of the parts that carry an IPC message.
    """

    parts: tuple[FlightPart, ...]
    filled: tuple[int, ...]

    @property
    def data(self) -> bytes:
        """The bytes of the stream; making them takes longer than reading the stream."""
        pieces: list[Bytes] = []
        for metadata, body in self.apart:
            pieces += (_PREFIX.pack(_CONTINUATION, len(metadata)), metadata, body)
        return b"".join(pieces)

    @property
    def apart(self) -> list[tuple[bytes, memoryview]]:
        """Metadata and body of each IPC message."""
        return [self.parts[index].apart for index in self.filled]

    def read(self) -> StreamReading:
        """Read the stream strictly; it has no end marker, because the end of the call ends it."""
        return read_framed(self.apart)

    def place(self, start: int, end: int) -> FlightPlace:
        """Convert a range of the stream to a range of one message; a range that exceeds a message ends with it.

        In an empty stream the range is that of message 0.
        """
        # No message begins with an empty range: it belongs to the one that ends there, such as one whose body is lost.
        inside = start if end > start else max(start - 1, 0)
        place = bisect.bisect_right(self.filled, inside, key=lambda index: self.parts[index].start) - 1
        if place < 0:
            return FlightPlace(0, start, end)
        index = self.filled[place]
        part = self.parts[index]
        return FlightPlace(index, *part.back(start, min(end, part.end)))


@dataclasses.dataclass(frozen=True, slots=True)
class FlightReading:
    """The result of reading a Flight stream: the IPC content, and all faults at the bytes that were sent.

    The offsets in ``content`` count in the stream; those in ``faults`` in each message.
    """

    stream: FlightStream
    content: StreamReading
    faults: tuple[FlightFault, ...]


def join_flight(messages: Iterable[Bytes]) -> FlightStream:
    """Find the IPC stream in the bytes of ``FlightData`` messages; no bytes make this function raise.

    A message without ``data_header`` adds nothing to the stream, whatever else it carries.
    """
    parts: list[FlightPart] = []
    at = 0
    for message in messages:
        reading = read_protobuf(message, FLIGHT["FlightData"])
        header, body = (_range(reading, name) for name in ("data_header", "data_body"))
        start, length = at, header[1] - header[0]
        if length:
            at += PREFIX + length + -length % 8 + body[1] - body[0]
        parts.append(FlightPart(memoryview(message).cast("B"), reading, start, at, header, body))
    filled = tuple(index for index, part in enumerate(parts) if part.end > part.start)
    return FlightStream(tuple(parts), filled)


def is_flight_data(data: Bytes) -> bool:
    """True if the bytes are a ``FlightData`` with an Arrow message: a guess, for callers that expect something else."""
    stream = join_flight([data])
    first = read_messages(stream.data, limit=2)[:1]
    return not stream.parts[0].faults and any(one.header not in (Header.STRAY, Header.UNKNOWN) for one in first)


def read_flight(messages: Sequence[Bytes]) -> FlightReading:
    """Read the ``FlightData`` messages of one call in one direction; no bytes make this function raise.

    The faults are those of the protobuf encoding, and those of the IPC stream inside, message by message.
    """
    stream = join_flight(messages)
    content = stream.read()
    found = [FlightFault(index, fault) for index, part in enumerate(stream.parts) for fault in part.faults]
    for fault in content.faults:
        place = stream.place(fault.start, fault.end)
        found.append(FlightFault(place.message, dataclasses.replace(fault, start=place.start, end=place.end)))
    return FlightReading(stream, content, tuple(sorted(found, key=lambda one: one.message)))


def _range(reading: ProtobufReading, name: str) -> tuple[int, int]:
    """The bytes of a field's value; an empty range if it is absent."""
    field = reading.message.last(name)
    return (field.value_start, field.end) if field is not None else (0, 0)
