"""Arrow arrays from numpy pieces, without a copy and without a check.

This module defines how a slice of values becomes buffers: bitmaps only if a value is NULL, no offset, no padding
(the IPC writer pads). The caller guarantees correct pieces; a wrong piece makes a wrong array.
``nulls`` is always a result of :func:`validity`: a validity bitmap, None if nothing is NULL, and the null count.
"""

from __future__ import annotations

from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

__all__ = [
    "ALL_VALID",
    "Bools",
    "Ints",
    "Validity",
    "bits",
    "fixed",
    "lists",
    "offsets_of",
    "struct",
    "text",
    "validity",
]

Bools: TypeAlias = npt.NDArray[np.bool_]
Ints: TypeAlias = npt.NDArray[np.int32]
Validity: TypeAlias = tuple[pa.Buffer | None, int]

ALL_VALID: Final[Validity] = (None, 0)
"""The validity of slots that are all valid."""


def fixed(arrow: pa.DataType, raw: npt.NDArray[Any], nulls: Validity) -> pa.Array:
    """Return an array of fixed-width values; ``raw`` holds one item of the type's width per slot."""
    return pa.Array.from_buffers(arrow, len(raw), [nulls[0], pa.py_buffer(raw)], nulls[1])


def bits(arrow: pa.DataType, raw: Bools, nulls: Validity) -> pa.Array:
    """Return an array of bit-packed booleans."""
    return pa.Array.from_buffers(arrow, len(raw), [nulls[0], _packed(raw)], nulls[1])


def text(arrow: pa.DataType, offsets: Ints, data: bytes, nulls: Validity) -> pa.Array:
    """Return an array of utf8 or binary values; ``offsets`` has one more entry than there are slots."""
    buffers = [nulls[0], pa.py_buffer(offsets), pa.py_buffer(data)]
    return pa.Array.from_buffers(arrow, len(offsets) - 1, buffers, nulls[1])


def struct(arrow: pa.DataType, length: int, children: list[pa.Array], nulls: Validity) -> pa.Array:
    """Return an array of structs over children of the same length."""
    return pa.Array.from_buffers(arrow, length, [nulls[0]], nulls[1], children=children)


def lists(arrow: pa.DataType, offsets: Ints, items: pa.Array) -> pa.Array:
    """Return an array of lists, none of them NULL: BigQuery has no NULL array."""
    return pa.Array.from_buffers(arrow, len(offsets) - 1, [None, pa.py_buffer(offsets)], 0, children=[items])


def offsets_of(lengths: npt.NDArray[Any]) -> Ints:
    """Return the 32-bit offsets of values with these lengths."""
    offsets = np.zeros(len(lengths) + 1, np.int32)
    np.add.accumulate(lengths, out=offsets[1:], dtype=np.int32)
    return offsets


def validity(nulls: Bools | None) -> Validity:
    """Return the validity of slots; ``nulls`` is True for each NULL slot, and None if no slot is NULL."""
    null_count = 0 if nulls is None else int(np.count_nonzero(nulls))
    return (_packed(~nulls), null_count) if nulls is not None and null_count else ALL_VALID


def _packed(flags: Bools) -> pa.Buffer:
    return pa.py_buffer(np.packbits(flags, bitorder="little"))
