"""Dense tensors: a message with the type, the shape and the strides of the values in its body."""

from __future__ import annotations

from typing import Final

from conformance.contract.ipc.selectors import anything, dense, whole_tensors
from conformance.contract.rules import ANY_VIOLATION, must, rule_clauses, should
from conformance.contract.sources import TENSOR_FORMAT
from conformance.wire import Rule

ONLY: Final = ("ipc-tensor",)

# A table, one row per clause: id, rules, affected software, and an explanation if it says more than the rules.
# fmt: off
rule_clauses(whole_tensors, ONLY,
    must("tensor.header-kind", Rule.MESSAGE_HEADER_KIND,
      "pyarrow 26.0.1 refuses it: `Header-type of flatbuffer-encoded Message is not Tensor`",
      "The message has a Tensor or SparseTensor header.", source=TENSOR_FORMAT, over=anything),
    should("tensor.one-message",
      (Rule.MESSAGE_SECOND_MESSAGE, Rule.MESSAGE_END_OF_STREAM, Rule.MESSAGE_TRAILING_BYTES),
      "readers of one tensor never see the bytes after it",
      """Nothing follows the tensor: neither a second message, nor an end-of-stream marker, nor other bytes.

      Tensors that follow each other are not a stream; a program that writes several has to record where each begins.
      """, source=TENSOR_FORMAT),
    must("tensor.fixed-width", Rule.TENSOR_TYPE,
      "pyarrow 26.0.1 refuses it: `string is not valid data type for a tensor`"),
    should("tensor.whole-bytes", Rule.TENSOR_TYPE_BOOL,
      "readers may take a boolean for a bit or for a byte; pyarrow 26.0.1 refuses it"),
    must("tensor.shape", Rule.TENSOR_SHAPE_NEGATIVE, "readers allocate memory by it"),
    must("tensor.strides", (Rule.TENSOR_STRIDES_COUNT, Rule.TENSOR_STRIDE_NEGATIVE), "readers read memory elsewhere",
      "A tensor has one stride per dimension, in bytes and not negative; without strides it is row-major.", over=dense),
    must("tensor.data", (Rule.TENSOR_DATA_OUT_OF_BODY, Rule.TENSOR_DATA_TOO_SMALL),
      "readers read past the end of the data",
      "The data is inside the body and has every value that shape and strides reach.", over=dense),
    should("tensor.aligned", Rule.TENSOR_ALIGNMENT, over=dense, says=
      "The body of a tensor starts at a multiple of 64 bytes from the start of the message, for readers that map it."),
    should("tensor.padding", (Rule.BODY_PADDING_NONZERO, Rule.BODY_UNACCOUNTED),
      says="Bytes outside of all buffers are padding: zero, so that they leak no stale memory, and fewer than 64.",
      unless={*ANY_VIOLATION, Rule.SPARSE_BUFFER_OVERLAP}),
)
# fmt: on
