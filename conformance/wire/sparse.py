"""Judging and decoding of sparse tensors: coordinates, compressed rows or columns, and compressed fibers.

Source: SparseTensor.fbs of the Arrow format.
"""

from __future__ import annotations

import dataclasses
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from conformance.contain.text import many
from conformance.wire.arrow import UndecodableError, UnsupportedHereError
from conformance.wire.batch import BufferRange
from conformance.wire.faults import Rule
from conformance.wire.flatbuf import FlatTable
from conformance.wire.schema import type_from
from conformance.wire.tensorbody import ALIGNMENT, TensorBody, check_width, dtype_of, product, width_of
from conformance.wire.types import Type, TypeKind

__all__ = ["SparseIndex", "SparseTensor", "judge_sparse", "sparse_coordinates", "sparse_to_numpy"]

MOST_SPREAD: Final = 256 << 20
"""The number of bytes that a sparse tensor may take as a dense array, or as a list of coordinates."""

Integers = npt.NDArray[np.int64]
_TOO_SMALL: Final = Rule.SPARSE_BUFFER_TOO_SMALL
_OUT: Final = Rule.SPARSE_BUFFER_OUT_OF_BODY


@dataclasses.dataclass(frozen=True, slots=True)
class SparseIndex:
    """The index of a sparse tensor: the positions of its values.

    ``kind`` is ``COO`` (coordinates), ``CSX`` (compressed rows or columns) or ``CSF`` (compressed fibers). ``axes`` are
    the dimensions in the order of the index's levels: 0, 1 for compressed rows and 1, 0 for compressed columns.
    ``canonical`` applies to coordinates only.
    """

    kind: str
    indices_type: Type
    indices: tuple[BufferRange, ...]
    axes: tuple[int, ...]
    pointers_type: Type | None = None
    pointers: tuple[BufferRange, ...] = ()
    strides: tuple[int, ...] = ()
    canonical: bool = False


@dataclasses.dataclass(frozen=True, slots=True)
class SparseTensor:
    """A sparse tensor: the type of its values, its dimensions' sizes and names, its number of values, and its index."""

    type: Type
    shape: tuple[int, ...]
    names: tuple[str | None, ...]
    length: int
    index: SparseIndex
    data: BufferRange


def judge_sparse(body: TensorBody) -> SparseTensor | None:
    """Judge a SparseTensor header, its index and its data; None if the metadata does not describe a tensor."""
    header = body.header
    kind, shaped, table = body.type(header, Rule.TENSOR_TYPE), body.shape(header), header["sparseIndex"]
    if kind is None or shaped is None or table is None or header["data"] is None:
        return None
    shape, names = shaped
    length = header["non_zero_length"]
    index = _INDEX[table.spec.name](body, table, shape)
    if length < 0:
        body.fault(Rule.SPARSE_LENGTH_NEGATIVE, header, "non_zero_length", f"a number of {length}")
    if index is None:
        return None
    (data,) = body.ranges(header["data"])
    pointers = [
        body.part(f"pointers {level}", place, index.pointers_type, _OUT)
        for level, place in enumerate(index.pointers)
        if index.pointers_type is not None
    ]
    indices = [
        body.part(f"indices {level}" if index.pointers else "indices", place, index.indices_type, _OUT)
        for level, place in enumerate(index.indices)
    ]
    part = body.part("data", data, kind, _OUT)
    body.settle()
    _aligned(body)
    tensor = SparseTensor(kind, shape, names, length, index, data)
    if length >= 0:
        if kind.kind is not TypeKind.BOOL:
            body.holds(part, length, _TOO_SMALL)
        if not body.broken:
            _JUDGE[index.kind](body, tensor, pointers, indices)
    return tensor


def _aligned(body: TensorBody) -> None:
    """Report the first buffer that does not start at a multiple of 64 bytes from the start of the message."""
    base = body.message.body_start - body.message.start
    for number, part in enumerate(body.parts):
        if body.contents[number] and (base + part.range.offset) % ALIGNMENT:
            observed = f"a buffer at {many(base + part.range.offset, 'byte')} from the start of the message"
            body.part_fault(Rule.SPARSE_ALIGNMENT, number, observed, harmless=True)
            return


