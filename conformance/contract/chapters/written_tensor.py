"""The output of a writer of tensors, compared with its input: the same shape, names, type and values.

The clauses apply only if the input is known. The writer may choose strides and padding, and which zeros of a sparse
tensor it stores.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Final

from conformance.contract.clause import Role, Violation, clause
from conformance.contract.ipc.writtentensor import (
    WrittenTensor,
    first_difference,
    form_of,
    values_written,
    written_tensor,
)
from conformance.contract.sources import TENSOR_FORMAT
from conformance.records import Level

LOST: Final = "readers of the tensor: it differs from the input"

_clause = functools.partial(
    clause, over=written_tensor, breaks=LOST, source=TENSOR_FORMAT, profiles=("ipc-tensor",), role=Role.WRITER
)


@_clause("written.tensor-shape")
def shape(one: WrittenTensor) -> Iterator[Violation]:
    """The dimensions have the given sizes, in their order."""
    if one.found.shape != one.given.shape:
        yield Violation(f"the shape {one.given.shape}", f"{one.found.shape}", "shape")


@_clause("written.tensor-type")
def type_(one: WrittenTensor) -> Iterator[Violation]:
    """The values have the given type, with all its parameters."""
    if str(one.found.type) != str(one.given.type):
        yield Violation(f"{one.given.type}", f"{one.found.type}", "type")


@_clause("written.tensor-names", level=Level.SHOULD, breaks="programs that find a dimension by its name")
def names(one: WrittenTensor) -> Iterator[Violation]:
    """The dimensions have the given names. A dimension without a name may have an empty one, and the reverse."""
    given, found = (tuple(name or "" for name in each.names) for each in (one.given, one.found))
    if found != given and len(found) == len(given):
        yield Violation(f"the names {given}", f"{found}", "shape")


@_clause("written.tensor-form", level=Level.SHOULD, breaks="readers that expect the form that was written")
def form(one: WrittenTensor) -> Iterator[Violation]:
    """A dense tensor is written as a dense one, and a sparse tensor in the form of its index."""
    if form_of(one.found) != form_of(one.given):
        yield Violation(form_of(one.given), form_of(one.found), "header")


@_clause("written.tensor-values", over=values_written)
def values(one: WrittenTensor) -> Iterator[Violation]:
    """Every position has the value that was given, bit for bit; a sparse tensor has zeros where it stores nothing."""
    assert one.values is not None, "the selector takes only values that can be decoded"
    given, found = one.values
    if given.shape == found.shape and given.dtype == found.dtype:
        place = first_difference(given, found)
        if place is not None:
            yield Violation(f"{given[place]!s} at {list(place)}", f"{found[place]!s}", "data")
