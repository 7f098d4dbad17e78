"""Shared parts of dense and sparse tensors: the shape, the type of the values, and the buffers in the message's body.

This module decides whether a tensor's buffers are inside the body; :mod:`conformance.wire.dense` and
:mod:`conformance.wire.sparse` decide how much each buffer must contain.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterable
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from conformance.contain.text import many
from conformance.wire.arrow import UnsupportedHereError
from conformance.wire.batch import BufferRange
from conformance.wire.body import MAX_PADDING
from conformance.wire.faults import Fault, Rule, report
from conformance.wire.flatbuf import FlatTable, VectorRun, Verifier
from conformance.wire.messages import Message
from conformance.wire.schema import type_from
from conformance.wire.tables import UNIONS
from conformance.wire.types import Type, TypeKind

__all__ = ["TensorBody", "TensorPart", "check_width", "dtype_of", "product", "width_of"]

ALIGNMENT: Final = 64
"""The recommended alignment of a tensor's body in bytes (https://arrow.apache.org/docs/format/Other.html)."""
MOST: Final = 1 << 64
"""The upper limit of products of sizes: a shape may have any number of dimensions."""

_FIXED: Final = frozenset(
    {"Int", "FloatingPoint", "Bool", "Decimal", "Date", "Time", "Timestamp"}
    | {"Interval", "FixedSizeBinary", "Duration"}
)
_PLAIN: Final = frozenset({TypeKind.INT, TypeKind.DATE, TypeKind.TIME, TypeKind.TIMESTAMP, TypeKind.DURATION})


@dataclasses.dataclass(frozen=True, slots=True)
class TensorPart:
    """One buffer of a tensor: its purpose, its position in the body, and the type of its entries."""

    role: str
    range: BufferRange
    type: Type


def width_of(kind: Type) -> int:
    """The number of bytes per value; 0 for booleans, because several of them share a byte."""
    return 0 if kind.kind is TypeKind.BOOL else kind.byte_width or kind.bit_width >> 3


def dtype_of(kind: Type) -> str:
    """The numpy type of stored values: numbers as they are, times as integers, everything else as raw bytes."""
    width = width_of(kind)
    if kind.kind is TypeKind.FLOATING_POINT:
        return f"<f{width}"
    if kind.kind in _PLAIN or (kind.kind is TypeKind.INTERVAL and width == 4):
        return f"<{'u' if kind.kind is TypeKind.INT and not kind.signed else 'i'}{width}"
    return f"V{width}"


def check_width(kind: Type) -> None:
    """Raise :class:`UnsupportedHereError` if a value does not take at least one full byte."""
    if not width_of(kind):
        raise UnsupportedHereError(f"expected values of one byte or more, got {kind}, of which numpy has no arrays")


def product(sizes: Iterable[int]) -> int:
    """The product of sizes that are not negative, at most :data:`MOST`."""
    made = 1
    for size in sizes:
        made = min(made * size, MOST)
        if not made:
            break
    return made


