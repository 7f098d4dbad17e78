"""A login by Handshake, and a header that comes back."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final, Self

import pyarrow as pa
from grpc import StatusCode

from conformance.protocols.flight.contract.encoding import part
from conformance.protocols.flight.reference.scenarios.register import Commanded, numbers, scenario
from conformance.protocols.flight.reference.service import FlightService, Messages
from conformance.protocols.flight.reference.store import Flight, Store

__all__ = ["LoggedIn", "Mirrored"]

HEADER: Final = "x-middleware"


@scenario("auth:basic_proto")
class LoggedIn(FlightService):
    """Any action answers with the name of the user who has logged in."""

    def __init__(self, store: Store | None = None) -> None:
        super().__init__(store)
        self.login = ("arrow", "flight")

    def do_action(self, requests: Iterator[bytes]) -> Messages:
        """The name of the only user."""
        self.decode("Action", self.the_one(requests))
        assert self.login is not None, "the constructor sets it"
        yield part(1, self.login[0].encode())


@scenario("middleware")
class Mirrored(Commanded):
    """A header of each call comes back, with data and with an error."""

    def for_call(self, method: str, headers: Mapping[str, bytes], peer: str = "") -> Self:
        """The service for one call, with the header in its answer."""
        one = super().for_call(method, headers, peer)
        one.reply.append((HEADER, headers.get(HEADER, b"")))
        return one

    def flight(self, command: bytes) -> Flight:
        """An empty flight under one command."""
        if command != b"success":
            self.refuse(StatusCode.UNKNOWN, "this command fails")
        return numbers(pa.uint32(), [])
