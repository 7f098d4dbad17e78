"""Judging of a batch's columns: one function per layout.

Each function judges one node: the sizes of its buffers, its null count, its offsets, and the lengths of its children.
It compares a size before it reads the buffer, so that it trusts no number from the bytes.
Small columns are judged by plain Python, because numpy's overhead exceeds its gain below several hundred values;
large columns are judged in chunks that stay in the processor's cache.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from conformance.contain.text import many
from conformance.wire.body import Body
from conformance.wire.closed import Layout
from conformance.wire.columntext import judge_text
from conformance.wire.faults import Rule
from conformance.wire.hints import byte_swapped
from conformance.wire.layout import Op
from conformance.wire.liveness import bits, numbers, reached
from conformance.wire.values import judge_values
from conformance.wire.views import judge_views

__all__ = ["judge_columns"]

SMALL: Final = 512
"""The largest number of values for which plain Python is faster than numpy."""
CHUNK: Final = 1 << 16
"""The number of values per step of a large column."""
_BYTE_BITS: Final = np.array([value.bit_count() for value in range(256)], np.uint8)
_CODES: Final = {4: "i", 8: "q"}


# --- helpers for several layouts --------------------------------------------------------------------


def _validity(body: Body, op: Op, length: int, nulls: int, first: int) -> None:
    """Judge the validity bitmap against the null count."""
    # The format lets a field without nulls leave its bitmap out, as an empty buffer
    # (https://arrow.apache.org/docs/format/Columnar.html#validity-bitmaps).
    bitmap = body.contents[first]
    if bitmap is None:
        body.broke(op)
        return
    size = len(bitmap)
    if not size:
        if nulls and length:
            body.fault(Rule.VALIDITY_MISSING, op, first, f"a null count of {nulls} and no validity bitmap")
            body.broke(op)
        return
    needed = (length + 7) >> 3
    if size < needed:
        body.fault(
            Rule.VALIDITY_TOO_SMALL, op, first, f"a validity bitmap of {many(size, 'byte')} for {many(length, 'slot')}"
        )
        body.broke(op)
        return
    if needed <= SMALL:
        valid = (int.from_bytes(bitmap[:needed], "little") & ((1 << length) - 1)).bit_count()
    else:
        valid = _popcount(bitmap, length)
    if length - valid != nulls and 0 <= nulls <= length:
        observed = f"a null count of {nulls}, and {many(length - valid, 'null')} in the bitmap"
        body.fault(Rule.BATCH_NULL_COUNT_MISMATCH, op, first, observed)
    if op.null_rule is not None and valid < length:
        _forbidden_nulls(body, op, length, bitmap, first)


def _popcount(bitmap: memoryview, length: int) -> int:
    """The number of ones among the first ``length`` bits; bits are numbered from the least significant of each byte."""
    whole = length >> 3
    tail = (bitmap[whole] & ((1 << (length & 7)) - 1)).bit_count() if length & 7 else 0
    words = np.frombuffer(bitmap, np.uint64, whole >> 3)
    count = 0
    for start in range(0, len(words), CHUNK):
        chunk = words[start : start + CHUNK]
        # numpy has bitwise_count from version 2.0 on.
        if hasattr(np, "bitwise_count"):
            count += int(np.bitwise_count(chunk).sum(dtype=np.int64))
        else:
            count += int(_BYTE_BITS[chunk.view(np.uint8)].sum(dtype=np.int64))
    rest = int.from_bytes(bitmap[whole & ~7 : whole], "little").bit_count()
    return count + rest + tail


def _forbidden_nulls(body: Body, op: Op, length: int, bitmap: memoryview, first: int) -> None:
    """Report nulls of a field that must not have any; a null is allowed where the parent is null, too."""
    mask = reached(body, op, length)
    if mask is None or op.null_rule is None:
        return
    mask = mask & ~bits(bitmap, length)
    count = int(mask.sum())
    if count:
        body.fault(op.null_rule, op, first, f"{many(count, 'null')}, the first in slot {int(mask.argmax())}")


def _enough(body: Body, op: Op, number: int, needed: int, *, rule: Rule, length: int) -> memoryview | None:
    """The bytes of a buffer if it has at least ``needed`` of them; else None, and the op is marked as broken."""
    content = body.contents[number]
    if content is not None and len(content) >= needed:
        return content
    if content is not None:
        body.fault(rule, op, number, f"{many(len(content), 'byte')}, where {many(length, 'slot')} need {needed}")
    body.broke(op)
    return None


def _offsets(body: Body, op: Op, length: int, number: int, *, limit: int, unit: str) -> tuple[int, int] | None:
    """The first and last offset of a variable-size column; None if offsets decrease or exceed ``limit``."""
    width = op.width
    content = body.contents[number]
    if content is not None and not len(content) and not length:
        return 0, 0  # a column without slots may leave its offsets out
    needed = (length + 1) * width
    content = _enough(body, op, number, needed, rule=Rule.OFFSETS_TOO_SMALL, length=length)
    if content is None:
        return None
    if length <= SMALL:
        listed = list(struct.unpack_from(f"<{length + 1}{_CODES[width]}", content))
        start, end = listed[0], listed[-1]
        fall = -1 if listed == sorted(listed) else next(i for i in range(length) if listed[i + 1] < listed[i])
    else:
        array = np.frombuffer(content, f"<i{width}", length + 1)
        start, end, fall = int(array[0]), int(array[-1]), _first_fall(array)
    if start:
        negative = start < 0
        rule = Rule.OFFSETS_NEGATIVE if negative else Rule.OFFSETS_FIRST_NONZERO
        body.fault(
            rule,
            op,
            number,
            f"a first offset of {start}{byte_swapped(start, width, range(limit + 1).__contains__)}",
            element=(0, width),
        )
    if fall >= 0:
        before, after = numbers(content, f"i{width}", length + 1)[fall : fall + 2].tolist()
        observed = f"the offset {after} after {before}, in slot {fall}"
        body.fault(Rule.OFFSETS_NOT_MONOTONIC, op, number, observed, element=(fall + 1, width))
    elif end > limit:
        hint = byte_swapped(end, width, range(limit + 1).__contains__)
        observed = f"a last offset of {end} in data of {many(limit, unit)}{hint}"
        body.fault(Rule.OFFSETS_BEYOND_DATA, op, number, observed, element=(length, width))
    if start < 0 or fall >= 0 or end > limit:
        body.broke(op)
        return None
    return start, end


def _first_fall(array: np.ndarray[Any, Any]) -> int:
    """The index of the number before the first decrease; -1 if the numbers never decrease."""
    for start in range(0, len(array) - 1, CHUNK):
        stop = min(start + CHUNK, len(array) - 1)
        part = np.require(array[start : stop + 1], requirements="A")  # numbers that are not are compared slowly
        falls = part[1:] < part[:-1]
        if falls.any():
            return start + int(falls.argmax())
    return -1


# --- the layouts ------------------------------------------------------------------------------------


def _null(body: Body, op: Op, length: int, nulls: int, first: int) -> None:
    """A Null field has no buffers and only nulls."""
    del first
    if nulls != length:
        body.node_fault(Rule.NULL_NULL_COUNT, op, f"a null count of {nulls} for {many(length, 'slot')}")


def _bool(body: Body, op: Op, length: int, nulls: int, first: int) -> None:
    """A Bool field has a bitmap of values; the bits after the last slot may have any value."""
    _validity(body, op, length, nulls, first)
    _enough(body, op, first + 1, (length + 7) >> 3, rule=Rule.DATA_TOO_SMALL, length=length)


def _fixed(body: Body, op: Op, length: int, nulls: int, first: int) -> None:
    """A field of fixed-size values, or of dictionary indices; the values are judged only if a rule applies to them."""
    _validity(body, op, length, nulls, first)
    content = _enough(body, op, first + 1, length * op.width, rule=Rule.DATA_TOO_SMALL, length=length)
    if op.value_rule is not None and length and content is not None:
        judge_values(body, op, op.value_rule, content, first + 1)


def _binary(body: Body, op: Op, length: int, nulls: int, first: int) -> None:
    """Check a column of bytes or text: offsets into one data buffer, and the text itself."""
    _validity(body, op, length, nulls, first)
    data = body.contents[first + 2]
    if data is None:
        body.broke(op)
        return
    bounds = _offsets(body, op, length, first + 1, limit=len(data), unit="byte")
    if bounds is not None and op.parameter and bounds[1] > bounds[0]:
        judge_text(body, op, length, first, span=bounds)


def _list(body: Body, op: Op, length: int, nulls: int, first: int) -> None:
    """A list or map: offsets into the child."""
    _validity(body, op, length, nulls, first)
    _offsets(body, op, length, first + 1, limit=body.nodes[2 * op.children[0].index], unit="slot")


def _list_view(body: Body, op: Op, length: int, nulls: int, first: int) -> None:
    """A list view: an offset and a size per slot, in any order, each range inside the child."""
    _validity(body, op, length, nulls, first)
    needed = length * op.width
    contents = [
        _enough(body, op, number, needed, rule=Rule.OFFSETS_TOO_SMALL, length=length)
        for number in (first + 1, first + 2)
    ]
    if not length or contents[0] is None or contents[1] is None:
        return
    offsets = numbers(contents[0], f"i{op.width}", length).astype(np.int64)
    sizes = numbers(contents[1], f"i{op.width}", length).astype(np.int64)
    limit = body.nodes[2 * op.children[0].index]
    # The format requires the range of a null slot to be valid, too, so that all slots are judged
    # (https://arrow.apache.org/docs/format/Columnar.html#listview-layout). A difference cannot overflow as a sum could.
    wrong = (offsets < 0) | (sizes < 0) | (offsets > limit) | (sizes > limit - np.minimum(offsets, limit))
    if wrong.any():
        slot = int(wrong.argmax())
        observed = f"the offset {offsets[slot]} and the size {sizes[slot]} in a child of {many(limit, 'slot')}"
        body.fault(Rule.LIST_VIEW_RANGE, op, first + 1, observed, element=(slot, op.width))
        body.broke(op)


def _fixed_size_list(body: Body, op: Op, length: int, nulls: int, first: int) -> None:
    """A fixed-size list: the child has the list size for each slot, null slots included."""
    _validity(body, op, length, nulls, first)
    child, size = op.children[0], op.field.type.list_size
    count = body.nodes[2 * child.index]
    if count < length * size:
        observed = f"a child of {many(count, 'slot')} for {many(length, 'list')} of size {size}"
        body.node_fault(Rule.FIXED_SIZE_LIST_CHILD_LENGTH, child, observed)
        body.broke(op)


def _struct(body: Body, op: Op, length: int, nulls: int, first: int) -> None:
    """A struct: a validity bitmap of its own, and children of its own length."""
    _validity(body, op, length, nulls, first)
    nodes = body.nodes
    for child in op.children:
        count = nodes[2 * child.index]
        if count != length:
            short = count < length
            rule = Rule.STRUCT_CHILD_LENGTH if short else Rule.STRUCT_CHILD_LONGER
            body.node_fault(rule, child, f"a child of {many(count, 'slot')} in a struct of {many(length, 'slot')}")
            if short:
                body.broke(op)


def _union(body: Body, op: Op, length: int, nulls: int, first: int) -> None:
    """A union: type ids that the schema declares, and for a dense union offsets into the children."""
    if nulls:
        body.node_fault(Rule.UNION_NULL_COUNT, op, f"a null count of {nulls}")
    if op.has_validity:
        _validity_of_v4(body, op, length, nulls, first)
        first += 1
    content = _enough(body, op, first, length, rule=Rule.DATA_TOO_SMALL, length=length)
    if op.layout is Layout.DENSE_UNION:
        offsets = _enough(body, op, first + 1, 4 * length, rule=Rule.OFFSETS_TOO_SMALL, length=length)
    else:
        offsets = memoryview(b"")
        for child in op.children:
            count = body.nodes[2 * child.index]
            if count != length:
                short = count < length
                rule = Rule.UNION_CHILD_LENGTH if short else Rule.UNION_CHILD_LONGER
                body.node_fault(rule, child, f"a child of {many(count, 'slot')} in a union of {many(length, 'slot')}")
                if short:
                    body.broke(op)
    if content is None or offsets is None or not length:
        return
    type_ids = numbers(content, "i1", length)
    known = np.zeros(256, np.bool_)
    # A type id is a signed byte; seen as unsigned, it indexes a table of 256 entries, and -1 is the unknown id 255.
    known[list(op.field.type.type_ids)] = True
    unknown = ~known[type_ids.view(np.uint8)]
    if unknown.any():
        slot = int(unknown.argmax())
        body.fault(Rule.UNION_TYPE_ID, op, first, f"the type id {type_ids[slot]} in slot {slot}", element=(slot, 1))
        body.broke(op)
    elif op.layout is Layout.DENSE_UNION:
        _dense_offsets(body, op, first + 1, type_ids, numbers(offsets, "i4", length))


def _validity_of_v4(body: Body, op: Op, length: int, nulls: int, first: int) -> None:
    """The validity bitmap of a union or of runs, which V5 does not have (Schema.fbs, enum MetadataVersion).

    Every known writer leaves that of a union empty.
    """
    bitmap = body.contents[first]
    if bitmap is None:
        body.broke(op)
    elif len(bitmap):
        if op.layout is not Layout.RUN_END_ENCODED:
            body.fault(Rule.UNION_VALIDITY_V4, op, first, f"a validity bitmap of {many(len(bitmap), 'byte')}")
        _validity(body, op, length, nulls, first)


def _dense_offsets(
    body: Body, op: Op, number: int, type_ids: np.ndarray[Any, Any], offsets: np.ndarray[Any, Any]
) -> None:
    """Judge that the offsets into each child are inside the child and never decrease."""
    for child, type_id in zip(op.children, op.field.type.type_ids, strict=True):
        slots = np.flatnonzero(type_ids == type_id)
        chosen, count = offsets[slots], body.nodes[2 * child.index]
        outside = (chosen < 0) | (chosen >= count)
        if outside.any():
            slot = int(slots[outside.argmax()])
            observed = f"the offset {offsets[slot]} into {child.field.name!r} of {many(count, 'slot')}"
            body.fault(Rule.UNION_OFFSET_RANGE, op, number, observed, element=(slot, 4))
            body.broke(op)
            continue
        fall = _first_fall(chosen)
        if fall >= 0:
            slot = int(slots[fall + 1])
            observed = f"the offset {chosen[fall + 1]} after {chosen[fall]} into {child.field.name!r}"
            body.fault(Rule.UNION_OFFSET_ORDER, op, number, observed, element=(slot, 4))


def _run_end_encoded(body: Body, op: Op, length: int, nulls: int, first: int) -> None:
    """A run-end encoded field: run ends that increase strictly up to the field's length, and a value for each run."""
    ends, values = op.children
    if op.has_validity:
        _validity_of_v4(body, op, length, nulls, first)
    if nulls:
        body.node_fault(Rule.RUN_ENDS_PARENT_NULL_COUNT, op, f"a null count of {nulls}")
    runs, count = body.nodes[2 * ends.index], body.nodes[2 * values.index]
    if count < runs:
        body.node_fault(Rule.RUN_ENDS_CHILD_LENGTH, values, f"{many(count, 'value')} for {many(runs, 'run end')}")
        body.broke(op)
    number = body.starts[ends.index] + 1
    content = body.contents[number]
    if content is None or len(content) < runs * ends.width:
        body.broke(op)  # the fault is reported when the run ends are judged as a column of their own
        return
    array = numbers(content, f"i{ends.width}", runs)
    observed, slot = "", -1
    if runs and array[0] < 1:
        observed, slot = f"a first run end of {array[0]}", 0
    elif (still := np.flatnonzero(array[1:] <= array[:-1])).size:
        slot = int(still[0]) + 1
        observed = f"the run end {array[slot]} after {array[slot - 1]}"
    if observed:
        body.fault(Rule.RUN_ENDS_NOT_INCREASING, ends, number, observed, element=(slot, ends.width))
        body.broke(op)
    elif length and (not runs or array[-1] < length):
        observed = f"a last run end of {array[-1]}" if runs else "no runs"
        body.fault(Rule.RUN_ENDS_SHORT, ends, number, f"{observed} for {many(length, 'slot')}")
        body.broke(op)


