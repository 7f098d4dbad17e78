"""Arrow arrays from numpy pieces, without a copy and without a check.

This module decides how a slice of values becomes buffers: bitmaps only where a null is, no offset, no padding rules
(the IPC writer pads). The caller vouches for the pieces; a wrong piece makes a wrong array.
``nulls`` is everywhere a boolean array that is true where NULL stands, or None where nothing is NULL.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

__all__ = ["Bools", "Ints", "bits", "fixed", "lists", "offsets_of", "struct", "text"]

Bools: TypeAlias = npt.NDArray[np.bool_]
Ints: TypeAlias = npt.NDArray[np.int32]


def fixed(arrow: pa.DataType, raw: npt.NDArray[Any], nulls: Bools | None) -> pa.Array:
    """An array of fixed-width values; ``raw`` holds one item of the type's width per slot."""
    validity, null_count = _validity(nulls)
    return pa.Array.from_buffers(arrow, len(raw), [validity, pa.py_buffer(raw)], null_count)


def bits(arrow: pa.DataType, raw: Bools, nulls: Bools | None) -> pa.Array:
    """An array of bit-packed booleans."""
    validity, null_count = _validity(nulls)
    return pa.Array.from_buffers(arrow, len(raw), [validity, _packed(raw)], null_count)


def text(arrow: pa.DataType, offsets: Ints, data: bytes, nulls: Bools | None) -> pa.Array:
    """An array of utf8 or binary values; ``offsets`` has one entry more than there are slots."""
    validity, null_count = _validity(nulls)
    buffers = [validity, pa.py_buffer(offsets), pa.py_buffer(data)]
    return pa.Array.from_buffers(arrow, len(offsets) - 1, buffers, null_count)


def struct(arrow: pa.DataType, length: int, children: list[pa.Array], nulls: Bools | None) -> pa.Array:
    """An array of structs over children of the same length."""
    validity, null_count = _validity(nulls)
    return pa.Array.from_buffers(arrow, length, [validity], null_count, children=children)


def lists(arrow: pa.DataType, offsets: Ints, items: pa.Array) -> pa.Array:
    """An array of lists, none of them NULL: BigQuery has no NULL array."""
    return pa.Array.from_buffers(arrow, len(offsets) - 1, [None, pa.py_buffer(offsets)], 0, children=[items])


def offsets_of(lengths: npt.NDArray[Any]) -> Ints:
    """The 32-bit offsets of values with these lengths."""
    offsets = np.zeros(len(lengths) + 1, np.int32)
    np.cumsum(lengths, out=offsets[1:])
    return offsets


def _validity(nulls: Bools | None) -> tuple[pa.Buffer | None, int]:
    if nulls is None:
        return None, 0
    null_count = int(np.count_nonzero(nulls))
    return (_packed(~nulls) if null_count else None), null_count


def _packed(flags: Bools) -> pa.Buffer:
    return pa.py_buffer(np.packbits(flags, bitorder="little"))
