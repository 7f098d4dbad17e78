"""nanoarrow 0.9.0: `keysSorted` of a map is written as the byte 4. A boolean is 0 or 1."""

import io
import struct
import sys

import nanoarrow
from nanoarrow import ipc

sink = io.BytesIO()
pairs = nanoarrow.map_(nanoarrow.string(nullable=False), nanoarrow.int32(), keys_sorted=True)
with ipc.StreamWriter.from_writable(sink) as writer:
    writer.write_stream(nanoarrow.Array([], nanoarrow.struct({"m": pairs})))
data = sink.getvalue()


def field(table: int, number: int) -> int:
    """Where a field of a table is, and where it leads if it is an offset."""
    vtable = table - struct.unpack_from("<i", data, table)[0]
    at = table + struct.unpack_from("<H", data, vtable + 4 + 2 * number)[0]
    return at + (struct.unpack_from("<i", data, at)[0] if number else 0)


message = 8 + struct.unpack_from("<i", data, 8)[0]
column = field(field(message, 2), 1) + 4
the_map = field(column + struct.unpack_from("<i", data, column)[0], 3)
sys.stdout.write(f"keysSorted is the byte {data[field(the_map, 0)]}\n")
