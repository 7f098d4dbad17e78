"""Writes and reads the messages of Flight SQL in the ``google.protobuf.Any`` that carries them."""

from __future__ import annotations

from conformance.protocols.flight.contract.decoding import message_of
from conformance.protocols.flight.contract.encoding import part, text
from conformance.protocols.flight.wire.sql import ANY, FLIGHT_SQL, TYPE_URL
from conformance.wire.protobuf import read_protobuf
from conformance.wire.protobufmessages import ProtoMessage

__all__ = ["command_in", "packed", "rebound", "record_count", "result_in", "type_of", "unpacked"]


def packed(name: str, message: bytes = b"") -> bytes:
    """The Any that holds a message of Flight SQL."""
    return text(1, TYPE_URL + name) + (part(2, message) if message else b"")


def type_of(data: bytes) -> str:
    """The name of the message of Flight SQL in an Any; empty if these bytes are no Any of Flight SQL."""
    reading = read_protobuf(data, ANY)
    if reading.violations:
        return ""
    _, slash, name = reading.message.text("type_url").rpartition("/")
    prefix = TYPE_URL.rpartition("/")[2]
    return name.removeprefix(prefix) if slash and name.startswith(prefix) else ""


def unpacked(data: bytes, name: str) -> ProtoMessage | None:
    """The message of that name in an Any; None if it is another, or if the bytes break the encoding."""
    if type_of(data) != name:
        return None
    reading = read_protobuf(bytes(read_protobuf(data, ANY).message.data("value")), FLIGHT_SQL[name])
    return None if reading.violations else reading.message


def command_in(descriptor: bytes) -> bytes:
    """The command of a FlightDescriptor; empty if there is none."""
    found = message_of("FlightDescriptor", descriptor)
    return b"" if found is None else bytes(found.data("cmd"))


def result_in(data: bytes) -> bytes | None:
    """The body of a Result; None if the bytes are none."""
    found = message_of("Result", data)
    return None if found is None else bytes(found.data("body"))


def rebound(data: bytes) -> bytes:
    """The handle in the DoPutPreparedStatementResult of a PutResult; empty if it has none that can be read."""
    found = _put_result(data, "DoPutPreparedStatementResult")
    return b"" if found is None else bytes(found.data("prepared_statement_handle"))


def record_count(data: bytes) -> int | None:
    """The number of records in the DoPutUpdateResult of a PutResult; None if it has none that can be read."""
    found = _put_result(data, "DoPutUpdateResult")
    return None if found is None else found.number("record_count")


def _put_result(data: bytes, name: str) -> ProtoMessage | None:
    put = message_of("PutResult", data)
    if put is None:
        return None
    reading = read_protobuf(bytes(put.data("app_metadata")), FLIGHT_SQL[name])
    return None if reading.violations else reading.message
