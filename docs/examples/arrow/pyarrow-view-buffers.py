"""pyarrow 22.0.0: a batch that declares 2^31 - 1 data buffers for a view ends the process. 24.0.0 refuses it."""

import struct
import sys

import pyarrow as pa

batch = pa.record_batch({"v": pa.array(["a text of more than twelve bytes"] * 3, pa.string_view())})
sink = pa.BufferOutputStream()
with pa.ipc.new_stream(sink, batch.schema) as writer:
    start = sink.tell()
    writer.write_batch(batch)
data = bytearray(sink.getvalue().to_pybytes())
at = data.index(struct.pack("<iq", 1, 1), start) + 4  # variadicBufferCounts, a vector of one number
struct.pack_into("<q", data, at, 2**31 - 1)
sys.stdout.write("reading\n")
sys.stdout.flush()
try:
    pa.ipc.open_stream(bytes(data)).read_all()
except (pa.ArrowInvalid, OSError) as error:
    sys.stdout.write(f"refused: {error}\n")
