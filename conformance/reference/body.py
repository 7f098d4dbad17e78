"""Arrow arrays to the nodes and buffers of a record batch, rebased so that a slice ships nothing but itself.

The walk is pre-order depth-first, as the columnar format demands of FieldNodes and Buffers
(https://arrow.apache.org/docs/format/Columnar.html#recordbatch-message).
A validity bitmap is left out where nothing is null, as the service does and the format permits.
This is the reference's own writer: it takes buffers from pyarrow, and none of pyarrow's IPC code.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as is_

from conformance.wire.intervals import DAY_TIME

__all__ = ["FieldNode", "Part", "walk"]


@dataclasses.dataclass(slots=True)
class FieldNode:
    """One FieldNode; ``path`` is the field's dotted path (list items as ``item``)."""

    path: str
    length: int
    null_count: int


@dataclasses.dataclass(slots=True)
class Part:
    """One buffer of the body: its role and its bytes without padding.

    ``role`` is ``validity``, ``offsets``, ``data``, ``sizes`` (of a list-view), ``type ids`` (of a union),
    ``indices`` (into a dictionary), ``views``, or ``variadic``: one of the data buffers behind the views before it.
    ``unit`` is the width in bytes of each number of one element, in order; what has no byte order is of width 1.
    ``slots`` is how many slots a validity bitmap is for, whether it is left out or not.
    """

    path: str
    role: str
    data: bytes
    unit: tuple[int, ...] = (1,)
    slots: int = 0


def walk(batch: pa.RecordBatch) -> tuple[list[FieldNode], list[Part]]:
    """The nodes and buffers of ``batch``, in order.

    Raises:
        TypeError: a column's type is one that this writer does not write.
    """
    nodes: list[FieldNode] = []
    parts: list[Part] = []
    for field, column in zip(batch.schema, batch.columns, strict=True):
        for piece in _field(field.name, column):
            (nodes if isinstance(piece, FieldNode) else parts).append(piece)  # type: ignore[arg-type]  # the line above separates them
    return nodes, parts


def _field(path: str, array: pa.Array) -> Iterator[FieldNode | Part]:
    if array.type == DAY_TIME:
        # Days and milliseconds are numbers of their own in what is stored as one.
        yield from (_in_units(piece, (4, 4)) for piece in _field(path, array.storage))
        return
    if isinstance(array, pa.ExtensionArray):
        array = array.storage
    if _bare(array.type):
        yield from _without_validity(path, array)
    elif is_.is_dictionary(array.type):
        yield from _encoded(path, array.indices)
    else:
        yield from _with_validity(path, array)


def _in_units(piece: FieldNode | Part, unit: tuple[int, ...]) -> FieldNode | Part:
    if isinstance(piece, Part) and piece.role == "data":
        return dataclasses.replace(piece, unit=unit)
    return piece


def _with_validity(path: str, array: pa.Array) -> Iterator[FieldNode | Part]:
    kind = array.type
    yield FieldNode(path, len(array), array.null_count)
    if is_.is_null(kind):
        return
    yield Part(path, "validity", _validity(array), slots=len(array))
    if kind.num_fields:
        yield from _nested(path, array)
    elif is_.is_boolean(kind):
        yield Part(path, "data", _bits(array.buffers()[1], array.offset, len(array)))
    elif _is_variable(kind):
        yield from _variable(path, array)
    elif kind.id in _VIEWS:
        _, views, *variadic = array.buffers()
        yield Part(path, "views", _bytes(views, array.offset * 16, len(array) * 16))
        yield from (Part(path, "variadic", data.to_pybytes()) for data in variadic)
    elif is_.is_primitive(kind) or is_.is_decimal(kind) or is_.is_fixed_size_binary(kind) or is_.is_interval(kind):
        width = kind.bit_width // 8
        data = _bytes(array.buffers()[1], array.offset * width, len(array) * width)
        yield Part(path, "data", data, _unit(kind, width))
    elif not is_.is_struct(kind):
        raise TypeError(f"column {path!r}: expected a type that the reference writes, got {kind}")


def _encoded(path: str, indices: pa.Array) -> Iterator[FieldNode | Part]:
    """A dictionary-encoded field: its dictionary is sent in separate messages."""
    yield FieldNode(path, len(indices), indices.null_count)
    yield Part(path, "validity", _validity(indices), slots=len(indices))
    width = indices.type.bit_width // 8
    yield Part(path, "indices", _bytes(indices.buffers()[1], indices.offset * width, len(indices) * width), (width,))


def _unit(kind: pa.DataType, width: int) -> tuple[int, ...]:
    if is_.is_fixed_size_binary(kind):
        return (1,)
    # Months and days are 32 bits each, nanoseconds 64.
    return (4, 4, 8) if is_.is_interval(kind) else (width,)


