"""A table-driven FlatBuffers writer: a tree of plain values to the bytes of Arrow's metadata.

It writes the tree that it is given, in any of the layouts that FlatBuffers allows (https://flatbuffers.dev/internals/):
builders of other languages order tables, share vtables and spell out defaults differently, and a judge has to accept
them all. It shares the facts of :mod:`conformance.wire.tables` with the verifier, and no code.

A tree is a mapping from slot name to value: numbers for scalars, ``str`` (or ``bytes``, written as they are), mappings
for tables, a union as two entries ``x_type`` and ``x``, lists for vectors, tuples for structs in field order.
A slot that is not in the mapping is absent. A union with a wrong type byte has the pair (table, mapping) as its value.
"""

from __future__ import annotations

import collections
import dataclasses
import functools
import marshal
import struct
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final, TypeAlias, cast

from conformance.wire.tables import CODES, STRUCTS, TABLES, UNIONS, WIDTHS, Slot, SlotKind

__all__ = ["DEFAULT", "SHARED_FIRST", "TableLayout", "Tree", "write"]

Tree = Mapping[str, Any]
_Fields: TypeAlias = Sequence[tuple[int, Slot, Any]]
"""The slots of a table that are written, with their numbers and values."""


@dataclasses.dataclass(frozen=True, slots=True)
class TableLayout:
    """One of the legal ways to lay out the same message; the default is that of the common builders.

    ``shared_vtables``: equal vtables are written once, for the last of their tables; earlier tables point forward to
    it, as where a builder writes from back to front. ``shared_first``: it is that of the first of their tables, and
    later tables point back to it. ``vtables_last``: a vtable follows its table.
    ``depth_first``: a table's children follow it at once, not after all of its siblings.
    ``explicit_defaults``: scalars equal to their default are written. ``slot_order``: inline fields are in the order
    of their slots, not largest first.
    """

    shared_vtables: bool = True
    vtables_last: bool = False
    depth_first: bool = False
    explicit_defaults: bool = False
    slot_order: bool = False
    shared_first: bool = False

    @property
    def shares_later(self) -> bool:
        """True if a table may have the vtable of a later one."""
        return self.shared_vtables and not self.shared_first


