"""Sparse tensors: the values that are not zero, and an index of their positions."""

from __future__ import annotations

from conformance.contract.ipc.selectors import sparse
from conformance.contract.rules import must, rule_clauses, should
from conformance.wire import Rule

# A table, one row per clause: id, rules, affected software, and an explanation if it says more than the rules.
# fmt: off
rule_clauses(sparse, ("ipc-tensor",),
    must("sparse.length", Rule.SPARSE_LENGTH_NEGATIVE, "readers allocate memory by it"),
    must("sparse.dimensions", Rule.SPARSE_DIMENSIONS, "readers assume two"),
    must("sparse.buffer-count", Rule.SPARSE_BUFFER_COUNT, "readers assume one per dimension"),
    must("sparse.buffers", (Rule.SPARSE_BUFFER_OUT_OF_BODY, Rule.SPARSE_BUFFER_TOO_SMALL),
      "readers read past the end of the body",
      "Index and data are inside the body and have the sizes that follow from the shape and the number of values."),
    should("sparse.buffers-apart", Rule.SPARSE_BUFFER_OVERLAP),
    should("sparse.aligned", Rule.SPARSE_ALIGNMENT,
      says="Index and data start at multiples of 64 bytes from the start of the message, for readers that map them."),
    must("sparse.strides", Rule.SPARSE_STRIDES, "readers compute other coordinates"),
    must("sparse.indices-inside", Rule.SPARSE_INDEX_RANGE, "readers write to memory elsewhere"),
    must("sparse.sorted", Rule.SPARSE_INDEX_ORDER, "readers that search find nothing"),
    must("sparse.canonical", Rule.SPARSE_NOT_CANONICAL, "readers that trust the flag and search"),
    must("sparse.pointers", Rule.SPARSE_POINTERS, "readers read past the indices"),
    must("sparse.axis-order", Rule.SPARSE_AXIS_ORDER, "readers confuse the dimensions",
      "The axis order of compressed fibers names every dimension once."),
)
# fmt: on
