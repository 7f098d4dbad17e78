"""Mutants of nullability, names, order and field metadata; types and values are unchanged."""

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa
import pyarrow.types as is_

from conformance.contract.mapping import EXTENSION_METADATA, EXTENSION_NAME, ITEM, RANGE_KEY
from conformance.reference.register import fields_mutant, rows_mutant
from conformance.reference.reshaping import Change, sql_type

_LONGEST = 128
"""Characters of a name in databases that take fewer than the 300 of BigQuery."""
_PYTHON_894 = "https://github.com/googleapis/python-bigquery/issues/894"


def _flagged(change: Callable[[pa.Field], pa.Field]) -> Change:
    """Other fields; the values are unchanged."""
    return lambda field, array: (change(field), array)


def _items(change: Callable[[pa.Field, pa.Field], tuple[pa.Field, pa.Field]]) -> Change:
    """Lists with another field or another child; the values are unchanged."""

    def rebuilt(field: pa.Field, array: pa.Array) -> tuple[pa.Field, pa.Array]:
        if not is_.is_list(field.type):
            return field, array
        other, item = change(field, field.type.value_field)
        kind = pa.list_(item)
        return other.with_type(kind), pa.ListArray.from_arrays(array.offsets, array.values, type=kind)

    return rebuilt


def _unmarked(name: str) -> Change:
    return _flagged(lambda field: field.with_metadata(None) if sql_type(field) == name else field)


def _without_encoding(field: pa.Field) -> pa.Field:
    kept = {key: value for key, value in (field.metadata or {}).items() if key != EXTENSION_METADATA.encode()}
    return field.with_metadata(kept) if sql_type(field) == "geography" else field


def _under_extension_name(field: pa.Field) -> pa.Field:
    marked = RANGE_KEY.encode() in (field.metadata or {})
    return field.with_metadata({EXTENSION_NAME: "google:sqlType:range"}) if marked else field


@fields_mutant(
    "mode.nullable-required",
    kills="schema.nullable-nullable",
    also={"body.required-without-nulls": "a schema is written before the batches that have nulls"},
    defects=("I-91",),
)
def nullable_required(field: pa.Field, array: pa.Array) -> tuple[pa.Field, pa.Array]:
    """NULLABLE columns without a null in this batch arrive as not nullable."""
    item = field.name == ITEM
    return (field, array) if array.null_count or item else (field.with_nullable(nullable=False), array)


# Mutants that change fields and leave values as they are: the clause that each breaks, the text, and the change.
# fmt: off
fields_mutant("mode.required-nullable", kills="schema.required-not-nullable",
           fault="REQUIRED columns arrive as nullable.",
           defects=("B-53",), source="https://github.com/jjviscomi/bqemulator/pull/63")(
    _flagged(lambda field: field if is_.is_list(field.type) else field.with_nullable(nullable=True)))
fields_mutant("mode.repeated-nullable", kills="schema.repeated-not-nullable",
           fault="REPEATED columns arrive as nullable lists.",
           defects=("B-54",), source="https://github.com/googleapis/python-bigquery/issues/1998")(
    _flagged(lambda field: field.with_nullable(nullable=True) if is_.is_list(field.type) else field))
fields_mutant("item.named-element", kills="schema.item-name", fault="A list's child is called element.")(
    _items(lambda field, item: (field, item.with_name("element"))))
fields_mutant("item.not-nullable", kills="schema.item-nullable", fault="A list's child is not nullable.")(
    _items(lambda field, item: (field, item.with_nullable(nullable=False))))
for _type in ("datetime", "json", "interval"):
    fields_mutant(f"metadata.{_type}-missing", kills=f"schema.metadata-{_type}",
               fault=f"{_type.upper()} has no extension metadata.")(_unmarked(_type))
fields_mutant("metadata.geography-missing", kills="schema.metadata-geography", fault="GEOGRAPHY is bare text.",
           defects=("B-84",), source=_PYTHON_894)(_unmarked("geography"))
fields_mutant("metadata.geography-without-encoding", kills="schema.metadata-geography",
           fault="GEOGRAPHY is named and its encoding is not.")(_flagged(_without_encoding))