@dataclasses.dataclass(slots=True)
class _Writer:
    layout: TableLayout
    out: bytearray = dataclasses.field(default_factory=lambda: bytearray(4))
    vtables: dict[bytes, int] = dataclasses.field(default_factory=dict)
    pending: collections.deque[tuple[int, Slot, str, Any]] = dataclasses.field(default_factory=collections.deque)
    count: int = 0
    """The number of tables so far, where it counts."""
    owners: Mapping[bytes, int] = dataclasses.field(default_factory=dict)
    """The number of the last table with each vtable, if earlier ones point forward to it; empty if none do."""
    waiting: dict[bytes, list[int]] = dataclasses.field(default_factory=dict)
    """The tables that point forward to a vtable."""

    def align(self, size: int) -> int:
        """Pad with zeros to a multiple of ``size`` and return the position."""
        self.out += bytes(-len(self.out) % size)
        return len(self.out)

    def refer(self, at: int) -> None:
        """Let the reference slot at ``at`` point here."""
        struct.pack_into("<I", self.out, at, len(self.out) - at)

    def scalars(self, kind: str, values: Sequence[int]) -> bytes:
        """Numbers as bytes; one that does not fit its type is cut to its low bytes, as a C cast would."""
        width = WIDTHS[kind]
        return b"".join((int(value) & ((1 << 8 * width) - 1)).to_bytes(width, "little") for value in values)

    def structs(self, kind: str, values: Sequence[Sequence[int]]) -> bytes:
        """Structs as bytes, one after the other."""
        spec = STRUCTS[kind]
        out = bytearray(spec.size * len(values))
        for row, value in enumerate(values):
            for (_, scalar, offset), number in zip(spec.fields, value, strict=True):
                struct.pack_into("<" + CODES[scalar], out, row * spec.size + offset, number)
        return bytes(out)

    def table(self, name: str, tree: Tree, at: int) -> None:
        """Write the table ``name`` and point the reference at ``at`` to it; its children wait in ``pending``."""
        fields = _present(name, tree, self.layout)
        if self.owners:
            start, offsets = self._before_later(name, fields, at)
        else:
            start, offsets = self._after_earlier(name, fields, at)
        for number, slot, value in fields:
            self._inline_value(start + offsets[number], slot, value)
        children = [
            (start + offsets[number], slot, *_referred(slot, tree, value))
            for number, slot, value in fields
            if slot.kind not in (SlotKind.SCALAR, SlotKind.STRUCT)
        ]
        if self.layout.depth_first:
            self.pending.extendleft(reversed(children))
        else:
            self.pending.extend(children)

    def _before_later(self, name: str, fields: _Fields, at: int) -> tuple[int, Mapping[int, int]]:
        """Write the inline part of a table, and its vtable unless a later table has the same one; returns its position
        and those of its fields.

        A vtable may not depend on where its table is, so that fields of 8 bytes come right after its first 4.
        """
        offsets, size, vtable = _shape(name, _numbers(fields), 4, self.layout)
        owns = self.owners[vtable] == self.count
        self.count += 1
        step, rest = (8, 4) if any(slot.align == 8 for _, slot, _ in fields) else (4, 0)
        ahead = len(vtable) if owns and not self.layout.vtables_last else 0
        self.out += bytes((rest - len(self.out) - ahead) % step)
        known = len(self.out)
        self.out += vtable[:ahead]
        start = len(self.out)
        self.refer(at)
        self.out += bytes(size)
        self.waiting.setdefault(vtable, []).append(start)
        if owns:
            if self.layout.vtables_last:
                known = self.align(2)
                self.out += vtable
            for table in self.waiting.pop(vtable):
                struct.pack_into("<i", self.out, table, table - known)
        return start, offsets

    def _after_earlier(self, name: str, fields: _Fields, at: int) -> tuple[int, Mapping[int, int]]:
        """Write the inline part of a table, and its vtable unless an earlier table has the same one; returns its
        position and those of its fields.
        """
        self.align(4)
        offsets, size, vtable = _shape(name, _numbers(fields), len(self.out) % 8, self.layout)
        known = self.vtables.get(vtable) if self.layout.shared_vtables else None
        if known is None and not self.layout.vtables_last:
            known = len(self.out)
            self.out += vtable
            self.align(4)
            offsets, size, final = _shape(name, _numbers(fields), len(self.out) % 8, self.layout)
            self.out[known : known + len(final)] = final
            self.vtables[final] = known
        start = len(self.out)
        self.refer(at)
        self.out += bytes(size)
        if known is None:
            known = self.align(2)
            self.out += vtable
            self.vtables[vtable] = known
        struct.pack_into("<i", self.out, start, start - known)
        return start, offsets

    def _inline_value(self, position: int, slot: Slot, value: Any) -> None:
        if slot.kind is SlotKind.SCALAR:
            data = self.scalars(slot.of, [value])
        elif slot.kind is SlotKind.STRUCT:
            data = self.structs(slot.of, [value])
        else:
            return
        self.out[position : position + len(data)] = data

    def reference(self, at: int, slot: Slot, of: str, value: Any) -> None:
        """Write the value that the reference slot at ``at`` refers to."""
        match slot.kind:
            case SlotKind.TABLE | SlotKind.UNION:
                self.table(of, value, at)
            case SlotKind.STRING:
                data = value if isinstance(value, bytes) else value.encode()
                self._vector(at, len(data), data + b"\0", 1)
            case SlotKind.SCALARS:
                self._vector(at, len(value), self.scalars(of, value), WIDTHS[of])
            case SlotKind.STRUCTS:
                self._vector(at, len(value), self.structs(of, value), 8)
            case SlotKind.TABLES:
                first = self._vector(at, len(value), bytes(4 * len(value)), 4)
                entry = _entry(slot)
                self.pending.extendleft(
                    (first + 4 * index, entry, of, value[index]) for index in reversed(range(len(value)))
                )

    def _vector(self, at: int, count: int, data: bytes, align: int) -> int:
        """Write a vector (or string) and return the position of its first element."""
        self.align(4)
        if align > 4:
            self.out += bytes(-(len(self.out) + 4) % align)
        self.refer(at)
        self.out += struct.pack("<I", count)
        self.out += data
        return len(self.out) - len(data)


def _present(name: str, tree: Tree, layout: TableLayout) -> _Fields:
    spec = TABLES[name]
    if not tree.keys() <= spec.index.keys():
        raise KeyError(f"table {name} has no slot {min(set(tree) - set(spec.index))!r}")
    present = []
    for number, slot in enumerate(spec.slots):
        value = tree.get(slot.name)
        if slot.kind is SlotKind.SCALAR:
            if layout.explicit_defaults:
                value = slot.default if value is None else value
            elif value == slot.default:
                continue
        if value is not None:
            present.append((number, slot, value))
    return present


def _numbers(fields: _Fields) -> tuple[int, ...]:
    return tuple([number for number, _, _ in fields])


