"""Rebuilding a record batch with some fields changed, at any depth, for the mutants of types and values."""

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa

from conformance.contract.mapping import EXTENSION_NAME, RANGE_KEY

__all__ = ["Change", "change_fields", "sql_type", "take_rows"]

Change = Callable[[pa.Field, pa.Array], tuple[pa.Field, pa.Array]]


def sql_type(field: pa.Field) -> str:
    """The BigQuery type that the field's metadata names (``datetime``, ``json`` …), or the empty string."""
    metadata = field.metadata or {}
    name: bytes = metadata.get(EXTENSION_NAME.encode(), metadata.get(RANGE_KEY.encode(), b""))
    return name.decode().removeprefix("google:sqlType:")


def change_fields(batch: pa.RecordBatch, change: Change) -> pa.RecordBatch:
    """``batch`` with every field and its values, innermost first, replaced by what ``change`` gives for them."""
    pairs = [_rebuild(field, array, change) for field, array in zip(batch.schema, batch.columns, strict=True)]
    schema = pa.schema([field for field, _ in pairs], metadata=batch.schema.metadata)
    if not pairs:
        return batch
    return pa.RecordBatch.from_arrays([array for _, array in pairs], schema=schema)


def take_rows(batch: pa.RecordBatch, rows: list[int]) -> pa.RecordBatch:
    """The rows of ``batch`` at those indices, in that order; by slices, since not every type can be gathered."""
    if not rows:
        return batch.slice(0, 0)
    pieces = [batch.slice(row, 1) for row in rows]
    columns = [pa.concat_arrays([piece.column(index) for piece in pieces]) for index in range(batch.num_columns)]
    return pa.RecordBatch.from_arrays(columns, schema=batch.schema)


def _rebuild(field: pa.Field, array: pa.Array, change: Change) -> tuple[pa.Field, pa.Array]:
    kind = array.type
    # Ranges are structs whose bounds have no names of their own to be changed under.
    if pa.types.is_struct(kind) and sql_type(field) != "range" and kind.num_fields:
        pairs = [_rebuild(kind.field(index), array.field(index), change) for index in range(kind.num_fields)]
        fields = [child for child, _ in pairs]
        array = pa.StructArray.from_arrays([values for _, values in pairs], fields=fields, mask=_mask(array))
        field = field.with_type(pa.struct(fields))
    elif pa.types.is_list(kind):
        # A list's sqlType metadata describes its items, which carry none.
        item, values = _rebuild(kind.value_field.with_metadata(field.metadata), array.values, change)
        bare = item.with_metadata(None)
        offsets = array.offsets
        array = pa.ListArray.from_arrays(offsets, values, type=pa.list_(bare))
        field = field.with_type(pa.list_(bare)).with_metadata(item.metadata)
        return change(field, array)
    return change(field, array)


def _mask(array: pa.Array) -> pa.Array | None:
    return array.is_null() if array.null_count else None
