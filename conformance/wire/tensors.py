"""Tensors, dense and sparse: one encapsulated message whose body contains the numbers of a multidimensional array."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy.typing as npt

from conformance.wire.arrow import UndecodableError
from conformance.wire.dense import Tensor, dense_to_numpy, judge_dense
from conformance.wire.faults import Fault, Rule, Severity, report
from conformance.wire.messages import Bytes, Frame, Header, Message, judge_following, read_following, read_frame
from conformance.wire.sparse import SparseTensor, judge_sparse, sparse_coordinates, sparse_to_numpy
from conformance.wire.tensorbody import TensorBody, TensorPart

__all__ = ["TensorReading", "judge_tensor", "read_tensor"]


@dataclasses.dataclass(slots=True, eq=False)
class TensorReading:
    """The result of reading a tensor: the first message, its tensor, the messages after it, and the faults.

    ``tensor`` is None if the message is of another kind, or if its metadata does not describe a tensor. ``body``
    contains the judged buffers.
    """

    faults: list[Fault]
    message: Message | None = None
    extra: tuple[Message, ...] = ()
    tensor: Tensor | SparseTensor | None = None
    body: TensorBody | None = None

    @property
    def violations(self) -> list[Fault]:
        """The faults that the Arrow format forbids."""
        return [fault for fault in self.faults if fault.severity is Severity.VIOLATION]

    @property
    def parts(self) -> tuple[TensorPart, ...]:
        """The buffers of the tensor in the order of its metadata."""
        return () if self.body is None else tuple(self.body.parts)

    def to_numpy(self) -> npt.NDArray[Any]:
        """The values as a dense numpy array over the verified buffers; the values of a dense tensor are not copied.

        Integers and floats keep their type, times become integers in their unit, and other values become raw bytes.
        Raises :class:`conformance.wire.arrow.UndecodableError` if faults make decoding unsafe, and
        :class:`~conformance.wire.arrow.UnsupportedHereError` for booleans, for more dimensions than numpy supports, and
        for sparse tensors that take more than 256 MiB as dense ones or have two values at one position.
        """
        tensor, body = self._sound()
        return dense_to_numpy(tensor, body) if isinstance(tensor, Tensor) else sparse_to_numpy(tensor, body)

    def to_coordinates(self) -> npt.NDArray[Any]:
        """The positions of a sparse tensor's values: one row per value, one column per dimension.

        Raises the errors of :meth:`to_numpy`, and UndecodableError for a dense tensor, which has no coordinates.
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
    """Read bytes that should be one encapsulated Tensor or SparseTensor; no bytes make this function raise."""
    view = memoryview(data).cast("B")
    faults: list[Fault] = []
    frame = read_frame(view, 0, faults)
    if frame is None:
        return TensorReading(faults)
    reading = judge_tensor(frame, view, faults)
    if frame.message.end < len(view):
        reading.extra = read_following(view, frame.message.end)
        judge_following(frame.message, reading.extra, faults)
    return reading


def judge_tensor(frame: Frame, view: memoryview, faults: list[Fault]) -> TensorReading:
    """Judge a framed message as a tensor."""
    message = frame.message
    reading = TensorReading(faults, message)
    place = message.metadata_start, message.metadata_end
    if message.header is Header.END_OF_STREAM:
        report(
            faults,
            Rule.MESSAGE_END_OF_STREAM,
            (message.start, message.end),
            "",
            "an end-of-stream marker instead of a tensor",
        )
    elif message.header not in (Header.TENSOR, Header.SPARSE_TENSOR, Header.UNKNOWN, Header.STRAY):
        report(
            faults,
            Rule.MESSAGE_HEADER_KIND,
            place,
            "Message.header",
            f"a {message.header} message instead of a Tensor message",
        )
    elif frame.header is not None and frame.verifier is not None:
        reading.body = TensorBody(view, message, frame.verifier, frame.header)
        judge = judge_dense if message.header is Header.TENSOR else judge_sparse
        reading.tensor = judge(reading.body)
    return reading
