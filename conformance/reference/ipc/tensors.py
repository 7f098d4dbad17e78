"""Dense and sparse tensors as messages, from numpy arrays
(https://arrow.apache.org/docs/format/Other.html).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any, Final, Literal

import numpy as np
import pyarrow as pa

from conformance.reference.flatbuffers import SHARED_FIRST, TableLayout
from conformance.reference.message import V5, frame
from conformance.reference.types import type_tree

__all__ = ["SparseForm", "TensorModel", "sparse_model", "tensor_model", "write_sparse"]

Dense = np.ndarray[Any, np.dtype[Any]]
SparseForm = Literal["COO", "CSR", "CSC", "CSF"]

_TENSOR, _SPARSE = 4, 5
_COO, _CSX, _CSF = 1, 2, 3
_LISTS: Final = ("indptrBuffers", "indicesBuffers")


@dataclasses.dataclass(slots=True)
class TensorModel:
    """A tensor message that has not been written yet.

    ``tree`` is the ``Message`` table, ``parts`` the buffers in the order of the body, each under the slot that refers
    to it: ``data``, or a slot of the sparse index. :meth:`complete` fills these slots unless the tree has them.
    ``alignment`` is that of the end of the metadata and of every buffer.
    """

    tree: dict[str, Any]
    parts: list[tuple[str, bytes]]
    alignment: int = 64
    layout: TableLayout = SHARED_FIRST

    @property
    def header(self) -> dict[str, Any]:
        """The Tensor or SparseTensor table."""
        header: dict[str, Any] = self.tree["header"]
        return header

    @property
    def index(self) -> dict[str, Any]:
        """The table of a sparse tensor's index.

        Raises:
            LookupError: the tensor is dense.
        """
        index: dict[str, Any] = self.header["sparseIndex"]
        return index

    def part(self, slot: str, number: int = 0) -> bytes:
        """The bytes of the buffer of that slot, or of the slot's buffer ``number``."""
        return [data for name, data in self.parts if name == slot][number]

    def replace(self, slot: str, data: bytes, number: int = 0) -> None:
        """Puts other bytes in the place of :meth:`part`'s."""
        places = [place for place, (name, _) in enumerate(self.parts) if name == slot]
        self.parts[places[number]] = (slot, data)

    def complete(self) -> tuple[dict[str, Any], bytes]:
        """The whole tree, buffers and body length filled in, and the body."""
        out, found = bytearray(), dict[str, list[tuple[int, int]]]()
        for slot, data in self.parts:
            found.setdefault(slot, []).append((len(out), len(data)))
            out += data
            out += bytes(-len(out) % self.alignment)
        filled = {slot: places if slot in _LISTS else places[0] for slot, places in found.items()}
        header = {"data": filled.pop("data"), **self.header}
        if filled:
            header["sparseIndex"] = {**filled, **header["sparseIndex"]}
        return {"bodyLength": len(out), **self.tree, "header": header}, bytes(out)

    def encode(self) -> bytes:
        """The bytes of the encapsulated message."""
        tree, body = self.complete()
        return frame(tree, body, alignment=self.alignment, layout=self.layout)


def tensor_model(
    array: Dense, *, names: Sequence[str] = (), strides: bool = True, kind: pa.DataType | None = None
) -> TensorModel:
    """The model of the message of a dense tensor.

    An array in column-major order is written as it is; any other in row-major order.

    Args:
        array: the values; integers or floats.
        names: of the dimensions, all of them or none.
        strides: whether those of row-major order, which is the default, are written.
        kind: the Arrow type of the values, if it is not the array's own: dates stored in integers, say.

    Raises:
        ValueError: the number of names is not that of the dimensions.
    """
    column_major = array.flags.f_contiguous and not array.flags.c_contiguous
    array = array if column_major else np.ascontiguousarray(array).reshape(array.shape)
    header = {**_described(array, names, kind)}
    if strides or column_major:
        header["strides"] = list(array.strides)
    return _model(_TENSOR, header, [("data", array.tobytes("F" if column_major else "C"))])


def sparse_model(
    array: Dense, form: SparseForm, *, names: Sequence[str] = (), index: pa.DataType | None = None, strides: bool = True
) -> TensorModel:
    """The model of the message that :func:`write_sparse` writes."""
    kind = pa.int64() if index is None else index
    makers = {"COO": _coo, "CSR": _csx, "CSC": _csx, "CSF": _csf}
    if form not in makers:
        raise ValueError(f"form: expected one of {', '.join(makers)}, got {form!r}")
    slots, parts, values = makers[form](array, form, kind)
    if form == "COO" and not strides:
        del slots["indicesStrides"]
    header = {
        **_described(array, names, None),
        "non_zero_length": len(values),
        "sparseIndex_type": {"COO": _COO, "CSF": _CSF}.get(form, _CSX),
        "sparseIndex": slots,
    }
    return _model(_SPARSE, header, [*parts, ("data", values.tobytes())])


