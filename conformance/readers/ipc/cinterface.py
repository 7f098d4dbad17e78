"""Batches that a library imports over the Arrow C data interface, instead of reading bytes.

The suite's own decoder makes them, so nothing but the import and what follows belongs to the library. Each batch comes
in slices of a longer one, so that every array has an "offset"
(https://arrow.apache.org/docs/format/CDataInterface.html#c.ArrowArray.offset), and one slice has no rows. Sliced tables
are what users hand from one library to another.
"""

from __future__ import annotations

from typing import Any, Final, Protocol

import pyarrow as pa

from conformance import wire
from conformance.readers.ipc.implementation import Unsupported
from conformance.wire.intervals import DAY_TIME, YEAR_MONTH
from conformance.wire.plain import differences, plain_table

__all__ = ["Exporting", "exported", "in_slices"]

_OWN_TYPES: Final = (DAY_TIME.extension_name, YEAR_MONTH.extension_name)
"""Types that stand for those of which pyarrow has no class."""

_OTHERS: Final = 3
"""Rows in front of a batch: no multiple of eight, so that bitmaps begin inside a byte."""


class Sliceable(Protocol):
    """A batch, or a table, of any library."""

    def slice(self, offset: int, length: int) -> Any:
        """The rows from ``offset``, so many."""


class Exporting:
    """An object of which a library knows the C stream interface alone."""

    def __init__(self, source: pa.RecordBatchReader) -> None:
        self._source = source

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """The stream as a capsule."""
        return self._source.__arrow_c_stream__(requested_schema)


def in_slices(batch: Sliceable, rows: int) -> list[Any]:
    """The two halves of a batch of any library, and the slice without rows behind its last one."""
    middle = rows // 2
    return [batch.slice(0, middle), batch.slice(middle, rows - middle), batch.slice(rows, 0)]


def _behind_others(batch: pa.RecordBatch) -> pa.RecordBatch:
    """The batch as a slice of one that begins with other rows."""
    columns = [_column_behind_others(column) for column in batch.columns]
    return pa.RecordBatch.from_arrays(columns, schema=batch.schema) if columns else batch


def _column_behind_others(column: pa.Array) -> pa.Array:
    """The column as a slice behind nulls; behind itself if its dictionary cannot be unified with theirs."""
    try:
        return pa.concat_arrays([pa.nulls(_OTHERS, column.type), column]).slice(_OTHERS)
    except pa.ArrowException:
        return pa.concat_arrays([column, column]).slice(len(column))


def _is_same(batches: list[pa.RecordBatch], pieces: list[pa.RecordBatch]) -> bool:
    """True if the pieces hold the rows of the batches."""
    return not batches or not differences(plain_table(batches), plain_table(pieces))


def exported(kind: str, data: bytes) -> Exporting:
    """The batches of a stream or file, sliced.

    Raises:
        Unsupported: the suite's decoder gives no batches, so there is nothing to import.
    """
    reading = wire.read_file(data) if kind == "file" else wire.read_stream(data)
    try:
        batches = reading.to_batches()
        schema = None if reading.schema is None else wire.schema_to_arrow(reading.schema)
    except wire.DecodingError as error:
        raise Unsupported(f"these bytes give no batches to import: {error}") from None
    if schema is None:
        raise Unsupported("these bytes have no schema of batches to import")
    if any(name in str(schema) for name in _OWN_TYPES):
        raise Unsupported("pyarrow has no class for this interval, and so exports another type")
    pieces = [piece for batch in batches for piece in in_slices(_behind_others(batch), batch.num_rows)]
    if not _is_same(batches, pieces):
        raise Unsupported("pyarrow, which makes the slices, gives other rows")
    return Exporting(pa.RecordBatchReader.from_batches(schema, pieces))
