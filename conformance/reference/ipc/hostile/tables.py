"""Metadata whose tables, vtables, vectors and strings are in impossible places: FlatBuffers changed by hand.

A well-formed message is written first; then single numbers in it are changed
(https://flatbuffers.dev/internals/ says which they are).
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from typing import Any, Final

from conformance.reference.flatbuffers import SHARED_FIRST, write
from conformance.reference.ipc.hostile.register import register
from conformance.reference.ipc.models import MAGIC
from conformance.reference.ipc.samples import SAMPLES
from conformance.reference.message import CONTINUATION, END_OF_STREAM

__all__ = ["TableBytes"]

_BOUNDS: Final = "https://github.com/apache/arrow-dotnet/pull/47"
_CRASH: Final = "https://issues.apache.org/jira/browse/ARROW-5921"
_UNSIGNED: Final = {"0": 0, "1": 1, "2^31": 1 << 31, "2^32-1": (1 << 32) - 1, "2^32-4": (1 << 32) - 4}
_SIGNED: Final = {"0": 0, "2^31-1": (1 << 31) - 1, "-2^31": -(1 << 31), "-1": -1}
_SIZES: Final = {"0": 0, "2": 2, "5": 5, "65534": 65534, "65535": 65535}

# Slots of the tables on the path, by number.
_HEADER, _FIELDS, _NAME, _TYPE, _CHILDREN = 2, 1, 0, 3, 5
_NODES, _BUFFERS = 1, 2


class TableBytes(bytearray):
    """The bytes of a table and all below it, in which positions can be found and numbers changed."""

    def u32(self, at: int) -> int:
        """The unsigned number at a position."""
        return int(struct.unpack_from("<I", self, at)[0])

    def follow(self, at: int) -> int:
        """The position that the reference at a position points to."""
        return at + self.u32(at)

    def vtable(self, table: int) -> int:
        """The position of a table's vtable."""
        return table - int(struct.unpack_from("<i", self, table)[0])

    def slot(self, table: int, number: int) -> int:
        """The position of slot ``number`` of a table.

        Raises:
            LookupError: it is absent.
        """
        entry = self.vtable(table) + 4 + 2 * number
        (offset,) = struct.unpack_from("<H", self, entry)
        if not offset:
            raise LookupError(f"slot {number} is absent")
        return table + int(offset)

    @property
    def root(self) -> int:
        """The position of the root table."""
        return self.follow(0)

    @property
    def header(self) -> int:
        """The position of a message's header table."""
        return self.follow(self.slot(self.root, _HEADER))

    @property
    def field(self) -> int:
        """The first field of a schema's message."""
        return self.follow(self.follow(self.slot(self.header, _FIELDS)) + 4)


def _framed(metadata: bytes, rest: bytes) -> bytes:
    metadata += bytes(-len(metadata) % 8)
    return CONTINUATION + struct.pack("<i", len(metadata)) + metadata + rest


def _of_schema(change: Callable[[TableBytes], object]) -> bytes:
    model = SAMPLES["nested.mixed"].stream()
    metadata = TableBytes(write("Message", model.schema.tree, layout=SHARED_FIRST))
    change(metadata)
    return _framed(bytes(metadata), model.batches[0].encode() + END_OF_STREAM)


def _of_batch(change: Callable[[TableBytes], object]) -> bytes:
    model = SAMPLES["rows.several"].stream()
    tree, body = model.batches[0].complete()
    metadata = TableBytes(write("Message", tree, layout=SHARED_FIRST))
    change(metadata)
    return model.schema.encode() + _framed(bytes(metadata), body + END_OF_STREAM)


def _of_footer(change: Callable[[TableBytes], object]) -> bytes:
    model = SAMPLES["rows.several"].file_of()
    before, tree = model.complete()
    metadata = TableBytes(write("Footer", tree, layout=SHARED_FIRST))
    change(metadata)
    return before + bytes(metadata) + struct.pack("<i", len(metadata)) + MAGIC


_Place = tuple[str, str, Callable[[TableBytes], int], str, dict[str, int]]


