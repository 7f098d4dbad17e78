"""Arrow messages made by hand, right or wrong in any way a test wants.

A table is written as a dict of its slots, by the names that Schema.fbs and its neighbours give them.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from conformance.wire.schema import read_schema
from conformance.wire.tables import CODES, STRUCTS, TABLES, UNIONS, Slot, SlotKind
from conformance.wire.types import Schema

Values = Mapping[str, Any]


SAME: Values = {}
"""As an element of a vector: a reference to the same table as the element before it."""


class Forge:
    """Writes FlatBuffers: each table after its vtable, each referenced object after its table.

    ``places`` maps a path such as ``Message.header.nodes`` to the offset of that slot's value in the metadata, and a
    path with ``()`` after it to the offset of the object that the slot refers to.
    """

    def __init__(self) -> None:
        self.out = bytearray()
        self.places: dict[str, int] = {}

    def root(self, name: str, values: Values) -> bytes:
        """The metadata whose root table is ``name``, padded to a multiple of 8."""
        self.out += bytes(4)
        self.patch(0, "<I", self.table(name, values, name))
        self.align(8)
        return bytes(self.out)

    def align(self, size: int, ahead: int = 0) -> None:
        """Pads so that the place ``ahead`` bytes on is aligned."""
        self.out += bytes(-(len(self.out) + ahead) % size)

    def patch(self, at: int, form: str, *values: Any) -> None:
        """Overwrites bytes that have been written."""
        struct.pack_into(form, self.out, at, *values)

    def table(self, name: str, values: Values, path: str) -> int:
        """Writes a table and all below it; its offset."""
        slots = TABLES[name].slots
        present = {number: slot for number, slot in enumerate(slots) if slot.name in values}
        size, inline = 4, {}
        for number, slot in present.items():
            size += -size % slot.align
            inline[number] = size
            size += slot.size
        count = max(inline, default=-1) + 1
        self.align(8, ahead=4 + 2 * count)
        vtable = len(self.out)
        offsets = [inline.get(number, 0) for number in range(count)]
        self.out += struct.pack(f"<HH{count}H", 4 + 2 * count, size, *offsets)
        start = len(self.out)
        self.places[f"{path}()"] = start
        self.places[f"{path}.vtable"] = vtable
        self.out += bytes(size)
        self.patch(start, "<i", start - vtable)
        for number, slot in present.items():
            self.slot(slot, start + inline[number], values[slot.name], values, f"{path}.{slot.name}")
        return start

    def slot(self, slot: Slot, at: int, value: Any, values: Values, path: str) -> None:
        """Writes one slot's value, and what it refers to."""
        self.places[path] = at
        if slot.kind is SlotKind.SCALAR:
            self.patch(at, "<" + CODES[slot.of], value)
        elif slot.kind is SlotKind.STRUCT:
            self.struct(at, slot.of, value)
        else:
            target = self.reference(slot, value, values, path)
            self.places[f"{path}()"] = target
            self.patch(at, "<I", target - at)

    def struct(self, at: int, name: str, value: Sequence[int]) -> None:
        """Writes the fields of a struct over zeros."""
        for number, (_, of, offset) in zip(value, STRUCTS[name].fields, strict=True):
            self.patch(at + offset, "<" + CODES[of], number)

    def reference(self, slot: Slot, value: Any, values: Values, path: str) -> int:
        """Writes what a reference leads to; its offset."""
        self.align(4)
        if slot.kind is SlotKind.STRING:
            start, raw = len(self.out), value if isinstance(value, bytes) else value.encode()
            self.out += struct.pack("<I", len(raw)) + raw + b"\0"
            return start
        if slot.kind in (SlotKind.TABLE, SlotKind.UNION):
            member = UNIONS[slot.of][values[f"{slot.name}_type"]] if slot.kind is SlotKind.UNION else slot.of
            return self.table(member, value, path)
        return self.vector(slot, value, path)

    def vector(self, slot: Slot, value: Sequence[Any], path: str) -> int:
        """Writes a vector; its offset."""
        self.align(8, ahead=4)
        start = len(self.out)
        self.out += struct.pack("<I", len(value))
        if slot.kind is SlotKind.STRUCTS:
            for element in value:
                at = len(self.out)
                self.out += bytes(STRUCTS[slot.of].size)
                self.struct(at, slot.of, element)
        elif slot.kind is SlotKind.SCALARS:
            self.out += struct.pack(f"<{len(value)}{CODES[slot.of]}", *value)
        else:
            self.out += bytes(4 * len(value))
            target = 0
            for number, element in enumerate(value):
                at = start + 4 + 4 * number
                target = target if element is SAME else self.table(slot.of, element, f"{path}[{number}]")
                self.patch(at, "<I", target - at)
        return start


