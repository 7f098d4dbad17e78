"""Documented changes of unit, made on the rows that a reader is expected to return."""

from __future__ import annotations

import pyarrow as pa
import pytest

from conformance.readers.ipc import IpcReaderInfo
from conformance.readers.ipc.rewrites import as_read_by
from conformance.readers.rewrite import Rewrite
from conformance.wire.plain import plain_table

INFO = IpcReaderInfo(
    "r",
    "R",
    "R",
    rewrites=(
        Rewrite("timestamp[s]", "timestamp[ms]", "https://example.org"),
        Rewrite("time32[ms]", "time64[ns]", "https://example.org"),
        Rewrite("string", "string_view", "https://example.org"),
    ),
)


@pytest.mark.parametrize(
    ("array", "expected"),
    [
        (pa.array([-1, None], pa.timestamp("s")), [-1000, None]),
        (pa.array([7], pa.timestamp("s", "UTC")), [7000]),
        (pa.array([7], pa.timestamp("us")), [7]),
        (pa.array([7], pa.time32("ms")), [7_000_000]),
        (pa.array([7], pa.time32("s")), [7]),
        (pa.array(["x"]), ["x"]),
        (pa.array([[1, None], None], pa.list_(pa.timestamp("s"))), [[1000, None], None]),
        (pa.array([[1]], pa.list_(pa.int64())), [[1]]),
        (
            pa.array([{"a": 1, "b": 2}, None], pa.struct([("a", pa.timestamp("s")), ("b", pa.int8())])),
            [{"struct": [1000, 2]}, None],
        ),
        (pa.array([[(1, 2)], None], pa.map_(pa.int8(), pa.timestamp("s"))), [{"map": [[1, 2000]]}, None]),
        (pa.array([[("k", 2)]], pa.map_(pa.string(), pa.int8())), [{"map": [["k", 2]]}]),
        (pa.array([1, 1], pa.timestamp("s")).dictionary_encode(), [1000, 1000]),
    ],
    ids=lambda value: str(value.type) if isinstance(value, pa.Array) else "",
)
def test_units(array: pa.Array, expected: list[object]) -> None:
    """A value in a unit that changes is multiplied, at any depth; nothing else is."""
    batch = pa.record_batch([array], names=["a"])

    assert as_read_by(INFO, plain_table([batch]), batch.schema).columns == (expected,)


def test_reader_without_rewrites() -> None:
    """Without documented changes the rows are the rows."""
    batch = pa.record_batch({"a": pa.array([1], pa.timestamp("s"))})
    table = plain_table([batch])

    assert as_read_by(IpcReaderInfo("r", "R", "R"), table, batch.schema) is table
