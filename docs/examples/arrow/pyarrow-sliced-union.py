"""pyarrow 26.0.1: a slice of a union is written with bytes of the memory behind its type ids."""

import sys

import pyarrow as pa

memory = pa.py_buffer(bytes(100) + b"bytes of another array" + bytes(100))
column = pa.UnionArray.from_buffers(
    pa.sparse_union([pa.field("n", pa.int8())]),
    100,
    [None, memory.slice(0, 100)],
    children=[pa.array([1] * 100, pa.int8())],
)
for start in (0, 60):
    batch = pa.record_batch({"u": column}).slice(start)
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema) as writer:
        writer.write_batch(batch)
    published = b"bytes of another array" in sink.getvalue().to_pybytes()
    sys.stdout.write(f"rows {start} to 99: published {published}\n")
