"""Where the vtables of a message's metadata are: any place is legal, and some readers know only some of them."""

from __future__ import annotations

import struct
from collections.abc import Iterator

from conformance.wire.flatbuf import FlatTable, Verifier

__all__ = ["has_early_vtable"]


def has_early_vtable(metadata: bytes) -> bool:
    """True if a table of a message has a vtable that comes before what refers to the table: the table above it, or a
    vector.

    A builder that writes from back to front never makes one: a vtable is next to the last of its tables.
    """
    root = Verifier(metadata, 0, []).root("Message")
    return root is not None and any(table.vtable < above for above, table in _below(root, metadata))


def _below(table: FlatTable, metadata: bytes) -> Iterator[tuple[int, FlatTable]]:
    """The tables below a table, each with the place of what refers to it."""
    for at, value in zip(table.places, table.values, strict=False):
        if isinstance(value, FlatTable):
            yield table.start, value
            yield from _below(value, metadata)
        elif isinstance(value, list):
            vector = at + struct.unpack_from("<I", metadata, at)[0]
            for one in value:
                if isinstance(one, FlatTable):
                    yield vector, one
                    yield from _below(one, metadata)
