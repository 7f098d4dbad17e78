"""The Arrow form of BigQuery columns: one table, a row per BigQuery type.

This module defines the expected Arrow form of a column and the parts of it that the contract leaves open. It
contains no values and reads no bytes.

Sources: the Arrow section of the BigQuery Storage Read API guide
(https://cloud.google.com/bigquery/docs/reference/storage#arrow_schema_details), and the message pairs captured from
the service that public connectors keep as test data (GoogleCloudDataproc/spark-bigquery-connector,
apache/pekko-connectors), which show nullability, ``item`` and the place of ``google:sqlType`` metadata.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Final

import pyarrow as pa

from conformance.records import BqType, Column, Mode

__all__ = [
    "EXTENSION_METADATA",
    "EXTENSION_NAME",
    "ITEM",
    "RANGE_KEY",
    "arrow_field",
    "arrow_schema",
    "bounds_metadata",
    "bounds_nullable",
    "decimal_parameters",
    "decimal_widths",
    "element_type",
    "field_metadata",
    "permits",
]

ITEM: Final = "item"
"""The name of a list's child field."""

EXTENSION_NAME: Final = "ARROW:extension:name"
EXTENSION_METADATA: Final = "ARROW:extension:metadata"
RANGE_KEY: Final = "google:sqlType"
"""The metadata key of RANGE alone; the other types with field metadata use :data:`EXTENSION_NAME`."""

Metadata = Mapping[str, str]


@dataclasses.dataclass(frozen=True, slots=True)
class _Row:
    """The Arrow type of a column without its mode, and the metadata of its field."""

    arrow: Callable[[Column], pa.DataType]
    metadata: Metadata = dataclasses.field(default_factory=lambda: MappingProxyType({}))


def _plain(arrow: pa.DataType, **metadata: str) -> _Row:
    return _Row(lambda _column: arrow, MappingProxyType(metadata))


def _marked(arrow: pa.DataType, name: str, **more: str) -> _Row:
    """A row for a type that arrives in the storage type of another, named by extension metadata on the field."""
    return _Row(lambda _column: arrow, MappingProxyType({EXTENSION_NAME: f"google:sqlType:{name}", **more}))


def _numeric(column: Column) -> pa.DataType:
    return pa.decimal128(*decimal_parameters(column))


def _bignumeric(column: Column) -> pa.DataType:
    return pa.decimal256(*decimal_parameters(column))


def _range(column: Column) -> pa.DataType:
    assert column.range_of is not None
    bound = _TABLE[column.range_of].arrow(column)
    return pa.struct([pa.field("start", bound), pa.field("end", bound)])


def _record(column: Column) -> pa.DataType:
    return pa.struct([arrow_field(field) for field in column.fields])


_TABLE: Final[Mapping[BqType, _Row]] = MappingProxyType(
    {
        BqType.INT64: _plain(pa.int64()),
        BqType.FLOAT64: _plain(pa.float64()),
        BqType.BOOL: _plain(pa.bool_()),
        BqType.STRING: _plain(pa.utf8()),
        BqType.BYTES: _plain(pa.binary()),
        BqType.DATE: _plain(pa.date32()),
        BqType.DATETIME: _marked(pa.timestamp("us"), "datetime"),
        BqType.TIME: _plain(pa.time64("us")),
        BqType.TIMESTAMP: _plain(pa.timestamp("us", tz="UTC")),
        BqType.NUMERIC: _Row(_numeric),
        BqType.BIGNUMERIC: _Row(_bignumeric),
        BqType.JSON: _marked(pa.utf8(), "json"),
        BqType.GEOGRAPHY: _marked(pa.utf8(), "geography", **{EXTENSION_METADATA: '{"encoding": "WKT"}'}),
        BqType.INTERVAL: _marked(pa.month_day_nano_interval(), "interval"),
        BqType.RANGE: _Row(_range, MappingProxyType({RANGE_KEY: "range"})),
        BqType.RECORD: _Row(_record),
    }
)

_DEFAULT_DECIMAL: Final = {BqType.NUMERIC: (38, 9), BqType.BIGNUMERIC: (76, 38)}


def arrow_schema(columns: Iterable[Column]) -> pa.Schema:
    """Return the Arrow schema of a table with ``columns``, in their order and without schema-level metadata."""
    return pa.schema([arrow_field(column) for column in columns])


