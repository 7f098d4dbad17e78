"""More bytes for server.py: buffers that are short ones, some outside the body; an old version; one column more."""

import faults
import pyarrow as pa
from faults import ONE_TWO, put

_, NINE = faults.written(pa.array([None, *range(1, 9)], pa.int64()))
OF_TEXTS = {"short-offsets": put("q", 112, 8), "version-absent": put("h", 34, 0)}
OF_NUMBERS = {
    "short-data": put("q", 112, 0, ONE_TWO),
    "buffer-before-body": put("q", 104, -8, ONE_TWO),
    "buffer-beyond-body": put("q", 104, 1 << 20, ONE_TWO),
    "short-bitmap": put("q", 96, 1, NINE).replace(b"\xfe\x01", b"\xfe\0"),  # the last of nine is behind it
}


TWO = pa.record_batch({"s": ["a", "bb"], "t": ["a", "bb"]})


def table(fault: str) -> tuple[bytes, bytes, bytes]:
    """The bytes of the schema and of the two batches."""
    if fault == "two-columns":
        return TWO.schema.serialize().to_pybytes(), *([TWO.serialize().to_pybytes()] * 2)
    faults.BATCHES.update(OF_TEXTS)
    faults.OF_NUMBERS.update(OF_NUMBERS)
    return faults.table(fault)
