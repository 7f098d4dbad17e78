"""Variations of tensors: strides, alignment, the order of coordinates and of buffers."""

from __future__ import annotations

from typing import Final

import numpy as np

from conformance.reference.flatbuffers import SHARED_FIRST
from conformance.reference.ipc.register import variation
from conformance.reference.ipc.tensors import TensorModel
from conformance.reference.ipc.variations.sources import FBS, METADATA, OTHER
from conformance.reference.message import frame

__all__: list[str] = []

_DENSE: Final = ("dense.i32", "dense.f64", "dense.cube", "dense.vector", "dense.scalar", "dense.empty")
_SPARSE: Final = ("sparse.coo-matrix", "sparse.csr-matrix", "sparse.csc-matrix", "sparse.csf-matrix", "sparse.csf-cube")
_COO: Final = ("sparse.coo-matrix", "sparse.coo-index-int32")
_TENSOR: Final = f"{FBS}/Tensor.fbs"
_SPARSE_TENSOR: Final = f"{FBS}/SparseTensor.fbs"


@variation("tensor.plain", OTHER, kind="tensor", on=(*_DENSE, "dense.named", "dense.column-major"))
def plain(_: TensorModel) -> None:
    """A tensor as the reference writes it."""


@variation("sparse.plain", OTHER, kind="tensor", on=_SPARSE)
def plain_sparse(_: TensorModel) -> None:
    """A sparse tensor as the reference writes it."""


@variation("tensor.aligned-8", OTHER, kind="tensor", on=(*_DENSE, *_SPARSE))
def aligned_to_8(model: TensorModel) -> None:
    """Metadata and buffers end on multiples of 8; 64 is a recommendation."""
    model.alignment = 8


@variation("tensor.strides-absent", _TENSOR, kind="tensor", on=_DENSE)
def strides_absent(model: TensorModel) -> None:
    """Row-major order is not declared: it is the default."""
    del model.header["strides"]


@variation("tensor.strides-empty", _TENSOR, kind="tensor", on=_DENSE)
def strides_empty(model: TensorModel) -> None:
    """Row-major order, and a vector of no strides."""
    model.header["strides"] = []


@variation("tensor.rows-padded", _TENSOR, kind="tensor", on=("dense.i32",))
def rows_padded(model: TensorModel) -> None:
    """Rows are 16 bytes apart although they fill 12."""
    rows = np.frombuffer(model.part("data"), "<i4").reshape(2, 3)
    model.replace("data", np.pad(rows, ((0, 0), (0, 1)), constant_values=-1).tobytes())
    model.header["strides"] = [16, 4]


@variation("tensor.of-booleans", _TENSOR, kind="tensor", on=("dense.i8", "dense.u8"), grade="ambiguous")
def of_booleans(model: TensorModel) -> None:
    """The values are booleans, a byte each; the format does not define their layout in a tensor."""
    model.header.update(type_type=6, type={})


@variation("tensor.names-of-some", _TENSOR, kind="tensor", on=("dense.cube",))
def names_of_some(model: TensorModel) -> None:
    """One dimension of three has a name."""
    model.header["shape"][1]["name"] = "middle"


@variation("tensor.metadata", METADATA, kind="tensor", on=("dense.i32", "sparse.coo-matrix"))
def metadata(model: TensorModel) -> None:
    """The message of a tensor carries metadata."""
    model.tree["custom_metadata"] = [{"key": "k", "value": "v"}]


@variation("tensor.v4", f"{FBS}/Schema.fbs (MetadataVersion)", kind="tensor", on=("dense.i32", "sparse.csr-matrix"))
def v4(model: TensorModel) -> None:
    """Metadata version V4."""
    model.tree["version"] = 3


@variation("tensor.data-later", OTHER, kind="tensor", on=("dense.i32", "dense.f64"))
def data_later(model: TensorModel) -> bytes:
    """The data of the tensor begins 64 bytes into its body."""
    tree, body = model.complete()
    offset, length = tree["header"]["data"]
    tree["header"]["data"] = (offset + 64, length)
    return frame({**tree, "bodyLength": len(body) + 64}, bytes(64) + body, alignment=64, layout=SHARED_FIRST)


@variation("sparse.strides-absent", _SPARSE_TENSOR, kind="tensor", on=_COO)
def coordinates_row_major(model: TensorModel) -> None:
    """The matrix of coordinates is row-major, and has no strides."""
    del model.index["indicesStrides"]


@variation("sparse.coordinates-column-major", _SPARSE_TENSOR, kind="tensor", on=_COO)
def coordinates_column_major(model: TensorModel) -> None:
    """The matrix of coordinates is column-major, as its strides say."""
    width = model.index["indicesType"]["bitWidth"] // 8
    places = np.frombuffer(model.part("indicesBuffer"), f"<i{width}").reshape(-1, 2)
    model.replace("indicesBuffer", places.tobytes("F"))
    model.index["indicesStrides"] = [width, width * len(places)]


@variation("sparse.unsorted", _SPARSE_TENSOR, kind="tensor", on=_COO)
def unsorted(model: TensorModel) -> None:
    """Coordinates are not sorted, and are not declared canonical."""
    width = model.index["indicesType"]["bitWidth"] // 8
    places = np.frombuffer(model.part("indicesBuffer"), f"<i{width}").reshape(-1, 2)
    model.replace("indicesBuffer", places[::-1].tobytes())
    model.replace("data", np.frombuffer(model.part("data"), "<i8")[::-1].tobytes())
    model.index["isCanonical"] = 0


@variation("sparse.not-canonical", _SPARSE_TENSOR, kind="tensor", on=_COO)
def not_canonical(model: TensorModel) -> None:
    """Coordinates are sorted, and are not declared canonical."""
    model.index["isCanonical"] = 0


@variation("sparse.data-first", _SPARSE_TENSOR, kind="tensor", on=_SPARSE)
def data_first(model: TensorModel) -> None:
    """The values come before the index in the body."""
    model.parts = [model.parts[-1], *model.parts[:-1]]


@variation(
    "sparse.widths-differ", _SPARSE_TENSOR, kind="tensor", on=("sparse.csr-index-int32", "sparse.csc-index-int32")
)
def widths_differ(model: TensorModel) -> None:
    """Pointers are of another width than indices."""
    pointers = np.frombuffer(model.part("indptrBuffer"), "<i4").astype("<i8")
    model.replace("indptrBuffer", pointers.tobytes())
    model.index["indptrType"] = {"bitWidth": 64, "is_signed": 1}
