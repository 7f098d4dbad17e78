"""Verification of FlatBuffers: every offset, vtable, vector and union is checked before it is followed.

The verifier walks a message's metadata by the rows of :mod:`conformance.wire.tables` and returns plain values.
It reports faults and continues with the rest, so that one bad slot does not hide another. Numbers and structs of 64
bits at multiples of 4 bytes, as some encoders write them, are read all the same; a place that is less aligned is taken
for noise.
It knows the encoding and the slots of each table, not the meaning of the values.

FlatBuffers builders differ widely, and all of the following is legal: shared vtables, vtables before or after their
tables, objects in any order, defaults that are written, empty vectors instead of absent ones, alignment gaps, and
padding at the end (https://flatbuffers.dev/internals/).
"""

from __future__ import annotations

import dataclasses
import operator
import struct
from typing import Any, Final

from conformance.contain.text import many
from conformance.wire.closed import SpanKind
from conformance.wire.faults import Fault, Rule, report
from conformance.wire.tables import CODES, ENUMS, STRUCTS, TABLES, UNIONS, WIDTHS, Slot, SlotKind, TableSpec

__all__ = ["FlatTable", "Span", "VectorRun", "Verifier"]

MAX_DEPTH: Final = 128
"""The number of levels to which tables may nest: the limit of the Arrow C++ verifier."""
MAX_TABLES: Final = 1 << 18
"""The number of tables in one message's metadata: each costs memory; a schema of 10,000 columns has about 50,000."""
MAX_TEXT: Final = 64 << 20
"""The number of bytes of text in one message's metadata."""

_PLACE: Final = operator.itemgetter(0, 1)
_read_u32: Final = struct.Struct("<I").unpack_from
_read_i32: Final = struct.Struct("<i").unpack_from
_read_sizes: Final = struct.Struct("<HH").unpack_from
_READ_SCALAR: Final = {name: struct.Struct("<" + code).unpack_from for name, code in CODES.items()}
_ELEMENT: Final = {spec.name: (spec.size, 8) for spec in STRUCTS.values()} | {
    name: (width, width) for name, width in WIDTHS.items()
}


_VTABLES: Final = [
    struct.Struct(f"<{slots}H") for slots in range(1 + max(len(table.slots) for table in TABLES.values()))
]


@dataclasses.dataclass(frozen=True, slots=True)
class VectorRun:
    """The position of a vector's elements: the offset of the first in the metadata, and their number."""

    start: int
    count: int


@dataclasses.dataclass(slots=True, eq=False)
class FlatTable:
    """A verified table.

    ``start`` is its offset in the metadata and ``size`` its inline size; ``vtable`` and ``vtable_size`` are those of
    its vtable. ``values`` has one value per slot of ``spec``: an int, a str, a :class:`FlatTable`, a list of tables, or
    a :class:`VectorRun` for structs and for vectors of scalars and structs; an absent or broken slot has its default,
    or None.
    ``places`` has each slot's offset in the metadata, 0 if the slot is absent.
    """

    spec: TableSpec
    start: int
    size: int
    vtable: int
    vtable_size: int
    path: str
    values: list[Any]
    places: tuple[int, ...]

    def __getitem__(self, name: str) -> Any:
        return self.values[self.spec.index[name]]

    def place(self, name: str) -> int:
        """The offset of a slot's value in the metadata, or the offset of the table if the slot is absent.

        If the value would be outside the table, the result is an offset inside the table other than its start, so that
        the slot is not mistaken for an absent one.
        """
        number = self.spec.index[name]
        place = (self.places[number] if number < len(self.places) else 0) or self.start
        if place == self.start:
            return place
        return max(min(place, self.start + self.size - self.spec.slots[number].size), self.start + 1)


Span = tuple[int, int, SpanKind, str, Any]
"""A verified range of the metadata: start, end, kind, path, and the object (Table, str, or a vector's Slot)."""


