"""Sparse tensors: the values that are not zero, and an index that says where they stand."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from conformance.contract.clause import Violation, clause
from conformance.contract.ipc.messages import Container
from conformance.contract.ipc.selectors import sparse, told
from conformance.records import Level
from conformance.wire import Rule

OTHER: Final = "https://arrow.apache.org/docs/format/Other.html"
SPARSE_FBS: Final = "https://github.com/apache/arrow/blob/main/format/SparseTensor.fbs"
ONLY: Final = ("ipc-tensor",)


@clause("sparse.length", over=sparse, source=SPARSE_FBS, breaks="readers allocate by it", profiles=ONLY)
def length(whole: Container) -> Iterable[Violation]:
    """The number of values that are not zero is not negative."""
    return told(whole, Rule.SPARSE_LENGTH_NEGATIVE)


@clause("sparse.dimensions", over=sparse, source=SPARSE_FBS, breaks="readers take two for granted", profiles=ONLY)
def dimensions(whole: Container) -> Iterable[Violation]:
    """An index of compressed rows or columns has two dimensions, one of compressed fibers at least two."""
    return told(whole, Rule.SPARSE_DIMENSIONS)


@clause("sparse.buffer-count", over=sparse, source=SPARSE_FBS, breaks="readers take one per dimension", profiles=ONLY)
def buffer_count(whole: Container) -> Iterable[Violation]:
    """Compressed fibers have a buffer of indices for each dimension, and one of pointers for each but the last."""
    return told(whole, Rule.SPARSE_BUFFER_COUNT)


@clause("sparse.buffers", over=sparse, source=SPARSE_FBS, breaks="readers run past the end of the body", profiles=ONLY)
def buffers(whole: Container) -> Iterable[Violation]:
    """Index and data lie inside the body and have the sizes that shape and number of values ask for."""
    return told(whole, Rule.SPARSE_BUFFER_OUT_OF_BODY, Rule.SPARSE_BUFFER_TOO_SMALL)


@clause("sparse.buffers-apart", over=sparse, source=SPARSE_FBS, level=Level.SHOULD, profiles=ONLY)
def buffers_apart(whole: Container) -> Iterable[Violation]:
    """Index and data share no bytes."""
    return told(whole, Rule.SPARSE_BUFFER_OVERLAP)


@clause("sparse.aligned", over=sparse, source=OTHER, level=Level.SHOULD, profiles=ONLY)
def aligned(whole: Container) -> Iterable[Violation]:
    """Index and data start at multiples of 64 bytes from the start of the message, for readers that map them."""
    return told(whole, Rule.SPARSE_ALIGNMENT)


@clause("sparse.strides", over=sparse, source=SPARSE_FBS, breaks="readers take other coordinates", profiles=ONLY)
def strides(whole: Container) -> Iterable[Violation]:
    """A matrix of coordinates has two strides, neither negative; or none, for row-major order."""
    return told(whole, Rule.SPARSE_STRIDES)


@clause("sparse.indices-inside", over=sparse, source=SPARSE_FBS, breaks="readers write elsewhere", profiles=ONLY)
def indices_inside(whole: Container) -> Iterable[Violation]:
    """Every index is inside its dimension."""
    return told(whole, Rule.SPARSE_INDEX_RANGE)


@clause("sparse.sorted", over=sparse, source=SPARSE_FBS, breaks="readers that search find nothing", profiles=ONLY)
def in_order(whole: Container) -> Iterable[Violation]:
    """Indices are sorted within each compressed row or column."""
    return told(whole, Rule.SPARSE_INDEX_ORDER)


@clause(
    "sparse.canonical", over=sparse, source=SPARSE_FBS, breaks="readers that trust the flag and search", profiles=ONLY
)
def canonical(whole: Container) -> Iterable[Violation]:
    """Coordinates that are flagged as canonical are sorted lexicographically, and none stands twice."""
    return told(whole, Rule.SPARSE_NOT_CANONICAL)


@clause("sparse.pointers", over=sparse, source=SPARSE_FBS, breaks="readers run past the indices", profiles=ONLY)
def pointers(whole: Container) -> Iterable[Violation]:
    """Pointers start at 0, never decrease, and end at the number of entries that they divide."""
    return told(whole, Rule.SPARSE_POINTERS)


@clause("sparse.axis-order", over=sparse, source=SPARSE_FBS, breaks="readers mix the dimensions up", profiles=ONLY)
def axis_order(whole: Container) -> Iterable[Violation]:
    """The axis order of compressed fibers names every dimension once."""
    return told(whole, Rule.SPARSE_AXIS_ORDER)
