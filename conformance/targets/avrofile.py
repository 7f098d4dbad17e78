"""The rows of a table as an Avro file for a load job, with the logical types that the service converts.

Sources: https://cloud.google.com/bigquery/docs/loading-data-cloud-storage-avro ("Avro conversions", names) and
https://cloud.google.com/bigquery/docs/reference/rest/v2/Job (``decimalTargetTypes``). DATETIME is a local timestamp
there; JSON is a text in a column whose type the job gives.
"""

from __future__ import annotations

import datetime as dt
import decimal
import io
import itertools
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

import pyarrow as pa

from conformance.records import BqType, Column, Mode
from conformance.targets.targeterrors import CannotSeed

__all__ = ["AVRO_OPTIONS", "NO_AVRO", "avro_file"]

NO_AVRO: Final = frozenset({BqType.INTERVAL, BqType.RANGE, BqType.GEOGRAPHY})
"""Types that the table of conversions does not have."""

AVRO_OPTIONS: Final = {"useAvroLogicalTypes": True, "decimalTargetTypes": ["NUMERIC", "BIGNUMERIC"]}
"""The part of a job's configuration that the logical types need."""

_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_EPOCH: Final = dt.datetime(1970, 1, 1)  # noqa: DTZ001  # a civil time has no zone
_MICROSECOND: Final = dt.timedelta(microseconds=1)
_DECIMALS: Final = {BqType.NUMERIC: (38, 9), BqType.BIGNUMERIC: (77, 38)}
"""Precision and scale that select NUMERIC and BIGNUMERIC among the target types, whatever the column declares."""
_EXACT: Final = decimal.Context(prec=100)

_TYPES: Final[Mapping[BqType, Any]] = {
    BqType.INT64: "long",
    BqType.FLOAT64: "double",
    BqType.BOOL: "boolean",
    BqType.STRING: "string",
    BqType.BYTES: "bytes",
    BqType.JSON: "string",
    BqType.DATE: {"type": "int", "logicalType": "date"},
    BqType.TIME: {"type": "long", "logicalType": "time-micros"},
    BqType.DATETIME: {"type": "long", "logicalType": "local-timestamp-micros"},
    BqType.TIMESTAMP: {"type": "long", "logicalType": "timestamp-micros"},
    **{
        kind: {"type": "bytes", "logicalType": "decimal", "precision": precision, "scale": scale}
        for kind, (precision, scale) in _DECIMALS.items()
    },
}


def avro_file(columns: Sequence[Column], table: pa.Table) -> bytes:
    """``table`` as an Avro object container file; raises :class:`CannotSeed` for a name that Avro does not have."""
    import fastavro  # noqa: PLC0415  # few targets are seeded by load jobs

    schema = fastavro.parse_schema(_record("rows", columns, itertools.count()))
    sink = io.BytesIO()
    fastavro.writer(sink, schema, _rows(columns, table))
    return sink.getvalue()


def _rows(columns: Sequence[Column], table: pa.Table) -> Iterator[dict[str, Any]]:
    """The rows one batch after another: a large table as Python objects would take much memory."""
    for batch in table.to_batches(max_chunksize=1000):
        for row in batch.to_pylist():
            yield _datum(columns, row)


def _record(name: str, columns: Sequence[Column], numbers: Iterator[int]) -> dict[str, Any]:
    return {"type": "record", "name": name, "fields": [_field(column, numbers) for column in columns]}


def _field(column: Column, numbers: Iterator[int]) -> dict[str, Any]:
    if not _NAME.fullmatch(column.name):
        raise CannotSeed(f"Avro has no field of the name {column.name!r}")
    kind = _TYPES.get(column.type) or _record(f"record_{next(numbers)}", column.fields, numbers)
    if column.mode is Mode.REPEATED:
        kind = {"type": "array", "items": kind}
    elif column.mode is Mode.NULLABLE:
        kind = ["null", kind]
    return {"name": column.name, "type": kind}


def _datum(columns: Sequence[Column], row: Mapping[str, Any]) -> dict[str, Any]:
    return {column.name: _cell(column, row[column.name]) for column in columns}


def _cell(column: Column, value: Any) -> Any:
    if column.mode is Mode.REPEATED:
        return [_item(column, item) for item in value]
    return None if value is None else _item(column, value)


def _item(column: Column, value: Any) -> Any:
    if column.type is BqType.RECORD:
        return _datum(column.fields, value)
    if column.type in _DECIMALS:
        units = int(value.scaleb(_DECIMALS[column.type][1], _EXACT))
        return units.to_bytes((units.bit_length() + 8) // 8, "big", signed=True)
    return _NUMBERS.get(column.type, _same)(value)


def _same(value: Any) -> Any:
    return value


def _micros(value: dt.datetime) -> int:
    return (value.replace(tzinfo=None) - _EPOCH) // _MICROSECOND


_NUMBERS: Final[Mapping[BqType, Callable[[Any], Any]]] = {
    BqType.DATE: lambda value: (value - _EPOCH.date()).days,
    BqType.TIME: lambda value: (dt.datetime.combine(_EPOCH, value) - _EPOCH) // _MICROSECOND,
    BqType.DATETIME: _micros,
    BqType.TIMESTAMP: _micros,
}
"""The numbers behind the logical types, computed here as integers, so that no value depends on a library."""