def _nested(path: str, array: pa.Array) -> Iterator[FieldNode | Part]:
    kind = array.type
    if is_.is_list(kind) or is_.is_large_list(kind) or is_.is_map(kind):
        yield from _list(path, array)
    elif is_.is_fixed_size_list(kind):
        start, size = array.offset * kind.list_size, len(array) * kind.list_size
        yield from _field(f"{path}.{kind.value_field.name}", array.values.slice(start, size))
    elif is_.is_struct(kind):
        for index, child in enumerate(kind):
            # `field()` keeps the child's own nulls (`flatten()` would fold in the parent's) and applies the slice.
            yield from _field(f"{path}.{child.name}", array.field(index))
    elif kind.id in _LIST_VIEWS:
        width = _LIST_VIEWS[kind.id]
        for role, buffer in zip(("offsets", "sizes"), array.buffers()[1:3], strict=True):
            yield Part(path, role, _bytes(buffer, array.offset * width, len(array) * width), (width,))
        yield from _field(f"{path}.{kind.value_field.name}", array.values)
    else:
        raise TypeError(f"column {path!r}: expected a type that the reference writes, got {kind}")


def _ids(**makers: int) -> dict[int, int]:
    """Type ids of types that older releases of pyarrow lack, each with a width in bytes."""
    return {
        getattr(pa, name)(*((pa.null(),) if "list" in name else ())).id: width
        for name, width in makers.items()
        if hasattr(pa, name)
    }


_VIEWS: Final = _ids(string_view=16, binary_view=16)
_LIST_VIEWS: Final = _ids(list_view=4, large_list_view=8)


def _bare(kind: pa.DataType) -> bool:
    return bool(is_.is_union(kind) or is_.is_run_end_encoded(kind))


def _without_validity(path: str, array: pa.Array) -> Iterator[FieldNode | Part]:
    """A union or run-end encoded field: no bitmap of its own, and no nulls of its own."""
    kind = array.type
    yield FieldNode(path, len(array), 0)
    if is_.is_run_end_encoded(kind):
        if array.offset:
            array = pc.run_end_encode(pc.run_end_decode(array), run_end_type=kind.run_end_type)
        yield from _field(f"{path}.run_ends", array.run_ends)
        yield from _field(f"{path}.values", array.values)
        return
    # Not `type_codes` and `offsets`: pyarrow's forget where a slice begins. `field()` does slice the children of a
    # sparse union; those of a dense one are not sliced, since the offsets point into them.
    buffers = array.buffers()
    yield Part(path, "type ids", _bytes(buffers[1], array.offset, len(array)))
    if kind.mode == "dense":
        yield Part(path, "offsets", _bytes(buffers[2], array.offset * 4, len(array) * 4), (4,))
    for index in range(kind.num_fields):
        yield from _field(f"{path}.{kind.field(index).name}", array.field(index))


def _is_variable(kind: pa.DataType) -> bool:
    return bool(is_.is_string(kind) or is_.is_binary(kind) or is_.is_large_string(kind) or is_.is_large_binary(kind))


_WIDE: Final = (is_.is_large_string, is_.is_large_binary, is_.is_large_list)


def _offsets(array: pa.Array) -> np.ndarray[Any, np.dtype[Any]]:
    """The length + 1 offsets of a variable-size array, unchanged (a slice's do not begin at zero)."""
    kind = np.dtype("<i8" if any(wide(array.type) for wide in _WIDE) else "<i4")
    buffer = array.buffers()[1]
    if buffer is None or buffer.size == 0:
        return np.zeros(len(array) + 1, kind)
    return np.frombuffer(buffer, kind, len(array) + 1, array.offset * kind.itemsize)


def _variable(path: str, array: pa.Array) -> Iterator[Part]:
    offsets = _offsets(array)
    yield Part(path, "offsets", (offsets - offsets[0]).tobytes(), (offsets.itemsize,))
    yield Part(path, "data", _bytes(array.buffers()[2], int(offsets[0]), int(offsets[-1] - offsets[0])))


def _list(path: str, array: pa.Array) -> Iterator[FieldNode | Part]:
    offsets = _offsets(array)
    yield Part(path, "offsets", (offsets - offsets[0]).tobytes(), (offsets.itemsize,))
    if is_.is_map(array.type):
        entries = pa.StructArray.from_arrays(
            [array.keys, array.items], fields=[array.type.key_field, array.type.item_field]
        )
        yield from _field(f"{path}.entries", entries.slice(int(offsets[0]), int(offsets[-1] - offsets[0])))
    else:
        items = array.values.slice(int(offsets[0]), int(offsets[-1] - offsets[0]))
        yield from _field(f"{path}.{array.type.value_field.name}", items)


def _validity(array: pa.Array) -> bytes:
    bitmap = array.buffers()[0]
    if array.null_count == 0 or bitmap is None:
        return b""
    return _bits(bitmap, array.offset, len(array))


def _bits(bitmap: pa.Buffer, offset: int, length: int) -> bytes:
    """``length`` bits from bit ``offset`` on, moved to bit 0, with zeros behind them."""
    first, last = offset // 8, (offset + length + 7) // 8
    packed = np.frombuffer(bitmap, np.uint8, last - first, first) if last > first else np.zeros(0, np.uint8)
    bits = np.unpackbits(packed, bitorder="little")[offset % 8 : offset % 8 + length]
    return np.packbits(bits, bitorder="little").tobytes()


def _bytes(buffer: pa.Buffer | None, start: int, size: int) -> bytes:
    return b"" if buffer is None or size == 0 else buffer.slice(start, size).to_pybytes()
