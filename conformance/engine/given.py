"""The rows that a writer has to write of a sample, by the form in which it was given the sample's batches.

Most forms of the write option ``given`` are other arrays with the same rows. Where a form has other rows, or says
nothing about what a clause asks for, this module says so.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.types as is_

from conformance.reference.ipc.samples.tensors import TensorSample
from conformance.reference.ipc.tensors import tensor_model
from conformance.wire import TensorReading, read_tensor

__all__ = ["expected_of", "expected_tensors", "not_asked"]

_NULLS: Final = "nulls"
_ENCODED: Final = "encoded"
_ON_ENCODING: Final = frozenset({"written.encoding"})
"""Clauses that ask for the indices of the sample, which are not the ones that a writer of encoded columns is given."""


def expected_of(batches: Sequence[pa.RecordBatch], form: str) -> Sequence[pa.RecordBatch]:
    """The batches whose types and rows have to be written: the sample's own, or as many rows of nulls."""
    if form != _NULLS:
        return batches
    return [_of_nulls(batch) for batch in batches]


def expected_tensors(sample: TensorSample, through: str) -> list[TensorReading]:
    """The tensors of which one has to be written: the sample's own; also the one with zeros in place of negative zeros,
    if it was sparse in between.

    A sparse tensor does not store zeros (https://arrow.apache.org/docs/format/Other.html#sparse-tensor), and a negative
    one equals zero.
    """
    exact = read_tensor(sample.model().encode())
    array = sample.array
    if not through or array.dtype.kind != "f" or not np.signbit(array[array == 0]).any():
        return [exact]
    names = () if exact.tensor is None else tuple(name or "" for name in exact.tensor.names)
    return [exact, read_tensor(tensor_model(array + array.dtype.type(0), names=names).encode())]


def not_asked(form: str) -> frozenset[str]:
    """The clauses that do not apply to what is written of batches in that form."""
    return _ON_ENCODING if form == _ENCODED else frozenset()


def _of_nulls(batch: pa.RecordBatch) -> pa.RecordBatch:
    columns = [_nulls(batch.num_rows, kind) for kind in batch.schema.types]
    return pa.RecordBatch.from_arrays(columns, schema=batch.schema) if columns else batch


def _nulls(rows: int, kind: pa.DataType) -> pa.Array:
    """An array of nulls, put together here: of runs in structs and lists, ``pa.nulls`` of pyarrow 26 is invalid.

    A union is null where its child is, and a run where its value is: neither has validity of its own
    (https://arrow.apache.org/docs/format/Columnar.html#validity-bitmaps).
    """
    if isinstance(kind, pa.BaseExtensionType):
        made = pa.ExtensionArray.from_storage(kind, _nulls(rows, kind.storage_type))
    elif is_.is_union(kind):
        ids = pa.array([kind.type_codes[0]] * rows, pa.int8()).buffers()[1]
        places = pa.array(range(rows), pa.int32()).buffers()[1]
        dense = kind.mode == "dense"
        sizes = [rows if not number or not dense else 0 for number in range(kind.num_fields)]
        children = [_nulls(size, kind.field(number).type) for number, size in enumerate(sizes)]
        made = pa.Array.from_buffers(kind, rows, [None, ids, *([places] if dense else [])], children=children)
    elif is_.is_run_end_encoded(kind):
        ends = pa.array([rows] if rows else [], kind.run_end_type)
        children = [ends, _nulls(len(ends), kind.value_type)]
        made = pa.Array.from_buffers(kind, rows, [None], null_count=0, children=children)
    elif is_.is_struct(kind) or is_.is_fixed_size_list(kind):
        each = kind.list_size if is_.is_fixed_size_list(kind) else 1
        children = [_nulls(rows * each, kind.field(number).type) for number in range(kind.num_fields)]
        made = pa.Array.from_buffers(kind, rows, [_nothing_valid(rows)], children=children)
    elif is_.is_dictionary(kind):
        made = pa.DictionaryArray.from_arrays(pa.nulls(rows, kind.index_type), _nulls(0, kind.value_type))
    elif kind.num_fields:  # a list of any kind: no null has rows in the child
        wide = 8 if str(kind).startswith("large") else 4
        buffers = [pa.py_buffer(bytes(wide * (rows + 1)))] * (2 if "list_view" in str(kind).partition("<")[0] else 1)
        made = pa.Array.from_buffers(
            kind, rows, [_nothing_valid(rows), *buffers], children=[_nulls(0, kind.field(0).type)]
        )
    else:
        made = pa.nulls(rows, kind)
    return made


def _nothing_valid(rows: int) -> pa.Buffer | None:
    """A bitmap of nulls; none without rows, because pyarrow 14 ends the process for entries of maps that have one."""
    return pa.py_buffer(bytes(-(-rows // 8))) if rows else None
