"""The columns of nullable types, arrays and records, and the column of any type."""

from __future__ import annotations

import array
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final

from conformance.contain.text import many
from conformance.formats.avro.avronames import path_below
from conformance.formats.avro.columnbuilders import AvroColumn, LeafColumn
from conformance.formats.avro.cursor import PACE, Cursor
from conformance.formats.avro.numbers import BooleanColumn, NullColumn, NumberColumn, RealColumn
from conformance.formats.avro.rules import AvroRule
from conformance.formats.avro.sized import DateTimeColumn, DecimalColumn, SizedColumn
from conformance.formats.avro.types import (
    AvroArray,
    AvroPrimitive,
    AvroRecord,
    AvroSchema,
    AvroType,
    AvroUnion,
    PrimitiveKind,
)

__all__ = ["ArrayColumn", "NullableColumn", "RecordColumn", "column_of"]

_ITEM: Final = "item"


class NullableColumn(AvroColumn):
    """A union of null and another type: ``valid`` has a byte for each slot, ``values`` those of the slots with 1."""

    def __init__(self, path: str, values: AvroColumn, null: int) -> None:
        super().__init__(path)
        self.values = values
        self.null = null
        self.valid = bytearray()
        self.free = values.free
        self.slots = values.slots

    def read(self, cursor: Cursor) -> None:
        """Read the branch, and the value unless it is null."""
        start = cursor.at
        branch = cursor.long(self.path, "union branch")
        if branch not in (0, 1):
            raise cursor.stop(AvroRule.UNION_BRANCH, start, self.path, f"branch {branch} of a union with 2 branches")
        there = branch != self.null
        if cursor.regions is not None:
            cursor.show(start, self.path, "union branch", f"{branch} ({'value' if there else 'null'})")
        if there:
            self.values.read(cursor)
        self.valid.append(there)

    def cut(self, count: int) -> None:
        """Forget all but the first slots."""
        del self.valid[count:]
        self.values.cut(self.valid.count(1))


class ArrayColumn(AvroColumn):
    """An array: ``lengths`` has the number of items of each slot, ``items`` the items of all slots."""

    def __init__(self, path: str, items: AvroColumn) -> None:
        super().__init__(path)
        self.items = items
        self.lengths = array.array("q")
        self.step = max(1, PACE // items.slots)

    def read(self, cursor: Cursor) -> None:
        """Read blocks up to the one without items."""
        length = 0
        while count := self.count(cursor):
            size, begin = self.size(cursor) if count < 0 else (None, 0)
            count = abs(count)
            start = cursor.at
            if self.items.minimum and count > (cursor.size - start) // self.items.minimum:
                observed = f"{many(count, 'item')}, and {many(cursor.size - start, 'byte')} after the count"
                raise cursor.stop(AvroRule.BLOCK_COUNT, start, self.path, observed, end=cursor.size)
            if self.items.free:
                cursor.spend(count * self.items.free, self.path)
            self.read_items(cursor, count)
            if size is not None and cursor.at - start != size:
                observed = f"a size of {size}, and items of {many(cursor.at - start, 'byte')}"
                cursor.report(AvroRule.BLOCK_SIZE, begin, self.path, observed, end=start)
            length += count
        self.lengths.append(length)

    def read_items(self, cursor: Cursor, count: int) -> None:
        """Read so many items; before each step, the cursor says whether they may be read."""
        read, slots = self.items.read, self.items.slots
        while count:
            part = min(count, self.step)
            cursor.pace(part * slots)
            for _ in range(part):
                read(cursor)
            if not cursor.keeps:
                self.items.cut(0)
            count -= part

    def count(self, cursor: Cursor) -> int:
        """The number of items in the next block; negative if the block's size follows."""
        start = cursor.at
        count = cursor.long(self.path, "block count")
        if cursor.regions is not None:
            cursor.show(start, self.path, "block count", many(abs(count), "item") if count else "end of the array")
        return count

    def size(self, cursor: Cursor) -> tuple[int, int]:
        """The size of a block in bytes, and where it is."""
        start = cursor.at
        size = cursor.long(self.path, "block size")
        if cursor.regions is not None:
            cursor.show(start, self.path, "block size", many(size, "byte"))
        return size, start

    def cut(self, count: int) -> None:
        """Forget all but the first slots."""
        del self.lengths[count:]
        self.items.cut(sum(self.lengths))


class RecordColumn(AvroColumn):
    """A record: ``children`` are its fields, each with ``count`` values."""

    def __init__(self, path: str, type_: AvroRecord, children: Sequence[AvroColumn]) -> None:
        super().__init__(path)
        self.type = type_
        self.children = tuple(children)
        self.count = 0
        self.minimum = sum(child.minimum for child in children)
        # A record without fields is a value without bytes itself.
        self.free = sum(child.free for child in children) if children else 1
        self.slots = 1 + sum(child.slots for child in children)

    def read(self, cursor: Cursor) -> None:
        """Read every field."""
        for child in self.children:
            child.read(cursor)
        self.count += 1

    def cut(self, count: int) -> None:
        """Forget all but the first values."""
        self.count = count
        for child in self.children:
            child.cut(count)


def column_of(made: AvroType, schema: AvroSchema, path: str = "") -> AvroColumn:
    """An empty column of a type of ``schema``."""
    if isinstance(made, AvroUnion):
        return NullableColumn(path, column_of(made.value, schema, path), made.null)
    if isinstance(made, AvroArray):
        return ArrayColumn(path, column_of(made.items, schema, path_below(path, _ITEM)))
    if isinstance(made, AvroPrimitive):
        return _leaf_of(made, path)
    record = schema.record(made)
    children = [column_of(field.type, schema, path_below(path, field.name)) for field in record.fields]
    return RecordColumn(path, record, children)


_LEAVES: Final[Mapping[PrimitiveKind, type[LeafColumn]]] = MappingProxyType(
    {
        PrimitiveKind.NULL: NullColumn,
        PrimitiveKind.BOOLEAN: BooleanColumn,
        PrimitiveKind.INT: NumberColumn,
        PrimitiveKind.LONG: NumberColumn,
        PrimitiveKind.FLOAT: RealColumn,
        PrimitiveKind.DOUBLE: RealColumn,
        PrimitiveKind.BYTES: SizedColumn,
        PrimitiveKind.STRING: SizedColumn,
    }
)


def _leaf_of(made: AvroPrimitive, path: str) -> LeafColumn:
    if made.logical == "decimal":
        return DecimalColumn(path, made)
    if made.logical == "datetime":
        return DateTimeColumn(path, made)
    return _LEAVES[made.kind](path, made)
