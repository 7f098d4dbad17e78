"""Mutants of DoExchange: answers that are no Arrow stream, and rows or metadata that do not come back."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator

from conformance.protocols.flight.contract.decoding import Data
from conformance.protocols.flight.contract.encoding import data, descriptor
from conformance.protocols.flight.records import Descriptor
from conformance.protocols.flight.reference.base import is_schema
from conformance.protocols.flight.reference.register import mutant, process_mutant
from conformance.protocols.flight.reference.service import FlightService, Messages
from conformance.protocols.flight.reference.store import Batch, Flight


class ExchangedWhole(FlightService):
    """Reads the whole table, and sends back what :meth:`instead` makes of it after the end of the requests."""

    def do_exchange(self, requests: Iterator[bytes]) -> Messages:
        came = list(requests)
        if not came or self.read(came[0]).descriptor is None:
            self.no_descriptor()
        for message in map(self.read, came):
            if message.metadata is not None and not message.header:
                yield data(metadata=message.metadata)
        if any(self.read(message).header for message in came):
            yield from self.stream(self.instead(Flight(b"", *self.table_of(came))))

    def instead(self, flight: Flight) -> Flight:
        """What is sent back in the place of a table."""
        return flight


@mutant(
    "flight-exchange.no-schema",
    kills="flight-exchange.schema-comes-first",
    also={"flight-exchange.is-an-arrow-stream": "a stream without a schema is none"},
)
class NoSchema(FlightService):
    """The answers are batches alone: the client has sent their schema."""

    def answer(self, message: Data) -> Messages:
        return () if is_schema(message.header) else super().answer(message)


@mutant("flight-exchange.schema-again", kills="flight-exchange.is-an-arrow-stream")
class SchemaAgain(FlightService):
    """The schema comes again after the last answer."""

    def do_exchange(self, requests: Iterator[bytes]) -> Messages:
        schema: Data | None = None
        came = list(requests)
        for message in map(self.read, came):
            schema = message if is_schema(message.header) else schema
        yield from super().do_exchange(iter(came))
        if schema is not None:
            yield self.sent_back(schema)


@mutant("flight-exchange.body-cut", kills="flight-exchange.is-an-arrow-stream")
class BodyCut(FlightService):
    """The last bytes of each body are missing."""

    def sent_back(self, message: Data) -> bytes:
        return data(message.header or b"", (message.body or b"")[:-8], metadata=message.metadata)


@mutant("flight-exchange.body-alone", kills="flight-exchange.is-an-arrow-stream")
class BodyAlone(FlightService):
    """A body without a header follows the last answer."""

    def farewell(self) -> Messages:
        yield data(b"", bytes(8))


@mutant("flight-exchange.descriptor-in-answers", kills="flight-exchange.no-descriptor-from-the-server")
class DescriptorInAnswers(FlightService):
    """Each answer names a descriptor."""

    def sent_back(self, message: Data) -> bytes:
        return data(of=descriptor(Descriptor(cmd=b"echo"))) + super().sent_back(message)


@mutant(
    "flight-exchange.without-descriptor",
    kills="flight-exchange.descriptor-is-needed",
)
class WithoutDescriptor(FlightService):
    """An exchange without a descriptor ends in OK."""

    def no_descriptor(self) -> None:
        return


@mutant(
    "flight-exchange.last-batch-lost",
    kills="flight-exchange.nothing-is-lost",
    also={"flight-exchange.metadata-comes-back": "the metadata of the batch is lost with it"},
)
class LastBatchLost(ExchangedWhole):
    """The last batch does not come back."""

    def instead(self, flight: Flight) -> Flight:
        return Flight(flight.descriptor, flight.schema, flight.batches[:-1])


@mutant(
    "flight-exchange.ends-after-the-schema",
    kills="flight-exchange.nothing-is-lost",
    also={"flight-exchange.metadata-comes-back": "the metadata of the batch is lost with it"},
)
class EndsAfterTheSchema(FlightService):
    """The server ends the exchange in OK once it has sent the schema."""

    def do_exchange(self, requests: Iterator[bytes]) -> Messages:
        for answer in super().do_exchange(requests):
            yield answer
            if is_schema(self.read(answer).header):
                return


@mutant("flight-exchange.batch-twice", kills="flight-exchange.nothing-is-added")
class BatchTwice(ExchangedWhole):
    """The first batch comes back twice."""

    def instead(self, flight: Flight) -> Flight:
        return Flight(flight.descriptor, flight.schema, flight.batches[:1] + flight.batches)


@mutant("flight-exchange.values-of-the-first-row", kills="flight-exchange.values-are-kept")
class ValuesOfTheFirstRow(ExchangedWhole):
    """Every row of the column ``number`` has the value of the first one."""

    def instead(self, flight: Flight) -> Flight:
        return Flight(flight.descriptor, flight.schema, tuple(map(_levelled, flight.batches)))


def _levelled(batch: Batch) -> Batch:
    rows = batch.rows
    at = rows.schema.get_field_index("number")
    if at < 0 or not rows.num_rows:
        return batch
    column = rows.column(at).take([0] * rows.num_rows)
    return Batch(rows.set_column(at, rows.schema.field(at), column), batch.metadata)


@mutant("flight-exchange.column-lost", kills="flight-exchange.columns-are-kept")
class ColumnLost(ExchangedWhole):
    """The last column does not come back."""

    def instead(self, flight: Flight) -> Flight:
        return flight.without_last_column()


@mutant("flight-exchange.metadata-lost", kills="flight-exchange.metadata-comes-back")
class MetadataLost(FlightService):
    """The metadata of a batch does not come back."""

    def sent_back(self, message: Data) -> bytes:
        return data(message.header, message.body or b"") if message.header else super().sent_back(message)


@mutant("flight-exchange.metadata-alone-lost", kills="flight-exchange.metadata-comes-back")
class MetadataAloneLost(FlightService):
    """A message of metadata alone does not come back."""

    def answer(self, message: Data) -> Messages:
        return super().answer(message) if message.header else ()


@process_mutant("flight-exchange.waits", kills="calls.end-in-time")
class Waits(FlightService):
    """An exchange of a descriptor alone waits for data that does not come any more."""

    def do_exchange(self, requests: Iterator[bytes]) -> Messages:
        came = list(requests)
        if len(came) == 1 and not self.read(came[0]).header:
            threading.Event().wait(10)
        yield from super().do_exchange(iter(came))


@process_mutant("flight-exchange.dies", kills="calls.leave-the-server-alive")
class Dies(FlightService):
    """A message of metadata alone ends the process."""

    def answer(self, message: Data) -> Messages:
        if message.metadata is not None and not message.header:
            os._exit(3)
        return super().answer(message)
