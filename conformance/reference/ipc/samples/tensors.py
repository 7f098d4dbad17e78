"""Samples of tensors: shapes, orders, types, and the four forms of sparse ones."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final

import numpy as np
import pyarrow as pa

from conformance.reference.ipc.tensors import SparseForm, TensorModel, sparse_model, tensor_model

__all__ = ["TENSORS", "TensorSample"]


@dataclasses.dataclass(frozen=True, slots=True)
class TensorSample:
    """A tensor: its values as a dense array, zeros of sparse ones included, and the model of its message."""

    id: str
    title: str
    array: np.ndarray[Any, np.dtype[Any]]
    model: Callable[[], TensorModel]


_REGISTER: dict[str, TensorSample] = {}

TENSORS: Final[Mapping[str, TensorSample]] = MappingProxyType(_REGISTER)
"""Every sample of a tensor by id."""


def _dense(id: str, title: str, array: np.ndarray[Any, Any], **choices: Any) -> None:  # noqa: A002  # as sample()
    _REGISTER[f"dense.{id}"] = TensorSample(f"dense.{id}", title, array, lambda: tensor_model(array, **choices))


def _sparse(form: SparseForm, name: str, array: np.ndarray[Any, Any], **choices: Any) -> None:
    made = f"sparse.{form.lower()}-{name}"
    title = f"A sparse tensor of {array.ndim} dimensions in the form {form}: {name}."
    _REGISTER[made] = TensorSample(made, title, array, lambda: sparse_model(array, form, **choices))


_MATRIX = np.arange(6, dtype=np.int32).reshape(2, 3)
for _bits in (8, 16, 32, 64):
    for _sign in "iu":
        _dense(f"{_sign}{_bits}", "A matrix of integers.", _MATRIX.astype(f"{_sign}{_bits // 8}"))
for _bits in (16, 32, 64):
    _dense(f"f{_bits}", "A matrix of floats.", (_MATRIX / 2).astype(f"f{_bits // 8}"))
_dense("vector", "One dimension.", np.array([1.5, -0.0, np.inf]))
_dense("scalar", "No dimensions, one value.", np.array(7, np.int64))
_dense("cube", "Three dimensions.", np.arange(24, dtype=np.int16).reshape(2, 3, 4))
_dense("empty", "A dimension of size 0.", np.zeros((2, 0, 3), np.int32))
_dense("column-major", "Column-major order, which strides say.", np.asfortranarray(_MATRIX))
_dense("no-strides", "Row-major order, and no strides.", _MATRIX, strides=False)
_dense("named", "Dimensions with names.", _MATRIX, names=("rows", "größe"))
_dense("dates", "Values of a type that numpy has not.", _MATRIX, kind=pa.date32())

_HOLES = np.array([[0, 9, 0, 3], [0, 0, 0, 0], [5, 0, 0, 1]], np.int64)
_CUBE = np.zeros((2, 3, 4), np.float64)
_CUBE[0, 1, 2], _CUBE[1, 0, 0], _CUBE[1, 0, 3], _CUBE[1, 2, 2] = 1.5, 2.5, -3.5, 4.5
_FORMS: Final[tuple[SparseForm, ...]] = ("COO", "CSR", "CSC", "CSF")
for _form in _FORMS:
    _sparse(_form, "matrix", _HOLES)
    _sparse(_form, "zeros", np.zeros((2, 3), np.int32))
    _sparse(_form, "named", _HOLES, names=("rows", "columns"))
for _form, _kind in itertools.product(_FORMS, (pa.int8(), pa.uint16(), pa.int32(), pa.uint64())):
    _sparse(_form, f"index-{_kind}", _HOLES, index=_kind)
_sparse("COO", "cube", _CUBE)
_sparse("COO", "vector", np.array([0, 1, 0, 2], np.int16))
_sparse("COO", "no-strides", _HOLES, strides=False)
_sparse("CSF", "cube", _CUBE)
_sparse("CSF", "turned", np.ascontiguousarray(_CUBE.T))
