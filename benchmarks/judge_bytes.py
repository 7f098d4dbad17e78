"""Measures the strict reading of bytes, as a multiple of the time of pyarrow's reading with full validation.

Prints one line per batch: the processor time of ``read_batch``, that of ``pyarrow.ipc.read_record_batch`` with
``validate(full=True)``, their ratio, and the bar for the full judging of such a batch.

    python -m benchmarks.judge_bytes
"""

from __future__ import annotations

import argparse
import datetime as dt
import decimal
import time
from collections.abc import Callable

import numpy as np
import pyarrow as pa

from conformance.wire import read_batch, read_schema

SMALL_ROWS = 12
BIG_BYTES = 64 << 20


def small() -> pa.RecordBatch:
    """Ten columns of the types that BigQuery sends, with twelve rows and a null in most columns."""
    rows = range(SMALL_ROWS)
    day = dt.date(2024, 1, 1)
    columns = {
        "int64": pa.array([None if row == 3 else row for row in rows], pa.int64()),
        "float64": pa.array([None if row == 4 else row / 3 for row in rows]),
        "bool": pa.array([None if row == 5 else row % 2 == 0 for row in rows]),
        "string": pa.array([None if row == 6 else f"value {row}" for row in rows]),
        "bytes": pa.array([None if row == 7 else bytes([row]) * row for row in rows]),
        "numeric": pa.array([None if row == 8 else decimal.Decimal(row) for row in rows], pa.decimal128(38, 9)),
        "date": pa.array([None if row == 9 else day for row in rows]),
        "time": pa.array([None if row == 1 else row for row in rows], pa.time64("us")),
        "timestamp": pa.array([None if row == 2 else row for row in rows], pa.timestamp("us", "UTC")),
        "array": pa.array([[row] * (row % 3) for row in rows], pa.list_(pa.int64())),
    }
    return pa.record_batch(list(columns.values()), names=list(columns))


def big(*, ascii_only: bool) -> pa.RecordBatch:
    """64 MiB of text and int64, in which every tenth value is null."""
    letters = "the quick brown fox jumps" if ascii_only else "le cœur a ses raisons, été"
    text = letters.encode()
    rows = BIG_BYTES // (len(text) + 4 + 8)
    nulls = np.arange(rows) % 10 == 0
    bitmap = pa.py_buffer(np.packbits(~nulls, bitorder="little").tobytes())
    offsets = np.concatenate([[0], np.cumsum(np.where(nulls, 0, len(text)))]).astype(np.int32)
    data = pa.py_buffer(text * int((~nulls).sum()))
    strings = pa.Array.from_buffers(pa.utf8(), rows, [bitmap, pa.py_buffer(offsets.tobytes()), data])
    numbers = pa.Array.from_buffers(pa.int64(), rows, [bitmap, pa.py_buffer(np.arange(rows).tobytes())])
    return pa.record_batch([strings, numbers], names=["text", "number"])


def best(action: Callable[[], object], *, repeats: int, loops: int) -> float:
    """The shortest processor time of one call in seconds, over ``repeats`` runs of ``loops`` calls."""
    times = []
    for _ in range(repeats):
        start = time.process_time()
        for _ in range(loops):
            action()
        times.append((time.process_time() - start) / loops)
    return min(times)


def compare(name: str, batch: pa.RecordBatch, *, bar: float, loops: int) -> None:
    """Print both times and their ratio for one batch."""
    schema_bytes, data = batch.schema.serialize().to_pybytes(), batch.serialize().to_pybytes()
    schema = read_schema(schema_bytes).schema
    if schema is None or read_batch(data, schema).faults:
        raise SystemExit(f"{name}: the batch must be read without a fault")
    arrow_schema = pa.ipc.read_schema(pa.py_buffer(schema_bytes))

    def decode() -> None:
        pa.ipc.read_record_batch(pa.py_buffer(data), arrow_schema).validate(full=True)

    ours = best(lambda: read_batch(data, schema), repeats=7, loops=loops)
    theirs = best(decode, repeats=7, loops=loops)
    print(
        f"{name:<34} read_batch {ours * 1e6:>10.1f} us   pyarrow {theirs * 1e6:>10.1f} us   "
        f"ratio {ours / theirs:>6.2f}   bar {bar:g}"
    )


def main() -> None:
    """Print the ratios."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--loops", type=int, default=2000, help="calls per measurement of the small batch")
    options = parser.parse_args()
    compare("10 columns, 12 rows", small(), bar=25, loops=options.loops)
    compare("64 MiB, ASCII text and int64", big(ascii_only=True), bar=2, loops=3)
    compare("64 MiB, accented text and int64", big(ascii_only=False), bar=2, loops=3)


if __name__ == "__main__":
    main()
