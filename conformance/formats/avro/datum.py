"""Strict reading of rows: the datums of consecutive rows in, columns and faults out.

No bytes make this module raise, and each byte is looked at once. A fault of a value leaves the reading going on; where
nobody knows how the bytes go on, the reading ends, and keeps the rows before.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from conformance.contain.text import many
from conformance.formats.avro.columnbuilders import AvroColumn
from conformance.formats.avro.cursor import Cursor, ReadingLimit, StopReading
from conformance.formats.avro.nested import RecordColumn, column_of
from conformance.formats.avro.rules import AvroRule
from conformance.formats.avro.types import AvroSchema
from conformance.wire.faults import Fault
from conformance.wire.messages import Bytes
from conformance.wire.regions import Region

__all__ = ["AvroRowsReading", "read_avro_rows"]


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class AvroRowsReading:
    """The rows that were read in full, and the faults of the bytes.

    ``columns`` has one column for each field of the schema's root; they are empty if nothing was to be kept. ``end`` is
    the offset at which the last row ends, and ``size`` the number of bytes. ``unreadable`` counts the values in these
    rows that no Arrow type can have.
    """

    schema: AvroSchema
    columns: Sequence[AvroColumn]
    rows: int
    end: int
    size: int
    unreadable: int
    faults: tuple[Fault, ...]

    @property
    def complete(self) -> bool:
        """True if every byte belongs to a row that was read in full."""
        return self.end == self.size


def read_avro_rows(
    data: Bytes,
    schema: AvroSchema,
    row_count: int | None = None,
    *,
    regions: list[Region] | None = None,
    limit: ReadingLimit | None = None,
    keeps: bool = True,
) -> AvroRowsReading:
    """Read ``AvroRows.serialized_binary_rows``: ``row_count`` rows, or as many as there are up to the end.

    ``regions`` is filled with a region for each part of a row, if it is given. ``limit`` ends the reading where the
    rows have more values than it permits, without a fault. If ``keeps`` is false, only faults and counts are wanted,
    and the values take no memory.
    """
    cursor = Cursor(bytes(data), regions, limit=limit, keeps=keeps)
    columns = [column_of(field.type, schema, field.name) for field in schema.root.fields]
    row = RecordColumn("", schema.root, columns)
    rows = end = unreadable = 0
    stopped = False
    try:
        while (cursor.at < cursor.size and row.minimum) if row_count is None else cursor.row < row_count:
            if row.free:
                cursor.spend(row.free, "")
            if cursor.at == cursor.size and row.minimum:
                break
            if cursor.pace(row.slots) and not keeps:
                row.cut(0)
            row.read(cursor)
            rows, end, unreadable = cursor.row + 1, cursor.at, cursor.unreadable
            cursor.row = rows
    except StopReading:
        stopped = True
    row.cut(rows if keeps else 0)
    if not stopped:
        if row_count is not None and rows < row_count:
            observed = f"{many(rows, 'row')}, and {row_count} declared"
            cursor.report(AvroRule.ROWS_MISSING, end, "", observed)
        if end < cursor.size:
            observed = f"{many(cursor.size - end, 'byte')} after {many(rows, 'row')}"
            cursor.report(AvroRule.ROWS_BEHIND, end, "", observed, end=cursor.size)
    return AvroRowsReading(schema, columns, rows, end, cursor.size, unreadable, tuple(cursor.faults))