fields_mutant("metadata.range-key", kills="schema.metadata-range",
           fault="RANGE is marked like the other types, not under its own key.")(_flagged(_under_extension_name))
fields_mutant("metadata.on-item", kills="schema.metadata-on-list",
           fault="The element's metadata is on the list's child, not on the list field.",
           defects=("B-81",), source="https://github.com/adbc-drivers/bigquery/pull/8")(
    _items(lambda field, item: (field.with_metadata(None), item.with_metadata(field.metadata))))
fields_mutant("metadata.on-plain-type", kills="schema.metadata-plain",
           fault="INT64 carries extension metadata, which no plain type has.")(
    _flagged(lambda field: field.with_metadata({EXTENSION_NAME: "google:sqlType:integer"})
             if is_.is_int64(field.type) else field))
# fmt: on


@rows_mutant("name.upper-case", kills="schema.names")
def upper_case(batch: pa.RecordBatch) -> pa.RecordBatch:
    """The first column's name arrives in upper case."""
    names = batch.schema.names
    fields = [field.with_name(field.name.upper()) if not index else field for index, field in enumerate(batch.schema)]
    return pa.RecordBatch.from_arrays(batch.columns, schema=pa.schema(fields)) if names else batch


def _cut(field: pa.Field) -> pa.Field:
    return field.with_name(field.name[:_LONGEST])


def _cut_inside(field: pa.Field, array: pa.Array) -> pa.Array:
    if not is_.is_struct(field.type) or not field.type.num_fields:
        return array
    children = [array.field(place) for place in range(field.type.num_fields)]
    return pa.StructArray.from_arrays(children, fields=list(map(_cut, field.type)), mask=array.is_null())


@rows_mutant(
    "name.cut",
    kills="schema.columns-present",
    also={"schema.columns-known": "what is left of a name is none of the table's"},
)
def name_cut(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Names of more than 128 characters arrive cut, those of a record's fields too."""
    arrays = [_cut_inside(field, array) for field, array in zip(batch.schema, batch.columns, strict=True)]
    fields = [_cut(field).with_type(array.type) for field, array in zip(batch.schema, arrays, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=pa.schema(fields)) if fields else batch


@rows_mutant("columns.reversed", kills="schema.order", defects=("B-41",))
def columns_reversed(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Columns arrive in reverse order, names and values together."""
    if batch.num_columns < 2:
        return batch
    return pa.RecordBatch.from_arrays(batch.columns[::-1], schema=pa.schema(list(batch.schema)[::-1]))


@rows_mutant("columns.missing", kills="schema.columns-present")
def column_missing(batch: pa.RecordBatch) -> pa.RecordBatch:
    """The last column is missing."""
    if batch.num_columns < 2:
        return batch
    return pa.RecordBatch.from_arrays(batch.columns[:-1], schema=pa.schema(list(batch.schema)[:-1]))


@rows_mutant("columns.surplus", kills="schema.columns-known")
def column_surplus(batch: pa.RecordBatch) -> pa.RecordBatch:
    """A column that the table does not have follows the others."""
    if not batch.num_columns:
        return batch
    fields = [*batch.schema, pa.field("_surplus", pa.int64())]
    surplus = pa.array([0] * batch.num_rows, pa.int64())
    return pa.RecordBatch.from_arrays([*batch.columns, surplus], schema=pa.schema(fields))


@rows_mutant(
    "columns.named-twice",
    kills="schema.columns-known",
    also={"schema.columns-present": "the second column has no field of its name"},
)
def second_named_like_the_first(batch: pa.RecordBatch) -> pa.RecordBatch:
    """The second column has the name of the first."""
    if batch.num_columns < 2:
        return batch
    first, second, *others = batch.schema
    fields = [first, second.with_name(first.name), *others]
    return pa.RecordBatch.from_arrays(batch.columns, schema=pa.schema(fields))


@rows_mutant("metadata.own-key", kills="schema.metadata-keys", defects=("I-101",))
def own_key(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Every column carries a key of the server's own, as rows that went through Parquet do."""
    fields = [field.with_metadata({**(field.metadata or {}), "PARQUET:field_id": "1"}) for field in batch.schema]
    return pa.RecordBatch.from_arrays(batch.columns, schema=pa.schema(fields)) if fields else batch
