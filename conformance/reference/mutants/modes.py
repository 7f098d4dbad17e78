"""Lies about what stands beside the types: nullability, names, order and field metadata; values are as they were."""

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa
import pyarrow.types as is_

from conformance.contract.mapping import EXTENSION_METADATA, EXTENSION_NAME, ITEM, RANGE_KEY
from conformance.reference.mutants.register import rows_lie
from conformance.reference.mutants.reshaping import change_fields, sql_type

_PYTHON_894 = "https://github.com/googleapis/python-bigquery/issues/894"


def _flagged(batch: pa.RecordBatch, change: Callable[[pa.Field], pa.Field]) -> pa.RecordBatch:
    """``batch`` under other fields; values are taken as they are."""
    return change_fields(batch, lambda field, array: (change(field), array))


@rows_lie(
    "mode.required-nullable",
    kills="schema.required-not-nullable",
    defects=("B-53",),
    source="https://github.com/jjviscomi/bqemulator/pull/63",
)
def required_nullable(batch: pa.RecordBatch) -> pa.RecordBatch:
    """REQUIRED columns arrive as nullable."""
    return _flagged(batch, lambda field: field if is_.is_list(field.type) else field.with_nullable(nullable=True))


@rows_lie(
    "mode.nullable-required",
    kills="schema.nullable-nullable",
    also={"body.required-without-nulls": "a schema is written before the batches that have nulls"},
    defects=("I-91",),
)
def nullable_required(batch: pa.RecordBatch) -> pa.RecordBatch:
    """NULLABLE columns without a null in this batch arrive as not nullable."""

    def change(field: pa.Field, array: pa.Array) -> tuple[pa.Field, pa.Array]:
        item = field.name == ITEM
        return (field, array) if array.null_count or item else (field.with_nullable(nullable=False), array)

    return change_fields(batch, change)


@rows_lie(
    "mode.repeated-nullable",
    kills="schema.repeated-not-nullable",
    defects=("B-54",),
    source="https://github.com/googleapis/python-bigquery/issues/1998",
)
def repeated_nullable(batch: pa.RecordBatch) -> pa.RecordBatch:
    """REPEATED columns arrive as nullable lists."""
    return _flagged(batch, lambda field: field.with_nullable(nullable=True) if is_.is_list(field.type) else field)


def _items(batch: pa.RecordBatch, change: Callable[[pa.Field], pa.Field]) -> pa.RecordBatch:
    def rebuilt(field: pa.Field, array: pa.Array) -> tuple[pa.Field, pa.Array]:
        if not is_.is_list(field.type):
            return field, array
        kind = pa.list_(change(field.type.value_field))
        return field.with_type(kind), pa.ListArray.from_arrays(array.offsets, array.values, type=kind)

    return change_fields(batch, rebuilt)


@rows_lie("item.named-element", kills="schema.item-name")
def item_named_element(batch: pa.RecordBatch) -> pa.RecordBatch:
    """A list's child is called element."""
    return _items(batch, lambda item: item.with_name("element"))


@rows_lie("item.not-nullable", kills="schema.item-nullable")
def item_not_nullable(batch: pa.RecordBatch) -> pa.RecordBatch:
    """A list's child is not nullable."""
    return _items(batch, lambda item: item.with_nullable(nullable=False))


def _without_metadata(batch: pa.RecordBatch, name: str) -> pa.RecordBatch:
    return _flagged(batch, lambda field: field.with_metadata(None) if sql_type(field) == name else field)


@rows_lie("metadata.datetime-missing", kills="schema.metadata-datetime")
def datetime_unmarked(batch: pa.RecordBatch) -> pa.RecordBatch:
    """DATETIME has no extension metadata."""
    return _without_metadata(batch, "datetime")


@rows_lie("metadata.json-missing", kills="schema.metadata-json")
def json_unmarked(batch: pa.RecordBatch) -> pa.RecordBatch:
    """JSON has no extension metadata."""
    return _without_metadata(batch, "json")


@rows_lie("metadata.geography-missing", kills="schema.metadata-geography", defects=("B-84",), source=_PYTHON_894)
def geography_unmarked(batch: pa.RecordBatch) -> pa.RecordBatch:
    """GEOGRAPHY is bare text."""
    return _without_metadata(batch, "geography")


