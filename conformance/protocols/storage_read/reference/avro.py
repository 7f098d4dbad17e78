"""Avro as the service sends it: a schema in JSON, and the datums of consecutive rows with nothing between them.

The shapes are those of the Avro section of the BigQuery Storage Read API guide
(https://cloud.google.com/bigquery/docs/reference/storage#avro_schema_details) and of the schema and rows captured from
the service that GoogleCloudDataproc/spark-bigquery-connector keeps as test data (``alltypes.avroschema.json``).
This module decides schema and values; the binary encoding is fastavro's.
"""

from __future__ import annotations

import datetime as dt
import decimal
import io
import itertools
import json
import re
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final

import fastavro
import pyarrow as pa

from conformance.contract import mapping
from conformance.records import BqType, Column, Mode

__all__ = ["AvroNameError", "AvroWriter"]

_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_NAMESPACE: Final = "google.sqlType"
_EPOCH: Final = dt.datetime(1970, 1, 1)  # noqa: DTZ001  # a civil time has no zone
_MICROSECOND: Final = dt.timedelta(microseconds=1)
_DECIMAL_BYTES: Final = MappingProxyType({BqType.NUMERIC: 16, BqType.BIGNUMERIC: 32})
"""Widths of unscaled values: 16 as captured, sign-extended and not minimal; for BIGNUMERIC what 256 bits take."""
_BIGNUMERIC_PRECISION: Final = 77
"""Documented precision of an unparameterised BIGNUMERIC in Avro (its Arrow type has 76)."""

_PLAIN: Final[Mapping[BqType, Any]] = MappingProxyType(
    {
        BqType.INT64: "long",
        BqType.FLOAT64: "double",
        BqType.BOOL: "boolean",
        BqType.STRING: "string",
        BqType.BYTES: "bytes",
        BqType.DATE: {"type": "int", "logicalType": "date"},
        BqType.TIME: {"type": "long", "logicalType": "time-micros"},
        BqType.TIMESTAMP: {"type": "long", "logicalType": "timestamp-micros"},
        BqType.DATETIME: {"type": "string", "logicalType": "datetime"},
        BqType.JSON: {"type": "string", "sqlType": "JSON"},
        BqType.GEOGRAPHY: {"type": "string", "sqlType": "GEOGRAPHY"},
    }
)


