"""Bodies in big-endian byte order: which bytes of a buffer are numbers.

Metadata, prefixes of messages and of compressed buffers, bitmaps and text keep their bytes
(https://arrow.apache.org/docs/format/Columnar.html#byte-order-endianness).
"""

from __future__ import annotations

import struct

from conformance.reference.body import Part

__all__ = ["swap"]


def swap(part: Part) -> None:
    """Swaps the bytes of the numbers in a little-endian buffer, in place."""
    if part.role == "views":
        part.data = b"".join(_view(part.data[start : start + 16]) for start in range(0, len(part.data), 16))
    elif part.unit != (1,):
        part.data = _swapped(part.data, part.unit)


def _view(view: bytes) -> bytes:
    """One view: the length is a number; buffer and offset are, the prefix and inline bytes are not."""
    (length,) = struct.unpack_from("<i", view)
    if length <= 12:
        return view[3::-1] + view[4:]
    return view[3::-1] + view[4:8] + view[11:7:-1] + view[:11:-1]


def _swapped(data: bytes, unit: tuple[int, ...]) -> bytes:
    out, position = bytearray(), 0
    while position < len(data):
        for width in unit:
            out += data[position : position + width][::-1]
            position += width
    return bytes(out)
