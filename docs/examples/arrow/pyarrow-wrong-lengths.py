"""pyarrow 26.0.1: a buffer that ends after the file is refused, and since 24.0.0 a footer that shortens a body."""

import struct
import sys

import pyarrow as pa

batch = pa.record_batch({"n": pa.array([1, 2, 3], pa.int32())})
sink = pa.BufferOutputStream()
with pa.ipc.new_file(sink, batch.schema) as writer:
    writer.write_batch(batch)
data = sink.getvalue().to_pybytes()

# The three values take 12 bytes, and the body 16. The last length of a body in a file is that of the footer's block.
block = data.rindex(struct.pack("<q", 16))
short = data[:block] + struct.pack("<q", 8) + data[block + 8 :]
long = data.replace(struct.pack("<qq", 0, 12), struct.pack("<qq", 0, 2**31 - 1))

for what, changed in (("unchanged", data), ("shorter body", short), ("longer buffer", long)):
    assert what == "unchanged" or changed != data
    try:
        rows = pa.ipc.open_file(pa.py_buffer(changed)).read_all().num_rows
        sys.stdout.write(f"{what}: {rows} rows\n")
    except (pa.ArrowInvalid, OSError) as error:
        sys.stdout.write(f"{what}: {type(error).__name__}: {error}\n")
