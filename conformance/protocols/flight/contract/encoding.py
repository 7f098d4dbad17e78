"""Writes the messages of Arrow Flight RPC, field by field, without a protobuf library.

A message is the concatenation of its fields, so that a caller can leave a field out, repeat it or put it in another
place. The numbers are those of https://github.com/apache/arrow/blob/main/format/Flight.proto, the encoding is that of
https://protobuf.dev/programming-guides/encoding/.
"""

from __future__ import annotations

import struct
from typing import Final

from conformance.protocols.flight.records import Descriptor

__all__ = [
    "BODY",
    "HEADER",
    "action",
    "data",
    "descriptor",
    "double",
    "number",
    "part",
    "text",
    "varint",
]

_VARINT, _DELIMITED = 0, 2
_PATH, _CMD = 1, 2
HEADER: Final = 2
"""The number of ``FlightData.data_header``."""
BODY: Final = 1000
"""The number of ``FlightData.data_body``."""


def varint(value: int) -> bytes:
    """A number as a varint; a negative one is written in ten bytes, as the two's complement of 64 bits."""
    value &= (1 << 64) - 1
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def part(field: int, value: bytes) -> bytes:
    """A field of bytes, of a string or of a message."""
    return varint(field << 3 | _DELIMITED) + varint(len(value)) + value


def text(field: int, value: str) -> bytes:
    """A field of text."""
    return part(field, value.encode())


def number(field: int, value: int) -> bytes:
    """A field of an integer, an enum or a boolean."""
    return varint(field << 3 | _VARINT) + varint(value)


def double(field: int, value: float) -> bytes:
    """A field of a double."""
    return varint(field << 3 | 1) + struct.pack("<d", value)


def descriptor(named: Descriptor) -> bytes:
    """A FlightDescriptor: its type, and the path or the command that belongs to it."""
    if named.path:
        return number(1, _PATH) + b"".join(text(3, step) for step in named.path)
    return number(1, _CMD) + part(2, named.cmd)


def data(header: bytes = b"", body: bytes = b"", *, of: bytes | None = None, metadata: bytes | None = None) -> bytes:
    """A FlightData: the descriptor ``of``, ``data_header``, ``app_metadata`` and ``data_body``; an empty header or body
    is left out.
    """
    return b"".join(
        part(field, value)
        for field, value in ((1, of), (HEADER, header or None), (3, metadata), (BODY, body or None))
        if value is not None
    )


def action(kind: str, body: bytes = b"") -> bytes:
    """An Action."""
    return text(1, kind) + (part(2, body) if body else b"")