@rows_lie("metadata.geography-without-encoding", kills="schema.metadata-geography")
def geography_without_encoding(batch: pa.RecordBatch) -> pa.RecordBatch:
    """GEOGRAPHY is named and its encoding is not."""

    def bare(field: pa.Field) -> pa.Field:
        kept = {key: value for key, value in (field.metadata or {}).items() if key != EXTENSION_METADATA.encode()}
        return field.with_metadata(kept) if sql_type(field) == "geography" else field

    return _flagged(batch, bare)


@rows_lie("metadata.interval-missing", kills="schema.metadata-interval")
def interval_unmarked(batch: pa.RecordBatch) -> pa.RecordBatch:
    """INTERVAL has no extension metadata."""
    return _without_metadata(batch, "interval")


@rows_lie("metadata.range-key", kills="schema.metadata-range")
def range_under_extension_name(batch: pa.RecordBatch) -> pa.RecordBatch:
    """RANGE is marked like the other types, not under its own key."""

    def moved(field: pa.Field) -> pa.Field:
        if RANGE_KEY.encode() not in (field.metadata or {}):
            return field
        return field.with_metadata({EXTENSION_NAME: "google:sqlType:range"})

    return _flagged(batch, moved)


@rows_lie(
    "metadata.on-item",
    kills="schema.metadata-on-list",
    defects=("B-81",),
    source="https://github.com/adbc-drivers/bigquery/pull/8",
)
def metadata_on_item(batch: pa.RecordBatch) -> pa.RecordBatch:
    """The element's metadata stands on the list's child, not on the list field."""

    def moved(field: pa.Field, array: pa.Array) -> tuple[pa.Field, pa.Array]:
        if not is_.is_list(field.type) or not field.metadata:
            return field, array
        kind = pa.list_(field.type.value_field.with_metadata(field.metadata))
        return pa.field(field.name, kind, field.nullable), pa.ListArray.from_arrays(
            array.offsets, array.values, type=kind
        )

    return change_fields(batch, moved)


@rows_lie("metadata.on-plain-type", kills="schema.metadata-plain")
def plain_marked(batch: pa.RecordBatch) -> pa.RecordBatch:
    """INT64 carries extension metadata, which no plain type has."""
    marked = {EXTENSION_NAME: "google:sqlType:integer"}
    return _flagged(batch, lambda field: field.with_metadata(marked) if is_.is_int64(field.type) else field)


@rows_lie("name.upper-case", kills="schema.names")
def upper_case(batch: pa.RecordBatch) -> pa.RecordBatch:
    """The first column's name arrives in upper case."""
    names = batch.schema.names
    fields = [field.with_name(field.name.upper()) if not index else field for index, field in enumerate(batch.schema)]
    return pa.RecordBatch.from_arrays(batch.columns, schema=pa.schema(fields)) if names else batch


@rows_lie("columns.reversed", kills="schema.order", defects=("B-41",))
def columns_reversed(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Columns arrive in reverse order, names and values together."""
    if batch.num_columns < 2:
        return batch
    return pa.RecordBatch.from_arrays(batch.columns[::-1], schema=pa.schema(list(batch.schema)[::-1]))


@rows_lie("columns.missing", kills="schema.columns-present")
def column_missing(batch: pa.RecordBatch) -> pa.RecordBatch:
    """The last column is not there."""
    if batch.num_columns < 2:
        return batch
    return pa.RecordBatch.from_arrays(batch.columns[:-1], schema=pa.schema(list(batch.schema)[:-1]))


@rows_lie("columns.surplus", kills="schema.columns-known")
def column_surplus(batch: pa.RecordBatch) -> pa.RecordBatch:
    """A column that the table does not have follows the others."""
    if not batch.num_columns:
        return batch
    fields = [*batch.schema, pa.field("_surplus", pa.int64())]
    surplus = pa.array([0] * batch.num_rows, pa.int64())
    return pa.RecordBatch.from_arrays([*batch.columns, surplus], schema=pa.schema(fields))


@rows_lie("metadata.own-key", kills="schema.metadata-keys", defects=("I-101",))
def own_key(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Every column carries a key of the server's own, as rows that went through Parquet do."""
    fields = [field.with_metadata({**(field.metadata or {}), "PARQUET:field_id": "1"}) for field in batch.schema]
    return pa.RecordBatch.from_arrays(batch.columns, schema=pa.schema(fields)) if fields else batch
