"""Legal variations of DoExchange: how an exchange that sends back what it gets may differ from the reference."""

from __future__ import annotations

from collections.abc import Iterator

from conformance.contract.sources import COLUMNAR
from conformance.protocols.flight.contract.decoding import Data
from conformance.protocols.flight.contract.encoding import data
from conformance.protocols.flight.contract.sources import FLIGHT_PAGE, FLIGHT_PROTO
from conformance.protocols.flight.reference.mutants.exchanges import ExchangedWhole
from conformance.protocols.flight.reference.register import variation
from conformance.protocols.flight.reference.service import FlightService, Messages
from conformance.protocols.flight.reference.store import Batch, Flight
from conformance.reference.ipc.options import WriterOptions

__all__ = ["ExchangedAtTheEnd"]


@variation("flight-exchange.at-the-end", FLIGHT_PAGE)
class ExchangedAtTheEnd(ExchangedWhole):
    """The rows come back when the client has sent all of them."""


@variation("flight-exchange.compressed", COLUMNAR)
class ExchangedCompressed(ExchangedWhole):
    """The rows come back compressed, although the client compressed none."""

    options = WriterOptions(end="close", codec="lz4")


@variation("flight-exchange.one-row-each", FLIGHT_PAGE)
class ExchangedByRows(ExchangedWhole):
    """The rows come back in batches of another size; the metadata of a batch comes with the first of them."""

    def instead(self, flight: Flight) -> Flight:
        made = [
            Batch(one.rows.slice(at, 1 if at < 5 else None), one.metadata if at == 0 else None)
            for one in flight.batches
            for at in range(min(one.rows.num_rows, 6) or 1)
        ]
        return Flight(flight.descriptor, flight.schema, tuple(made))


@variation("flight-exchange.metadata-first", FLIGHT_PROTO)
class ExchangedMetadataFirst(FlightService):
    """A message of metadata alone comes before all others."""

    def do_exchange(self, requests: Iterator[bytes]) -> Messages:
        for at, answer in enumerate(super().do_exchange(requests)):
            yield from (data(metadata=b"of the server"), answer) if at == 0 else (answer,)


@variation("flight-exchange.metadata-apart", FLIGHT_PROTO)
class ExchangedMetadataApart(FlightService):
    """The metadata of a batch comes in a message of its own before it, with an empty message between."""

    def answer(self, message: Data) -> Messages:
        if message.metadata is not None:
            yield from (data(metadata=message.metadata), b"")
        if message.header:
            yield data(message.header, message.body or b"")


@variation("flight-exchange.metadata-at-the-end", FLIGHT_PROTO)
class ExchangedFarewell(FlightService):
    """A message of metadata alone says what the server did."""

    def farewell(self) -> Messages:
        yield data(metadata=b"done")
