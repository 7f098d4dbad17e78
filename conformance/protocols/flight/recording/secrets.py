"""What is secret in the messages of Flight: the payload of a Handshake, which is a password or the token of a login."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from conformance.protocols.flight.contract.decoding import message_of
from conformance.protocols.flight.records import FlightMethod
from conformance.protocols.flight.wire.messages import FLIGHT
from conformance.wire.protobuf import read_protobuf

__all__ = ["secrets", "without_secrets"]


def secrets(method: str, requests: Sequence[bytes]) -> Iterator[str]:
    """The passwords of a login by Handshake."""
    for data in requests if method == FlightMethod.HANDSHAKE else ():
        asked = message_of("HandshakeRequest", data)
        login = None if asked is None else message_of("BasicAuth", bytes(asked.data("payload")))
        if login is not None:
            yield login.text("password")


def without_secrets(method: str, message: bytes) -> bytes:
    """A message of Handshake with asterisks as its payload; any other as it is."""
    if method != FlightMethod.HANDSHAKE:
        return message
    reading = read_protobuf(message, FLIGHT["HandshakeRequest"])  # the answer has the same fields
    if reading.violations:
        return b"*" * len(message)
    for field in reading.message.all("payload"):
        size = field.end - field.value_start
        message = message[: field.value_start] + b"*" * size + message[field.end :]
    return message
