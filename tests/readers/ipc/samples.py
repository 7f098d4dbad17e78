"""Record batches of every type that pyarrow writes, and the bytes that it makes of them."""

from __future__ import annotations

import datetime as dt
import decimal
from collections.abc import Sequence
from typing import Final

import pyarrow as pa

__all__ = ["BASIC", "COLUMNS", "as_file", "as_stream", "batch_of"]

_DAY: Final = dt.date(2024, 2, 29)
_TIME: Final = dt.time(23, 59, 59)
_STAMP: Final = dt.datetime(1969, 12, 31, 23, 59, 59)  # noqa: DTZ001  # a wall-clock time, before the epoch
_SPAN: Final = dt.timedelta(days=-1, seconds=1)

BASIC: Final[dict[str, pa.Array]] = {
    **{
        str(kind): pa.array([0, None, 127], kind)
        for kind in (pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64())
    },
    "bool": pa.array([True, None, False]),
    "float32": pa.array([1.5, None, float("-inf")], pa.float32()),
    "float64": pa.array([-0.0, None, 0.1], pa.float64()),
    "utf8": pa.array(["", None, "Grüße, a text beyond an inline view"]),
    "binary": pa.array([b"", None, b"\x00\xff"]),
    "date32": pa.array([_DAY, None, _DAY], pa.date32()),
    "timestamp us": pa.array([_STAMP, None, _STAMP], pa.timestamp("us")),
    "decimal128": pa.array([decimal.Decimal("-1.23"), None, decimal.Decimal("99999999.99")], pa.decimal128(10, 2)),
    "list": pa.array([[1, None], None, []], pa.list_(pa.int32())),
    "struct": pa.array([{"a": 1, "b": "x"}, None, {"a": None, "b": None}]),
    "dictionary": pa.array(["x", None, "y"]).dictionary_encode(),
}
"""Types that every implementation reads."""

_UNION: Final = (
    pa.array([0, 1, 0], pa.int8()),
    [pa.array([1, 2, 3], pa.int32()), pa.array(["x", "y", "z"])],
)

COLUMNS: Final[dict[str, pa.Array]] = {
    **BASIC,
    "null": pa.nulls(3),
    "float16": pa.array([1.5, None, -2.0], pa.float16()),
    "large utf8": pa.array(["", None, "y"], pa.large_string()),
    "large binary": pa.array([b"", None, b"y"], pa.large_binary()),
    "utf8 view": pa.array(["inline", None, "a text beyond an inline view"], pa.string_view()),
    "binary view": pa.array([b"inline", None, b"bytes beyond an inline view"], pa.binary_view()),
    "fixed-size binary": pa.array([b"abc", None, b"xyz"], pa.binary(3)),
    "date64": pa.array([_DAY, None, _DAY], pa.date64()),
    "time32 ms": pa.array([_TIME, None, _TIME], pa.time32("ms")),
    "time64 ns": pa.array([1, None, 2], pa.time64("ns")),
    "timestamp s UTC": pa.array([_STAMP, None, _STAMP], pa.timestamp("s", "UTC")),
    "duration ms": pa.array([_SPAN, None, _SPAN], pa.duration("ms")),
    "month-day-nano": pa.array([(1, -2, 3), None, (0, 0, 0)], pa.month_day_nano_interval()),
    "decimal32": pa.array([decimal.Decimal("-1.23"), None, None], pa.decimal32(5, 2)),
    "decimal64": pa.array([decimal.Decimal("-1.23"), None, None], pa.decimal64(15, 2)),
    "decimal256": pa.array([decimal.Decimal("-1.23"), None, None], pa.decimal256(60, 2)),
    "large list": pa.array([[1], None, []], pa.large_list(pa.int32())),
    "list view": pa.array([[1], None, []], pa.list_view(pa.int32())),
    "fixed-size list": pa.array([[1, 2], None, [3, None]], pa.list_(pa.int32(), 2)),
    "map": pa.array([[("k", 1), ("l", None)], None, []], pa.map_(pa.string(), pa.int32())),
    "sparse union": pa.UnionArray.from_sparse(*_UNION),
    "dense union": pa.UnionArray.from_dense(_UNION[0], pa.array([0, 0, 1], pa.int32()), _UNION[1]),
    "run-end encoded": pa.RunEndEncodedArray.from_arrays(pa.array([2, 3], pa.int32()), pa.array(["x", None])),
}
"""Types that some implementations lack."""


def batch_of(column: pa.Array) -> pa.RecordBatch:
    """A record batch of one column, called ``a``."""
    return pa.record_batch([column], names=["a"])


def as_stream(batches: Sequence[pa.RecordBatch], schema: pa.Schema | None = None, **options: object) -> bytes:
    """The stream that pyarrow writes."""
    return _written(pa.ipc.new_stream, batches, schema, options)


def as_file(batches: Sequence[pa.RecordBatch], schema: pa.Schema | None = None, **options: object) -> bytes:
    """The file that pyarrow writes."""
    return _written(pa.ipc.new_file, batches, schema, options)


def _written(
    new: object, batches: Sequence[pa.RecordBatch], schema: pa.Schema | None, options: dict[str, object]
) -> bytes:
    sink = pa.BufferOutputStream()
    how = pa.ipc.IpcWriteOptions(**options)
    with new(sink, schema or batches[0].schema, options=how) as writer:  # type: ignore[operator]
        for batch in batches:
            writer.write_batch(batch)
    written: bytes = sink.getvalue().to_pybytes()
    return written
