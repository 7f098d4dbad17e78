"""A number as Avro writes it (https://avro.apache.org/docs/1.12.0/specification/#binary-encoding)."""

from __future__ import annotations

__all__ = ["zigzag"]


def zigzag(value: int) -> bytes:
    """A long of 64 bits: the sign in the lowest bit, seven bits in each byte, the lowest first."""
    rest, made = (value << 1) ^ (value >> 63), bytearray()
    while rest > 0x7F:
        made.append(rest & 0x7F | 0x80)
        rest >>= 7
    return bytes([*made, rest])
