"""The rows that a client is expected to return if its own values cannot express those of a BigQuery type.

Only what a ``client.toml`` documents, with its source, is applied to the expected rows; every other difference stays a
difference. ``docs/clients.md`` has the table of all losses.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

import pyarrow as pa

from conformance.readers.info import LossKind, ReaderLoss
from conformance.records import BqType

__all__ = ["as_read_with"]

_Belongs = Callable[[pa.DataType], bool]

_TYPES: Final[Mapping[BqType, _Belongs]] = types.MappingProxyType(
    {
        BqType.DATETIME: lambda kind: pa.types.is_timestamp(kind) and kind.tz is None,
        BqType.TIMESTAMP: lambda kind: pa.types.is_timestamp(kind) and kind.tz is not None,
        BqType.STRING: pa.types.is_string,
    }
)
"""The Arrow types of the BigQuery types that some client loses; GEOGRAPHY and JSON are strings too."""


def as_read_with(losses: Sequence[ReaderLoss], table: pa.Table) -> pa.Table:
    """The table with the losses in every value of their types, at any depth."""
    for loss in losses:
        belongs, change = _TYPES[loss.kind], _CHANGES[loss.change]
        columns = [
            _changed(column.combine_chunks() if column.num_chunks != 1 else column.chunk(0), belongs, change)
            if _contains(column.type, belongs)
            else column
            for column in table.columns
        ]
        table = pa.Table.from_arrays(columns, names=table.column_names)
    return table


def _contains(kind: pa.DataType, belongs: _Belongs) -> bool:
    inner = [kind.field(place).type for place in range(kind.num_fields)]
    return belongs(kind) or any(_contains(one, belongs) for one in inner)


def _changed(array: pa.Array, belongs: _Belongs, change: Callable[[pa.Array], pa.Array]) -> pa.Array:
    kind = array.type
    if belongs(kind):
        return change(array)
    if not _contains(kind, belongs):
        return array
    if pa.types.is_struct(kind):
        children = [_changed(child, belongs, change) for child in array.flatten()]
        return pa.StructArray.from_arrays(children, fields=list(kind), mask=array.is_null())
    # A slice has offsets into all values of its list; the values are changed as a whole.
    values = _changed(array.values, belongs, change)
    offsets = pa.array(_with_nulls(array), pa.int32())
    return pa.ListArray.from_arrays(offsets, values, type=kind)


def _with_nulls(array: pa.Array) -> Iterable[int | None]:
    offsets = array.offsets.to_pylist()
    return [None if null else begin for null, begin in zip(array.is_null().to_pylist(), offsets, strict=False)] + [
        offsets[-1]
    ]


def _through_milliseconds(array: pa.Array) -> pa.Array:
    """Microseconds as a float of milliseconds and back, rounded: beyond 2**53 nanoseconds some digits are lost."""
    return _each(array.view(pa.int64()), _milliseconds).view(array.type)


def _milliseconds(micros: int) -> int:
    whole, rest = divmod(abs(micros), 1000)
    sign = -1 if micros < 0 else 1
    product = (float(sign * whole) + sign * rest / 1000) * 1000
    # JavaScript's Math.round rounds halves up.
    return int(product) if product == int(product) else int((product + 0.5) // 1)


def _without_mark(array: pa.Array) -> pa.Array:
    """Text without a byte order mark at its start."""
    return _each(array, lambda text: text.removeprefix("\ufeff"))


def _each(array: pa.Array, change: Callable[[Any], Any]) -> pa.Array:
    return pa.array([None if value is None else change(value) for value in array.to_pylist()], array.type)


_CHANGES: Final[Mapping[LossKind, Callable[[pa.Array], pa.Array]]] = types.MappingProxyType(
    {LossKind.FLOAT_MILLISECONDS: _through_milliseconds, LossKind.LEADING_MARK: _without_mark}
)