class Verifier:
    """Walks the metadata of one message.

    ``meta`` is the metadata with its padding, ``base`` its offset in the bytes that are read; faults give their
    positions in those bytes. ``spans`` lists the verified objects in the order of the walk, a shared object once per
    use. A ``shallow`` verifier does not look into unions; in a message, it skips the header.
    """

    __slots__ = ("_cut", "_tables", "_text", "_texts", "base", "faults", "meta", "shallow", "spans")

    def __init__(self, meta: bytes, base: int, faults: list[Fault], *, shallow: bool = False) -> None:
        self.shallow = shallow
        self._cut = False
        self.meta = meta
        self.base = base
        self.faults = faults
        self.spans: list[Span] = []
        # Tables may share bytes: without these limits, small metadata could expand to any number of objects or texts.
        # A table needs a reference of 4 bytes, so that a quarter of the size is enough for metadata without sharing.
        self._tables = min(len(meta) // 4, MAX_TABLES)
        self._text = min(len(meta), MAX_TEXT)
        self._texts: dict[int, str | None] = {}

    def root(self, name: str) -> FlatTable | None:
        """The root table, as a table of the kind ``name``; None if it cannot be read."""
        if len(self.meta) < 8:
            self._fault(Rule.FLATBUF_ROOT, 0, len(self.meta), name, f"{many(len(self.meta), 'byte')} of metadata")
            return None
        self.spans.append((0, 4, SpanKind.ROOT, name, None))
        (start,) = _read_u32(self.meta, 0)
        if start < 4 or start + 4 > len(self.meta):
            self._fault(
                Rule.FLATBUF_ROOT, 0, 4, name, f"the root offset {start} in {many(len(self.meta), 'byte')} of metadata"
            )
            return None
        if start & 3:
            self._fault(Rule.FLATBUF_UNALIGNED, 0, 4, name, f"the root table at offset {start}")
            return None
        return self._table(start, TABLES[name], name, 1)

    def _fault(self, rule: Rule, start: int, end: int, path: str, observed: str) -> None:
        report(self.faults, rule, (self.base + start, self.base + end), path, observed)

    def _too_much(self, start: int, path: str, observed: str) -> None:
        """Report that a limit stopped the walk; after a limit of the suite itself, :meth:`account` reports nothing."""
        self._cut = len(self.meta) > 4 * MAX_TABLES
        self._fault(Rule.FLATBUF_TABLES, start, start + 4, path, f"{observed}; what is beyond is not looked at")

    # --- objects ------------------------------------------------------------------------------------

    def _table(self, start: int, spec: TableSpec, path: str, depth: int) -> FlatTable | None:
        meta, end = self.meta, len(self.meta)
        self._tables -= 1
        if self._tables < 0:
            if self._tables == -1:
                self._too_much(
                    start, path, f"more than {many(min(end // 4, MAX_TABLES), 'table')} in {many(end, 'byte')}"
                )
            return None
        if depth > MAX_DEPTH:
            self._cut = True
            observed = f"a table at depth {depth}; what is below is not looked at"
            self._fault(Rule.FLATBUF_DEPTH, start, start + 4, path, observed)
            return None
        shape = self._shape(start, path)
        if shape is None:
            return None
        vtable, vtable_size, size = shape
        slots = min((vtable_size - 4) >> 1, len(spec.slots))
        offsets = _VTABLES[slots].unpack_from(meta, vtable + 4)
        # An entry of a vtable is an offset from the table's start; 0 means that the slot is absent.
        places = tuple([start + offset if offset else 0 for offset in offsets])
        table = FlatTable(spec, start, size, vtable, vtable_size, path, list(spec.defaults), places)
        self.spans.append((vtable, vtable + vtable_size, SpanKind.VTABLE, path, table))
        self.spans.append((start, start + size, SpanKind.TABLE, path, table))
        self._slots(table, depth)
        return table

    def _shape(self, start: int, path: str) -> tuple[int, int, int] | None:
        """The vtable's offset, its size, and the table's size, for the table at ``start``; None after a fault.

        A table starts with the signed distance back to its vtable; a vtable starts with its own size and the table's.
        """
        meta, end = self.meta, len(self.meta)
        (distance,) = _read_i32(meta, start)
        vtable: int = start - distance
        if vtable < 0 or vtable + 4 > end:
            self._fault(Rule.FLATBUF_VTABLE_OUT_OF_RANGE, start, start + 4, path, f"a vtable at offset {vtable}")
            return None
        if vtable & 1:
            self._fault(Rule.FLATBUF_UNALIGNED, start, start + 4, path, f"a vtable at offset {vtable}")
            return None
        vtable_size, size = _read_sizes(meta, vtable)
        if vtable_size < 4 or vtable_size & 1 or vtable + vtable_size > end:
            self._fault(Rule.FLATBUF_VTABLE_SIZE, vtable, vtable + 2, path, f"a vtable of {many(vtable_size, 'byte')}")
            return None
        if size < 4 or start + size > end:
            self._fault(Rule.FLATBUF_TABLE_SIZE, vtable + 2, vtable + 4, path, f"a table of {many(size, 'byte')}")
            return None
        return vtable, vtable_size, size

    def _slots(self, table: FlatTable, depth: int) -> None:
        start, stop = table.start + 4, table.start + table.size
        slots, places, values, path = table.spec.slots, table.places, table.values, table.path
        known, vtable_end = table.vtable + 4 + 2 * len(slots), table.vtable + table.vtable_size
        # A later version of the format may add slots at the end of a table; they are reported only if they are set.
        if vtable_end > known and self.meta[known:vtable_end].strip(b"\0"):
            observed = f"{many((vtable_end - known) // 2, 'slot')} beyond the {len(slots)} of the definition"
            self._fault(Rule.FLATBUF_UNKNOWN_SLOT, known, vtable_end, path, observed)
        for number, (slot, at) in enumerate(zip(slots, places, strict=False)):
            if not at:
                continue
            kind = slot.kind
            if at < start or at + slot.size > stop:
                entry = table.vtable + 4 + 2 * number
                observed = (
                    f"{many(slot.size, 'byte')} at offset {at - table.start} of a table of {many(table.size, 'byte')}"
                )
                self._fault(Rule.FLATBUF_SLOT_OUT_OF_TABLE, entry, entry + 2, f"{path}.{slot.name}", observed)
                continue
            if at & (slot.align - 1):
                observed = f"a value of {slot.of} at offset {at}"
                self._fault(Rule.FLATBUF_UNALIGNED, at, at + slot.size, f"{path}.{slot.name}", observed)
                if at & 3:
                    continue
            if kind is SlotKind.SCALAR:
                values[number] = self._scalar(slot, at, path)
            elif kind is SlotKind.STRUCT:
                values[number] = VectorRun(at, 1)
            elif kind is SlotKind.UNION:
                values[number] = self._union(table, number, at, depth)
            else:
                values[number] = self._reference(slot, at, path, depth)
        self._complete(table)

    def _scalar(self, slot: Slot, at: int, path: str) -> int | None:
        value: int
        (value,) = _READ_SCALAR[slot.of](self.meta, at)
        if slot.enum:
            return self._enumerated(slot, at, value, f"{path}.{slot.name}")
        if slot.of == "bool" and value > 1:
            self._fault(Rule.FLATBUF_BOOL_NOT_0_OR_1, at, at + 1, f"{path}.{slot.name}", f"the byte {value}")
            return 1
        return value

    def _enumerated(self, slot: Slot, at: int, value: int, path: str) -> int | None:
        spec = ENUMS[slot.enum]
        if 0 <= value < len(spec.names):
            return value
        self._fault(spec.rule, at, at + WIDTHS[slot.of], path, f"the value {value} of {spec.name}")
        return None

    def _union(self, table: FlatTable, number: int, at: int, depth: int) -> FlatTable | None:
        slot = table.spec.slots[number]
        path = f"{table.path}.{slot.name}"
        members, kind = UNIONS[slot.of], table.values[number - 1]
        if self.shallow:
            return None
        if kind == 0:
            self._fault(Rule.FLATBUF_UNION_TYPE_MISSING, at, at + 4, path, "a value of type NONE")
        elif kind < len(members):
            target = self._follow(at, path)
            return None if target is None else self._table(target, TABLES[members[kind]], path, depth + 1)
        return None

    def _complete(self, table: FlatTable) -> None:
        """Judge that required slots are present, and that a union's type is known and has a value."""
        for number in table.spec.demanding:
            slot = table.spec.slots[number]
            place = table.places[number] if number < len(table.places) else 0
            if slot.kind is SlotKind.UNION:
                self._complete_union(table, number, slot, place)
            elif not place:
                path = f"{table.path}.{slot.name}"
                self._fault(Rule.FLATBUF_REQUIRED_MISSING, table.start, table.start + table.size, path, "no such slot")

    def _complete_union(self, table: FlatTable, number: int, slot: Slot, place: int) -> None:
        kind = table.values[number - 1]
        if place and 0 < kind < len(UNIONS[slot.of]):
            return
        path, at = f"{table.path}.{slot.name}", table.place(f"{slot.name}_type")
        if kind >= len(UNIONS[slot.of]):
            self._fault(Rule.FLATBUF_UNION_TYPE_UNKNOWN, at, at + 1, path, f"the type {kind} of {slot.of}")
        elif kind and not place:
            self._fault(
                Rule.FLATBUF_UNION_VALUE_MISSING,
                at,
                at + 1,
                path,
                f"the type {UNIONS[slot.of][kind]!r} without a value",
            )
        elif slot.required and not place:
            self._fault(Rule.FLATBUF_REQUIRED_MISSING, table.start, table.start + table.size, path, "no such slot")

    # --- targets of references --------------------------------------------------------------------------

    def _follow(self, at: int, path: str) -> int | None:
        """The target of the reference at ``at``; None after a fault."""
        # A reference is an unsigned distance forward, so that references cannot form a cycle.
        offset: int
        (offset,) = _read_u32(self.meta, at)
        target = at + offset
        if not offset:
            self._fault(Rule.FLATBUF_OFFSET_NULL, at, at + 4, path, "a reference of 0")
        elif target + 4 > len(self.meta):
            observed = f"a reference to byte {target} of {many(len(self.meta), 'byte')} of metadata"
            self._fault(Rule.FLATBUF_OFFSET_OUT_OF_RANGE, at, at + 4, path, observed)
        elif target & 3:
            self._fault(Rule.FLATBUF_UNALIGNED, at, at + 4, path, f"a reference to offset {target}")
        else:
            return target
        return None

    def _reference(self, slot: Slot, at: int, path: str, depth: int) -> Any:
        path = f"{path}.{slot.name}"
        target = self._follow(at, path)
        if target is None:
            return None
        if slot.kind is SlotKind.TABLE:
            return self._table(target, TABLES[slot.of], path, depth + 1)
        if slot.kind is SlotKind.STRING:
            return self._string(target, path)
        return self._vector(slot, target, path, depth)

    def _string(self, start: int, path: str) -> str | None:
        if start not in self._texts:
            self._texts[start] = self._read_string(start, path)
        return self._texts[start]

    def _read_string(self, start: int, path: str) -> str | None:
        (length,) = _read_u32(self.meta, start)
        end = start + 4 + length
        if end + 1 > len(self.meta):
            self._fault(
                Rule.FLATBUF_STRING_OUT_OF_RANGE,
                start,
                start + 4,
                path,
                f"a string of {many(length, 'byte')} in {many(len(self.meta), 'byte')} of metadata",
            )
            return None
        self._text -= length
        if self._text < 0:
            self._too_much(start, path, f"more text than {many(min(len(self.meta), MAX_TEXT), 'byte')}")
            return None
        text = self.meta[start + 4 : end]
        self.spans.append((start, end + 1, SpanKind.STRING, path, text))
        if self.meta[end]:
            self._fault(Rule.FLATBUF_STRING_NOT_TERMINATED, end, end + 1, path, f"the byte {self.meta[end]:#04x}")
        try:
            return text.decode()
        except UnicodeDecodeError as error:
            at = start + 4 + error.start
            self._fault(Rule.FLATBUF_STRING_NOT_UTF8, at, at + 1, path, f"the byte {text[error.start]:#04x}")
            return None

    def _vector(self, slot: Slot, start: int, path: str, depth: int) -> VectorRun | list[FlatTable | None] | None:
        (count,) = _read_u32(self.meta, start)
        size, align = _ELEMENT.get(slot.of, (4, 4))
        first, end = start + 4, start + 4 + count * size
        if end > len(self.meta):
            self._fault(
                Rule.FLATBUF_VECTOR_OUT_OF_RANGE,
                start,
                first,
                path,
                f"{many(count, 'element')} of {many(size, 'byte')} in {many(len(self.meta), 'byte')} of metadata",
            )
            return None
        if count and first & (align - 1):
            self._fault(Rule.FLATBUF_UNALIGNED, start, first, path, f"elements of {slot.of} at offset {first}")
        self.spans.append((start, end, SpanKind.VECTOR, path, slot))
        if slot.kind is SlotKind.TABLES:
            if count > self._tables:
                self._too_much(
                    start, path, f"{many(count, 'table')} more, of which there is room for {max(self._tables, 0)}"
                )
                return None
            return [self._element(slot, first + 4 * i, f"{path}[{i}]", depth) for i in range(count)]
        if slot.enum:
            for i in range(count):
                at = first + size * i
                (value,) = _READ_SCALAR[slot.of](self.meta, at)
                self._enumerated(slot, at, value, f"{path}[{i}]")
        return VectorRun(first, count)

    def _element(self, slot: Slot, at: int, path: str, depth: int) -> FlatTable | None:
        target = self._follow(at, path)
        if target is None:
            self._tables -= 1
            return None
        return self._table(target, TABLES[slot.of], path, depth + 1)

    # --- reading values ---------------------------------------------------------------------------------

    def int64s(self, run: VectorRun | None, *, per_element: int = 1) -> tuple[int, ...]:
        """The 64-bit integers of a verified vector; a struct of two integers counts with ``per_element=2``."""
        if run is None:
            return ()
        return struct.unpack_from(f"<{run.count * per_element}q", self.meta, run.start)

    def int32s(self, run: VectorRun | None) -> tuple[int, ...]:
        """The 32-bit integers of a verified vector."""
        return () if run is None else struct.unpack_from(f"<{run.count}i", self.meta, run.start)

    # --- accounting -------------------------------------------------------------------------------------

    def account(self) -> None:
        """Report bytes that belong to no object and are not zero, and objects that share bytes.

        References to tables are no stale memory: arrow-go writes those to the children of a struct once more, behind
        the table of its type.
        If a limit of the suite stopped the walk, nothing is reported, because the walk has not seen all objects.
        """
        if self._cut:
            return
        meta, covered = self.meta, 0
        previous: Span | None = None
        for span in sorted(self.spans, key=_PLACE):
            start, end = span[0], span[1]
            if start > covered:
                if any(meta[covered:start]) and not self._refers(covered, start):
                    observed = f"{many(start - covered, 'byte')} that belong to no object, not all of them zero"
                    self._fault(Rule.FLATBUF_UNACCOUNTED_BYTES, covered, start, "", observed)
            elif start < covered and previous is not None and (start, end) != (previous[0], previous[1]):
                observed = f"a {span[2]} that shares bytes with the {previous[2]} of {previous[3]}"
                self._fault(Rule.FLATBUF_OVERLAP, start, min(end, covered), span[3], observed)
            if end > covered or previous is None:
                covered, previous = max(covered, end), span
        if any(meta[covered:]):
            self._fault(Rule.METADATA_PADDING_NONZERO, covered, len(meta), "", "bytes that are not all zero")

    def _refers(self, start: int, end: int) -> bool:
        """True if bytes between objects are references to tables of the metadata, and zeros."""
        first = min(-(-start // 4) * 4, end)
        last = first + (end - first) // 4 * 4
        if any(self.meta[start:first]) or any(self.meta[last:end]):
            return False
        tables = {span[0] for span in self.spans if span[2] is SpanKind.TABLE}
        words = struct.unpack_from(f"<{(last - first) // 4}I", self.meta, first)
        return all(not word or at + word in tables for at, word in zip(range(first, last, 4), words, strict=True))
