"""Mutants of the FlatBuffers encoding: the message is right, its encoding is wrong.

Each patches a few bytes of a well-written message at a place found by walking it, so that nothing else changes.
"""

from __future__ import annotations

import struct

from conformance.reference.flatbuffers import write
from conformance.reference.message import CONTINUATION, DraftMessage
from conformance.reference.register import batch_mutant, schema_mutant
from conformance.wire.tables import TABLES

_PREFIX = 8
_FAR = 1 << 20


class Metadata:
    """An encoded message, walked by table and slot; offsets count from the start of the message."""

    def __init__(self, message: DraftMessage) -> None:
        self.data = bytearray(message.encode())
        self.root = _PREFIX + self.u32(_PREFIX)

    def u32(self, at: int) -> int:
        """The unsigned number of 32 bits there."""
        return int(struct.unpack_from("<I", self.data, at)[0])

    def vtable(self, table: int) -> int:
        """Where the vtable of a table begins."""
        return int(table - struct.unpack_from("<i", self.data, table)[0])

    def entry(self, table: int, kind: str, slot: str) -> int:
        """The position of a slot's vtable entry."""
        at = self.vtable(table) + 4 + 2 * TABLES[kind].index[slot]
        if at + 2 > self.vtable(table) + struct.unpack_from("<H", self.data, self.vtable(table))[0]:
            raise LookupError(f"{kind}.{slot} is absent")
        return at

    def slot(self, table: int, kind: str, slot: str) -> int:
        """The position of a slot's value (or reference)."""
        inner = struct.unpack_from("<H", self.data, self.entry(table, kind, slot))[0]
        if inner == 0:
            raise LookupError(f"{kind}.{slot} is absent")
        return int(table + inner)

    def follow(self, at: int) -> int:
        """The position that the reference at ``at`` points to."""
        return at + self.u32(at)

    @property
    def header(self) -> int:
        """The header table."""
        return self.follow(self.slot(self.root, "Message", "header"))

    def field(self) -> int:
        """The first Field table of a schema."""
        fields = self.follow(self.slot(self.header, "Schema", "fields"))
        if self.u32(fields) == 0:
            raise LookupError("the schema has no fields")
        return self.follow(fields + 4)

    def put(self, form: str, at: int, value: int) -> bytes:
        """The message with one number replaced."""
        struct.pack_into("<" + form, self.data, at, value)
        return bytes(self.data)


@batch_mutant("flatbuffers.root-beyond", kills="structure.root-in-range")
def root_beyond(message: DraftMessage) -> bytes:
    """The offset of the root table points beyond the metadata."""
    return Metadata(message).put("I", _PREFIX, _FAR)


@batch_mutant("flatbuffers.header-reference-beyond", kills="structure.references-in-range")
def reference_beyond(message: DraftMessage) -> bytes:
    """The reference to the header points beyond the metadata."""
    data = Metadata(message)
    return data.put("I", data.slot(data.root, "Message", "header"), _FAR)


@batch_mutant("flatbuffers.header-reference-null", kills="structure.references-not-null")
def reference_null(message: DraftMessage) -> bytes:
    """The reference to the header is present and zero."""
    data = Metadata(message)
    return data.put("I", data.slot(data.root, "Message", "header"), 0)


@batch_mutant("flatbuffers.vtable-beyond", kills="structure.vtable-in-range")
def vtable_beyond(message: DraftMessage) -> bytes:
    """The offset of the header's vtable points beyond the metadata."""
    data = Metadata(message)
    return data.put("i", data.header, -_FAR)


@batch_mutant("flatbuffers.vtable-size-odd", kills="structure.vtable-size")
def vtable_odd(message: DraftMessage) -> bytes:
    """The header's vtable has an odd size."""
    data = Metadata(message)
    vtable = data.vtable(data.header)
    return data.put("H", vtable, struct.unpack_from("<H", data.data, vtable)[0] - 1)


@batch_mutant("flatbuffers.table-size-beyond", kills="structure.table-size")
def table_beyond(message: DraftMessage) -> bytes:
    """The header's inline size reaches beyond the metadata."""
    data = Metadata(message)
    return data.put("H", data.vtable(data.header) + 2, 0xFFF0)


