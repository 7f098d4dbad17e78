"""Mutants of sparse tensors: the index, and the values that it points to."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np

from conformance.reference.ipc.register import mutant
from conformance.reference.ipc.tensors import TensorModel
from conformance.wire.faults import Rule

__all__: list[str] = []

_COO: Final = ("sparse.coo-matrix", "sparse.coo-cube")
_CSX: Final = ("sparse.csr-matrix", "sparse.csc-matrix")
_CSF: Final = ("sparse.csf-matrix", "sparse.csf-cube")
_EACH: Final = (*_COO, *_CSX, *_CSF)
_FIXED: Final = "https://github.com/apache/arrow/pull/50305"
Numbers = np.ndarray[tuple[int, ...], np.dtype[np.int64]]


def _edit(model: TensorModel, slot: str, change: Callable[[Numbers], object], number: int = 0) -> None:
    """Changes the 64-bit integers of an index buffer in place."""
    found = np.frombuffer(model.part(slot, number), "<i8").copy()
    change(found)
    model.replace(slot, found.tobytes(), number)


def _slot(model: TensorModel, stem: str) -> str:
    return next(name for name, _ in model.parts if name.startswith(stem))


@mutant("sparse.length-negative", Rule.SPARSE_LENGTH_NEGATIVE, kind="tensor", on=_EACH, source=_FIXED)
def length_negative(model: TensorModel) -> None:
    """The number of values is negative."""
    model.header["non_zero_length"] = -1


@mutant(
    "sparse.length-long",
    Rule.SPARSE_BUFFER_TOO_SMALL,
    kind="tensor",
    on=_EACH,
    source=_FIXED,
    also={
        Rule.SPARSE_POINTERS: "pointers end before the number of values",
    },
)
def length_long(model: TensorModel) -> None:
    """There is one value fewer than declared."""
    model.header["non_zero_length"] += 9


@mutant("sparse.matrix-of-three", Rule.SPARSE_DIMENSIONS, kind="tensor", on=_CSX)
def matrix_of_three(model: TensorModel) -> None:
    """A matrix of compressed rows or columns has three dimensions."""
    model.header["shape"].append({"size": 1})


@mutant("sparse.fibers-of-one", Rule.SPARSE_DIMENSIONS, kind="tensor", on=_CSF)
def fibers_of_one(model: TensorModel) -> None:
    """A tensor of compressed fibers has one dimension."""
    model.header["shape"] = model.header["shape"][:1]


@mutant("sparse.pointers-missing", Rule.SPARSE_BUFFER_COUNT, kind="tensor", on=("sparse.csf-cube",))
def pointers_missing(model: TensorModel) -> None:
    """There is one buffer of pointers fewer than there should be."""
    model.parts.remove(next(part for part in model.parts if part[0] == "indptrBuffers"))


@mutant("sparse.indices-surplus", Rule.SPARSE_BUFFER_COUNT, kind="tensor", on=_CSF)
def indices_surplus(model: TensorModel) -> None:
    """There is one buffer of indices more than there are dimensions."""
    model.parts.insert(-1, ("indicesBuffers", bytes(64)))


@mutant("sparse.index-outside", Rule.SPARSE_BUFFER_OUT_OF_BODY, kind="tensor", on=(*_COO, *_CSX))
def index_outside(model: TensorModel) -> None:
    """The buffer of indices is beyond the body."""
    model.index["indicesBuffer"] = (1 << 32, len(model.part("indicesBuffer")))


@mutant("sparse.data-outside", Rule.SPARSE_BUFFER_OUT_OF_BODY, kind="tensor", on=_EACH)
def data_outside(model: TensorModel) -> None:
    """The values are beyond the body."""
    model.header["data"] = (1 << 32, len(model.part("data")))


@mutant(
    "sparse.index-short",
    Rule.SPARSE_BUFFER_TOO_SMALL,
    kind="tensor",
    on=(*_COO, *_CSX),
    source="https://github.com/apache/arrow/pull/50038",
)
def index_short(model: TensorModel) -> None:
    """The buffer of indices lacks its last entry."""
    model.replace("indicesBuffer", model.part("indicesBuffer")[:-8])


@mutant(
    "sparse.pointers-short",
    Rule.SPARSE_BUFFER_TOO_SMALL,
    kind="tensor",
    on=_CSX,
    source="https://github.com/apache/arrow/pull/50038",
)
def pointers_short(model: TensorModel) -> None:
    """The buffer of pointers lacks its last entry."""
    model.replace("indptrBuffer", model.part("indptrBuffer")[:-8])


@mutant("sparse.data-short", Rule.SPARSE_BUFFER_TOO_SMALL, kind="tensor", on=_EACH)
def data_short(model: TensorModel) -> None:
    """There are no values."""
    model.replace("data", b"")


@mutant("sparse.buffers-shared", Rule.SPARSE_BUFFER_OVERLAP, kind="tensor", on=_CSX)
def buffers_shared(model: TensorModel) -> None:
    """Pointers and indices are at the same place."""
    tree, _ = model.complete()
    model.index["indicesBuffer"] = (
        tree["header"]["sparseIndex"]["indptrBuffer"][0],
        len(model.part("indicesBuffer")),
    )


@mutant("sparse.strides-one", Rule.SPARSE_STRIDES, kind="tensor", on=_COO)
def strides_one(model: TensorModel) -> None:
    """The matrix of coordinates has one stride."""
    model.index["indicesStrides"] = [8]


@mutant("sparse.strides-negative", Rule.SPARSE_STRIDES, kind="tensor", on=_COO)
def strides_negative(model: TensorModel) -> None:
    """The matrix of coordinates has a negative stride."""
    model.index["indicesStrides"] = [-8, 8]


@mutant("sparse.strides-beyond", Rule.SPARSE_BUFFER_TOO_SMALL, kind="tensor", on=_COO)
def strides_beyond(model: TensorModel) -> None:
    """The strides of the coordinates reach beyond their buffer."""
    model.index["indicesStrides"] = [1024, 8]


@mutant(
    "sparse.index-beyond",
    Rule.SPARSE_INDEX_RANGE,
    kind="tensor",
    on=_EACH,
    also={
        Rule.SPARSE_INDEX_ORDER: "the index is larger than the one after it",
        Rule.SPARSE_NOT_CANONICAL: "the coordinates are larger than the next",
    },
)
def index_beyond(model: TensorModel) -> None:
    """An index is beyond its dimension."""
    _edit(model, _slot(model, "indices"), lambda found: found.__setitem__(-1, 1000))


@mutant("sparse.index-negative", Rule.SPARSE_INDEX_RANGE, kind="tensor", on=_EACH)
def index_negative(model: TensorModel) -> None:
    """An index is negative."""
    _edit(model, _slot(model, "indices"), lambda found: found.__setitem__(0, -1))


@mutant("sparse.rows-unsorted", Rule.SPARSE_INDEX_ORDER, kind="tensor", on=("sparse.csr-matrix",))
def rows_unsorted(model: TensorModel) -> None:
    """The indices of a row are not sorted."""
    _edit(model, "indicesBuffer", lambda found: found.__setitem__(slice(0, 2), found[1::-1].copy()))


@mutant("sparse.unsorted-canonical", Rule.SPARSE_NOT_CANONICAL, kind="tensor", on=_COO)
def unsorted_canonical(model: TensorModel) -> None:
    """Coordinates declare that they are canonical, and are not sorted."""
    count = len(model.header["shape"])
    _edit(model, "indicesBuffer", lambda found: found.__setitem__(slice(None), found.reshape(-1, count)[::-1].ravel()))


@mutant("sparse.duplicate-canonical", Rule.SPARSE_NOT_CANONICAL, kind="tensor", on=_COO)
def duplicate_canonical(model: TensorModel) -> None:
    """Coordinates declare that they are canonical, and one occurs twice."""
    count = len(model.header["shape"])
    _edit(model, "indicesBuffer", lambda found: found.__setitem__(slice(count, 2 * count), found[:count].copy()))


@mutant("sparse.pointers-not-from-0", Rule.SPARSE_POINTERS, kind="tensor", on=(*_CSX, *_CSF))
def pointers_not_from_0(model: TensorModel) -> None:
    """Pointers do not begin at 0."""
    _edit(model, _slot(model, "indptr"), lambda found: found.__setitem__(0, 1))


@mutant("sparse.pointers-decreasing", Rule.SPARSE_POINTERS, kind="tensor", on=(*_CSX, "sparse.csf-matrix"))
def pointers_decreasing(model: TensorModel) -> None:
    """Pointers go back."""
    _edit(model, _slot(model, "indptr"), lambda found: found.__setitem__(1, 1000))


@mutant("sparse.pointers-end", Rule.SPARSE_POINTERS, kind="tensor", on=(*_CSX, "sparse.csf-matrix"))
def pointers_end(model: TensorModel) -> None:
    """Pointers end beyond the number of values."""
    _edit(model, _slot(model, "indptr"), lambda found: found.__setitem__(-1, 1000))


@mutant("sparse.axis-twice", Rule.SPARSE_AXIS_ORDER, kind="tensor", on=_CSF)
def axis_twice(model: TensorModel) -> None:
    """The axis order names a dimension twice."""
    model.index["axisOrder"] = [0] * len(model.header["shape"])


@mutant("sparse.axis-beyond", Rule.SPARSE_AXIS_ORDER, kind="tensor", on=_CSF)
def axis_beyond(model: TensorModel) -> None:
    """The axis order names a dimension that does not exist."""
    model.index["axisOrder"] = [*model.index["axisOrder"][:-1], 9]


@mutant("sparse.shape-negative", Rule.TENSOR_SHAPE_NEGATIVE, kind="tensor", on=_EACH, source=_FIXED)
def shape_negative(model: TensorModel) -> None:
    """A dimension has a negative size."""
    model.header["shape"][0]["size"] = -3


@mutant("sparse.of-text", Rule.TENSOR_TYPE, kind="tensor", on=("sparse.coo-matrix",))
def of_text(model: TensorModel) -> None:
    """The values of a sparse tensor are text."""
    model.header.update(type_type=5, type={})


@mutant("sparse.index-unknown", Rule.FLATBUF_UNION_TYPE_UNKNOWN, kind="tensor", on=("sparse.coo-matrix",))
def index_unknown(model: TensorModel) -> None:
    """The index is of a form that is not defined."""
    index = dict(model.index)
    index["indicesBuffer"] = (0, len(model.part("indicesBuffer")))
    model.parts = [part for part in model.parts if part[0] == "data"]
    model.header.update(sparseIndex_type=9, sparseIndex=("SparseTensorIndexCOO", index))


@mutant(
    "sparse.index-missing",
    (Rule.FLATBUF_REQUIRED_MISSING, Rule.FLATBUF_UNION_VALUE_MISSING),
    kind="tensor",
    on=("sparse.coo-matrix",),
)
def index_missing(model: TensorModel) -> None:
    """There is no index."""
    model.parts = [part for part in model.parts if part[0] == "data"]
    del model.header["sparseIndex"]


@mutant("sparse.axis-unknown", Rule.FLATBUF_ENUM_UNKNOWN, kind="tensor", on=_CSX)
def axis_unknown(model: TensorModel) -> None:
    """The compressed axis is 2, which means neither rows nor columns."""
    model.index["compressedAxis"] = 2


@mutant("sparse.indices-of-12-bits", Rule.SCHEMA_INT_WIDTH, kind="tensor", on=(*_COO, *_CSX))
def indices_of_12_bits(model: TensorModel) -> None:
    """Indices are integers of 12 bits."""
    model.index["indicesType"] = {"bitWidth": 12, "is_signed": 1}
