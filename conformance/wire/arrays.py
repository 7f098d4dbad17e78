"""Decoding of verified buffers to pyarrow arrays, without any IPC reader.

The arrays are built buffer by buffer, so that only this package interprets a target's bytes. pyarrow merely gives the
values a form that others can compare. The format leaves some bytes undefined in slots that are not visible, for example
an index or a view under a null. If they point nowhere, the decoder replaces them, so that every slot of an array is
safe to follow.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any, Final

import numpy as np
import pyarrow as pa

from conformance.contain.text import many
from conformance.wire.arrow import UndecodableError, UnsupportedHereError, schema_to_arrow, schema_to_struct
from conformance.wire.batch import BatchMessage
from conformance.wire.body import Body
from conformance.wire.closed import Layout
from conformance.wire.faults import Rule
from conformance.wire.intervals import IntervalType
from conformance.wire.layout import Mask, Op
from conformance.wire.liveness import bits, live, numbers, reached
from conformance.wire.types import Field

__all__ = ["Lookup", "batch_to_arrow", "column_to_arrow", "no_dictionaries"]

Lookup = Callable[[Field, pa.DataType], pa.Array | None]
"""Returns the dictionary of an encoded field as an array of the given type; None if none is defined."""


def no_dictionaries(field: Field, made: pa.DataType) -> pa.Array | None:
    """Lookup for a batch that is decoded without a stream; raises :class:`UnsupportedHereError` for every field."""
    del made
    raise UnsupportedHereError(f"{field.name!r} is dictionary-encoded, and the dictionary is another message")


def batch_to_arrow(batch: BatchMessage, lookup: Lookup = no_dictionaries) -> pa.RecordBatch:
    """``batch`` as a :class:`pyarrow.RecordBatch` of the schema that it was read with.

    Raises:
        UndecodableError: faults of the batch make its buffers unsafe to follow.
        UnsupportedHereError: the installed pyarrow, or this decoder, lacks something that is legal.
    """
    body = _sound(batch)
    schema, decoder, length = schema_to_arrow(batch.schema), _Decoder(body, lookup), batch.length or 0
    try:
        tops = [op for op in body.plan.ops if op.parent is None]
        columns = [decoder.array(op, made, length) for op, made in zip(tops, schema.types, strict=True)]
        if not columns:
            return _without_columns(length)
        made = pa.Array.from_buffers(schema_to_struct(batch.schema), length, [None], 0, 0, columns)
        decoded = pa.RecordBatch.from_struct_array(made)
        return decoded.replace_schema_metadata(schema.metadata) if schema.metadata else decoded
    except (pa.ArrowException, ValueError, OverflowError, RecursionError) as error:
        raise UnsupportedHereError(f"pyarrow {pa.__version__} refuses the buffers: {error}") from error


def column_to_arrow(batch: BatchMessage, made: pa.DataType, lookup: Lookup) -> pa.Array:
    """The only column of ``batch``, the values of a dictionary, as an array of type ``made``, which has their layout.

    Raises the errors of :func:`batch_to_arrow`.
    """
    body = _sound(batch)
    try:
        return _Decoder(body, lookup).array(body.plan.ops[0], made, batch.length or 0)
    except (pa.ArrowException, ValueError, OverflowError, RecursionError) as error:
        raise UnsupportedHereError(f"pyarrow {pa.__version__} refuses the buffers: {error}") from error


def _sound(batch: BatchMessage) -> Body:
    """The body of a batch; raises :class:`UndecodableError` if its buffers are unsafe to follow."""
    if batch.body is None or not batch.decodable:
        raise UndecodableError("the batch cannot be decoded: " + "; ".join(map(str, batch.violations[:3])))
    return batch.body


def _without_columns(length: int) -> pa.RecordBatch:
    # Not pyarrow.nulls: it allocates memory for every row, and hostile bytes may declare any number of rows.
    rows = pa.Array.from_buffers(pa.null(), length, [None])
    return pa.record_batch([rows], names=["rows"]).select([])


def _child(made: pa.DataType, number: int) -> pa.DataType:
    """The type of a child of a nested type; a map's only child is the struct of its entries."""
    if pa.types.is_map(made):
        return pa.struct([made.key_field, made.item_field])
    if pa.types.is_struct(made) or pa.types.is_union(made):
        return made.field(number).type
    if pa.types.is_run_end_encoded(made):
        return (made.run_end_type, made.value_type)[number]
    return made.value_type


_WITH_OFFSETS: Final = frozenset({Layout.BINARY, Layout.LIST})
_IN_MAPS: Final = (Rule.MAP_NULL_ENTRY, Rule.MAP_NULL_KEY)
_UNIONS: Final = frozenset({Layout.SPARSE_UNION, Layout.DENSE_UNION})