@batch_mutant(
    "flatbuffers.slot-outside-table",
    kills="structure.slots-in-table",
    also={"structure.version-supported": "the slot that is lost is the version's"},
)
def slot_outside(message: DraftMessage) -> bytes:
    """A vtable entry places its value beyond the end of its table."""
    data = Metadata(message)
    vtable = data.vtable(data.root)
    size = struct.unpack_from("<H", data.data, vtable + 2)[0]
    return data.put("H", data.entry(data.root, "Message", "version"), size)


@batch_mutant("flatbuffers.vector-beyond", kills="structure.vectors-in-range", defects=("I-104",))
def vector_beyond(message: DraftMessage) -> bytes:
    """The vector of field nodes declares a thousand million elements."""
    data = Metadata(message)
    return data.put("I", data.follow(data.slot(data.header, "RecordBatch", "nodes")), 1_000_000_000)


@schema_mutant("flatbuffers.string-beyond", kills="structure.strings-in-range", defects=("I-111",))
def string_beyond(message: DraftMessage) -> bytes:
    """The declared length of a field's name is longer than the metadata."""
    data = Metadata(message)
    return data.put("I", data.follow(data.slot(data.field(), "Field", "name")), _FAR)


@schema_mutant("flatbuffers.string-not-terminated", kills="structure.strings-terminated")
def string_not_terminated(message: DraftMessage) -> bytes:
    """The zero byte behind a field's name is another."""
    data = Metadata(message)
    name = data.follow(data.slot(data.field(), "Field", "name"))
    return data.put("B", name + 4 + data.u32(name), 0x58)


@schema_mutant("flatbuffers.string-not-utf8", kills="structure.strings-utf8")
def string_not_utf8(message: DraftMessage) -> bytes:
    """A field's name begins with a byte that no UTF-8 text begins with."""
    data = Metadata(message)
    name = data.follow(data.slot(data.field(), "Field", "name"))
    if data.u32(name) == 0:
        raise LookupError("the name is empty")
    return data.put("B", name + 4, 0xFF)


@schema_mutant("flatbuffers.type-unknown", kills="structure.unions-known")
def type_unknown(message: DraftMessage) -> bytes:
    """A field's type is number 99 of the Type union, which has 26 members."""
    data = Metadata(message)
    return data.put("B", data.slot(data.field(), "Field", "type_type"), 99)


@schema_mutant("flatbuffers.type-without-kind", kills="structure.unions-complete")
def type_without_kind(message: DraftMessage) -> bytes:
    """A field has a type table, and its type byte is NONE."""
    data = Metadata(message)
    return data.put("B", data.slot(data.field(), "Field", "type_type"), 0)


@schema_mutant("flatbuffers.kind-without-type", kills="structure.unions-complete", defects=("I-105",))
def kind_without_type(message: DraftMessage) -> bytes:
    """A field's type byte names a type and the type table is absent."""
    data = Metadata(message)
    return data.put("H", data.entry(data.field(), "Field", "type"), 0)


@batch_mutant("flatbuffers.version-unaligned", kills="structure.aligned")
def unaligned(message: DraftMessage) -> bytes:
    """The whole metadata is shifted by one byte, so that no value in it is aligned."""
    tree, body = message.complete()
    flat = write("Message", tree)
    root = struct.unpack_from("<I", flat)[0]
    shifted = struct.pack("<I", root + 1) + b"\0" + flat[4:]
    shifted += bytes(-len(shifted) % 8)
    return CONTINUATION + struct.pack("<i", len(shifted)) + shifted + body


@batch_mutant("flatbuffers.version-unknown", kills="structure.version-known", defects=("I-81",))
def version_unknown(message: DraftMessage) -> DraftMessage:
    """The metadata version is one that no format defines yet."""
    message.tree["version"] = 9
    return message


@batch_mutant("flatbuffers.version-absent", kills="structure.version-supported", defects=("I-81",))
def version_absent(message: DraftMessage) -> DraftMessage:
    """The metadata version is absent, which means V1."""
    del message.tree["version"]
    return message


@batch_mutant(
    "flatbuffers.version-differs",
    kills="structure.versions-agree",
    also={"body.buffer-count": "V4 gives a union a bitmap"},
)
def version_four(message: DraftMessage) -> DraftMessage:
    """The batch says metadata version V4 under a schema of V5."""
    message.tree["version"] = 3
    return message


@schema_mutant("flatbuffers.time-unit-unknown", kills="structure.enums-known")
def unit_unknown(message: DraftMessage) -> DraftMessage:
    """The endianness is a number that the format does not define."""
    message.header["endianness"] = 7
    return message
