"""Faults in values: each type of column is read with other values than it was written with."""

from __future__ import annotations

import datetime as dt
import decimal
from collections.abc import Callable
from typing import Any, Final

import pyarrow as pa

from conformance.protocols.storage_write.reference.register import mutant
from conformance.protocols.storage_write.reference.service import WriteService
from conformance.protocols.storage_write.reference.store import WrittenTable
from conformance.records import ROW_ID, BqType, Column, Mode

_DAY: Final = dt.timedelta(days=1)
_HOUR: Final = dt.timedelta(hours=1)


class _Changed(WriteService):
    """A server that changes the top-level columns of a type."""

    KIND: BqType
    CHANGE: Callable[[Any], Any]

    def stored(self, table: WrittenTable, batch: pa.RecordBatch) -> pa.Table:
        rows = super().stored(table, batch)
        for at, column in enumerate(table.columns):
            if column.type is self.KIND and column.mode is Mode.NULLABLE and column.name in batch.schema.names:
                rows = rows.set_column(at, rows.schema.field(at), self.changed(column, rows.column(at)))
        return rows

    def changed(self, _column: Column, values: pa.ChunkedArray) -> pa.Array:
        """Other values."""
        change = type(self).CHANGE
        return pa.array([None if one is None else change(one) for one in values.to_pylist()], values.type)


def _value(name: str, kind: BqType, fault: str, change: Callable[[Any], Any]) -> None:
    """Register the mutant of one type."""
    members = {"KIND": kind, "CHANGE": staticmethod(change), "__doc__": fault}
    also = {"storage-write-values.columns-by-name": "the rows that were written with other columns have them, too"}
    mutant(f"storage-write.value-{name}", kills=f"storage-write-values.{name}", also=also, fault=fault)(
        type(f"Value{name.title()}", (_Changed,), members)
    )


def _time_before(one: dt.time) -> dt.time:
    return one.replace(microsecond=(one.microsecond + 1) % 1_000_000)


def _an_hour_away(one: dt.datetime) -> dt.datetime:
    return one + _HOUR if one.year < 9999 else one - _HOUR


def _other_bounds(one: dict[str, Any]) -> dict[str, Any]:
    return {"start": one["start"], "end": None if one["end"] is not None else one["start"]}


# A table, one row per mutant: name, type, fault, change.
# fmt: off
_value("int64", BqType.INT64, "INT64 is stored with the opposite sign.", lambda one: -one - 1)
_value("float64", BqType.FLOAT64, "FLOAT64 is stored as 0 or 1.", lambda one: 0.0 if one == 1.0 else 1.0)
_value("bool", BqType.BOOL, "BOOL is stored as its opposite.", lambda one: not one)
_value("string", BqType.STRING, "STRING gets a blank at its end.", lambda one: f"{one} ")
_value("bytes", BqType.BYTES, "BYTES are stored as the text of their hexadecimal digits.",
  lambda one: one.hex().encode() + b".")
_value("date", BqType.DATE, "DATE is stored as the day before.",
  lambda one: one - _DAY if one > dt.date.min else one + _DAY)
_value("time", BqType.TIME, "TIME is stored with another microsecond.", _time_before)
_value("datetime", BqType.DATETIME, "DATETIME is moved by an hour.", _an_hour_away)
_value("timestamp", BqType.TIMESTAMP, "TIMESTAMP is moved by an hour.", _an_hour_away)
_value("numeric", BqType.NUMERIC, "NUMERIC is stored with one more.", lambda one: one + 1 if one < 1 else one - 1)
_value("bignumeric", BqType.BIGNUMERIC, "BIGNUMERIC is stored as a whole number.", lambda _one: decimal.Decimal(7))
_value("geography", BqType.GEOGRAPHY, "GEOGRAPHY is stored as one and the same point.", lambda _one: "POINT(7 7)")
_value("range", BqType.RANGE, "RANGE loses its end.", _other_bounds)
_value("json", BqType.JSON, "JSON is stored as a text in JSON.", lambda one: f"[{one}]")
_value("interval", BqType.INTERVAL, "INTERVAL loses its days and its time.",
  lambda one: pa.MonthDayNano([one[0] + 1, 0, 0]))
# fmt: on


@mutant("storage-write.null-as-default", kills="storage-write-values.nulls")
class NullAsDefault(WriteService):
    """NULL in a STRING column is stored as an empty text."""

    def stored(self, table: WrittenTable, batch: pa.RecordBatch) -> pa.Table:
        rows = super().stored(table, batch)
        for at, field in enumerate(rows.schema):
            if pa.types.is_string(field.type) and field.name in batch.schema.names:
                values = ["" if one is None else one for one in rows.column(at).to_pylist()]
                rows = rows.set_column(at, field, pa.array(values, field.type))
        return rows


@mutant("storage-write.list-cut", kills="storage-write-values.lists")
class ListCut(WriteService):
    """A list loses its last item."""

    def stored(self, table: WrittenTable, batch: pa.RecordBatch) -> pa.Table:
        rows = super().stored(table, batch)
        for at, field in enumerate(rows.schema):
            if pa.types.is_list(field.type):
                values = [one[:-1] for one in rows.column(at).to_pylist()]
                rows = rows.set_column(at, field, pa.array(values, field.type))
        return rows


@mutant(
    "storage-write.columns-exchanged",
    kills="storage-write-values.columns",
    also={
        "storage-write-values.*": "the values of another column are others",
        "storage-write-rows.omitted-column-is-null": "as above",
    },
)
class ColumnsExchanged(WriteService):
    """Two columns of one type have each other's values."""

    def stored(self, table: WrittenTable, batch: pa.RecordBatch) -> pa.Table:
        rows = super().stored(table, batch)
        numbers = [at for at, field in enumerate(rows.schema) if field.type == pa.int64() and field.name != ROW_ID]
        if len(numbers) < 3:
            return rows
        first, second = numbers[-2:]
        one, other = rows.column(first), rows.column(second)
        rows = rows.set_column(first, rows.schema.field(first), other)
        return rows.set_column(second, rows.schema.field(second), one)


@mutant("storage-write.columns-by-place", kills="storage-write-values.columns-by-name")
class ColumnsByPlace(WriteService):
    """Columns are taken in the order of the table, whatever their names are, if there are as many and the types fit."""

    def stored(self, table: WrittenTable, batch: pa.RecordBatch) -> pa.Table:
        names = [column.name for column in table.columns]
        if len(names) != batch.num_columns or [one.type for one in batch.schema] != [
            batch.schema.field(name).type for name in names
        ]:
            return super().stored(table, batch)
        return super().stored(table, pa.RecordBatch.from_arrays(batch.columns, names=names))
