"""Mutants of DoPut: rows that are lost, added or changed, and data that should be refused."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pyarrow as pa

from conformance.protocols.flight.contract.decoding import read_data
from conformance.protocols.flight.reference.register import mutant
from conformance.protocols.flight.reference.service import FlightService, Messages
from conformance.protocols.flight.reference.store import Batch, Flight
from conformance.reference.statuses import Refusal

_GIVEN_UP = {"flight-put.given-up-is-what-was-sent": "gRPC may end a DoPut that is given up as after a half-close"}
"""What follows by chance where more, or something else, is read than was sent."""


class _Keeping(FlightService):
    """A service that stores something else than it was sent."""

    def keep(self, key: bytes, came: Sequence[bytes]) -> None:
        """Store what :meth:`instead` gives."""
        schema, batches = self.table_of(came)
        self.store.put(self.instead(Flight(key, schema, batches)))

    def instead(self, flight: Flight) -> Flight:
        """What is stored in the place of a flight."""
        return flight


def _of(flight: Flight, rows: Sequence[pa.RecordBatch]) -> Flight:
    schema = rows[0].schema if rows else flight.schema
    return Flight(flight.descriptor, schema, tuple(map(Batch, rows)))


def _rows(flight: Flight) -> list[pa.RecordBatch]:
    return [batch.rows for batch in flight.batches]


@mutant("flight-put.forgets", kills="flight-put.is-found")
class Forgets(FlightService):
    """DoPut ends in OK and stores nothing."""

    def keep(self, key: bytes, came: Sequence[bytes]) -> None:
        self.table_of(came)


@mutant("flight-put.first-batch-only", kills="flight-put.nothing-is-lost")
class FirstBatchOnly(_Keeping):
    """Only the first batch of a DoPut is stored."""

    def instead(self, flight: Flight) -> Flight:
        return _of(flight, _rows(flight)[:1])


@mutant("flight-put.last-row-lost", kills="flight-put.nothing-is-lost")
class LastRowLost(_Keeping):
    """Each batch is stored without its last row."""

    def instead(self, flight: Flight) -> Flight:
        return _of(flight, [rows.slice(0, max(0, rows.num_rows - 1)) for rows in _rows(flight)])


@mutant(
    "flight-put.no-endpoint",
    kills="flight-put.nothing-is-lost",
    also={"flight-listed.records-have-endpoints": "the infos of the server's own flights have none either"},
)
class NoEndpoint(FlightService):
    """An info has no endpoint, so that its rows cannot be read."""

    def endpoints(self, flight: Flight) -> Sequence[bytes]:
        return []


@mutant("flight-put.batch-twice", kills="flight-put.nothing-is-added", also=_GIVEN_UP)
class BatchTwice(_Keeping):
    """The first batch is stored twice."""

    def instead(self, flight: Flight) -> Flight:
        rows = _rows(flight)
        return _of(flight, rows[:1] + rows)


@mutant(
    "flight-put.endpoints-overlap",
    kills="flight-put.nothing-is-added",
    also={"flight-info.total-records": "the rows of all endpoints are twice as many", **_GIVEN_UP},
)
class EndpointsOverlap(FlightService):
    """Two endpoints of an info give the same rows."""

    def endpoints(self, flight: Flight) -> Sequence[bytes]:
        return [*super().endpoints(flight), *super().endpoints(flight)]


def _with(rows: pa.RecordBatch, name: str, column: pa.Array) -> pa.RecordBatch:
    at = rows.schema.get_field_index(name)
    if at < 0:
        return rows
    columns = [*rows.columns[:at], column, *rows.columns[at + 1 :]]
    fields = [field.with_type(column.type) if field.name == name else field for field in rows.schema]
    return pa.record_batch(columns, schema=pa.schema(fields))


@mutant("flight-put.nulls-are-empty", kills="flight-put.values-are-kept", also=_GIVEN_UP)
class NullsAreEmpty(_Keeping):
    """A text that is NULL is stored as an empty one."""

    def instead(self, flight: Flight) -> Flight:
        filled = [_with(rows, "word", rows.column("word").fill_null("")) for rows in _rows(flight)]
        return _of(flight, filled)


@mutant("flight-put.floats-are-rounded", kills="flight-put.values-are-kept", also=_GIVEN_UP)
class FloatsAreRounded(_Keeping):
    """A number is stored with 32 bits and comes back with 64."""

    def instead(self, flight: Flight) -> Flight:
        rounded = [
            _with(rows, "number", rows.column("number").cast(pa.float32(), safe=False).cast(pa.float64()))
            for rows in _rows(flight)
        ]
        return _of(flight, rounded)


@mutant("flight-put.column-lost", kills="flight-put.columns-are-kept")
class ColumnLost(_Keeping):
    """The last column of a DoPut is not stored."""

    def instead(self, flight: Flight) -> Flight:
        return flight.without_last_column()


@mutant("flight-put.texts-are-bytes", kills="flight-put.columns-are-kept")
class TextsAreBytes(_Keeping):
    """Columns of text come back as columns of bytes."""

    def instead(self, flight: Flight) -> Flight:
        cast = [_with(rows, "word", rows.column("word").cast(pa.binary())) for rows in _rows(flight)]
        return _of(flight, cast)


@mutant(
    "flight-put.broken-is-accepted",
    kills="flight-put.broken-data-is-refused",
    also={"flight-put.damaged-is-whole-or-refused": "damaged data that cannot be read is accepted as well"},
)
class BrokenIsAccepted(FlightService):
    """A DoPut that cannot be read ends in OK."""

    def keep(self, key: bytes, came: Sequence[bytes]) -> None:
        try:
            super().keep(key, came)
        except Refusal:
            return


@mutant("flight-put.without-descriptor-is-accepted", kills="flight-put.descriptor-is-needed")
class WithoutDescriptorIsAccepted(FlightService):
    """A DoPut without a descriptor ends in OK."""

    def do_put(self, requests: Iterator[bytes]) -> Messages:
        came = list(requests)
        first = read_data(came[0]) if came else None
        if first is not None and first.descriptor is None:
            return ()
        return super().do_put(iter(came))
