"""The writer of tensors: pyarrow reads dense ones back, and makes the same indices of sparse ones itself."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from conformance.reference.ipc.samples.tensors import TENSORS, TensorSample
from conformance.reference.ipc.tensors import TensorModel, tensor_model, write_sparse

DENSE = [each for each in TENSORS.values() if each.id.startswith("dense.")]
SPARSE = [each for each in TENSORS.values() if each.id.startswith("sparse.")]


@pytest.mark.parametrize("sample", DENSE, ids=lambda sample: sample.id)
def test_pyarrow_reads_dense_tensors_back(sample: TensorSample) -> None:
    """Values, shape, strides and names are those that were written."""
    model = sample.model()
    if sample.id == "dense.dates":
        model.header.update(tensor_model(sample.array).header)  # Arrow C++ has tensors of numbers only
    tensor = pa.ipc.read_tensor(pa.py_buffer(model.encode()))

    assert tensor.shape == sample.array.shape
    # A dimension without a name has the name "" to pyarrow.
    assert [name or "" for name in tensor.dim_names] == [dim.get("name", "") for dim in model.header["shape"]]
    assert np.array_equal(tensor.to_numpy(), sample.array, equal_nan=sample.array.dtype.kind == "f")


def numbers(model: TensorModel, slot: str, kind: np.dtype[np.int64] | str) -> list[list[int]]:
    """The integers of every buffer of a slot."""
    return [np.frombuffer(data, kind).tolist() for name, data in model.parts if name == slot]


@pytest.mark.parametrize("sample", SPARSE, ids=lambda sample: sample.id)
def test_pyarrow_makes_the_same_indices(sample: TensorSample) -> None:
    """Indices, pointers and values are those that Arrow C++ derives from the dense array."""
    model = sample.model()
    form = sample.id.split(".")[1][:3]
    width = model.index["indicesType"]["bitWidth"] // 8
    kind = f"<{'i' if model.index['indicesType']['is_signed'] else 'u'}{width}"
    values = np.frombuffer(model.part("data"), sample.array.dtype).tolist()
    message = pa.ipc.read_message(pa.py_buffer(model.encode()))

    assert message.type == "sparse tensor"
    if form == "coo":
        data, places = pa.SparseCOOTensor.from_dense_numpy(sample.array).to_numpy()
        assert numbers(model, "indicesBuffer", kind) == [places.ravel().tolist()]
    elif form == "csf":
        data, pointers, indices = pa.SparseCSFTensor.from_dense_numpy(sample.array).to_numpy()
        assert numbers(model, "indptrBuffers", kind) == [each.ravel().tolist() for each in pointers]
        assert numbers(model, "indicesBuffers", kind) == [each.ravel().tolist() for each in indices]
    else:
        maker = pa.SparseCSRMatrix if form == "csr" else pa.SparseCSCMatrix
        data, pointers, indices = maker.from_dense_numpy(sample.array).to_numpy()
        assert numbers(model, "indptrBuffer", kind) == [pointers.ravel().tolist()]
        assert numbers(model, "indicesBuffer", kind) == [indices.ravel().tolist()]
    assert values == data.ravel().tolist()


def test_wrong_shapes_are_refused() -> None:
    """A form that does not suit the dimensions, an unknown one, or too few names, is an error that says so."""
    with pytest.raises(ValueError, match="CSR: expected a matrix, got 3"):
        write_sparse(np.zeros((1, 2, 3)), "CSR")
    with pytest.raises(ValueError, match="CSF: expected at least 2 dimensions"):
        write_sparse(np.zeros(3), "CSF")
    with pytest.raises(ValueError, match="form: expected one of COO"):
        write_sparse(np.zeros((1, 2)), "BSR")  # type: ignore[arg-type]  # that is the point
    with pytest.raises(ValueError, match="names: expected one for each of 2 dimensions, got 1"):
        tensor_model(np.zeros((1, 2)), names=["x"])


def test_body_starts_at_64() -> None:
    """Metadata and every buffer end on a multiple of 64 bytes, as the format recommends for tensors."""
    for sample in TENSORS.values():
        tree, body = sample.model().complete()
        assert (len(sample.model().encode()) - len(body)) % 64 == 0
        assert tree["bodyLength"] % 64 == 0
