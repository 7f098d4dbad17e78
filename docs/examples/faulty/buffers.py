"""More bytes for server.py: buffers that are short ones, some outside the body; an old version; one column more."""

import faults
import pyarrow as pa
from faults import ONE_TWO, put

_, NINE = faults.written(pa.array([None, *range(1, 9)], pa.int64()))
OF_TEXTS = {"negative-body": put("q", 40, -1), "short-offsets": put("q", 112, 8), "version-absent": put("h", 34, 0)}
OF_NUMBERS = {
    "short-data": put("q", 112, 0, ONE_TWO),
    "buffer-before-body": put("q", 104, -8, ONE_TWO),
    "buffer-beyond-body": put("q", 104, 1 << 20, ONE_TWO),
    "short-bitmap": put("q", 96, 1, NINE).replace(b"\xfe\x01", b"\xfe\0"),  # the last of nine is behind it
}


TWO = pa.record_batch({"s": ["a", "bb"], "t": ["a", "bb"]})
NO_ROWS = pa.record_batch([pa.array([], pa.string())], names=["s"]).serialize().to_pybytes()
CODES = pa.record_batch({"s": pa.array(["a", "bb"]).dictionary_encode()})
OTHERS = {"two-columns": TWO, "no-dictionary": CODES}


def table(fault: str) -> tuple[bytes, bytes, bytes]:
    """The bytes of the schema and of the two batches."""
    if fault in OTHERS:
        batch = OTHERS[fault]
        return batch.schema.serialize().to_pybytes(), *([batch.serialize().to_pybytes()] * 2)
    faults.BATCHES.update(OF_TEXTS)
    faults.OF_NUMBERS.update(OF_NUMBERS)
    return faults.table(fault)
