"""Tensors, dense and sparse: one encapsulated message whose body is numbers in a shape."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy.typing as npt

from conformance.wire.arrow import UndecodableError
from conformance.wire.dense import Tensor, dense_to_numpy, judge_dense
from conformance.wire.faults import Fault, Rule, Severity, report
from conformance.wire.messages import Bytes, Frame, Header, Message, judge_following, read_following, read_frame
from conformance.wire.sparse import SparseTensor, judge_sparse, sparse_coordinates, sparse_to_numpy
from conformance.wire.tensorbody import Part, TensorBody

__all__ = ["TensorReading", "judge_tensor", "read_tensor"]


@dataclasses.dataclass(slots=True, eq=False)
class TensorReading:
    """What the bytes of a tensor hold: the first message, its tensor, what follows, and all that is wrong.

    ``tensor`` is None where the message is of another kind, or where its metadata does not say what it is. ``body``
    holds the buffers that were judged.
    """

    faults: list[Fault]
    message: Message | None = None
    extra: tuple[Message, ...] = ()
    tensor: Tensor | SparseTensor | None = None
    body: TensorBody | None = None

    @property
    def violations(self) -> list[Fault]:
        """The faults that the format itself forbids."""
        return [fault for fault in self.faults if fault.severity is Severity.VIOLATION]

    @property
    def parts(self) -> tuple[Part, ...]:
        """The buffers that the tensor names, in the order in which its metadata does."""
        return () if self.body is None else tuple(self.body.parts)

    def to_numpy(self) -> npt.NDArray[Any]:
        """The values as a dense numpy array, made from the verified buffers; one of a dense tensor copies nothing.

        Integers and floats are what they are, times are integers in their unit, other values are raw bytes. Raises
        :class:`conformance.wire.arrow.UndecodableError` where faults make that unsafe, and its
        :class:`~conformance.wire.arrow.UnsupportedHereError` for booleans, for more dimensions than numpy has, and for
        sparse tensors that take more than 256 MiB without their gaps, or have two values in one place.
        """
        tensor, body = self._sound()
        return dense_to_numpy(tensor, body) if isinstance(tensor, Tensor) else sparse_to_numpy(tensor, body)

    def to_coordinates(self) -> npt.NDArray[Any]:
        """Where the values of a sparse tensor belong: one row per value, one column per dimension.

        Raises as :meth:`to_numpy` does, and UndecodableError for a dense tensor, which has no coordinates.
        """
        tensor, body = self._sound()
        if isinstance(tensor, Tensor):
            raise UndecodableError("expected a sparse tensor, got a dense one; use to_numpy")
        return sparse_coordinates(tensor, body)

    def _sound(self) -> tuple[Tensor | SparseTensor, TensorBody]:
        if self.tensor is None or self.body is None or self.body.broken:
            found = "; ".join(map(str, self.violations[:3] or self.faults[:3]))
            raise UndecodableError(f"the tensor cannot be decoded: {found}")
        return self.tensor, self.body


def read_tensor(data: Bytes) -> TensorReading:
    """Reads bytes that should be one encapsulated Tensor or SparseTensor; never raises on what they hold."""
    view = memoryview(data).cast("B")
    faults: list[Fault] = []
    frame = read_frame(view, 0, faults)
    if frame is None:
        return TensorReading(faults)
    reading = judge_tensor(frame, view, faults)
    if frame.message.end < len(view):
        reading.extra = read_following(view, frame.message.end)
        judge_following(reading.extra, faults)
    return reading


def judge_tensor(frame: Frame, view: memoryview, faults: list[Fault]) -> TensorReading:
    """Judges a message that has been framed already as a tensor."""
    message = frame.message
    reading = TensorReading(faults, message)
    place = message.metadata_start, message.metadata_end
    if message.header is Header.END_OF_STREAM:
        report(faults, Rule.MESSAGE_END_OF_STREAM, (message.start, message.end), "", "a marker instead of a tensor")
    elif message.header not in (Header.TENSOR, Header.SPARSE_TENSOR, Header.UNKNOWN, Header.STRAY):
        report(faults, Rule.MESSAGE_HEADER_KIND, place, "Message.header", f"{message.header} instead of Tensor")
    elif frame.header is not None and frame.verifier is not None:
        reading.body = TensorBody(view, message, frame.verifier, frame.header)
        judge = judge_dense if message.header is Header.TENSOR else judge_sparse
        reading.tensor = judge(reading.body)
    return reading
