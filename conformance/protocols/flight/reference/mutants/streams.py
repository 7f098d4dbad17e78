"""Mutants of the streams of DoGet."""

from __future__ import annotations

from conformance.protocols.flight.contract.decoding import read_data
from conformance.protocols.flight.contract.encoding import data, part
from conformance.protocols.flight.reference.register import mutant
from conformance.protocols.flight.reference.service import FlightService, Messages
from conformance.protocols.flight.reference.store import Flight
from conformance.reference.flatbuffers import write
from conformance.reference.message import DraftMessage

_STREAM = "flight-data.is-an-arrow-stream"
_BROKEN = {_STREAM: "the bytes are no stream then"}
_BATCH = 3


@mutant("flight-data.no-schema", kills="flight-data.schema-comes-first", also=_BROKEN)
class NoSchema(FlightService):
    """A stream begins with its first batch."""

    def stream(self, flight: Flight) -> Messages:
        _, *rest = super().stream(flight)
        yield from rest


@mutant("flight-data.no-message", kills="flight-data.schema-comes-first")
class NoMessage(FlightService):
    """DoGet ends in OK without any message."""

    def stream(self, flight: Flight) -> Messages:
        return ()


@mutant("flight-data.schema-last", kills="flight-data.schema-comes-first", also=_BROKEN)
class SchemaLast(FlightService):
    """The schema comes after the batches."""

    def stream(self, flight: Flight) -> Messages:
        schema, *rest = super().stream(flight)
        yield from (*rest, schema)


@mutant(
    "flight-data.header-with-prefix",
    kills="flight-data.header-without-prefix",
    also={**_BROKEN, "flight-data.schema-comes-first": "what the message is cannot be seen behind the prefix"},
)
class HeaderWithPrefix(FlightService):
    """``data_header`` is an encapsulated message, prefix included."""

    def encode(self, message: DraftMessage) -> tuple[bytes, bytes]:
        header, body = super().encode(message)
        return b"\xff\xff\xff\xff" + len(header).to_bytes(4, "little") + header, body


@mutant(
    "flight-data.body-without-header",
    kills=("flight-data.body-has-a-header", "flight-put.nothing-is-lost"),
    also={"flight-info.total-records": "fewer records can be read than there are"},
)
class BodyWithoutHeader(FlightService):
    """The last message of a stream has a body and no header."""

    def stream(self, flight: Flight) -> Messages:
        *before, last = super().stream(flight)
        yield from before
        message = read_data(last)
        yield last if message is None or not message.body else data(b"", message.body)


@mutant("flight-data.body-cut", kills="flight-data.body-is-as-long-as-declared", also=_BROKEN)
class BodyCut(FlightService):
    """Bodies lack their last eight bytes."""

    def encode(self, message: DraftMessage) -> tuple[bytes, bytes]:
        header, body = super().encode(message)
        return header, body[:-8]


@mutant("flight-data.body-longer", kills="flight-data.body-is-as-long-as-declared")
class BodyLonger(FlightService):
    """Bodies have eight bytes more than their headers declare."""

    def encode(self, message: DraftMessage) -> tuple[bytes, bytes]:
        header, body = super().encode(message)
        return header, body + bytes(8) if body else body


@mutant("flight-data.too-many-rows", kills=_STREAM)
class TooManyRows(FlightService):
    """Batches declare one row more than their buffers hold."""

    def encode(self, message: DraftMessage) -> tuple[bytes, bytes]:
        tree, body = message.complete()
        if tree["header_type"] == _BATCH:
            tree = {**tree, "header": {**tree["header"], "length": tree["header"]["length"] + 1}}
        return write("Message", tree, layout=message.layout), body


@mutant("flight-data.schema-again", kills=_STREAM)
class SchemaAgain(FlightService):
    """The schema comes again before each batch."""

    def stream(self, flight: Flight) -> Messages:
        schema, *rest = super().stream(flight)
        yield schema
        for message in rest:
            yield from (schema, message)


@mutant("flight-data.dirty-padding", kills="flight-data.is-an-arrow-stream-as-advised")
class DirtyPadding(FlightService):
    """The padding between buffers is not zero: it holds what was in memory before."""

    def encode(self, message: DraftMessage) -> tuple[bytes, bytes]:
        header, body = super().encode(message)
        used = message.body()[0] if body else []
        dirty = bytearray(b"\xaa" * len(body))
        for start, size in used:
            dirty[start : start + size] = body[start : start + size]
        return header, bytes(dirty)


@mutant("flight-data.descriptor", kills="flight-data.no-descriptor-from-the-server")
class DataDescriptor(FlightService):
    """The first message of a DoGet names a descriptor."""

    def stream(self, flight: Flight) -> Messages:
        schema, *rest = super().stream(flight)
        yield from (part(1, flight.descriptor) + schema, *rest)