def _view(body: Body, op: Op, length: int, nulls: int, first: int) -> None:
    """Views of 16 bytes: a short value is inline, a longer one is in one of the field's data buffers."""
    _validity(body, op, length, nulls, first)
    content = _enough(body, op, first + 1, op.width * length, rule=Rule.DATA_TOO_SMALL, length=length)
    after = body.starts[op.index + 1] if op.index + 1 < len(body.starts) else len(body.contents)
    buffers = [buffer for buffer in body.contents[first + 2 : after] if buffer is not None]
    if len(buffers) < after - first - 2:
        body.broke(op)
    elif content:
        judge_views(body, op, length, first + 1, content=content, buffers=buffers)


_JUDGES: Final[dict[Layout, Callable[[Body, Op, int, int, int], None]]] = {
    Layout.NULL: _null,
    Layout.BOOL: _bool,
    Layout.FIXED: _fixed,
    Layout.BINARY: _binary,
    Layout.VIEW: _view,
    Layout.LIST: _list,
    Layout.LIST_VIEW: _list_view,
    Layout.FIXED_SIZE_LIST: _fixed_size_list,
    Layout.STRUCT: _struct,
    Layout.SPARSE_UNION: _union,
    Layout.DENSE_UNION: _union,
    Layout.RUN_END_ENCODED: _run_end_encoded,
}
"""The judge of each layout; its arguments are body, op, length, null count and the number of the op's first buffer."""


def judge_columns(body: Body) -> None:
    """Judge every node of a batch, parents before their children."""
    nodes, starts = body.nodes, body.starts
    for op in body.plan.ops:
        number = op.index
        _JUDGES[op.layout](body, op, nodes[2 * number], nodes[2 * number + 1], starts[number])
