"""The bytes of one cell of a record batch: what a person looks at when a value is wrong.

A cell is a slot of a column, of a field of a record, or of an item of a list. Only buffers that are safe to follow are
followed; where a body is compressed, a cell has no place of its own, and its place is that of the whole buffer.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import Final

from conformance.contract.comparing.differences import ITEM, ValueDifference, ValueDifferenceKind
from conformance.contract.view import BatchBytes
from conformance.wire.batch import BatchMessage
from conformance.wire.body import Body
from conformance.wire.closed import Layout
from conformance.wire.layout import Op

__all__ = ["CellBytes", "cell_bytes", "cell_in"]

_VALIDITY: Final = 0
_SECOND: Final = 1
"""The buffer behind the validity bitmap: the values of a fixed-size layout, the offsets of another."""
_THIRD: Final = 2
"""The bytes of a variable-size layout."""


@dataclasses.dataclass(frozen=True, slots=True)
class CellBytes:
    """A cell of a message: its row in the message, and the bytes ``start`` to ``end`` of the message that it takes."""

    batch: BatchBytes
    row: int
    start: int
    end: int


def cell_in(batches: Iterable[BatchBytes], found: ValueDifference, row: int) -> CellBytes | None:
    """The cell that differs, in the message that has ``row`` of all rows of ``batches``; None if it has no bytes."""
    for batch in batches:
        if row < batch.rows:
            place = None if batch.message is None else cell_bytes(batch.message, found, row)
            return None if place is None else CellBytes(batch, row, *place)
        row -= batch.rows
    return None


def cell_bytes(batch: BatchMessage, found: ValueDifference, row: int) -> tuple[int, int] | None:
    """The first byte, and the byte behind the last one, of the cell in ``row`` that differs; None if it has none.

    They count from the start of the message. A NULL is in the validity bitmap, a list in its offsets, and a text in the
    bytes that its offsets name, if there are any.
    """
    body = batch.body
    if body is None or not batch.decodable:
        return None
    name, *steps = found.path.split(".")
    columns = [op for op in body.plan.ops if op.parent is None]
    column = next((op for op in columns if op.field.name.casefold() == name.casefold()), None)
    if column is None:
        return None
    op, slot = _below(body, column, row, steps, found.item)
    if found.kind is ValueDifferenceKind.NULL and op.has_validity and body.lengths[body.starts[op.index]]:
        return body.span(body.starts[op.index] + _VALIDITY, (slot // 8, slot // 8 + 1))
    return _value(body, op, slot)


def _below(body: Body, op: Op, row: int, steps: list[str], item: int | None) -> tuple[Op, int]:
    """The field that ``steps`` lead to, and its slot; the outer list and its slot if one list is inside of another.

    A difference names the item of the innermost list alone.
    """
    lists = []
    for step in steps:
        if op.layout is Layout.LIST and step == ITEM:
            lists.append(op)
            op = op.children[0]
        else:
            named = [child for child in op.children if child.field.name == step]
            if op.layout is not Layout.STRUCT or not named:
                break
            op = named[0]
    if not lists:
        return op, row
    if len(lists) > 1 or item is None:
        return lists[0], row
    return op, _offset(body, lists[0], row) + item


def _value(body: Body, op: Op, slot: int) -> tuple[int, int] | None:
    number = body.starts[op.index] + _SECOND
    if op.layout is Layout.BOOL:
        return body.span(number, (slot // 8, slot // 8 + 1))
    if op.layout is Layout.FIXED:
        return body.span(number, (slot * op.width, (slot + 1) * op.width))
    if op.layout is Layout.BINARY:
        start, end = _offset(body, op, slot), _offset(body, op, slot + 1)
        if start < end:
            return body.span(body.starts[op.index] + _THIRD, (start, end))
    if op.layout in (Layout.BINARY, Layout.LIST):
        return body.span(number, (slot * op.width, (slot + 2) * op.width))
    return None


def _offset(body: Body, op: Op, slot: int) -> int:
    """An offset of a list or of a text; 0 where a column without rows has no offsets."""
    data = body.contents[body.starts[op.index] + _SECOND] or b""
    return int.from_bytes(data[slot * op.width : (slot + 1) * op.width], "little", signed=True)
