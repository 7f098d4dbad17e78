"""Written-out rows: JSON objects to Arrow columns, and back.

This module defines the nesting of JSON rows: records, arrays, ranges, NULL and missing keys. A row that does not fit
its columns is refused with the place and the expectation. :mod:`conformance.generate.jsonform` defines single
values.
"""

from __future__ import annotations

import bisect
import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import numpy as np
import pyarrow as pa

from conformance.contract.mapping import arrow_schema
from conformance.generate import rawarrays
from conformance.generate.jsonform import FORMS, NotAValueError
from conformance.records import BqType, Column, Mode, RecordError

__all__ = ["array_from_values", "arrays_from_rows", "raw_values", "values_from_array"]

Where = Callable[[int], str]
"""A function that names the place of a slot; called only if a value is refused."""

_ABSENT: Final = object()


def arrays_from_rows(columns: Sequence[Column], rows: Sequence[Any], schema: pa.Schema) -> list[pa.Array]:
    """Return one array per column with the types of ``schema``; raises :class:`RecordError` on a value out of place."""
    return _members(columns, rows, [field.type for field in schema], lambda index: f"rows[{index}]")


def array_from_values(column: Column, values: Sequence[Any]) -> pa.Array:
    """Return the array of one column from the JSON form of its values; raises :class:`RecordError`."""
    arrow = arrow_schema([column]).field(0).type
    return _array(column, values, arrow, lambda index: f"{column.name}[{index}]")


def _members(
    columns: Sequence[Column], objects: Sequence[Any], types: Sequence[pa.DataType], where: Where
) -> list[pa.Array]:
    """Return the arrays of the members of JSON objects; an object that is None is under a NULL record."""
    known = {column.name for column in columns}
    for index, item in enumerate(objects):
        if item is None:
            continue
        if not isinstance(item, Mapping):
            raise RecordError(where(index), "an object by column name", item)
        if not item.keys() <= known:
            unknown = min(set(map(str, item)) - known)
            raise RecordError(f"{where(index)}.{unknown}", f"one of the columns {', '.join(sorted(known))}", unknown)

    def member(column: Column, arrow: pa.DataType) -> pa.Array:
        values = [_ABSENT if item is None else item.get(column.name, _ABSENT) for item in objects]
        hidden = [item is None for item in objects]
        return _array(column, values, arrow, lambda index: f"{where(index)}.{column.name}", hidden)

    return [member(column, arrow) for column, arrow in zip(columns, types, strict=True)]


def _array(
    column: Column, values: Sequence[Any], arrow: pa.DataType, where: Where, hidden: Sequence[bool] = ()
) -> pa.Array:
    """Return the array of a column; ``hidden`` is True for slots under a NULL record, which have no value."""
    if column.mode is Mode.REPEATED:
        return _lists(column, values, arrow, where)
    nulls = np.fromiter((value is None or value is _ABSENT for value in values), np.bool_, len(values))
    if column.mode is Mode.REQUIRED:
        for index in np.flatnonzero(nulls).tolist():
            if not (hidden and hidden[index]):
                raise RecordError(where(index), "a value, because the column is REQUIRED", None)
        return _elements(column, values, arrow, where, None)
    return _elements(column, values, arrow, where, nulls)


def _lists(column: Column, values: Sequence[Any], arrow: pa.DataType, where: Where) -> pa.Array:
    items: list[Any] = []
    for index, value in enumerate(values):
        if value is _ABSENT:
            continue
        if not isinstance(value, list | tuple):
            raise RecordError(where(index), "a list, because the column is REPEATED", value)
        items.extend(value)
    offsets = rawarrays.offsets_of(np.array([0 if value is _ABSENT else len(value) for value in values], np.int64))

    def where_item(slot: int) -> str:
        row = bisect.bisect_right(offsets, slot) - 1
        return f"{where(row)}[{slot - int(offsets[row])}]"

    nulls = np.fromiter((item is None for item in items), np.bool_, len(items))
    return rawarrays.lists(arrow, offsets, _elements(column, items, arrow.value_type, where_item, nulls))


def _elements(
    column: Column, values: Sequence[Any], arrow: pa.DataType, where: Where, nulls: rawarrays.Bools | None
) -> pa.Array:
    present = [None if value is _ABSENT else value for value in values]
    if column.type is BqType.RECORD:
        types = [arrow.field(index).type for index in range(arrow.num_fields)]
        children = _members(column.fields, present, types, where)
        return rawarrays.struct(arrow, len(values), children, rawarrays.validity(nulls))
    if column.type is BqType.RANGE:
        assert column.range_of is not None
        bounds = [Column(name, column.range_of) for name in ("start", "end")]
        for index, value in enumerate(present):
            if value is not None and (not isinstance(value, Mapping) or set(value) != {"start", "end"}):
                raise RecordError(where(index), "an object of start and end, null for unbounded", value)
        children = _members(bounds, present, [arrow.field(0).type, arrow.field(1).type], where)
        return rawarrays.struct(arrow, len(values), children, rawarrays.validity(nulls))
    raw = raw_values(column, present, where)
    if isinstance(raw, list):
        lengths = np.fromiter(map(len, raw), np.int64, len(raw))
        return rawarrays.text(arrow, rawarrays.offsets_of(lengths), b"".join(raw), rawarrays.validity(nulls))
    return (rawarrays.bits if column.type is BqType.BOOL else rawarrays.fixed)(arrow, raw, rawarrays.validity(nulls))


def raw_values(column: Column, values: Sequence[Any], where: Where) -> Any:
    """Return the raw form of scalar values: a numpy array, or a list of bytes; None becomes the type's zero."""
    form = FORMS[column.type]
    zero: Any = b"" if form.dtype is None else np.zeros((), form.dtype)[()]
    raw = []
    for index, value in enumerate(values):
        try:
            raw.append(zero if value is None else form.read(column, value))
        except NotAValueError as error:
            raise RecordError(where(index), error.expected, value) from None
    if form.dtype is None:
        return raw
    if form.dtype.startswith("V"):
        return np.frombuffer(b"".join(bytes(item) for item in raw), form.dtype)
    return np.array(raw, form.dtype)


def values_from_array(column: Column, array: pa.Array) -> list[Any]:
    """Return the JSON form of every value of a column's array: the inverse of :func:`array_from_values`."""
    if column.mode is not Mode.REPEATED:
        return _shown(column, array)
    offsets = array.offsets.to_pylist()
    items = _shown(column, array.values)
    return [items[start:end] for start, end in itertools.pairwise(offsets)]


def _shown(column: Column, array: pa.Array) -> list[Any]:
    if column.type is BqType.RECORD:
        members = column.fields
    elif column.type is BqType.RANGE:
        assert column.range_of is not None
        members = tuple(Column(name, column.range_of) for name in ("start", "end"))
    else:
        form = FORMS[column.type]
        stored = array if form.shown_as is None else array.view(form.shown_as)
        return [None if value is None else form.show(value) for value in stored.to_pylist()]
    names = [member.name for member in members]
    children = [values_from_array(member, array.field(index)) for index, member in enumerate(members)]
    valid = array.is_valid().to_pylist()
    rows = zip(*children, strict=True)
    return [dict(zip(names, row, strict=True)) if there else None for there, row in zip(valid, rows, strict=True)]
