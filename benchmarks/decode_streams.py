"""Measures the decoding of a stream by this package's own reader, as a multiple of pyarrow's time.

Prints one line per stream: the processor time of ``read_stream`` with ``to_batches``, that of
``pyarrow.ipc.open_stream(...).read_all()`` with full validation, because the own reader judges every value, and their
ratio.
    python -m benchmarks.decode_streams
"""

from __future__ import annotations

import argparse
import io
from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from benchmarks.judge_bytes import best, big, small
from conformance.wire import read_stream

BATCHES = 50
WORDS = 10_000


def written(batches: Sequence[pa.RecordBatch], **options: object) -> bytes:
    """The batches as a stream that pyarrow writes."""
    sink = io.BytesIO()
    with pa.ipc.new_stream(sink, batches[0].schema, options=pa.ipc.IpcWriteOptions(**options)) as writer:
        for batch in batches:
            writer.write_batch(batch)
    return sink.getvalue()


def growing() -> list[pa.RecordBatch]:
    """Batches of a text column whose dictionary grows with each batch."""
    words = pa.array([f"word number {number}" for number in range(WORDS)])
    made = []
    for number in range(1, BATCHES + 1):
        known = number * WORDS // BATCHES
        indices = pa.array(np.arange(WORDS) % known, pa.int32())
        made.append(pa.record_batch([pa.DictionaryArray.from_arrays(indices, words[:known])], names=["text"]))
    return made


def compare(name: str, data: bytes, *, loops: int) -> None:
    """Print both times and their ratio for one stream."""
    if read_stream(data).faults:
        raise SystemExit(f"{name}: the stream must be read without a fault")
    ours = best(lambda: read_stream(data).to_batches(), repeats=5, loops=loops)
    theirs = best(lambda: pa.ipc.open_stream(data).read_all().validate(full=True), repeats=5, loops=loops)
    line = f"{name:34} to_batches {ours * 1e6:12.1f} us   pyarrow {theirs * 1e6:12.1f} us   ratio {ours / theirs:6.2f}"
    print(line)


def main() -> None:
    """Run all comparisons."""
    argparse.ArgumentParser(description=__doc__.splitlines()[0]).parse_args()
    compare(f"{BATCHES} batches of 10 columns, 12 rows", written([small()] * BATCHES), loops=10)
    compare("64 MiB, ASCII text and int64", written([big("ASCII")]), loops=1)
    compare(f"{BATCHES} deltas of a dictionary", written(growing(), emit_dictionary_deltas=True), loops=5)


if __name__ == "__main__":
    main()