def _places(*, schema: bool) -> Iterator[_Place]:
    """Name, description, position, format and values of every number that is changed."""
    yield "root", "The offset of the root table", lambda _: 0, "<I", _UNSIGNED
    yield "root-vtable", "The offset of the root's vtable", lambda data: data.root, "<i", _SIGNED
    yield "vtable-size", "The size of the root's vtable", lambda data: data.vtable(data.root), "<H", _SIZES
    yield "table-size", "The size of the root table", lambda data: data.vtable(data.root) + 2, "<H", _SIZES
    yield "header", "The offset of the header", lambda data: data.slot(data.root, _HEADER), "<I", _UNSIGNED
    yield (
        "header-slot",
        "Where the root says that its header lies",
        lambda data: data.vtable(data.root) + 8,
        "<H",
        _SIZES,
    )
    yield "header-vtable", "The offset of the header's vtable", lambda data: data.header, "<i", _SIGNED
    if schema:
        yield (
            "fields",
            "The number of fields",
            lambda data: data.follow(data.slot(data.header, _FIELDS)),
            "<I",
            _UNSIGNED,
        )
        yield "name", "The length of a name", lambda data: data.follow(data.slot(data.field, _NAME)), "<I", _UNSIGNED
        yield "type", "The offset of a type", lambda data: data.slot(data.field, _TYPE), "<I", _UNSIGNED
        yield (
            "children",
            "The number of children",
            lambda data: data.follow(data.slot(data.field, _CHILDREN)),
            "<I",
            _UNSIGNED,
        )
    else:
        yield "nodes", "The number of nodes", lambda data: data.follow(data.slot(data.header, _NODES)), "<I", _UNSIGNED
        yield (
            "buffers",
            "The number of buffers",
            lambda data: data.follow(data.slot(data.header, _BUFFERS)),
            "<I",
            _UNSIGNED,
        )


def _footer_places() -> Iterator[_Place]:
    yield "root", "The offset of the root table", lambda _: 0, "<I", _UNSIGNED
    yield "vtable", "The offset of the root's vtable", lambda data: data.root, "<i", _SIGNED
    yield "schema", "The offset of the schema", lambda data: data.slot(data.root, 1), "<I", _UNSIGNED
    yield "batches", "The number of blocks", lambda data: data.follow(data.slot(data.root, 3)), "<I", _UNSIGNED


def _register(owner: str, make: Callable[[Callable[[TableBytes], object]], bytes], places: Iterator[_Place]) -> None:
    for name, what, find, code, values in places:
        for label, value in values.items():

            def change(data: TableBytes, find: Any = find, code: str = code, value: int = value) -> None:
                struct.pack_into(code, data, find(data), value)

            def made(change: Callable[[TableBytes], object] = change) -> bytes:
                return make(change)

            kind: Any = "file" if owner == "footer" else "stream"
            text = f"{what} in the metadata of a {owner} is {label}."
            register(f"tables.{owner}-{name}-{label}", text, made, kind=kind, source=_BOUNDS)


_register("schema", _of_schema, _places(schema=True))
_register("batch", _of_batch, _places(schema=False))
_register("footer", _of_footer, _footer_places())


def _backward(data: TableBytes) -> None:
    """The first field's vector of children has the field itself as a child: the offset wraps around 2^32."""
    at = data.follow(data.slot(data.field, _CHILDREN)) + 4
    struct.pack_into("<I", data, at, (data.field - at) % (1 << 32))


def _root_inside_itself(data: TableBytes) -> None:
    at = data.slot(data.root, _HEADER)
    struct.pack_into("<I", data, at, (data.root - at) % (1 << 32))


def _vtable_is_table(data: TableBytes) -> None:
    struct.pack_into("<i", data, data.root, 0)


def _laughs() -> bytes:
    """A schema of structs with two children each, which are the same table: 2^40 fields of forty tables."""
    leaf: dict[str, Any] = {"name": "n", "type_type": 2, "type": {"bitWidth": 32, "is_signed": 1}, "children": []}
    field = leaf
    for _ in range(40):
        field = {"name": "x", "type_type": 13, "type": {}, "children": [field, leaf]}
    tree = {"version": 4, "header_type": 1, "header": {"fields": [field]}}
    data = TableBytes(write("Message", tree, layout=SHARED_FIRST))
    table = data.field
    for _ in range(40):
        first = data.follow(data.slot(table, _CHILDREN)) + 4
        table = data.follow(first)
        struct.pack_into("<I", data, first + 4, table - first - 4)
    return _framed(bytes(data), END_OF_STREAM)


register(
    "tables.child-is-its-parent",
    "A field is its own child, by an offset that wraps round.",
    lambda: _of_schema(_backward),
    source=_CRASH,
)
register(
    "tables.header-is-the-message",
    "A message is its own header, by an offset that wraps round.",
    lambda: _of_schema(_root_inside_itself),
    source=_CRASH,
)
register(
    "tables.vtable-is-the-table", "A table is its own vtable.", lambda: _of_schema(_vtable_is_table), source=_CRASH
)
register(
    "tables.two-to-the-forty-fields",
    "Forty tables make 2^40 fields, since each has the next as both of its children.",
    _laughs,
)
