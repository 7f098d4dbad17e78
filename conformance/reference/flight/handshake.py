"""Handshake of the reference: everybody may use it."""

from __future__ import annotations

from collections.abc import Iterator

from conformance.contract.flight.encoding import part
from conformance.reference.flight.base import FlightBase, Messages

__all__ = ["Handshakes"]


class Handshakes(FlightBase):
    """Handshake."""

    def handshake(self, requests: Iterator[bytes]) -> Messages:
        """Answer each payload with itself: everybody may use this server."""
        for request in requests:
            yield part(2, bytes(self.decode("HandshakeRequest", request).data("payload")))
