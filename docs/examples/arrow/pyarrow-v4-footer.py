"""pyarrow 26.0.1: in a file of version V4, the messages say V4 and the footer says V5."""

import struct
import sys

import pyarrow as pa

schema = pa.schema({"n": pa.int32()})
sink = pa.BufferOutputStream()
options = pa.ipc.IpcWriteOptions(metadata_version=pa.ipc.MetadataVersion.V4)
with pa.ipc.new_file(sink, schema, options=options):
    pass
data = sink.getvalue().to_pybytes()


def version(root: int) -> str:
    """The version of a Message or a Footer: the first field of both. V1 is 0, and V5 is 4."""
    table = root + struct.unpack_from("<i", data, root)[0]
    field = struct.unpack_from("<H", data, table - struct.unpack_from("<i", data, table)[0] + 4)[0]
    return f"V{struct.unpack_from('<h', data, table + field)[0] + 1}"


length = struct.unpack_from("<i", data, len(data) - 10)[0]
sys.stdout.write(f"schema message {version(16)}, footer {version(len(data) - 10 - length)}\n")
