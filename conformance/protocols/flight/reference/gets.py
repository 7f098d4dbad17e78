"""DoGet of the reference: the Arrow stream behind a ticket, in FlightData."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from grpc import StatusCode

from conformance.protocols.flight.contract.encoding import data
from conformance.protocols.flight.reference.base import Messages
from conformance.protocols.flight.reference.infos import Infos
from conformance.protocols.flight.reference.store import Flight
from conformance.reference.flatbuffers import write
from conformance.reference.ipc.writer import stream_model
from conformance.reference.message import DraftMessage

__all__ = ["Gets"]

_RECORD_BATCH: Final = 3


class Gets(Infos):
    """DoGet."""

    def do_get(self, requests: Iterator[bytes]) -> Messages:
        """The data of a ticket."""
        ticket = bytes(self.decode("Ticket", self.the_one(requests)).data("ticket"))
        flight = self.redeemed(ticket)
        if flight is None:
            self.refuse(StatusCode.NOT_FOUND, "no such ticket was given out, or it has expired")
        yield from self.stream(flight)

    def redeemed(self, ticket: bytes) -> Flight | None:
        """What a ticket gives now; None if that is nothing."""
        return self.store.redeem(ticket)

    def stream(self, flight: Flight) -> Messages:
        """The FlightData of a flight: the schema, and the messages of each batch."""
        model = stream_model([batch.rows for batch in flight.batches], self.options, schema=flight.schema)
        left = iter(flight.batches)
        for place, message in enumerate(model.messages):
            assert isinstance(message, DraftMessage), "the reference writes models"
            header, body = self.encode(message)
            rows = message.tree["header_type"] == _RECORD_BATCH
            yield self.flight_data(place, header, body, next(left).metadata if rows else None)

    def encode(self, message: DraftMessage) -> tuple[bytes, bytes]:
        """The metadata of a message without its prefix, and its body."""
        tree, body = message.complete()
        return write("Message", tree, layout=message.layout), body

    def flight_data(self, place: int, header: bytes, body: bytes, metadata: bytes | None) -> bytes:  # noqa: ARG002
        """The message number ``place`` of a stream."""
        return data(header, body, metadata=metadata)
