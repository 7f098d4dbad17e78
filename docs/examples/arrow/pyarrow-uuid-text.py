"""pyarrow 26.0.1: a stream with `arrow.uuid` on text, which pyarrow has written, is refused. 16.1.0 reads it."""

import sys

import pyarrow as pa

extension = {"ARROW:extension:name": "arrow.uuid", "ARROW:extension:metadata": ""}
batch = pa.RecordBatch.from_arrays(
    [pa.array(["a"])], schema=pa.schema([pa.field("u", pa.string(), metadata=extension)])
)
sink = pa.BufferOutputStream()
with pa.ipc.new_stream(sink, batch.schema) as writer:
    writer.write_batch(batch)
try:
    sys.stdout.write(f"{pa.ipc.open_stream(sink.getvalue()).read_all().num_rows} row\n")
except pa.ArrowInvalid as error:
    sys.stdout.write(f"{error}\n")
