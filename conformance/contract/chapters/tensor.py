"""Dense tensors: a message with the type, the shape and the strides of the values in its body."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from conformance.contract.clause import Violation, clause
from conformance.contract.ipc.messages import Container
from conformance.contract.ipc.selectors import anything, dense, remarked, told, whole_tensors
from conformance.records import Level
from conformance.wire import Rule

OTHER: Final = "https://arrow.apache.org/docs/format/Other.html"
TENSOR_FBS: Final = "https://github.com/apache/arrow/blob/main/format/Tensor.fbs"
SECURITY: Final = "https://arrow.apache.org/docs/format/Security.html"
ONLY: Final = ("ipc-tensor",)


@clause("tensor.header-kind", over=anything, source=OTHER, breaks="every reader of tensors refuses it", profiles=ONLY)
def header_kind(whole: Container) -> Iterable[Violation]:
    """The message has a Tensor or SparseTensor header."""
    return told(whole, Rule.MESSAGE_HEADER_KIND)


@clause(
    "tensor.one-message",
    over=whole_tensors,
    source=OTHER,
    level=Level.SHOULD,
    breaks="readers of one tensor never see what follows",
    profiles=ONLY,
)
def one_message(whole: Container) -> Iterable[Violation]:
    """Nothing follows the tensor: neither a second message, nor an end-of-stream marker, nor bytes that are neither.

    Tensors that follow each other are not a stream; whoever writes them so has to say where each begins.
    """
    return told(whole, Rule.MESSAGE_SECOND_MESSAGE, Rule.MESSAGE_END_OF_STREAM, Rule.MESSAGE_TRAILING_BYTES)


@clause("tensor.fixed-width", over=whole_tensors, source=TENSOR_FBS, breaks="every reader refuses it", profiles=ONLY)
def fixed_width(whole: Container) -> Iterable[Violation]:
    """The values of a tensor are of a type with a fixed width."""
    return told(whole, Rule.TENSOR_TYPE)


@clause(
    "tensor.whole-bytes",
    over=whole_tensors,
    source=TENSOR_FBS,
    level=Level.SHOULD,
    breaks="readers differ in whether a boolean takes a bit or a byte; most refuse",
    profiles=ONLY,
)
def whole_bytes(whole: Container) -> Iterable[Violation]:
    """A value of a tensor takes whole bytes, in which its strides count: the format does not lay booleans out."""
    return told(whole, Rule.TENSOR_TYPE_BOOL)


@clause("tensor.shape", over=whole_tensors, source=TENSOR_FBS, breaks="readers allocate by it", profiles=ONLY)
def shape(whole: Container) -> Iterable[Violation]:
    """No dimension of a tensor has a negative size."""
    return told(whole, Rule.TENSOR_SHAPE_NEGATIVE)


@clause("tensor.strides", over=dense, source=TENSOR_FBS, breaks="readers read memory elsewhere", profiles=ONLY)
def strides(whole: Container) -> Iterable[Violation]:
    """A tensor has one stride per dimension, in bytes and not negative; or none, for row-major order."""
    return told(whole, Rule.TENSOR_STRIDES_COUNT, Rule.TENSOR_STRIDE_NEGATIVE)


@clause("tensor.data", over=dense, source=TENSOR_FBS, breaks="readers run past the end of the data", profiles=ONLY)
def data(whole: Container) -> Iterable[Violation]:
    """The data lies inside the body and holds every value that shape and strides reach."""
    return told(whole, Rule.TENSOR_DATA_OUT_OF_BODY, Rule.TENSOR_DATA_TOO_SMALL)


@clause("tensor.aligned", over=dense, source=OTHER, level=Level.SHOULD, profiles=ONLY)
def aligned(whole: Container) -> Iterable[Violation]:
    """The body of a tensor starts at a multiple of 64 bytes from the start of the message, for readers that map it."""
    return told(whole, Rule.TENSOR_ALIGNMENT)


@clause("tensor.padding", over=whole_tensors, source=SECURITY, level=Level.SHOULD, profiles=ONLY)
def padding(whole: Container) -> Iterable[Violation]:
    """What belongs to no buffer is padding: zero, so that it publishes no stale memory, and less than 64 bytes."""
    shared = bool(told(whole, Rule.SPARSE_BUFFER_OVERLAP))
    return () if shared else remarked(whole, Rule.BODY_PADDING_NONZERO, Rule.BODY_UNACCOUNTED)
