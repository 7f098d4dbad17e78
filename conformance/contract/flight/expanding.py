"""The size of dictionary-encoded columns once they are decoded: a few bytes on the wire can become gigabytes."""

from __future__ import annotations

from typing import Final

import pyarrow as pa

__all__ = ["MOST_EXPANDED", "expanded"]

MOST_EXPANDED: Final = 256 << 20
"""The bytes of decoded dictionary columns of one stream up to which its rows are compared."""
_SMALL: Final = 1 << 20
"""A column that is smaller, whatever its indices are, is not looked at more closely."""


def expanded(column: pa.ChunkedArray) -> int:
    """Return the bytes of a column whose indices are replaced by their values; 0 for a column without a dictionary."""
    if not pa.types.is_dictionary(column.type):
        return 0
    return sum(_expanded(chunk) for chunk in column.chunks)


def _expanded(chunk: pa.DictionaryArray) -> int:
    values = chunk.dictionary
    # No value is larger than all together, which is all that has to be known of most columns.
    if values.nbytes * len(chunk) <= _SMALL:
        return int(values.nbytes * len(chunk))
    if pa.types.is_primitive(values.type):
        return int(values.type.bit_width) // 8 * len(chunk)
    import pyarrow.compute as pc  # noqa: PLC0415  # slow to import, and few columns come here

    if pa.types.is_binary(values.type) or pa.types.is_string(values.type):
        sizes = pc.binary_length(values)
    else:
        sizes = pa.array([values.slice(at, 1).nbytes for at in range(len(values))], pa.int64())
    return int(pc.sum(sizes.take(chunk.indices).cast(pa.int64())).as_py() or 0)
