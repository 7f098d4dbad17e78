"""pyarrow 26.0.1: writing a union without rows, which was read from IPC, with compression ends the process."""

import sys

import pyarrow as pa

values = pa.UnionArray.from_sparse(pa.array([], pa.int8()), [pa.array([], pa.int32())], ["n"])
batch = pa.record_batch({"u": values})


def written(batch: pa.RecordBatch, codec: str | None) -> pa.Buffer:
    """A stream of the batch."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema, options=pa.ipc.IpcWriteOptions(compression=codec)) as writer:
        writer.write_batch(batch)
    return sink.getvalue()


read = pa.ipc.open_stream(written(batch, None)).read_next_batch()
read.validate(full=True)
for what, written_batch, codec in (("built", batch, "zstd"), ("read", read, None), ("read", read, "zstd")):
    sys.stdout.write(f"{what}, {codec}: ")
    sys.stdout.flush()
    sys.stdout.write(f"{written(written_batch, codec).size > 0}\n")
