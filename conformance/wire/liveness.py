"""Decides which slots of a field are live, that is, have values that a reader can see.

A slot is live if it is valid, its parent's slot is live, and the parent refers to it.
The format leaves the bytes under other slots undefined, so that a rule on values applies to live slots only.
Liveness is computed only after a value broke a rule, so that batches without faults do not pay for it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from conformance.wire.body import Body
from conformance.wire.closed import Layout
from conformance.wire.layout import Mask, Op

__all__ = ["bits", "live", "numbers", "reached"]


def live(body: Body, op: Op, length: int) -> Mask | None:
    """A mask of the first ``length`` slots of ``op``: True for each live one; None if broken buffers hide the answer.

    None also if ``length`` exceeds the number of slots that the bytes could represent with one bit each. Such a length
    belongs to a parent without buffers, which can declare any number of slots at no cost.
    """
    mask = reached(body, op, length)
    if mask is None or not op.has_validity:
        return mask
    bitmap = body.contents[body.starts[op.index]]
    if bitmap is None:
        return None
    return mask & bits(bitmap, length) if len(bitmap) else mask


def reached(body: Body, op: Op, length: int) -> Mask | None:
    """A mask of the first ``length`` slots of ``op``: True for each that belongs to a live slot of its parent.

    None under the conditions of :func:`live`. The caller must not change the array.
    """
    if op.index in body.broken or length > body.extent:
        return None
    parent = op.parent
    if parent is None:
        return np.ones(length, dtype=np.bool_)
    count = body.nodes[2 * parent.index]
    if parent.layout in (Layout.STRUCT, Layout.SPARSE_UNION):
        count = min(count, length)
    elif parent.layout is Layout.FIXED_SIZE_LIST:
        size = parent.field.type.list_size
        # Rounded up: the first `length` slots of the child belong to this many lists.
        count = min(count, -(-length // size) if size else 0)
    # Children are asked about one after the other, so that remembering one parent is enough.
    if body.shown is None or body.shown[:2] != (parent, count):
        body.shown = parent, count, live(body, parent, count)
    above = body.shown[2]
    return None if above is None else _BELOW[parent.layout](body, parent, op, above, length)


def bits(bitmap: memoryview, length: int) -> Mask:
    """The first ``length`` bits of a bitmap; the least significant bit of each byte comes first."""
    packed = np.frombuffer(bitmap, np.uint8, (length + 7) >> 3)
    return np.unpackbits(packed, count=length, bitorder="little").view(np.bool_)


def numbers(content: memoryview | None, kind: str, count: int) -> npt.NDArray[Any]:
    """``count`` little-endian numbers of a kind such as ``i4``; a buffer that is None or empty gives zeros."""
    if content is None or not len(content):
        return np.zeros(count, kind)
    return np.frombuffer(content, "<" + kind, count)


def _fit(mask: Mask, length: int) -> Mask:
    """``mask`` cut or extended to ``length``; slots beyond its end are not live."""
    if len(mask) >= length:
        return mask[:length]
    return np.concatenate([mask, np.zeros(length - len(mask), np.bool_)])


def _below_struct(_: Body, __: Op, ___: Op, above: Mask, length: int) -> Mask:
    return _fit(above, length)


def _below_fixed_size_list(_: Body, parent: Op, __: Op, above: Mask, length: int) -> Mask:
    return _fit(np.repeat(above, parent.field.type.list_size), length)


def _below_list(body: Body, parent: Op, _: Op, above: Mask, length: int) -> Mask:
    content = body.contents[body.starts[parent.index] + 1]
    offsets = numbers(content, f"i{parent.width}", len(above) + 1)
    return _spread(offsets[:-1][above], offsets[1:][above], length)


def _below_list_view(body: Body, parent: Op, _: Op, above: Mask, length: int) -> Mask:
    first = body.starts[parent.index] + 1
    starts = numbers(body.contents[first], f"i{parent.width}", len(above))[above]
    sizes = numbers(body.contents[first + 1], f"i{parent.width}", len(above))[above]
    return _spread(starts, starts + sizes, length)


def _spread(starts: npt.NDArray[Any], ends: npt.NDArray[Any], length: int) -> Mask:
    # Each range adds 1 at its start and subtracts 1 at its end; where the running sum is positive, a range covers.
    edges = np.zeros(length + 1, np.int64)
    # The ranges may exceed the slots that the caller asks about.
    np.add.at(edges, np.minimum(starts, length), 1)
    np.add.at(edges, np.minimum(ends, length), -1)
    return np.cumsum(edges[:-1]) > 0


def _chosen(body: Body, parent: Op, op: Op, above: Mask) -> Mask:
    place = 1 if parent.has_validity else 0
    type_ids = numbers(body.contents[body.starts[parent.index] + place], "i1", len(above))
    child = parent.children.index(op)
    chosen: Mask = above & (type_ids == parent.field.type.type_ids[child])
    return chosen


def _below_sparse_union(body: Body, parent: Op, op: Op, above: Mask, length: int) -> Mask:
    return _fit(_chosen(body, parent, op, above), length)


def _below_dense_union(body: Body, parent: Op, op: Op, above: Mask, length: int) -> Mask:
    place = 2 if parent.has_validity else 1
    offsets = numbers(body.contents[body.starts[parent.index] + place], "i4", len(above))
    mask = np.zeros(length, np.bool_)
    mask[offsets[_chosen(body, parent, op, above)]] = True
    return mask


def _below_run_end_encoded(body: Body, parent: Op, op: Op, above: Mask, length: int) -> Mask:
    ends = parent.children[0]
    if op is ends:
        return np.ones(length, np.bool_)
    runs = min(body.nodes[2 * ends.index], length)
    content = body.contents[body.starts[ends.index] + 1]
    stops = np.minimum(numbers(content, f"i{ends.width}", runs).astype(np.int64), len(above))
    # A run is live if at least one of its slots is: the count of live slots grows between its start and its end.
    seen = np.concatenate([[0], np.cumsum(above)])
    starts = np.concatenate([[0], stops[:-1]])
    return _fit(seen[stops] > seen[starts], length)


_BELOW = {
    Layout.STRUCT: _below_struct,
    Layout.FIXED_SIZE_LIST: _below_fixed_size_list,
    Layout.LIST: _below_list,
    Layout.LIST_VIEW: _below_list_view,
    Layout.SPARSE_UNION: _below_sparse_union,
    Layout.DENSE_UNION: _below_dense_union,
    Layout.RUN_END_ENCODED: _below_run_end_encoded,
}
