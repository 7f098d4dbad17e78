"""A bitwise comparison of a serializer's batch with the table. Most batches are identical, and these need no
decoding.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import pyarrow as pa

from conformance.contract.comparing.declarations import Declarations, declared
from conformance.contract.view import View, once_per_view

__all__ = ["bit_for_bit"]


@once_per_view
def bit_for_bit(view: View) -> bool:
    """True if a serializer's only batch has exactly the bits of the table, under exactly the schema of its columns.

    Such a batch need not be decoded. False does not mean that the values differ: padding, absent bitmaps and the
    bytes under a NULL may have any value.
    """
    if len(view.serialized) != 1 or len(declared(view)) != 1 or Declarations.aspect.state(view) is None:
        return False
    batch = view.serialized[0]
    message = batch.message
    if message is None or batch.faults or message.body is None or message.length != view.table.num_rows:
        return False
    wanted, got = _buffers(view.table), message.body.contents
    return len(wanted) == len(got) and _same_bytes(wanted, got)


def _same_bytes(wanted: Sequence[pa.Buffer | None], got: Sequence[memoryview | None]) -> bool:
    """True if each buffer of ``wanted`` starts with that of ``got``. The lengths of ``got`` are enough, or the wire
    would have reported a fault.
    """
    for expected, content in zip(wanted, got, strict=True):
        if expected is None or content is None or not len(content):
            if content is None or len(content) or (expected is not None and expected.size):
                return False
        elif expected.size <= _SMALL:
            if not expected.to_pybytes().startswith(content.tobytes()):
                return False
        elif len(content) > expected.size or not expected.slice(0, len(content)).equals(pa.py_buffer(content)):
            return False
    return True


_SMALL: Final = 4096
"""The size in bytes up to which comparing Python bytes is faster than comparing pyarrow buffers."""


def _buffers(table: pa.Table) -> list[pa.Buffer | None]:
    """Return the buffers of a table in the order of a batch; no buffers if a column has several chunks or an offset."""
    batches = table.to_batches()
    columns = batches[0].columns if len(batches) == 1 else []
    return [] if any(column.offset for column in columns) else [one for column in columns for one in column.buffers()]
