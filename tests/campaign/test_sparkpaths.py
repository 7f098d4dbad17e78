from __future__ import annotations

import struct
from collections.abc import Sequence

import pyarrow as pa
import pytest

from conformance.campaign.sparkpaths import _cut

SCHEMA = pa.schema([pa.field("a", pa.int64())])


def collected(order: Sequence[int], *, error: str = "") -> bytes:
    """The messages of a driver's JVM: batches of one row that holds their place, then the places, or an error."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, SCHEMA) as writer:
        for place in order:
            writer.write_batch(pa.record_batch([pa.array([place], pa.int64())], SCHEMA))
    indices = [list(order).index(place) for place in range(len(order))]
    tail = struct.pack(f">i{len(indices)}i", len(indices), *indices)
    if error:
        tail = struct.pack(">ii", -1, len(error)) + error.encode()
    data: bytes = sink.getvalue().to_pybytes()
    return data + tail


@pytest.mark.parametrize("order", [(), (0,), (2, 0, 1), (3, 1, 0, 2)])
def test_batches_come_in_the_order_of_the_rows(order: Sequence[int]) -> None:
    """Whichever partition was done first."""
    schema, batches = _cut(collected(order))
    read = [pa.ipc.read_record_batch(pa.py_buffer(one), SCHEMA).column(0)[0].as_py() for one in batches]

    assert pa.ipc.read_schema(pa.py_buffer(schema)) == SCHEMA
    assert read == sorted(order)


def test_an_error_behind_the_stream_is_an_error() -> None:
    """In Spark's own words."""
    with pytest.raises(ValueError, match="Spark ends its stream with an error: no memory"):
        _cut(collected((0, 1), error="no memory"))
