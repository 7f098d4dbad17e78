"""DoPut of the reference: a table is stored under the descriptor of the first message."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import grpc
import pyarrow as pa
from grpc import StatusCode

from conformance.protocols.flight.contract.decoding import message_of
from conformance.protocols.flight.contract.encoding import part
from conformance.protocols.flight.reference.base import FlightBase, Messages, is_schema
from conformance.protocols.flight.reference.store import Batch, Flight
from conformance.wire import DecodingError, Header
from conformance.wire.protobufmessages import ProtoMessage

__all__ = ["Puts"]


class Puts(FlightBase):
    """DoPut."""

    def do_put(self, requests: Iterator[bytes]) -> Messages:
        """Store a table under the descriptor of the first message; each batch is answered when it has come."""
        came: list[bytes] = []
        try:
            for request in requests:
                came.append(request)
                message = message_of("FlightData", request)
                if message is None:
                    continue  # refused with the table, so that the answers before it come in any case
                # Some clients send the metadata of the first batch with the schema as well; they wait for one answer.
                if message.has("data_body") or (
                    message.has("app_metadata") and not is_schema(message.data("data_header"))
                ):
                    yield from self.acknowledge(message)
        except (grpc.RpcError, GeneratorExit):  # the latter while the client does not take the answer
            self.given_up(came)
            raise
        named = message_of("FlightData", came[0]) if came else None
        place = None if named is None else self.named(named)
        if place is None:
            self.refuse(StatusCode.INVALID_ARGUMENT, "the first message has no descriptor")
        self.keep(self.key_by(place), came)

    def named(self, message: ProtoMessage) -> ProtoMessage | None:
        """The descriptor of a message, merged from all its occurrences."""
        return message.message("flight_descriptor")

    def given_up(self, came: Sequence[bytes]) -> None:
        """What becomes of the messages of a client that gave the call up: nothing."""

    def acknowledge(self, message: ProtoMessage) -> Messages:
        """The PutResult of a message with rows or metadata."""
        yield part(1, bytes(message.data("app_metadata"))) if message.has("app_metadata") else b""

    def keep(self, key: bytes, came: Sequence[bytes]) -> None:
        """Store the rows of a DoPut."""
        schema, batches = self.table_of(came)
        self.store.put(Flight(key, schema, batches))

    def table_of(self, came: Sequence[bytes]) -> tuple[pa.Schema, tuple[Batch, ...]]:
        """The batches in the messages; what is no Arrow stream is refused."""
        reading = self.stream_of(came)
        content = reading.content
        try:
            schema, batches = content.to_arrow().schema, content.to_batches()
        except DecodingError as error:
            self.refuse(StatusCode.UNIMPLEMENTED, f"the data cannot be stored: {error}")
        stream = reading.stream
        framed = zip((stream.parts[at].reading.message for at in stream.filled), content.messages, strict=True)
        metadata = [
            bytes(message.data("app_metadata")) if message.has("app_metadata") else None
            for message, found in framed
            if found.header is Header.RECORD_BATCH
        ]
        return schema, tuple(Batch(rows, held) for rows, held in zip(batches, metadata, strict=True))
