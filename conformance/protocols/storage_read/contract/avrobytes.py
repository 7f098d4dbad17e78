"""The two fields of Avro, parsed once: the schema of a session, and the rows of a response under it."""

from __future__ import annotations

import functools
import types

import pyarrow as pa

from conformance.formats.avro import (
    AvroRowsReading,
    AvroSchema,
    AvroSchemaReading,
    ReadingLimit,
    avro_arrow_schema,
    avro_to_arrow,
    read_avro_rows,
    read_avro_schema,
)
from conformance.wire import Fault
from conformance.wire.arrow import DecodingError
from conformance.wire.messages import Bytes

__all__ = ["AvroRowsBytes", "AvroSchemaBytes"]


@functools.lru_cache(maxsize=64)
def _schema_reading(data: bytes) -> AvroSchemaReading:
    """Parse a schema once per distinct bytes: the schema of one session precedes thousands of responses."""
    return read_avro_schema(data)


class AvroSchemaBytes:
    """The Avro schema of a session or of a response; ``response`` is None for a session."""

    __slots__ = ("call", "data", "faults", "response", "schema")

    def __init__(self, call: int, response: int | None, data: bytes) -> None:
        self.call = call
        self.response = response
        self.data = data
        reading = _schema_reading(data)
        self.schema = reading.schema
        self.faults: tuple[Fault, ...] = reading.faults

    def arrow_schema(self) -> pa.Schema | None:
        """The Arrow types to which the types of the schema correspond; None if rows cannot be decoded by it."""
        return None if self.schema is None else avro_arrow_schema(self.schema)


class AvroRowsBytes:
    """The rows of one response, read to the end of their bytes; ``data`` is what decompression gave.

    ``rows`` is the number of rows that could be read. ``cut`` is true if reading ended early because the rows of the
    exchange have more values than ``limit`` permits.
    """

    __slots__ = ("_arrow", "_reading", "call", "cut", "data", "faults", "response", "rows")

    def __init__(self, call: int, response: int, data: Bytes, schema: AvroSchema, limit: ReadingLimit) -> None:
        self.call = call
        self.response = response
        self.data = data
        reading = read_avro_rows(data, schema, limit=limit)
        self.cut = limit.exceeded
        self.rows = reading.rows
        self.faults: tuple[Fault, ...] = reading.faults
        self._reading: AvroRowsReading | None = reading if reading.complete else None
        self._arrow: pa.RecordBatch | types.EllipsisType | None = ...

    def arrow(self) -> pa.RecordBatch | None:
        """The rows as Arrow, decoded once; None unless every byte belongs to a row that has an Arrow form."""
        if self._arrow is ...:
            reading, self._reading = self._reading, None
            self._arrow = None if reading is None else _arrow_of(reading)
        return self._arrow


def _arrow_of(reading: AvroRowsReading) -> pa.RecordBatch | None:
    try:
        return avro_to_arrow(reading)
    except DecodingError:
        return None