@dataclasses.dataclass(slots=True, eq=False)
class _Decoder:
    body: Body
    lookup: Lookup
    hidden: dict[int, Mask] = dataclasses.field(default_factory=dict)
    """By op, the slots that are null only because a null slot of a union above them selects them."""

    def array(self, op: Op, made: pa.DataType, length: int) -> pa.Array:
        if isinstance(made, IntervalType):
            return pa.ExtensionArray.from_storage(made, self.array(op, made.storage_type, length))
        buffers = self.buffers(op)
        self.mask(op, buffers, length)
        if op.field.dictionary is not None:
            return self.encoded(op, made, length, buffers)
        if op.layout in _UNIONS:
            return self.union(op, made, length, buffers)
        children = [
            self.array(child, _child(made, number), self.body.nodes[2 * child.index])
            for number, child in enumerate(op.children)
        ]
        if op.layout is Layout.RUN_END_ENCODED:
            return pa.RunEndEncodedArray.from_buffers(made, length, [None], -1, 0, children)
        if op.layout is Layout.FIXED_SIZE_LIST:
            # The format lets the child be longer than the lists need.
            children = [children[0][: length * op.field.type.list_size]]
        elif op.layout in _WITH_OFFSETS and not buffers[1].size:
            # A column without slots may leave out its offsets; pyarrow gets the single offset 0 in their place.
            buffers[1] = pa.py_buffer(bytes(op.width))
        elif op.layout is Layout.VIEW:
            buffers[1] = self.views(buffers, length)
        # A null count of -1 is unknown: Arrow C++ then counts the bits itself.
        nulls = (-1 if buffers[0] is not None else 0) if op.has_validity else length
        return pa.Array.from_buffers(made, length, buffers or [None], nulls, 0, children)

    # --- buffers ------------------------------------------------------------------------------------

    def buffers(self, op: Op) -> list[Any]:
        """The buffers of an op; raises :class:`UndecodableError` if one of them could not be read."""
        starts, contents = self.body.starts, self.body.contents
        first = starts[op.index]
        after = starts[op.index + 1] if op.index + 1 < len(starts) else len(contents)
        found = contents[first:after]
        if None in found:
            raise UndecodableError(f"{self.body.name(first + found.index(None))} cannot be read")
        return [pa.py_buffer(content) for content in found]

    def mask(self, op: Op, buffers: list[Any], length: int) -> None:
        """Replace the validity bitmap of an op by the one to decode with; None if all slots are valid."""
        if op.null_rule in _IN_MAPS:
            self.without_nulls(op, buffers, length)
        if op.has_validity:
            buffers[0] = self.validity(op, buffers[0], length)
        if op.layout is not Layout.RUN_END_ENCODED:
            return
        if op.index in self.hidden:
            raise UnsupportedHereError(f"{op.path} is run-end encoded in a union that has nulls of its own")
        if op.has_validity and buffers[0] is not None and not bits(memoryview(buffers[0]).cast("B"), length).all():
            raise UnsupportedHereError(f"{op.path} is run-end encoded and has nulls of its own, which no text explains")

    def validity(self, op: Op, bitmap: pa.Buffer, length: int) -> pa.Buffer | None:
        """The bitmap of an op without the slots that a union hides; None if all slots are valid."""
        hidden = self.hidden.get(op.index)
        if hidden is None:
            return bitmap if bitmap.size else None
        shown = ~hidden[:length]
        if bitmap.size:
            shown &= bits(memoryview(bitmap).cast("B"), length)
        return pa.py_buffer(np.packbits(shown, bitorder="little").tobytes())

    def without_nulls(self, op: Op, buffers: list[Any], length: int) -> None:
        """Drop the bitmap of a map's entries or keys, because pyarrow aborts the process if one of them is null.

        Raises :class:`UndecodableError` if a visible entry or key is null.
        """
        if op.layout is Layout.NULL and length:
            raise UnsupportedHereError(f"{op.path} is a map's key of type null, which pyarrow does not hold")
        if not op.has_validity or not buffers[0].size:
            return
        valid = bits(memoryview(buffers[0]).cast("B"), length)
        if not valid.all():
            seen = reached(self.body, op, length)
            if seen is None or (seen & ~valid).any():
                raise UndecodableError(f"{op.path} has nulls, where a map has none")
        buffers[0] = pa.py_buffer(b"")

    def views(self, buffers: list[Any], length: int) -> pa.Buffer:
        """The views, with each view that points nowhere replaced by an empty one.

        Visible views have been judged before, so that only views in invisible slots can still point nowhere.
        """
        raw = numbers(memoryview(buffers[1]).cast("B"), "i4", 4 * length).reshape(length, 4)
        sizes, places, offsets = raw[:, 0], raw[:, 2], raw[:, 3].astype(np.int64)
        limits = np.array([buffer.size for buffer in buffers[2:]] or [0], np.int64)
        known = (places >= 0) & (places < len(buffers) - 2)
        inside = known & (offsets >= 0) & (offsets + sizes <= limits[np.where(known, places, 0)])
        # A value of up to 12 bytes is stored in its view, which then has no buffer and offset
        # (https://arrow.apache.org/docs/format/Columnar.html#variable-size-binary-view-layout).
        unsound = (sizes < 0) | ((sizes > 12) & ~inside)
        if not unsound.any():
            return buffers[1]
        return pa.py_buffer(np.where(unsound[:, None], 0, raw).astype("<i4").tobytes())

    # --- layouts ------------------------------------------------------------------------------------

    def encoded(self, op: Op, made: pa.DataType, length: int, buffers: list[Any]) -> pa.Array:
        """A dictionary-encoded column: checked indices, and the dictionary that applied when the batch was written."""
        kind = f"{'i' if pa.types.is_signed_integer(made.index_type) else 'u'}{op.width}"
        indices = numbers(memoryview(buffers[1]).cast("B"), kind, length)
        values = self.lookup(op.field, made.value_type)
        size = 0 if values is None else len(values)
        wrong = (indices < 0) | (indices >= size)
        if wrong.any():
            buffers = self.without(op, wrong, indices, buffers, size=None if values is None else size)
        if values is None:
            values = pa.nulls(0, made.value_type)
        pointers = pa.Array.from_buffers(made.index_type, length, buffers)
        # The indices have been checked above; safe=False skips pyarrow's own check.
        return pa.DictionaryArray.from_arrays(pointers, values, ordered=made.ordered, safe=False)

    def without(self, op: Op, wrong: Mask, indices: Any, buffers: list[Any], *, size: int | None) -> list[Any]:
        """The buffers, with out-of-range indices in invisible slots made null.

        ``size`` is the dictionary's length, None if it is not defined. Raises :class:`UndecodableError` if a visible
        slot has such an index.
        """
        length = len(wrong)
        seen = live(self.body, op, length)
        if seen is None:
            raise UndecodableError(f"{op.path} has dictionary indices out of range")
        if op.index in self.hidden:
            seen = seen & ~self.hidden[op.index][:length]
        if (wrong & seen).any():
            slot = int((wrong & seen).argmax())
            into = "a dictionary that is not defined" if size is None else f"a dictionary of {many(size, 'value')}"
            raise UndecodableError(f"{op.path} has index {int(indices[slot])} in slot {slot}, into {into}")
        valid = ~wrong
        if buffers[0] is not None:
            valid &= bits(memoryview(buffers[0]).cast("B"), length)
        bitmap = np.packbits(valid, bitorder="little").tobytes()
        return [pa.py_buffer(bitmap), pa.py_buffer(np.where(wrong, 0, indices).tobytes())]

    def union(self, op: Op, made: pa.DataType, length: int, buffers: list[Any]) -> pa.Array:
        """Decode a union. V4 allows a union itself to be null: the selected slot of its child becomes null there."""
        if op.has_validity:
            bitmap, *buffers = buffers
            if bitmap is not None:
                self.hide(op, ~bits(memoryview(bitmap).cast("B"), length), buffers)
        children = [
            self.array(child, _child(made, number), self.body.nodes[2 * child.index])
            for number, child in enumerate(op.children)
        ]
        return pa.Array.from_buffers(made, length, [None, *buffers], 0, 0, children)

    def hide(self, op: Op, nulls: Mask, buffers: list[Any]) -> None:
        """Make the child slots null that the null slots of a union select.

        Raises :class:`UnsupportedHereError` if a valid slot of the union selects the same child slot.
        """
        if not nulls.any():
            return
        length = len(nulls)
        type_ids = numbers(memoryview(buffers[0]).cast("B"), "i1", length)
        dense = op.layout is Layout.DENSE_UNION
        slots = numbers(memoryview(buffers[1]).cast("B"), "i4", length) if dense else np.arange(length)
        for child, type_id in zip(op.children, op.field.type.type_ids, strict=True):
            mask = np.zeros(self.body.nodes[2 * child.index], np.bool_)
            mask[slots[nulls & (type_ids == type_id)]] = True
            # In the children of a dense union, several slots of the union may select one slot.
            if mask[slots[~nulls & (type_ids == type_id)]].any():
                raise UnsupportedHereError(f"{op.path} has a null that shares the slot of a value")
            if mask.any():
                self.hidden[child.index] = mask
