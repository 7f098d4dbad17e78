"""polars 2.1.0: the schema message in a file has no prefix, so the stream inside the file cannot be read."""

import io
import sys

import polars as pl

sink = io.BytesIO()
pl.DataFrame({"n": [1, 2]}).write_ipc(sink)
data = sink.getvalue()
sys.stdout.write(f"after ARROW1 and its padding: {data[8:12].hex(' ')}, required: ff ff ff ff\n")
try:
    sys.stdout.write(f"{pl.read_ipc_stream(io.BytesIO(data[8:]))}\n")
except pl.exceptions.PolarsError as error:
    sys.stdout.write(f"the stream inside the file: {type(error).__name__}\n")