# --- the index in the metadata ----------------------------------------------------------------------


def _integer(body: TensorBody, table: FlatTable, slot: str) -> Type | None:
    made = table[slot]
    return None if made is None else type_from("Int", made, body.verifier, f"{table.path}.{slot}")


def _coo(body: TensorBody, table: FlatTable, shape: tuple[int, ...]) -> SparseIndex | None:
    kind, places = _integer(body, table, "indicesType"), body.ranges(table["indicesBuffer"])
    if kind is None or not places:
        return None
    width = width_of(kind)
    strides = body.verifier.int64s(table["indicesStrides"])
    if strides and (len(strides) != 2 or min(strides) < 0):
        body.fault(Rule.SPARSE_STRIDES, table, "indicesStrides", f"the strides {', '.join(map(str, strides[:8]))}")
    axes, canonical = tuple(range(len(shape))), bool(table["isCanonical"])
    return SparseIndex(
        "COO", kind, tuple(places), axes, strides=strides or (len(shape) * width, width), canonical=canonical
    )


def _csx(body: TensorBody, table: FlatTable, shape: tuple[int, ...]) -> SparseIndex | None:
    axis, pointers, indices = table["compressedAxis"], table["indptrBuffer"], table["indicesBuffer"]
    pointers_type, indices_type = _integer(body, table, "indptrType"), _integer(body, table, "indicesType")
    if None in (axis, pointers, indices) or pointers_type is None or indices_type is None:
        return None
    if len(shape) != 2:
        body.fault(Rule.SPARSE_DIMENSIONS, body.header, "shape", f"{many(len(shape), 'dimension')} of compressed rows")
        return None
    places = tuple(body.ranges(indices))
    return SparseIndex("CSX", indices_type, places, (axis, 1 - axis), pointers_type, tuple(body.ranges(pointers)))


def _csf(body: TensorBody, table: FlatTable, shape: tuple[int, ...]) -> SparseIndex | None:
    pointers_type, indices_type = _integer(body, table, "indptrType"), _integer(body, table, "indicesType")
    runs = table["indptrBuffers"], table["indicesBuffers"], table["axisOrder"]
    if None in runs or pointers_type is None or indices_type is None:
        return None
    if len(shape) < 2:
        body.fault(
            Rule.SPARSE_DIMENSIONS, body.header, "shape", f"{many(len(shape), 'dimension')} of compressed fibers"
        )
        return None
    pointers, indices, axes = body.ranges(runs[0]), body.ranges(runs[1]), body.verifier.int32s(runs[2])
    if (len(pointers), len(indices)) != (len(shape) - 1, len(shape)):
        shown = f"{many(len(pointers), 'buffer')} of pointers and {len(indices)} of indices"
        observed = f"{shown} for {many(len(shape), 'dimension')}"
        body.fault(Rule.SPARSE_BUFFER_COUNT, table, "indicesBuffers", observed)
        return None
    if sorted(axes) != list(range(len(shape))):
        body.fault(Rule.SPARSE_AXIS_ORDER, table, "axisOrder", f"the axes {', '.join(map(str, axes[:16])) or 'none'}")
        return None
    return SparseIndex("CSF", indices_type, tuple(indices), axes, pointers_type, tuple(pointers))


_INDEX: Final = {"SparseTensorIndexCOO": _coo, "SparseMatrixIndexCSX": _csx, "SparseTensorIndexCSF": _csf}


# --- the index in the body --------------------------------------------------------------------------