@functools.lru_cache(maxsize=4096)
def arrow_field(column: Column) -> pa.Field:
    """Return the Arrow field of a column, in the form that the contract expects.

    A REPEATED column is a list that is never null, of nullable ``item``; the element's metadata is on the list
    field. The bounds of every RANGE are nullable here and have no metadata; :func:`bounds_nullable` and
    :func:`bounds_metadata` give the cases that the contract leaves open.
    """
    arrow = element_type(column)
    if column.mode is Mode.REPEATED:
        arrow = pa.list_(pa.field(ITEM, arrow, nullable=True))
    nullable = column.mode is Mode.NULLABLE
    return pa.field(column.name, arrow, nullable=nullable, metadata=dict(field_metadata(column)) or None)


def element_type(column: Column) -> pa.DataType:
    """Return the Arrow type of one value of the column; of one item if the column is REPEATED."""
    return _TABLE[column.type].arrow(column)


def field_metadata(column: Column) -> Metadata:
    """Return the metadata of the column's Arrow field: exactly these keys and values, and empty for most types."""
    return _TABLE[column.type].metadata


def decimal_parameters(column: Column) -> tuple[int, int]:
    """Return precision and scale of a NUMERIC or BIGNUMERIC column; a declared precision without a scale has scale
    0.
    """
    if column.precision is None:
        return _DEFAULT_DECIMAL[column.type]
    return column.precision, column.scale or 0


# --- parts that the contract leaves open ----------------------------------------------------------


def bounds_metadata(column: Column) -> tuple[Metadata, ...]:
    """Return the permitted metadata of ``start`` and ``end`` of a RANGE column.

    Only the fields of a RANGE<DATE> were recorded, and a DATE has no metadata. A DATETIME has some as a column and as a
    field of a RECORD. It is not known whether it has some as a bound, so both are permitted there.
    """
    assert column.range_of is not None
    return {}, _TABLE[column.range_of].metadata


def bounds_nullable(column: Column) -> frozenset[bool]:
    """Return the permitted ``nullable`` flags of ``start`` and ``end`` of a RANGE column.

    The service sends no validity for the bounds of a REQUIRED range (an unbounded end arrives as 0). The flag that
    it declares for them is not known, so both values are permitted there.
    """
    return frozenset({True, False}) if column.mode is Mode.REQUIRED else frozenset({True})


def decimal_widths(column: Column) -> frozenset[int]:
    """Return the permitted bit widths of a NUMERIC or BIGNUMERIC column.

    The guide maps every BIGNUMERIC(P, S) to Decimal256. The width that the service uses if P fits into 128 bits was
    not recorded, so both widths are permitted there.
    """
    if column.type is BqType.NUMERIC:
        return frozenset({128})
    return frozenset({128, 256}) if decimal_parameters(column)[0] <= 38 else frozenset({256})  # 128 bits hold them


def permits(column: Column, field: pa.Field) -> bool:
    """True if ``field`` is a permitted Arrow form of ``column``, with names, metadata and all levels of nesting."""
    metadata = {key.encode(): value.encode() for key, value in field_metadata(column).items()}
    if field.name != column.name or (field.metadata or {}) != metadata:
        return False
    if field.nullable is not (column.mode is Mode.NULLABLE):
        return False
    if column.mode is not Mode.REPEATED:
        return _permits_type(column, field.type)
    if not pa.types.is_list(field.type):
        return False
    item = field.type.value_field
    return item.name == ITEM and item.nullable and not item.metadata and _permits_type(column, item.type)


def _permits_type(column: Column, arrow: pa.DataType) -> bool:
    if column.type is BqType.RECORD:
        children = _children(arrow)
        return len(children) == len(column.fields) and all(map(permits, column.fields, children))
    if column.type is BqType.RANGE:
        expected, children = _children(element_type(column)), _children(arrow)
        return [(child.name, child.type) for child in children] == [
            (child.name, child.type) for child in expected
        ] and all(_permits_bound(column, child) for child in children)
    if column.type is BqType.BIGNUMERIC and arrow != element_type(column):
        return 128 in decimal_widths(column) and bool(arrow == pa.decimal128(*decimal_parameters(column)))
    return bool(arrow == element_type(column))


def _permits_bound(column: Column, bound: pa.Field) -> bool:
    permitted = [pa.field("", bound.type, metadata=metadata or None).metadata for metadata in bounds_metadata(column)]
    return bound.nullable in bounds_nullable(column) and (bound.metadata or None) in permitted


def _children(arrow: pa.DataType) -> list[pa.Field]:
    return [arrow.field(index) for index in range(arrow.num_fields)] if pa.types.is_struct(arrow) else []
