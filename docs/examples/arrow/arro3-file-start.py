"""arro3 0.9.1: the stream inside a file begins at byte 64, after zeros, and not at byte 8."""

import io
import sys

import arro3.core
import arro3.io

sink = io.BytesIO()
arro3.io.write_ipc(arro3.core.Table.from_pydict({"n": arro3.core.Array([1, 2], arro3.core.DataType.int8())}), sink)
data = sink.getvalue()
for start in (8, 64):
    try:
        rows = arro3.io.read_ipc_stream(io.BytesIO(data[start:])).read_all().num_rows
        sys.stdout.write(f"from byte {start}: {data[start : start + 4].hex(' ')}, {rows} rows\n")
    except Exception as error:  # noqa: BLE001  # arro3 raises no narrower class
        sys.stdout.write(f"from byte {start}: {data[start : start + 4].hex(' ')}, {type(error).__name__}: {error}\n")