def _judge_coo(body: TensorBody, tensor: SparseTensor, _: list[int], indices: list[int]) -> None:
    matrix = _matrix(body, tensor, indices[0])
    if matrix is None or not matrix.size:
        return
    wrong = (matrix < 0) | (matrix >= np.array(tensor.shape, np.int64))
    if wrong.any():
        row, column = divmod(int(wrong.argmax()), len(tensor.shape))
        observed = (
            f"the index {int(matrix[row, column])} in dimension {column} of size {tensor.shape[column]}, at value {row}"
        )
        body.part_fault(Rule.SPARSE_INDEX_RANGE, indices[0], observed)
    if tensor.index.canonical and len(matrix) > 1:
        before, after = matrix[:-1], matrix[1:]
        column = (before != after).argmax(axis=1)
        rows = np.arange(len(column))
        unsorted = after[rows, column] <= before[rows, column]
        if unsorted.any():
            row = int(unsorted.argmax())
            observed = f"the coordinates {after[row][:8].tolist()} after {before[row][:8].tolist()}, at value {row + 1}"
            body.part_fault(Rule.SPARSE_NOT_CANONICAL, indices[0], observed, harmless=True)


def _matrix(body: TensorBody, tensor: SparseTensor, part: int) -> Integers | None:
    """The coordinates, one row per value; None if the buffer is too small for them."""
    index, content = tensor.index, body.contents[part]
    shape, width = (tensor.length, len(tensor.shape)), width_of(tensor.index.indices_type)
    if not body.holds(part, product(shape), _TOO_SMALL) or content is None:
        return None
    if not product(shape):
        return np.zeros((0, shape[1]), np.int64)
    needed = (shape[0] - 1) * index.strides[0] + (shape[1] - 1) * index.strides[1] + width
    if needed > len(content):
        body.part_fault(
            _TOO_SMALL, part, f"{many(len(content), 'byte')}, where the strides {index.strides} need {needed}"
        )
        return None
    found: npt.NDArray[Any] = np.ndarray(shape, dtype_of(index.indices_type), content, 0, index.strides)
    return found.astype(np.int64)


def _judge_csx(body: TensorBody, tensor: SparseTensor, pointers: list[int], indices: list[int]) -> None:
    (outer, inner), length = tensor.index.axes, tensor.length
    starts = body.integers(pointers[0], tensor.shape[outer] + 1, _TOO_SMALL)
    found = body.integers(indices[0], length, _TOO_SMALL)
    if starts is None or found is None:
        return
    _inside(body, indices[0], found, inner, tensor.shape[inner])
    if not _pointing(body, pointers[0], starts, length):
        return
    # Indices increase within a row only: `first` is True for entries at which a row starts.
    first = np.zeros(length + 1, np.bool_)
    first[starts] = True
    falling = (found[1:] < found[:-1]) & ~first[1:-1] if length else np.zeros(0, np.bool_)
    if falling.any():
        entry = int(falling.argmax()) + 1
        observed = f"the index {int(found[entry])} after {int(found[entry - 1])} in entry {entry}"
        body.part_fault(Rule.SPARSE_INDEX_ORDER, indices[0], observed, entry=entry, harmless=True)


def _judge_csf(body: TensorBody, tensor: SparseTensor, pointers: list[int], indices: list[int]) -> None:
    width, last = width_of(tensor.index.indices_type), len(tensor.shape) - 1
    # Each level has one pointer per entry and one more; the last pointer is the number of entries of the next level.
    count = tensor.index.indices[0].length // width
    for level, axis in enumerate(tensor.index.axes):
        found = body.integers(indices[level], count, _TOO_SMALL)
        if found is None:
            return
        _inside(body, indices[level], found, axis, tensor.shape[axis])
        if level == last:
            return
        starts = body.integers(pointers[level], count + 1, _TOO_SMALL)
        if starts is None:
            return
        end = tensor.length if level == last - 1 else int(starts[-1])
        if not _pointing(body, pointers[level], starts, end):
            return
        count = end


def _inside(body: TensorBody, part: int, found: Integers, axis: int, size: int) -> None:
    wrong = (found < 0) | (found >= size)
    if wrong.any():
        entry = int(wrong.argmax())
        such = many(int(wrong.sum()), "such entry", "such entries")
        observed = f"the index {int(found[entry])} in dimension {axis} of size {size}, entry {entry} ({such})"
        body.part_fault(Rule.SPARSE_INDEX_RANGE, part, observed, entry=entry)


