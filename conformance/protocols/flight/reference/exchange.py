"""DoExchange of the reference: each message comes back."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from grpc import StatusCode

from conformance.protocols.flight.contract.decoding import Data, read_data
from conformance.protocols.flight.contract.encoding import data
from conformance.protocols.flight.reference.base import FlightBase, Messages

__all__ = ["Exchanges"]


class Exchanges(FlightBase):
    """DoExchange."""

    def do_exchange(self, requests: Iterator[bytes]) -> Messages:
        """Send back each message as it comes; the first one has to have a descriptor.

        What was no Arrow stream ends in an error, so that nobody takes what came back for a whole one.
        """
        first = next(requests, b"")
        if self.read(first).descriptor is None:
            self.no_descriptor()
        came = []
        for request in itertools.chain([first], requests):
            message = read_data(request)
            if message is None or message.header or message.body:
                came.append(request)
            if message is not None:
                yield from self.answer(message)
        if came:
            self.stream_of(came)
        yield from self.farewell()

    def read(self, request: bytes) -> Data:
        """A request as FlightData."""
        message = read_data(request)
        if message is None:
            self.refuse(StatusCode.INVALID_ARGUMENT, "a message is no FlightData")
        return message

    def no_descriptor(self) -> None:
        """What becomes of an exchange whose first message has no descriptor."""
        self.refuse(StatusCode.INVALID_ARGUMENT, "the first message has no descriptor")

    def answer(self, message: Data) -> Messages:
        """The answers to a message: the same without its descriptor, if there is anything else in it."""
        if message.header or message.metadata is not None:
            yield self.sent_back(message)

    def sent_back(self, message: Data) -> bytes:
        """A message as it is sent back."""
        return data(message.header or b"", message.body or b"", metadata=message.metadata)

    def farewell(self) -> Messages:
        """The answers to the end of the requests."""
        return ()