class AvroNameError(Exception):
    """A column's name is no Avro name, and display names were not asked for; ``name`` is the column's."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name


class AvroWriter:
    """Schema and rows of a session's columns; ``display_names`` permits columns whose names are no Avro names.

    Raises:
        AvroNameError: from construction, as it says.
    """

    def __init__(self, columns: Sequence[Column], *, display_names: bool = False) -> None:
        self._columns = tuple(columns)
        self.tree = self.declare(_Tree(display_names=display_names).record("__root__", columns))
        self.schema = json.dumps(self.tree, ensure_ascii=False, separators=(",", ":"))
        self._parsed = fastavro.parse_schema(self.tree)

    def declare(self, tree: dict[str, Any]) -> dict[str, Any]:
        """The schema by which rows are written, as JSON; here the right one."""
        return tree

    def rows(self, batch: pa.RecordBatch) -> bytes:
        """The datums of the rows (in stored form, with exactly the columns) one after another."""
        sink = io.BytesIO()
        for row in batch.to_pylist():
            self.write_row(sink, _datum(row, self._columns))
        return sink.getvalue()

    def write_row(self, sink: io.BytesIO, datum: Mapping[str, Any]) -> None:
        """Write one row, given as the values of Avro by the names of its fields."""
        fastavro.schemaless_writer(sink, self._parsed, datum)


class _Tree:
    """Builds one schema: counts its anonymous records, and knows which named types have been spelled out."""

    def __init__(self, *, display_names: bool) -> None:
        self._display_names = display_names
        self._numbers = itertools.count()
        self._defined: set[str] = set()

    def record(self, name: str, columns: Sequence[Column]) -> dict[str, Any]:
        fields = [self._field(index, column) for index, column in enumerate(columns)]
        return {"type": "record", "name": name, "fields": fields}

    def _field(self, index: int, column: Column) -> dict[str, Any]:
        if not self._display_names and not _NAME.fullmatch(column.name):
            raise AvroNameError(column.name)
        field: dict[str, Any] = {"name": _field_name(index, column)}
        kind = self._type(column)
        if column.mode is Mode.REPEATED:
            field["type"] = {"type": "array", "items": kind}
        else:
            field["type"] = ["null", kind] if column.mode is Mode.NULLABLE else kind
        if self._display_names:
            field["displayName"] = column.name
        return field

    def _type(self, column: Column) -> Any:
        if column.type is BqType.RECORD:
            return self.record(f"__s_{next(self._numbers)}", column.fields)
        if column.type is BqType.RANGE:
            assert column.range_of is not None
            bound = ["null", _PLAIN[column.range_of]]
            fields = [{"name": "start", "type": bound}, {"name": "end", "type": bound}]
            return self._named(f"RANGE_{column.range_of}", fields, sqlType="RANGE")
        if column.type is BqType.INTERVAL:
            parts = (("months", "int"), ("days", "int"), ("microseconds", "long"))
            return self._named("INTERVAL", [{"name": name, "type": kind} for name, kind in parts])
        if column.type in _DECIMAL_BYTES:
            precision, scale = mapping.decimal_parameters(column)
            if column.type is BqType.BIGNUMERIC and column.precision is None:
                precision = _BIGNUMERIC_PRECISION
            return {"type": "bytes", "logicalType": "decimal", "precision": precision, "scale": scale}
        return _PLAIN[column.type]

    def _named(self, name: str, fields: list[dict[str, Any]], **attributes: str) -> Any:
        """A named type, spelled out where it comes first and by its full name wherever else."""
        full = f"{_NAMESPACE}.{name}"
        if full in self._defined:
            return full
        self._defined.add(full)
        return {"type": "record", "namespace": _NAMESPACE, "name": name, **attributes, "fields": fields}


def _field_name(index: int, column: Column) -> str:
    """The column's own name, or a placeholder where that is no Avro name."""
    return column.name if _NAME.fullmatch(column.name) else f"field_{index}"


# --- values ---------------------------------------------------------------------------------------


def _datum(row: Mapping[str, Any], columns: Sequence[Column]) -> dict[str, Any]:
    return {_field_name(index, column): _cell(row[column.name], column) for index, column in enumerate(columns)}


def _cell(value: Any, column: Column) -> Any:
    if column.mode is Mode.REPEATED:
        return [_value(item, column) for item in value]
    return _value(value, column)


def _value(value: Any, column: Column) -> Any:
    if value is None:
        return None
    if column.type is BqType.RECORD:
        return _datum(value, column.fields)
    if column.type is BqType.RANGE:
        assert column.range_of is not None
        bound = Column(column.name, column.range_of)
        return {name: _value(value[name], bound) for name in ("start", "end")}
    if column.type in _DECIMAL_BYTES:
        return _unscaled(value, column)
    return _VALUES.get(column.type, _as_it_is)(value)


def _unscaled(value: decimal.Decimal, column: Column) -> bytes:
    _, scale = mapping.decimal_parameters(column)
    units = int(value.scaleb(scale, decimal.Context(prec=100)))
    return units.to_bytes(_DECIMAL_BYTES[column.type], "big", signed=True)


def _as_it_is(value: Any) -> Any:
    return value


def _micros(value: dt.datetime) -> int:
    return (value.replace(tzinfo=None) - _EPOCH) // _MICROSECOND


def _time(value: dt.time) -> int:
    return (dt.datetime.combine(_EPOCH, value) - _EPOCH) // _MICROSECOND


_VALUES: Final[Mapping[BqType, Callable[[Any], Any]]] = MappingProxyType(
    {
        BqType.DATE: lambda value: (value - _EPOCH.date()).days,
        BqType.TIME: _time,
        BqType.TIMESTAMP: _micros,
        BqType.DATETIME: dt.datetime.isoformat,
        BqType.INTERVAL: lambda value: {
            "months": value["months"],
            "days": value["days"],
            "microseconds": value["micros"],
        },
    }
)
