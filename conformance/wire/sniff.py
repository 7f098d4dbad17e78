"""What bytes are at a glance: a message, a stream, a file or a tensor.

A guess for those who do not say what they have; nothing is judged here.
"""

from __future__ import annotations

from typing import Final

from conformance.wire.closed import Kind
from conformance.wire.footer import MAGIC
from conformance.wire.messages import Bytes, Header, read_messages

__all__ = ["sniff"]

_TENSORS: Final = (Header.TENSOR, Header.SPARSE_TENSOR)
_LOOKED_AT: Final = 3
_SHORTEST: Final = 4


def sniff(data: Bytes) -> Kind:
    """The kind that the bytes most resemble; never raises on what they hold.

    A magic at either end makes a file, a tensor first a tensor. A schema that anything follows is a stream, and so is
    an end-of-stream marker among the first messages; everything else counts as a message.

    >>> sniff(b"ARROW1")
    <Kind.FILE: 'file'>
    """
    view = memoryview(data).cast("B")
    if _is_magic(bytes(view[: len(MAGIC)])) or bytes(view[-len(MAGIC) :]) == MAGIC:
        return Kind.FILE
    first, *others = [message.header for message in read_messages(view, limit=_LOOKED_AT)] or [Header.STRAY]
    if first in _TENSORS:
        return Kind.TENSOR
    if first is Header.END_OF_STREAM or (others and first is Header.SCHEMA):
        return Kind.STREAM
    return Kind.STREAM if len(others) > 0 and first not in (Header.STRAY, Header.UNKNOWN) else Kind.MESSAGE


def _is_magic(head: bytes) -> bool:
    """Whether the bytes begin as a file does, even if they are cut short."""
    return len(head) >= _SHORTEST and MAGIC.startswith(head)
