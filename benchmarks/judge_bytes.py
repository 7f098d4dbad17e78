"""The cost of reading bytes strictly, as a multiple of pyarrow's own reading with full validation.

Prints one line per batch: the least processor time of ``read_batch`` and of ``pyarrow.ipc.read_record_batch`` with
``validate(full=True)``, the median of their ratios, the bar, and the most memory that ``read_batch`` took. Both are
measured in turns, so that other work on the machine slows both alike. The exit status says whether all bars hold.

Large batches are 64 MiB of text and int64. In most, every value is the same sentence: a processor then foresees the
length of each character, and pyarrow is at its fastest. In the last, characters of all lengths come in random order.

    python -m benchmarks.judge_bytes
"""

from __future__ import annotations

import argparse
import datetime as dt
import decimal
import random
import statistics
import sys
import time
import tracemalloc
from collections.abc import Callable, Mapping
from typing import Final

import numpy as np
import pyarrow as pa

from conformance.wire import read_batch, read_schema

SMALL_ROWS: Final = 12
BIG_BYTES: Final = 64 << 20
MIB: Final = 1 << 20

SENTENCES: Final[Mapping[str, str]] = {
    "ASCII": "the quick brown fox jumps",
    "accented": "le cœur a ses raisons, été",
    "CJK": "敏捷的棕色狐狸跳过懒狗",
    "emoji": "😀🎉🚀🐍🌍🤖👍🏽🔥",
    "mixed": "naïve 東京 😀 один дом, καλημέρα 한국어 and plain text",
    "one emoji in forty": "the quick brown fox jumps over the lazy😀",
}
"""A sentence of each kind of text."""
AT_RANDOM: Final = "mixed at random"
BARS: Final = dict.fromkeys((*SENTENCES, AT_RANDOM), 1.0) | {"one emoji in forty": 1.2}
"""The most that ``read_batch`` may take, as a multiple of pyarrow, by kind of text."""


def small(first: int = 0) -> pa.RecordBatch:
    """Ten columns of the types that BigQuery sends, twelve rows that count from ``first``, nulls in each."""
    rows = range(SMALL_ROWS)
    day = dt.date(2024, 1, 1)
    columns = {
        "int64": pa.array([None if row == 3 else first + row for row in rows], pa.int64()),
        "float64": pa.array([None if row == 4 else row / 3 for row in rows]),
        "bool": pa.array([None if row == 5 else row % 2 == 0 for row in rows]),
        "string": pa.array([None if row == 6 else f"value {first + row}" for row in rows]),
        "bytes": pa.array([None if row == 7 else bytes([row]) * row for row in rows]),
        "numeric": pa.array([None if row == 8 else decimal.Decimal(row) for row in rows], pa.decimal128(38, 9)),
        "date": pa.array([None if row == 9 else day for row in rows]),
        "time": pa.array([None if row == 1 else row for row in rows], pa.time64("us")),
        "timestamp": pa.array([None if row == 2 else row for row in rows], pa.timestamp("us", "UTC")),
        "array": pa.array([[row] * (row % 3) for row in rows], pa.list_(pa.int64())),
    }
    return pa.record_batch(list(columns.values()), names=list(columns))


def big(kind: str) -> pa.RecordBatch:
    """64 MiB of text of a kind and int64 with every tenth value null."""
    if kind in SENTENCES:
        text = SENTENCES[kind].encode()
        edges = np.array([0, len(text)])
    else:
        rng = random.Random(2026)  # noqa: S311  # the same text in each run
        values = ["".join(rng.choices("".join(SENTENCES.values()), k=rng.randrange(40))).encode() for _ in range(5000)]
        text, edges = b"".join(values), np.cumsum([0, *map(len, values)])
    turns = BIG_BYTES // (len(text) + 12 * (len(edges) - 1))
    sizes = np.tile(np.diff(edges), turns)
    rows = len(sizes)
    nulls = np.arange(rows) % 10 == 0
    bitmap = pa.py_buffer(np.packbits(~nulls, bitorder="little").tobytes())
    data = np.frombuffer(text * turns, np.uint8)[np.repeat(~nulls, sizes)]
    offsets = np.cumsum([0, *np.where(nulls, 0, sizes)]).astype(np.int32)
    buffers = [bitmap, pa.py_buffer(offsets.tobytes()), pa.py_buffer(data.tobytes())]
    strings = pa.Array.from_buffers(pa.utf8(), rows, buffers)
    numbers = pa.Array.from_buffers(pa.int64(), rows, [bitmap, pa.py_buffer(np.arange(rows).tobytes())])
    return pa.record_batch([strings, numbers], names=["text", "number"])


def best(action: Callable[[], object], *, repeats: int, loops: int) -> float:
    """The least processor time of one call, in seconds, over ``repeats`` runs of ``loops`` calls."""
    return min(_seconds(action, loops) for _ in range(repeats))


def in_turns(
    ours: Callable[[], object], theirs: Callable[[], object], *, repeats: int, loops: int
) -> tuple[float, float, float]:
    """The least processor time of one call of each, in seconds, and the median of the ratios of all turns."""
    times = [(_seconds(ours, loops), _seconds(theirs, loops)) for _ in range(repeats)]
    ratio = statistics.median(one / other for one, other in times)
    return min(one for one, _ in times), min(other for _, other in times), ratio


def _seconds(action: Callable[[], object], loops: int) -> float:
    start = time.process_time()
    for _ in range(loops):
        action()
    return (time.process_time() - start) / loops


def shown(
    name: str, measured: tuple[float, float, float], *, bar: float | None, more: str = "", other: str = "pyarrow"
) -> bool:
    """Print a line; whether the bar holds."""
    ours, theirs, ratio = measured
    holds = bar is None or ratio <= bar
    told = "no bar" if bar is None else f"bar {bar:g}{'' if holds else ', exceeded'}"
    print(
        f"{name:<48} {ours * 1e6:>9.1f} us   {other} {theirs * 1e6:>9.1f} us   ratio {ratio:>6.2f}   {told}{more}",
        flush=True,
    )
    return holds


def compare(name: str, batch: pa.RecordBatch, *, bar: float, repeats: int, loops: int) -> bool:
    """Print both times and their ratio for one batch; whether the bar holds."""
    schema_bytes, data = batch.schema.serialize().to_pybytes(), batch.serialize().to_pybytes()
    schema = read_schema(schema_bytes).schema
    if schema is None or read_batch(data, schema).faults:
        raise SystemExit(f"{name}: the batch must be read without a fault")
    arrow_schema = pa.ipc.read_schema(pa.py_buffer(schema_bytes))

    def decode() -> None:
        pa.ipc.read_record_batch(pa.py_buffer(data), arrow_schema).validate(full=True)

    measured = in_turns(lambda: read_batch(data, schema), decode, repeats=repeats, loops=loops)
    tracemalloc.start()
    read_batch(data, schema)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return shown(name, measured, bar=bar, more=f"   {peak / MIB:.2f} MiB")


def main() -> int:
    """Print the ratios."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--loops", type=int, default=500, help="calls per measurement of the small batch")
    options = parser.parse_args()
    held = [compare("10 columns, 12 rows", small(), bar=15, repeats=21, loops=options.loops)]
    held += [compare(f"64 MiB, {kind}", big(kind), bar=bar, repeats=11, loops=1) for kind, bar in BARS.items()]
    return 0 if all(held) else 1


if __name__ == "__main__":
    sys.exit(main())
