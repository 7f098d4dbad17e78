"""The forms in which pyarrow's writer gets batches: one by one, in slices, cut out of longer buffers, encoded, of nulls
that the library makes, or built again from Python's values.

No stream holds all of these arrays as they are: a slice has an offset, memory that is shared begins anywhere, and a
dictionary can have a dictionary or an extension type as its values. A library may refuse to write what the format has
no place for. What it writes has to have the rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Final

import pyarrow as pa
import pyarrow.types as is_

from conformance.readers.ipc.cinterface import in_slices
from conformance.readers.ipc.implementation import Unsupported
from conformance.wire.intervals import has_bare_interval

__all__ = ["cut", "encoded_type", "given_as", "takes_nulls"]

_PLACES: Final = pa.int32()
"""The type of the indices of columns that are encoded."""


def given_as(batches: pa.RecordBatchReader, form: str) -> pa.RecordBatchReader:
    """The batches in the form that the write option ``given`` names.

    Raises:
        Unsupported: pyarrow has no class for a type, so that its Python interface cannot make the form.
    """
    if form not in _FORMS:
        return batches
    schema = batches.schema
    if form != "sliced" and any(map(has_bare_interval, schema.types)):
        raise Unsupported("pyarrow has no class for this interval")
    if form == "encoded":
        fields = [field.with_type(encoded_type(field.type)) for field in schema]
        schema = pa.schema(fields, metadata=schema.metadata)
    make = _FORMS[form]
    return pa.RecordBatchReader.from_batches(schema, (piece for batch in batches for piece in make(batch)))


def encoded_type(kind: pa.DataType) -> pa.DataType:
    """The type of a dictionary of such values."""
    return pa.dictionary(_PLACES, kind)


def _slices(batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
    yield from in_slices(batch, batch.num_rows)


def _cut_slices(batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
    for piece in _slices(batch):
        columns = [cut(column) for column in piece.columns]
        yield pa.RecordBatch.from_arrays(columns, schema=batch.schema) if columns else piece


def cut(array: pa.Array) -> pa.Array:
    """A slice with offset 0, whose buffer of offsets begins at its first row, and its child or data before that.

    arrow-rs makes slices so, and exports them over the C data interface. Only layouts with offsets into something are
    cut.
    """
    kind = array.type
    is_large = is_.is_large_list(kind) or is_.is_large_string(kind) or is_.is_large_binary(kind)
    has_child = is_.is_list(kind) or is_.is_large_list(kind) or is_.is_map(kind)
    if not (is_large or has_child or is_.is_string(kind) or is_.is_binary(kind)):
        return array
    _, offsets, *data = array.buffers()
    if not offsets:  # an array without rows may have none
        return array
    valid = pa.array(array.is_valid().to_pylist(), pa.bool_()).buffers()[1] if array.null_count else None
    begins = offsets.slice(array.offset * (8 if is_large else 4))
    buffers = [valid, begins] if has_child else [valid, begins, *data]
    children = [array.values] if has_child else None
    return pa.Array.from_buffers(kind, len(array), buffers, children=children)


def _encoded(batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
    """Each column as a dictionary of its own values, whatever they are."""
    places = pa.array(range(batch.num_rows), _PLACES)
    columns = [pa.DictionaryArray.from_arrays(places, column) for column in batch.columns]
    fields = [field.with_type(column.type) for field, column in zip(batch.schema, columns, strict=True)]
    schema = pa.schema(fields, metadata=batch.schema.metadata)
    yield pa.RecordBatch.from_arrays(columns, schema=schema) if columns else batch


def _of_nulls(batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
    """As many rows, all of them null, as the library makes them."""
    if not all(map(takes_nulls, batch.schema)):
        raise Unsupported("a field that is not nullable has no nulls")
    for number, field in enumerate(batch.schema):
        # Users add a column that is missing in this way; ``from_arrays`` would validate it first.
        batch = batch.set_column(number, field, pa.nulls(batch.num_rows, field.type))
    yield batch


def takes_nulls(field: pa.Field) -> bool:
    """Whether the field and what has a row for each of its nulls may be null: a null list has no rows in its child.

    Of other fields, what ``pa.nulls`` makes is known to be no valid array (https://github.com/apache/arrow/issues/43358).
    """
    kind = field.type.storage_type if isinstance(field.type, pa.BaseExtensionType) else field.type
    has_rows = is_.is_struct(kind) or is_.is_union(kind) or is_.is_fixed_size_list(kind)
    below = [kind.field(number) for number in range(kind.num_fields)] if has_rows else []
    return field.nullable and all(map(takes_nulls, below))


def _built(batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
    """Each column built from its values as Python objects."""
    columns = [_built_again(column) for column in batch.columns]
    yield pa.RecordBatch.from_arrays(columns, schema=batch.schema) if columns else batch


def _built_again(column: pa.Array) -> pa.Array:
    """The column again; raises :class:`Unsupported` where Python has no object with the value.

    A ``datetime.time`` has microseconds (https://docs.python.org/3/library/datetime.html#datetime.time.resolution), and
    pyarrow gives one for nanoseconds as well. Of timestamps and durations it raises an error.
    """
    if _has_time_in_nanoseconds(column.type):
        raise Unsupported("a time in Python has no nanoseconds")
    return pa.array(column.to_pylist(), column.type)


def _has_time_in_nanoseconds(kind: pa.DataType) -> bool:
    if isinstance(kind, pa.BaseExtensionType):
        return _has_time_in_nanoseconds(kind.storage_type)
    if is_.is_dictionary(kind) or is_.is_run_end_encoded(kind):
        return _has_time_in_nanoseconds(kind.value_type)
    below = (kind.field(number).type for number in range(kind.num_fields))
    return kind.equals(pa.time64("ns")) or any(map(_has_time_in_nanoseconds, below))


_FORMS: Final[Mapping[str, Callable[[pa.RecordBatch], Iterator[pa.RecordBatch]]]] = MappingProxyType(
    {"sliced": _slices, "cut": _cut_slices, "encoded": _encoded, "nulls": _of_nulls, "built": _built}
)
"""The forms that change batches; ``chunked`` asks another function of the library to write them."""
