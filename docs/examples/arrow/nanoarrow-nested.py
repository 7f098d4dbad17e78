"""nanoarrow 0.9.0: reading a schema of 60 structs in each other does not end; of 40, it ends at once."""

import io
import resource
import sys

import nanoarrow
from nanoarrow import ipc

for depth in (40, 60):
    schema = nanoarrow.int32()
    for _ in range(depth):
        schema = nanoarrow.struct({"x": schema})
    sink = io.BytesIO()
    with ipc.StreamWriter.from_writable(sink) as writer:
        writer.write_stream(nanoarrow.Array([], schema))
    sys.stdout.write(f"depth {depth}: ")
    sys.stdout.flush()
    # The kernel ends the process after five seconds of processor time.
    resource.setrlimit(resource.RLIMIT_CPU, (5, resource.RLIM_INFINITY))
    rows = len(nanoarrow.ArrayStream(ipc.InputStream.from_readable(io.BytesIO(sink.getvalue()))).read_all())
    sys.stdout.write(f"{rows} rows\n")
