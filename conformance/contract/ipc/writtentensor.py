"""The input of a writer of tensors compared with its output: both are read by :mod:`conformance.wire`."""

from __future__ import annotations

import dataclasses
import functools
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from conformance.contract.ipc.ipcview import IpcView
from conformance.contract.ipc.selectors import AsData
from conformance.wire import DecodingError, SparseTensor, Tensor, TensorReading

__all__ = ["WrittenTensor", "values_written", "written_tensor"]

Dense = npt.NDArray[Any]


@dataclasses.dataclass(frozen=True, eq=False)
class WrittenTensor:
    """A tensor as it was given and as it was written; its call is 0, as in every finding on a tensor."""

    given: Tensor | SparseTensor
    found: Tensor | SparseTensor
    readings: tuple[TensorReading, TensorReading]

    call: int = 0
    response: int | None = None

    @functools.cached_property
    def values(self) -> tuple[Dense, Dense] | None:
        """The values given and the values written, as dense arrays; None if the latter cannot be decoded."""
        try:
            given, found = (reading.to_numpy() for reading in self.readings)
        except DecodingError:
            return None
        return given, found


def form_of(tensor: Tensor | SparseTensor) -> str:
    """The form of a tensor: dense, or the index of a sparse one; that of compressed rows differs from columns."""
    if isinstance(tensor, Tensor):
        return "dense"
    index = tensor.index
    return f"sparse, {index.kind}{f' along axis {index.axes[0]}' if index.kind == 'CSX' else ''}"


def first_difference(given: Dense, found: Dense) -> tuple[int, ...] | None:
    """The place of the first value whose bytes differ in two arrays of one shape and type; None if none does."""
    width = given.dtype.itemsize
    one, other = (np.ascontiguousarray(each).reshape(-1).view(f"V{width}") for each in (given, found))
    wrong = np.flatnonzero(one != other)
    return tuple(int(place) for place in np.unravel_index(wrong[0], given.shape)) if len(wrong) else None


def _written(view: IpcView) -> list[WrittenTensor]:
    return view.once(WrittenTensor, lambda: _made(view))


def _made(view: IpcView) -> list[WrittenTensor]:
    given, found = view.given, view.tensor
    if given is None or found is None or given.tensor is None or found.tensor is None:
        return []
    return [WrittenTensor(given.tensor, found.tensor, (given, found))]


written_tensor: Final = AsData[WrittenTensor](_written)
"""A tensor whose writer's input is known, and whose metadata can be read."""
values_written: Final = AsData[WrittenTensor](lambda view: [one for one in _written(view) if one.values is not None])
"""Such a tensor whose values can be decoded as well."""
