"""pyarrow 26.0.1: the values of a compressed V4 stream, which pyarrow has written, are read as other numbers."""

import sys

import pyarrow as pa

batch = pa.record_batch({"n": [1, 2, 3]})
for version in (pa.ipc.MetadataVersion.V5, pa.ipc.MetadataVersion.V4):
    sink = pa.BufferOutputStream()
    options = pa.ipc.IpcWriteOptions(metadata_version=version, compression="lz4")
    with pa.ipc.new_stream(sink, batch.schema, options=options) as writer:
        writer.write_batch(batch)
    read = pa.ipc.open_stream(sink.getvalue()).read_all()
    read.validate(full=True)
    sys.stdout.write(f"{version.name}: {read['n'].to_pylist()}\n")