class TensorBody:
    """The body of a tensor's message, the buffers that the tensor uses, and their faults.

    ``broken`` is True if a fault makes it unsafe to read the values; ``parts`` are the buffers in their order.
    """

    def __init__(self, view: memoryview, message: Message, verifier: Verifier, header: FlatTable) -> None:
        self.view = view[message.body_start : message.body_end]
        self.message = message
        self.verifier = verifier
        self.header = header
        self.broken = len(self.view) < message.body_length
        self.parts: list[TensorPart] = []
        self.contents: list[memoryview | None] = []

    @property
    def faults(self) -> list[Fault]:
        """The faults found so far."""
        return self.verifier.faults

    # --- positions of faults ------------------------------------------------------------------------

    def fault(self, rule: Rule, table: FlatTable, slot: str, observed: str) -> None:
        """Report that one slot of the metadata breaks ``rule``, and mark the tensor as broken."""
        number = table.spec.index[slot]
        start = self.verifier.base + table.place(slot)
        place = start, start + table.spec.slots[number].size
        self.broken = True
        report(self.faults, rule, place, f"{table.path}.{slot}", observed)

    def part_fault(self, rule: Rule, part: int, observed: str, *, entry: int = -1, harmless: bool = False) -> None:
        """Report that a buffer, or one entry of it, breaks ``rule``; sets ``broken`` unless ``harmless``."""
        made = self.parts[part]
        base, size = self.message.body_start, len(self.view)
        start = max(0, min(made.range.offset, size))
        end = max(start, min(start + made.range.length, size))
        if entry >= 0:
            width = width_of(made.type)
            start, end = min(start + entry * width, end), min(start + (entry + 1) * width, end)
        self.broken |= not harmless
        report(self.faults, rule, (base + start, base + end), made.role, observed)

    # --- the metadata -------------------------------------------------------------------------------

    def type(self, table: FlatTable, rule: Rule) -> Type | None:
        """The type of the values; None if the type has no fixed width."""
        code, made = table["type_type"], table["type"]
        if made is None:
            return None
        name = UNIONS["Type"][code]
        if name not in _FIXED:
            self.fault(rule, table, "type", f"the type {name}")
            return None
        if name == "Bool":
            place = self.verifier.base + table.place("type")
            report(self.faults, Rule.TENSOR_TYPE_BOOL, (place, place + 4), f"{table.path}.type", "the type Bool")
        return type_from(name, made, self.verifier, f"{table.path}.type")

    def shape(self, table: FlatTable) -> tuple[tuple[int, ...], tuple[str | None, ...]] | None:
        """The sizes and names of the dimensions; None if they cannot be used."""
        dimensions: list[FlatTable | None] | None = table["shape"]
        if dimensions is None or None in dimensions:
            return None
        known = [dimension for dimension in dimensions if dimension is not None]
        for dimension in known:
            if dimension["size"] < 0:
                self.fault(Rule.TENSOR_SHAPE_NEGATIVE, dimension, "size", f"a size of {dimension['size']}")
                return None
        return tuple([each["size"] for each in known]), tuple([each["name"] for each in known])

    def ranges(self, run: VectorRun | None) -> list[BufferRange]:
        """The Buffer structs of a slot or a vector."""
        values = self.verifier.int64s(run, per_element=2)
        return [BufferRange._make(values[at : at + 2]) for at in range(0, len(values), 2)]

    # --- the buffers --------------------------------------------------------------------------------

    def part(self, role: str, place: BufferRange, kind: Type, rule: Rule) -> int:
        """Add a buffer and judge that it is inside the body; returns the buffer's number."""
        self.parts.append(TensorPart(role, place, kind))
        number, (offset, length) = len(self.parts) - 1, place
        content = None
        if min(offset, length) < 0 or offset + length > max(self.message.body_length, 0):
            observed = (
                f"the offset {offset} and the length {length} in a body of {many(self.message.body_length, 'byte')}"
            )
            self.part_fault(rule, number, observed)
        elif not length:
            content = self.view[:0]
        elif offset + length <= len(self.view):
            content = self.view[offset : offset + length]
        self.contents.append(content)
        return number

    def settle(self) -> None:
        """Judge the buffers' order, shared bytes and the bytes between them; a buffer with shared bytes is not read."""
        known = sorted((part.range, n) for n, part in enumerate(self.parts) if self.contents[n])
        covered = 0
        # The entry at the end of the body has no buffer; it makes the loop judge the bytes after the last one.
        for (offset, length), number in [*known, (BufferRange(len(self.view), 0), -1)]:
            if offset < covered and number >= 0:
                observed = f"bytes {offset} to {offset + length}, shared with the buffer before it"
                self.part_fault(Rule.SPARSE_BUFFER_OVERLAP, number, observed)
                self.contents[number] = None
            self.gap(covered, offset)
            covered = max(covered, offset + length)
        starts = [part.range.offset for number, part in enumerate(self.parts) if self.contents[number]]
        if any(after < before for before, after in itertools.pairwise(starts)):
            self.part_fault(Rule.BUFFER_ORDER, len(self.parts) - 1, f"offsets {starts[:8]}", harmless=True)

    def gap(self, start: int, end: int) -> None:
        """Judge a range of bytes that belongs to no buffer."""
        place = self.message.body_start + start, self.message.body_start + end
        if end - start >= MAX_PADDING:
            report(
                self.faults,
                Rule.BODY_UNACCOUNTED,
                place,
                "body",
                f"{many(end - start, 'byte')} that belong to no buffer",
            )
        elif start < end and bytes(self.view[start:end]).strip(b"\0"):
            report(self.faults, Rule.BODY_PADDING_NONZERO, place, "body", "padding with other bytes than zero")

    def integers(self, part: int, count: int, rule: Rule) -> npt.NDArray[np.int64] | None:
        """The first ``count`` entries of an index buffer; values above 63 bits become negative.

        None, with a fault of ``rule``, if the buffer is too small.
        """
        content, kind = self.contents[part], self.parts[part].type
        if not self.holds(part, count, rule) or content is None:
            return None
        found: npt.NDArray[Any] = np.frombuffer(content, dtype_of(kind), count) if count else np.zeros(0, np.int64)
        return found.astype(np.int64)

    def holds(self, part: int, count: int, rule: Rule) -> bool:
        """True if a buffer is large enough for ``count`` entries; reports ``rule`` otherwise."""
        made = self.parts[part]
        needed = count * width_of(made.type)
        if self.contents[part] is None or needed <= made.range.length:
            return self.contents[part] is not None
        observed = (
            f"{many(made.range.length, 'byte')}, where {many(count, 'entry', 'entries')} of {made.type} need {needed}"
        )
        self.part_fault(rule, part, observed)
        return False
