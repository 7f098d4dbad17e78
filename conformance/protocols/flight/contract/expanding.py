"""The size of rows once they are decoded: a few bytes on the wire can become gigabytes, or any number of rows."""

from __future__ import annotations

from typing import Final

import pyarrow as pa

__all__ = ["MOST_EXPANDED", "MOST_ROWS", "expanded"]

MOST_EXPANDED: Final = 256 << 20
"""The bytes of decoded dictionary columns of one stream up to which its rows are compared."""
MOST_ROWS: Final = 4 << 20
"""The rows of one exchange, beyond twice those of the table for each stream, up to which they are compared."""
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

    used = pc.value_counts(chunk.indices.drop_null())
    total = 0
    # Values that nothing names cost nothing here, and the sum ends where it is known to be too large.
    for place, times in zip(used.field("values").to_pylist(), used.field("counts").to_pylist(), strict=True):
        total += _size(values, place) * times
        if total > MOST_EXPANDED:
            break
    return total


def _size(values: pa.Array, place: int) -> int:
    """The bytes of one value. A slice of views would count everything that their buffers have."""
    if "_view" not in str(values.type):
        return int(values.slice(place, 1).nbytes)
    scalar = values[place]
    return len(scalar.as_buffer() or b"") if hasattr(scalar, "as_buffer") else 0
