"""nanoarrow 0.9.0: `to_pylist()` gives another number for a negative decimal."""

import sys

import nanoarrow

written = (-120).to_bytes(16, "little", signed=True)
array = nanoarrow.c_array_from_buffers(nanoarrow.decimal128(5, 2), 1, [None, written])
sys.stdout.write(f"read {nanoarrow.Array(array).to_pylist()}, written -1.20\n")