def _pointing(body: TensorBody, part: int, starts: Integers, end: int) -> bool:
    """True if the pointers start at 0, never decrease and end at ``end``."""
    falling = starts[1:] < starts[:-1]
    if starts[0] != 0:
        entry, observed = 0, f"a first pointer of {int(starts[0])}"
    elif falling.any():
        entry = int(falling.argmax()) + 1
        observed = f"the pointer {int(starts[entry])} after {int(starts[entry - 1])} in entry {entry}"
    elif starts[-1] != end:
        entry, observed = len(starts) - 1, f"a last pointer of {int(starts[-1])} for {many(end, 'entry', 'entries')}"
    else:
        return True
    body.part_fault(Rule.SPARSE_POINTERS, part, observed, entry=entry)
    return False


_JUDGE: Final = {"COO": _judge_coo, "CSX": _judge_csx, "CSF": _judge_csf}


# --- values -----------------------------------------------------------------------------------------


def sparse_coordinates(tensor: SparseTensor, body: TensorBody) -> Integers:
    """The positions of the values: one row per value, one column per dimension.

    The index must have no violations. Raises :class:`UnsupportedHereError` if the result would take more than
    :data:`MOST_SPREAD` bytes, and :class:`UndecodableError` if the coordinates cannot be read.
    """
    index, length, levels = tensor.index, tensor.length, len(tensor.shape)
    if 8 * length * max(levels, 1) > MOST_SPREAD:
        raise UnsupportedHereError(f"the coordinates of {length} values take more than {MOST_SPREAD} bytes")
    if index.kind == "COO":
        matrix = _matrix(body, tensor, 0)
        if matrix is None:
            raise UndecodableError("the coordinates cannot be read")
        return matrix
    made = np.zeros((length, levels), np.int64)
    entries = np.arange(length)
    pointers = _pointers(tensor, body)
    for level in reversed(range(levels)):
        axis = index.axes[level]
        if level < len(pointers):
            starts = pointers[level]
            entries = np.repeat(np.arange(len(starts) - 1), np.diff(starts))[entries]
        first = level if index.kind == "CSF" else 0
        rows = index.kind == "CSX" and level == 0
        made[:, axis] = entries if rows else _stored(body, len(index.pointers) + first)[entries]
    return made


def _pointers(tensor: SparseTensor, body: TensorBody) -> list[Integers]:
    """The pointers of each level that has some; buffers may be longer than needed, and the rest is ignored."""
    index = tensor.index
    rows = index.kind == "CSX"
    count = tensor.shape[index.axes[0]] if rows else index.indices[0].length // width_of(index.indices_type)
    found = []
    for level in range(len(index.pointers)):
        found.append(_stored(body, level)[: count + 1])
        count = int(found[-1][-1])
    return found


def _stored(body: TensorBody, part: int) -> Integers:
    """All integers that are stored in a buffer."""
    kind = body.parts[part].type
    content = body.contents[part] or b""
    found: npt.NDArray[Any] = np.frombuffer(content, dtype_of(kind), len(content) // width_of(kind))
    return found.astype(np.int64)


def sparse_to_numpy(tensor: SparseTensor, body: TensorBody) -> npt.NDArray[Any]:
    """The tensor as a dense array.

    Raises :class:`UnsupportedHereError` for booleans, for more than :data:`MOST_SPREAD` bytes, for shapes that numpy
    does not support, and if two values have the same coordinates.
    """
    shape, kind = tensor.shape, dtype_of(tensor.type)
    check_width(tensor.type)
    if product(shape) * width_of(tensor.type) > MOST_SPREAD:
        raise UnsupportedHereError(f"a dense tensor of shape {shape[:16]} takes more than {MOST_SPREAD} bytes")
    try:
        made: npt.NDArray[Any] = np.zeros(shape, kind)
    except (ValueError, OverflowError) as error:
        raise UnsupportedHereError(f"numpy has no array for shape {shape[:16]}: {error}") from error
    places = sparse_coordinates(tensor, body)
    if len(np.unique(places, axis=0)) < len(places):
        raise UnsupportedHereError("two values have the same coordinates, of which the format does not speak")
    if len(places):
        content = body.contents[-1] or b""
        made[tuple(places.T)] = np.frombuffer(content, kind, tensor.length)
    return made