SCHEMA = UNIONS["MessageHeader"].index("Schema")
RECORD_BATCH = UNIONS["MessageHeader"].index("RecordBatch")
DICTIONARY_BATCH = UNIONS["MessageHeader"].index("DictionaryBatch")
TENSOR = UNIONS["MessageHeader"].index("Tensor")
SPARSE_TENSOR = UNIONS["MessageHeader"].index("SparseTensor")


def encapsulate(metadata: bytes, body: bytes = b"", *, legacy: bool = False) -> bytes:
    """Prefix, metadata and body as one message."""
    length = struct.pack("<i", len(metadata))
    return (length if legacy else b"\xff\xff\xff\xff" + length) + metadata + body


def type_code(name: str) -> int:
    """The number of a member of the Type union."""
    return UNIONS["Type"].index(name)


def field(name: str, kind: str, children: Sequence[Values] = (), /, **parameters: Any) -> dict[str, Any]:
    """A nullable Field of a type, by the type table's name; ``parameters`` are the type's slots."""
    made: dict[str, Any] = {"name": name, "nullable": 1, "type_type": type_code(kind), "type": parameters}
    return made | {"children": list(children)}


def schema_message(*fields: Values, schema: Values | None = None, message: Values | None = None) -> bytes:
    """A Schema message; ``schema`` and ``message`` replace or add slots of these tables."""
    header = {"fields": list(fields)} | dict(schema or {})
    root = {"version": 4, "header_type": SCHEMA, "header": header, "bodyLength": 0} | dict(message or {})
    return encapsulate(Forge().root("Message", root))


def batch_message(
    length: int,
    nodes: Sequence[tuple[int, int]],
    buffers: Sequence[bytes],
    *,
    places: Sequence[tuple[int, int]] | None = None,
    body: bytes | None = None,
    batch: Values | None = None,
    message: Values | None = None,
) -> bytes:
    """A RecordBatch message whose body holds ``buffers``, each padded to 8 bytes.

    ``places`` replaces the declared offsets and lengths, ``body`` the bytes; ``batch`` and ``message`` slots.
    """
    laid, declared = bytearray(), []
    for buffer in buffers:
        declared.append((len(laid), len(buffer)))
        laid += buffer + bytes(-len(buffer) % 8)
    made = bytes(laid) if body is None else body
    header = {"length": length, "nodes": list(nodes), "buffers": list(places or declared)} | dict(batch or {})
    root = {"version": 4, "header_type": RECORD_BATCH, "header": header, "bodyLength": len(made)}
    return encapsulate(Forge().root("Message", root | dict(message or {})), made)


def dictionary_message(
    number: int, values: Sequence[int], *, delta: bool = False, dictionary: Values | None = None
) -> bytes:
    """A DictionaryBatch message of 32-bit integers; ``dictionary`` replaces or adds slots of its header."""
    body = i4(*values) + bytes(-4 * len(values) % 8)
    data = {"length": len(values), "nodes": [(len(values), 0)], "buffers": [(0, 0), (0, 4 * len(values))]}
    header = {"id": number, "data": data, "isDelta": int(delta)} if dictionary is None else dictionary
    root = {"version": 4, "header_type": DICTIONARY_BATCH, "header": header, "bodyLength": len(body)}
    return encapsulate(Forge().root("Message", root), body)


def schema_of(*fields: pa.Field) -> Schema:
    """The wire schema of pyarrow fields."""
    schema = read_schema(pa.schema(list(fields)).serialize().to_pybytes()).schema
    assert schema is not None
    return schema


def column(kind: pa.DataType, *, nullable: bool = True) -> Schema:
    """The wire schema of the one column ``x``."""
    return schema_of(pa.field("x", kind, nullable=nullable))


def i1(*values: int) -> bytes:
    """8-bit integers."""
    return struct.pack(f"<{len(values)}b", *values)


def i2(*values: int) -> bytes:
    """16-bit integers."""
    return struct.pack(f"<{len(values)}h", *values)


def i4(*values: int) -> bytes:
    """32-bit integers."""
    return struct.pack(f"<{len(values)}i", *values)


def i8(*values: int) -> bytes:
    """64-bit integers."""
    return struct.pack(f"<{len(values)}q", *values)


class Packed(Forge):
    """Writes FlatBuffers as some encoders did: everything at multiples of 4 bytes, which 64-bit numbers may not be."""

    def align(self, size: int, ahead: int = 0) -> None:
        """Pads to multiples of 4 at most."""
        super().align(min(size, 4), ahead)


def packed(message: bytes) -> bytes:
    """The message of one batch with a column of two 32-bit integers, in the metadata of a :class:`Packed`."""
    body = message[-8:]
    header = {"length": 2, "nodes": [(2, 0)], "buffers": [(0, 0), (0, 8)]}
    made = Packed()
    flat = made.root("Message", {"version": 4, "header_type": RECORD_BATCH, "header": header, "bodyLength": len(body)})
    return encapsulate(flat + bytes(-len(flat) % 8), body)
