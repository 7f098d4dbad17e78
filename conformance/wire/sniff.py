"""Guesses whether bytes are a message, a stream, a file or a tensor, for callers that do not know; judges nothing."""

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
    """The form that the bytes most resemble; no bytes make this function raise.

    A magic at either end means a file; a tensor as the first message means a tensor. A message followed by
    anything means a stream, and so does an end-of-stream marker at the start; everything else counts as a message.

    >>> sniff(b"ARROW1")
    <Kind.FILE: 'file'>
    """
    view = memoryview(data).cast("B")
    if _is_magic(bytes(view[: len(MAGIC)])) or bytes(view[-len(MAGIC) :]) == MAGIC:
        return Kind.FILE
    first, *others = [message.header for message in read_messages(view, limit=_LOOKED_AT)] or [Header.STRAY]
    if first in _TENSORS:
        return Kind.TENSOR
    followed = others and first not in (Header.STRAY, Header.UNKNOWN)
    return Kind.STREAM if followed or first is Header.END_OF_STREAM else Kind.MESSAGE


def _is_magic(head: bytes) -> bool:
    """True if the bytes begin like a file, even if they end inside the magic."""
    return len(head) >= _SHORTEST and MAGIC.startswith(head)
