"""Judging and decoding of dense tensors: the shape and strides against the data in the body.

Source: Tensor.fbs of the Arrow format.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import numpy.typing as npt

from conformance.contain.text import many
from conformance.wire.arrow import UnsupportedHereError
from conformance.wire.batch import BufferRange
from conformance.wire.faults import Rule, report
from conformance.wire.tensorbody import ALIGNMENT, MOST, TensorBody, check_width, dtype_of, width_of
from conformance.wire.types import Type, TypeKind

__all__ = ["Tensor", "dense_to_numpy", "judge_dense"]


@dataclasses.dataclass(frozen=True, slots=True)
class Tensor:
    """A dense tensor: the type of its values, the sizes and names of its dimensions, its strides and its data.

    ``strides`` are in bytes, one per dimension; those of row-major order if the metadata has none. ``data`` is the
    position of the data in the body.
    """

    type: Type
    shape: tuple[int, ...]
    names: tuple[str | None, ...]
    strides: tuple[int, ...]
    data: BufferRange


def judge_dense(body: TensorBody) -> Tensor | None:
    """Judge a Tensor header and its data; None if the metadata does not describe a tensor."""
    header = body.header
    kind, shaped = body.type(header, Rule.TENSOR_TYPE), body.shape(header)
    if kind is None or shaped is None or header["data"] is None:
        return None
    shape, names = shaped
    width = width_of(kind)
    strides = body.verifier.int64s(header["strides"])
    fits = not strides or len(strides) == len(shape)
    if not fits:
        body.fault(
            Rule.TENSOR_STRIDES_COUNT,
            header,
            "strides",
            f"{many(len(strides), 'stride')} of {many(len(shape), 'dimension')}",
        )
    elif min(strides, default=0) < 0:
        body.fault(Rule.TENSOR_STRIDE_NEGATIVE, header, "strides", f"a stride of {min(strides)}")
        fits = False
    if not strides:
        strides = _row_major(shape, width)
    (data,) = body.ranges(header["data"])
    part = body.part("data", data, kind, Rule.TENSOR_DATA_OUT_OF_BODY)
    body.settle()
    tensor = Tensor(kind, shape, names, strides, data)
    if fits:
        _extent(body, part, tensor)
    place = body.message.body_start
    if (place - body.message.start) % ALIGNMENT and len(body.view):
        observed = f"a body at {many(place - body.message.start, 'byte')} from the start of the message"
        report(body.faults, Rule.TENSOR_ALIGNMENT, (place, place), "body", observed)
    return tensor


def _row_major(shape: tuple[int, ...], width: int) -> tuple[int, ...]:
    """The strides in bytes of a row-major tensor: the last dimension varies fastest."""
    strides, step = [], width
    for size in reversed(shape):
        strides.append(step)
        step = min(step * max(size, 1), MOST)
    return tuple(reversed(strides))


def _extent(body: TensorBody, part: int, tensor: Tensor) -> None:
    """Judge that the data contains the last value."""
    # Tensor.fbs does not define how booleans are stored, so that their size is not judged.
    if tensor.type.kind is TypeKind.BOOL:
        return
    needed = 0
    if 0 not in tensor.shape:
        needed = width_of(tensor.type)
        for size, stride in zip(tensor.shape, tensor.strides, strict=True):
            # Strides may be in any order, so that the last value is the one with the largest index in every
            # dimension.
            needed += (size - 1) * stride
    if body.contents[part] is not None and needed > tensor.data.length:
        observed = (
            f"{many(tensor.data.length, 'byte')}, where the shape {tensor.shape[:16]} of {tensor.type} needs {needed}"
        )
        body.part_fault(Rule.TENSOR_DATA_TOO_SMALL, part, observed)


def dense_to_numpy(tensor: Tensor, body: TensorBody) -> npt.NDArray[Any]:
    """The values as an array over the verified bytes, without copying them.

    Raises :class:`UnsupportedHereError` for booleans and for shapes that numpy does not support.
    """
    check_width(tensor.type)
    content, strides = body.contents[0], tensor.strides
    try:
        if content is None or 0 in tensor.shape:
            return np.zeros(tensor.shape, dtype_of(tensor.type))
        return np.ndarray(tensor.shape, dtype_of(tensor.type), content, 0, strides)
    except (ValueError, OverflowError) as error:
        raise UnsupportedHereError(f"numpy has no array for shape {tensor.shape[:16]}: {error}") from error
