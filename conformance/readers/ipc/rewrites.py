"""The rows that a reader is expected to return if its maintainers document that it changes types.

A change of layout is not visible in plain values. A change of unit is, and this module applies only that.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeAlias

import pyarrow as pa

from conformance.readers.ipc.implementation import IpcReaderInfo
from conformance.readers.rewrite import Rewrite
from conformance.wire.plain import PlainTable

__all__ = ["as_read_by"]

_PER_SECOND: Final = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}

_Change: TypeAlias = Callable[[Any], Any]


def as_read_by(info: IpcReaderInfo, table: PlainTable, schema: pa.Schema) -> PlainTable:
    """``table``, whose columns have the types of ``schema``, in the units that the reader documents.

    Values of a union stay unchanged, because a plain value does not show which child it comes from.
    """
    factors = _factors(info.rewrites)
    if not factors:
        return table
    changes = [_change(field.type, factors) for field in schema]
    columns = [
        column if change is None else _each(change)(column)
        for column, change in zip(table.columns, changes, strict=True)
    ]
    return PlainTable(table.names, tuple(columns), table.rows)


def _factors(rewrites: Sequence[Rewrite]) -> Mapping[str, int]:
    """The factor for the values of each type in the bytes (without its time zone)."""
    found = {}
    for rewrite in rewrites:
        (_, old), (_, new) = (_parts(text) for text in (rewrite.before, rewrite.after))
        if old in _PER_SECOND and new in _PER_SECOND:
            found[rewrite.before] = _PER_SECOND[new] // _PER_SECOND[old]
    return found


def _parts(text: str) -> tuple[str, str]:
    """The name and the unit of a type: ``timestamp[s, tz=UTC]`` is a ``timestamp`` in ``s``."""
    name, _, unit = text.rstrip("]").partition("[")
    return name, unit.partition(",")[0]


def _change(kind: pa.DataType, factors: Mapping[str, int]) -> _Change | None:
    """The function that converts a value of this type; None if its values do not change."""
    while isinstance(kind, pa.BaseExtensionType):
        kind = kind.storage_type
    while pa.types.is_dictionary(kind) or pa.types.is_run_end_encoded(kind):
        kind = kind.value_type
    change: _Change | None = None
    if pa.types.is_temporal(kind):
        name, unit = _parts(str(kind))
        change = _times(factors.get(f"{name}[{unit}]", 1))
    elif pa.types.is_map(kind):
        change = _pairs(_change(kind.key_type, factors), _change(kind.item_type, factors))
    elif pa.types.is_struct(kind):
        change = _fields([_change(kind.field(at).type, factors) for at in range(kind.num_fields)])
    elif pa.types.is_nested(kind) and not pa.types.is_union(kind):  # the lists
        below = _change(kind.value_type, factors)
        change = None if below is None else _each(below)
    return change


def _times(factor: int) -> _Change | None:
    return None if factor == 1 else lambda value: None if value is None else value * factor


def _each(change: _Change) -> _Change:
    return lambda values: None if values is None else [change(value) for value in values]


def _fields(changes: Sequence[_Change | None]) -> _Change | None:
    if not any(changes):
        return None
    return lambda value: None if value is None else {"struct": _row(value["struct"], changes)}


def _pairs(key: _Change | None, item: _Change | None) -> _Change | None:
    if key is None and item is None:
        return None
    return lambda value: None if value is None else {"map": [_row(pair, (key, item)) for pair in value["map"]]}


def _row(values: Sequence[Any], changes: Sequence[_Change | None]) -> list[Any]:
    return [value if change is None else change(value) for value, change in zip(values, changes, strict=True)]
