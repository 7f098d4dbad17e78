"""Legal variations of data: which uploads are stored, what is left of those that a client gives up, and dictionaries.

As in :mod:`.variations`, each names the text that permits it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pyarrow as pa
import pyarrow.compute as pc
from grpc import StatusCode

from conformance.contract.sources import COLUMNAR
from conformance.protocols.flight.contract.sources import FLIGHT_PAGE, FLIGHT_PROTO
from conformance.protocols.flight.reference.register import variation
from conformance.protocols.flight.reference.service import FlightService, Messages
from conformance.protocols.flight.reference.store import Batch, Flight
from conformance.reference.ipc.options import WriterOptions
from conformance.wire.protobufmessages import ProtoMessage

# --- uploads ------------------------------------------------------------------------------------------


class _Refusing(FlightService):
    """A service that refuses some tables."""

    def refused(self, schema: pa.Schema, came: Sequence[ProtoMessage]) -> bool:
        """True for a table that is refused."""
        return False

    def keep(self, key: bytes, came: Sequence[bytes]) -> None:
        schema, _ = self.table_of(came)
        if self.refused(schema, [self.decode("FlightData", one) for one in came]):
            self.refuse(StatusCode.UNIMPLEMENTED, "such data is not stored here")
        super().keep(key, came)


@variation("flight-put.no-dictionaries", FLIGHT_PAGE)
class NoDictionaries(_Refusing):
    """Tables with dictionaries are refused."""

    def refused(self, schema: pa.Schema, came: Sequence[ProtoMessage]) -> bool:
        return any(pa.types.is_dictionary(field.type) for field in schema)


@variation("flight-put.one-name", FLIGHT_PAGE)
class OneName(_Refusing):
    """A DoPut in which a later message has a descriptor is refused."""

    def refused(self, schema: pa.Schema, came: Sequence[ProtoMessage]) -> bool:
        return any(one.has("flight_descriptor") for one in came[1:])


@variation("flight-put.no-metadata", FLIGHT_PROTO)
class NoMetadata(_Refusing):
    """A DoPut with metadata of the application is refused."""

    def refused(self, schema: pa.Schema, came: Sequence[ProtoMessage]) -> bool:
        return any(one.has("app_metadata") for one in came)


@variation("flight-put.small-tables-alone", FLIGHT_PAGE)
class SmallTablesAlone(_Refusing):
    """A message of more than 4 MiB is refused as gRPC libraries do."""

    def do_put(self, requests: Iterator[bytes]) -> Messages:
        return super().do_put(self._small(requests))

    def _small(self, requests: Iterator[bytes]) -> Iterator[bytes]:
        for request in requests:
            if len(request) > 4 << 20:
                self.refuse(StatusCode.RESOURCE_EXHAUSTED, "the message is larger than 4194304 bytes")
            yield request


@variation("flight-put.given-up-keeps-what-came", FLIGHT_PROTO)
class GivenUpKeepsWhatCame(FlightService):
    """What came of a DoPut before its client gave it up is stored."""

    def given_up(self, came: Sequence[bytes]) -> None:
        named = self.decode("FlightData", came[0]).message("flight_descriptor") if came else None
        if named is not None:
            self.keep(self.key_by(named), came)


@variation("flight-put.given-up-keeps-a-batch", FLIGHT_PROTO)
class GivenUpKeepsABatch(GivenUpKeepsWhatCame):
    """The first batch of a DoPut that its client gave up is stored, whatever came after it."""

    def given_up(self, came: Sequence[bytes]) -> None:
        super().given_up(came[:2])


@variation("flight-put.one-element", FLIGHT_PAGE)
class OneElement(FlightService):
    """A flight is named by a path of one element that is not empty; any other is refused."""

    def key_by(self, named: ProtoMessage) -> bytes:
        path = named.texts("path")
        if len(path) > 1 or "" in path or any("/" in one for one in path):
            self.refuse(StatusCode.INVALID_ARGUMENT, "the path of a flight has one element")
        return super().key_by(named)


# --- dictionaries in streams --------------------------------------------------------------------------


class _Encoding(FlightService):
    """A service that sends each batch with a dictionary of its own."""

    def stream(self, flight: Flight) -> Messages:
        if not any(pa.types.is_string(field.type) for field in flight.schema):
            return super().stream(flight)
        words: dict[str, None] = {}
        encoded = [self.encoded(batch.rows, words) for batch in flight.batches]
        schema = (
            encoded[0].schema if encoded else self.encoded(pa.RecordBatch.from_pylist([], flight.schema), {}).schema
        )
        batches = tuple(Batch(rows, batch.metadata) for rows, batch in zip(encoded, flight.batches, strict=True))
        return super().stream(Flight(flight.descriptor, schema, batches))

    def encoded(self, rows: pa.RecordBatch, words: dict[str, None]) -> pa.RecordBatch:
        """The rows with their texts as indices into ``words``, to which the new ones are added."""
        words.update((word, None) for word in self.texts(rows) if word is not None)
        known = pa.array(list(words), pa.string())
        columns = [
            pa.DictionaryArray.from_arrays(pc.index_in(column, known), known)
            if pa.types.is_string(column.type)
            else column
            for column in rows.columns
        ]
        fields = [field.with_type(column.type) for field, column in zip(rows.schema, columns, strict=True)]
        return pa.record_batch(columns, schema=pa.schema(fields))

    def texts(self, rows: pa.RecordBatch) -> list[str | None]:
        """Every text of the rows."""
        return [word for column in rows.columns if pa.types.is_string(column.type) for word in column.to_pylist()]

    def info_schema(self, flight: Flight) -> bytes:
        return b""  # that of the flight is not the one of the stream

    def result_schema(self, flight: Flight) -> bytes:
        return self.refuse(StatusCode.UNIMPLEMENTED, "GetSchema is not implemented")


@variation("flight-data.dictionary-deltas", COLUMNAR)
class DictionaryDeltas(_Encoding):
    """Texts are dictionary-encoded, and the dictionary grows by deltas."""

    options = WriterOptions(end="close", deltas=True)


@variation("flight-data.replaced-dictionaries", COLUMNAR)
class ReplacedDictionaries(_Encoding):
    """Texts are dictionary-encoded, and each batch has a dictionary of its own."""

    def encoded(self, rows: pa.RecordBatch, words: dict[str, None]) -> pa.RecordBatch:
        return super().encoded(rows, {})
