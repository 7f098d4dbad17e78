"""A bitwise comparison of a serializer's batch with the table. Most batches are identical, and these need no
decoding.
"""

from __future__ import annotations

from typing import Final

import pyarrow as pa

from conformance.contract.comparing.declarations import Declarations, declared
from conformance.contract.subjects import once_per_view
from conformance.contract.view import View

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
    return view.table.num_rows > 0 and len(wanted) == len(got) and all(map(_same_bytes, wanted, got))


def _same_bytes(wanted: pa.Buffer | bytes | None, got: memoryview | None) -> bool:
    """True if ``wanted`` starts with ``got``. The length of ``got`` is enough, or the wire would have reported a
    fault.
    """
    if wanted is None or got is None:
        return wanted is None and got is not None and not len(got)
    if isinstance(wanted, bytes):
        return wanted.startswith(got.tobytes()) and (len(got) > 0 or not wanted)
    return 0 < len(got) <= wanted.size and bool(wanted.slice(0, len(got)).equals(pa.py_buffer(got)))


_SMALL: Final = 4096
"""The size in bytes up to which comparing Python bytes is faster than comparing pyarrow buffers."""


def _buffers(table: pa.Table) -> list[pa.Buffer | bytes | None]:
    """Return the buffers of a table in the order of a batch; no buffers if a column has several chunks or an offset."""
    chunks = [column.chunks for column in table.columns]
    whole = all(len(found) == 1 and found[0].offset == 0 for found in chunks)
    buffers = [buffer for found in chunks for buffer in found[0].buffers()] if whole else []
    return [buffer.to_pybytes() if buffer is not None and buffer.size <= _SMALL else buffer for buffer in buffers]
