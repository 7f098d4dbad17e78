"""The rows of a file that a load job uploads, in the form in which the reference stores them.

Sources: https://cloud.google.com/bigquery/docs/loading-data-cloud-storage-avro ("Avro conversions"),
https://cloud.google.com/bigquery/docs/loading-data-cloud-storage-parquet
"""

from __future__ import annotations

import datetime as dt
import io
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import pyarrow as pa

from conformance.protocols.storage_read.reference.catalogue import stored_schema
from conformance.records import BqType, Column, Mode

__all__ = ["read_rows"]

NO_LOGICAL_TYPE: Final = frozenset({BqType.INTERVAL, BqType.RANGE})
"""Types that the table of Avro conversions does not have."""

_LOGICAL: Final = frozenset(
    {"date", "time-millis", "time-micros", "timestamp-millis", "timestamp-micros"}
    | {"local-timestamp-millis", "local-timestamp-micros"}
)
"""Logical types that mean nothing unless ``useAvroLogicalTypes`` is set."""


def read_rows(load: Mapping[str, Any], data: bytes, columns: Sequence[Column]) -> pa.Table:
    """The rows in ``data``, as the ``load`` configuration of a job says; raises ValueError or ArrowException."""
    match load.get("sourceFormat"):
        case "PARQUET":
            import pyarrow.parquet as pq  # noqa: PLC0415  # few runs load anything

            return pq.read_table(pa.BufferReader(data)).cast(stored_schema(columns))
        case "AVRO":
            return _avro(load, data, columns)
        case other:
            raise ValueError(f"expected the sourceFormat PARQUET or AVRO, got {other!r}")


def _avro(load: Mapping[str, Any], data: bytes, columns: Sequence[Column]) -> pa.Table:
    import fastavro  # noqa: PLC0415  # few runs load anything

    reader = fastavro.reader(io.BytesIO(data))
    if not load.get("useAvroLogicalTypes") and _uses_logical_types(reader.writer_schema):
        raise ValueError("a logical type in the Avro file is a plain integer without useAvroLogicalTypes")
    rows = [_record(row, columns) for row in reader if isinstance(row, dict)]
    return pa.Table.from_pylist(rows, schema=stored_schema(columns))


def _uses_logical_types(schema: Any) -> bool:
    if isinstance(schema, list):
        return any(map(_uses_logical_types, schema))
    if not isinstance(schema, dict):
        return False
    if schema.get("logicalType") in _LOGICAL:
        return True
    within = [schema.get("items"), *(field["type"] for field in schema.get("fields", ()))]
    return any(map(_uses_logical_types, within))


def _record(row: Mapping[str, Any], columns: Sequence[Column]) -> dict[str, Any]:
    if strange := set(row) - {column.name for column in columns}:
        raise ValueError(f"the table has no column {min(strange)!r}")
    return {column.name: _cell(column, row.get(column.name)) for column in columns}


def _cell(column: Column, value: Any) -> Any:
    if column.type in NO_LOGICAL_TYPE:
        raise ValueError(f"Avro has no type for {column.type}")
    if column.mode is Mode.REPEATED:
        return [_item(column, item) for item in value]
    if value is None:
        if column.mode is Mode.REQUIRED:
            raise ValueError(f"the REQUIRED column {column.name!r} is NULL")
        return None
    return _item(column, value)


def _item(column: Column, value: Any) -> Any:
    if column.type is BqType.RECORD:
        return _record(value, column.fields)
    return _EXACT.get(column.type, _same)(value)


def _same(value: Any) -> Any:
    return value


def _civil(value: dt.datetime) -> dt.datetime:
    return value.replace(tzinfo=None)


_EXACT: Final[Mapping[BqType, Callable[[Any], Any]]] = {BqType.DATETIME: _civil}
