"""IPC files and tensors made by hand, right or wrong in any way a test wants."""

from __future__ import annotations

import dataclasses
import struct
from collections.abc import Callable, Sequence
from typing import Any

from tests.wire.forge import (
    SPARSE_TENSOR,
    TENSOR,
    Forge,
    Values,
    batch_message,
    dictionary_message,
    encapsulate,
    field,
    i4,
    i8,
    schema_message,
    type_code,
)

INT = field("x", "Int", bitWidth=32, is_signed=1)
ENCODED = INT | {"dictionary": {"id": 7}}
SCHEMA = schema_message(INT)
ENCODED_SCHEMA = schema_message(ENCODED)
BATCH = batch_message(2, [(2, 0)], [b"", i4(0, 1)])
VALUES = dictionary_message(7, [10, 20])
DELTA = dictionary_message(7, [30], delta=True)
END = bytes.fromhex("ffffffff00000000")
HEAD = b"ARROW1\0\0"

Entry = tuple[int, int, int]
"""A block: offset, metadata length, body length."""


def footer_table(data: bytes, root: Values) -> bytes:
    """``data`` with a footer behind it, and what closes a file."""
    footer = Forge().root("Footer", root)
    return data + footer + i4(len(footer)) + b"ARROW1"


@dataclasses.dataclass
class Sealed:
    """A file in the making: change its footer, then take its bytes.

    ``blocks`` are those of the messages in the file, by their number.
    """

    messages: Sequence[bytes]
    fields: Sequence[Values] = (INT,)
    head: bytes = HEAD
    end: bytes = END

    def __post_init__(self) -> None:
        self.blocks: list[Entry] = []
        at = len(self.head)
        for message in self.messages:
            metadata = 8 + struct.unpack_from("<i", message, 4)[0]
            self.blocks.append((at, metadata, len(message) - metadata))
            at += len(message)

    def seal(self, dictionaries: Sequence[Entry] = (), batches: Sequence[Entry] = (), **root: Any) -> bytes:
        """The file, with a footer that lists these blocks; ``root`` replaces or adds slots, None drops one."""
        made: dict[str, Any] = {"version": 4, "schema": {"fields": list(self.fields)}}
        made |= {"dictionaries": list(dictionaries), "recordBatches": list(batches)} | root
        slots = {name: value for name, value in made.items() if value is not None}
        return footer_table(self.head + b"".join(self.messages) + self.end, slots)


def plain(**more: Any) -> Sealed:
    """A schema and two record batches."""
    return Sealed([SCHEMA, BATCH, BATCH], **more)


def encoded(*messages: bytes) -> Sealed:
    """A schema with one dictionary-encoded column, and the messages after it."""
    return Sealed([ENCODED_SCHEMA, *messages], [ENCODED])


# --- tensors ------------------------------------------------------------------------------------------

INT32: Values = {"type_type": type_code("Int"), "type": {"bitWidth": 32, "is_signed": 1}}
INT64_INDEX: Values = {"bitWidth": 64, "is_signed": 1}


def _message(kind: int, header: Values, body: bytes, ahead: int) -> bytes:
    """A tensor's message whose body starts ``ahead`` bytes after a multiple of 64 from the message's start."""
    root = {"version": 4, "header_type": kind, "header": header, "bodyLength": len(body)}
    metadata = Forge().root("Message", root)
    return encapsulate(metadata + bytes((ahead - 8 - len(metadata)) % 64), body)


def shaped(*sizes: int) -> list[Values]:
    """Dimensions of these sizes, without names."""
    return [{"size": size} for size in sizes]


def tensor_message(*sizes: int, body: bytes | None = None, ahead: int = 0, **header: Any) -> bytes:
    """A tensor of 32-bit integers that count up; ``header`` replaces or adds slots."""
    count = 1
    for size in sizes:
        count *= max(size, 0)
    data = i4(*range(count)) if body is None else body
    padded = data + bytes(-len(data) % 8)
    return _message(TENSOR, INT32 | {"shape": shaped(*sizes), "data": (0, len(data))} | header, padded, ahead)


class _Layer:
    """Buffers laid into a body, each at a multiple of 64."""

    def __init__(self) -> None:
        self.body = bytearray()

    def add(self, data: bytes) -> tuple[int, int]:
        place = len(self.body), len(data)
        self.body += data + bytes(-len(data) % 64)
        return place


Index = Callable[[_Layer], tuple[int, Values]]
"""Lays an index into a body; its number in the union, and its slots."""


def coo(*rows: Sequence[int], **slots: Any) -> Index:
    """Coordinates, one row per value."""

    def lay(layer: _Layer) -> tuple[int, Values]:
        place = layer.add(i8(*(number for row in rows for number in row)))
        return 1, {"indicesType": INT64_INDEX, "indicesBuffer": place} | slots

    return lay


def csx(pointers: Sequence[int], indices: Sequence[int], *, axis: int = 0, **slots: Any) -> Index:
    """Compressed rows, or columns with ``axis=1``."""

    def lay(layer: _Layer) -> tuple[int, Values]:
        made = {"compressedAxis": axis, "indptrType": INT64_INDEX, "indptrBuffer": layer.add(i8(*pointers))}
        made |= {"indicesType": INT64_INDEX, "indicesBuffer": layer.add(i8(*indices))}
        return 2, made | slots

    return lay


def csf(
    pointers: Sequence[Sequence[int]], indices: Sequence[Sequence[int]], axes: Sequence[int], **slots: Any
) -> Index:
    """Compressed fibers."""

    def lay(layer: _Layer) -> tuple[int, Values]:
        made: dict[str, Any] = {"indptrType": INT64_INDEX, "indicesType": INT64_INDEX, "axisOrder": list(axes)}
        made["indptrBuffers"] = [layer.add(i8(*level)) for level in pointers]
        made["indicesBuffers"] = [layer.add(i8(*level)) for level in indices]
        return 3, made | slots

    return lay


def sparse_message(
    sizes: Sequence[int], values: Sequence[int], index: Index, *, ahead: int = 0, **header: Any
) -> bytes:
    """A sparse tensor of 32-bit integers; ``header`` replaces or adds slots."""
    layer = _Layer()
    number, slots = index(layer)
    made = INT32 | {"shape": shaped(*sizes), "non_zero_length": len(values)}
    made |= {"sparseIndex_type": number, "sparseIndex": slots, "data": layer.add(i4(*values))}
    return _message(SPARSE_TENSOR, made | header, bytes(layer.body), ahead)
