"""DoExchange of the reference: each message comes back."""

from __future__ import annotations

from collections.abc import Iterator

from grpc import StatusCode

from conformance.contract.flight.decoding import read_data
from conformance.contract.flight.encoding import data
from conformance.reference.flight.base import FlightBase, Messages

__all__ = ["Exchanges"]


class Exchanges(FlightBase):
    """DoExchange."""

    def do_exchange(self, requests: Iterator[bytes]) -> Messages:
        """Send back each message as it comes, without the descriptor."""
        for request in requests:
            message = read_data(request)
            if message is None:
                self.refuse(StatusCode.INVALID_ARGUMENT, "a message is no FlightData")
            if message.header or message.metadata is not None:
                yield data(message.header or b"", message.body or b"", metadata=message.metadata)