def write_sparse(
    array: Dense, form: SparseForm, *, names: Sequence[str] = (), index: pa.DataType | None = None, strides: bool = True
) -> bytes:
    """The message of a sparse tensor: the non-zero values of ``array`` and their positions.

    Args:
        array: the values, zeros included.
        form: coordinates (``COO``), compressed rows or columns of a matrix (``CSR``, ``CSC``), or compressed sparse
            fibers (``CSF``) with the axes in order of their sizes.
        names: of the dimensions, all of them or none.
        index: the integer type of indices and pointers; int64 if not given.
        strides: whether the strides of the matrix of coordinates are written.

    Raises:
        ValueError: an unknown form, or one that does not suit the number of dimensions.
    """
    return sparse_model(array, form, names=names, index=index, strides=strides).encode()


def _model(kind: int, header: dict[str, Any], parts: list[tuple[str, bytes]]) -> TensorModel:
    return TensorModel({"version": V5, "header_type": kind, "header": header}, parts)


def _described(array: Dense, names: Sequence[str], kind: pa.DataType | None) -> dict[str, Any]:
    if names and len(names) != array.ndim:
        raise ValueError(f"names: expected one for each of {array.ndim} dimensions, got {len(names)}")
    shape = [{"size": size} for size in array.shape]
    named = [{**dim, "name": name} for dim, name in zip(shape, names, strict=True)] if names else shape
    return {**type_tree(kind or pa.from_numpy_dtype(array.dtype)), "shape": named}


_Made = tuple[dict[str, Any], list[tuple[str, bytes]], Dense]


def _pack(numbers: Dense | list[int], kind: pa.DataType) -> bytes:
    # Arrow and numpy have the same names for integers; `to_pandas_dtype` requires pandas before pyarrow 19.
    return np.asarray(numbers).astype(np.dtype(str(kind))).tobytes()


def _integer(kind: pa.DataType) -> dict[str, Any]:
    tree: dict[str, Any] = type_tree(kind)["type"]
    return tree


def _coo(array: Dense, _: str, kind: pa.DataType) -> _Made:
    places = np.argwhere(array)
    width = kind.bit_width // 8
    slots = {
        "indicesType": _integer(kind),
        "indicesStrides": [array.ndim * width, width],
        "isCanonical": 1,
    }
    return slots, [("indicesBuffer", _pack(places, kind))], array[tuple(places.T)]


def _csx(array: Dense, form: str, kind: pa.DataType) -> _Made:
    if array.ndim != 2:
        raise ValueError(f"{form}: expected a matrix, got {array.ndim} dimensions")
    rows = array if form == "CSR" else array.T
    places = np.argwhere(rows)
    pointers = np.searchsorted(places[:, 0], np.arange(len(rows) + 1))
    slots = {
        "compressedAxis": int(form == "CSC"),
        "indptrType": _integer(kind),
        "indicesType": _integer(kind),
    }
    parts = [("indptrBuffer", _pack(pointers, kind)), ("indicesBuffer", _pack(places[:, 1], kind))]
    return slots, parts, rows[tuple(places.T)]


def _csf(array: Dense, form: str, kind: pa.DataType) -> _Made:
    if array.ndim < 2:
        raise ValueError(f"{form}: expected at least 2 dimensions, got {array.ndim}")
    order = sorted(range(array.ndim), key=lambda axis: array.shape[axis])
    turned = array.transpose(order)
    places = np.argwhere(turned)
    indices, pointers = [], []
    starts = np.arange(len(places))
    for depth in reversed(range(array.ndim)):
        # One node for each distinct beginning of coordinates; below the last axis that is every value.
        nodes = np.unique(places[:, : depth + 1], axis=0, return_index=True)[1] if len(places) else starts
        if depth < array.ndim - 1:
            pointers.append(_pack(np.append(np.searchsorted(starts, nodes), len(starts)), kind))
        indices.append(_pack(places[nodes, depth], kind))
        starts = nodes
    slots = {"indptrType": _integer(kind), "indicesType": _integer(kind), "axisOrder": order}
    parts = [("indptrBuffers", data) for data in reversed(pointers)]
    parts += [("indicesBuffers", data) for data in reversed(indices)]
    return slots, parts, turned[tuple(places.T)]