@functools.lru_cache(maxsize=2048)
def _shape(
    name: str, numbers: tuple[int, ...], start: int, layout: TableLayout
) -> tuple[Mapping[int, int], int, bytes]:
    """The position of each of these fields in a table that begins at ``start``, its inline size, and its vtable.

    Positions depend on ``start`` as far as it is no multiple of 8, the largest alignment.
    """
    slots = TABLES[name].slots
    order = numbers if layout.slot_order else sorted(numbers, key=lambda number: -slots[number].align)
    offsets, position = {}, start + 4
    for number in order:
        position += -position % slots[number].align
        offsets[number] = position - start
        position += slots[number].size
    size, last = position - start, max(offsets, default=-1) + 1
    vtable = struct.pack(f"<{2 + last}H", 4 + 2 * last, size, *[offsets.get(number, 0) for number in range(last)])
    return MappingProxyType(offsets), size, vtable


def _vtables(layout: TableLayout, table: str, tree: Tree) -> list[bytes]:
    """The vtables of all tables in the order in which :class:`_Writer` writes these, as they are if fields of 8 bytes
    come right after the first 4.
    """
    found: list[bytes] = []
    pending: collections.deque[tuple[bool, str, Any]] = collections.deque([(False, table, tree)])
    while pending:
        is_vector, of, value = pending.popleft()
        if is_vector:
            pending.extendleft([(False, of, one) for one in reversed(value)])
            continue
        fields = _present(of, value, layout)
        found.append(_shape(of, _numbers(fields), 4, layout)[2])
        children = [
            (slot.kind is SlotKind.TABLES, *_referred(slot, value, one))
            for _, slot, one in fields
            if slot.kind in _WITH_TABLES
        ]
        if layout.depth_first:
            pending.extendleft(reversed(children))
        else:
            pending.extend(children)
    return found


_WITH_TABLES: Final = frozenset({SlotKind.TABLE, SlotKind.UNION, SlotKind.TABLES})


@functools.cache
def _entry(slot: Slot) -> Slot:
    """The slot of one table of a vector; there are as many slots as the format has."""
    return dataclasses.replace(slot, kind=SlotKind.TABLE)


def _referred(slot: Slot, tree: Tree, value: Any) -> tuple[str, Any]:
    """The type and the value that a reference slot refers to."""
    if slot.kind is not SlotKind.UNION:
        return slot.of, value
    if isinstance(value, tuple):
        return value
    return UNIONS[slot.of][tree[f"{slot.name}_type"]], value


DEFAULT: Final = TableLayout()
SHARED_FIRST: Final = TableLayout(shared_first=True)
"""A legal layout that no common builder writes. Published vectors have it, whose bytes stay."""


MOST_PACKED: Final = 32 << 10
"""The size, packed, of a tree whose bytes are kept."""
MOST_KEPT: Final = 2048
"""The number of trees whose bytes are kept."""
_PLAIN: Final = 2
"""The form of marshal in which nothing depends on which objects are the same."""
_WRITTEN: Final[dict[tuple[str, bytes, TableLayout], bytes]] = {}


def write(table: str, tree: Tree, *, layout: TableLayout = DEFAULT) -> bytes:
    """The FlatBuffers bytes of ``tree`` as the root table ``table``, without padding at the end.

    The bytes follow from the arguments alone, and the schema of a table is written again and again. So they are kept,
    by all that is in the tree.

    Raises:
        KeyError: the tree names a slot that the table does not have.
    """
    if not _is_plain(tree):  # marshal writes an array of numpy as if it was bytes
        return _bytes_of(table, tree, layout)
    try:
        packed = marshal.dumps(cast("Any", tree), _PLAIN)
    except ValueError:  # it nests deeper than marshal goes
        return _bytes_of(table, tree, layout)
    key = table, packed, layout
    known = _WRITTEN.get(key)
    if known is None:
        known = _bytes_of(table, tree, layout)
        if len(packed) <= MOST_PACKED:
            if len(_WRITTEN) >= MOST_KEPT:
                _WRITTEN.clear()
            _WRITTEN[key] = known
    return known


def _is_plain(tree: Any) -> bool:
    """True if a tree is made of the types that marshal keeps apart, however deep it nests."""
    waiting = [tree]
    while waiting:
        value = waiting.pop()
        kind = type(value)
        if kind is dict:
            waiting += value.values()
        elif kind is list or kind is tuple:
            waiting += value
        elif kind not in _ATOMS:
            return False
    return True


_ATOMS: Final = frozenset({str, bytes, int, bool, type(None)})


def _bytes_of(table: str, tree: Tree, layout: TableLayout) -> bytes:
    owners: Mapping[bytes, int] = {}
    if layout.shares_later:
        vtables = _vtables(layout, table, tree)
        owners = {vtable: number for number, vtable in enumerate(vtables)}
        if len(owners) == len(vtables):
            owners, layout = {}, dataclasses.replace(layout, shared_vtables=False)
    return bytes(_written(_Writer(layout, owners=owners), table, tree).out)


def _written(writer: _Writer, table: str, tree: Tree) -> _Writer:
    writer.table(table, tree, 0)
    while writer.pending:
        writer.reference(*writer.pending.popleft())
    return writer
