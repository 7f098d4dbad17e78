"""Mangled bytes: seeded, of every kind of change, and not too long."""

from __future__ import annotations

import io

import pyarrow as pa

from conformance.generate.mangling import mangled
from conformance.wire import read_file, read_stream


def written(*, file: bool = False) -> bytes:
    """A stream or file of two batches."""
    batch = pa.RecordBatch.from_pydict({"x": pa.array(["a", None, "ccc"]), "y": pa.array([1, 2, 3])})
    sink = io.BytesIO()
    make = pa.ipc.new_file if file else pa.ipc.new_stream
    with make(sink, batch.schema) as writer:
        writer.write(batch)
        writer.write(batch)
    return sink.getvalue()


def test_the_same_arguments_give_the_same_bytes() -> None:
    """A mangled input is replayed from seed and number."""
    assert [mangled(written(), 7, number) for number in range(50)] == [
        mangled(written(), 7, number) for number in range(50)
    ]


def test_changes_break_many_different_rules() -> None:
    """A few hundred changes of a stream break dozens of rules of the wire, and some changes are legal."""
    readings = [read_stream(mangled(written(), 0, number)) for number in range(300)]
    rules = {fault.rule for reading in readings for fault in reading.violations}

    assert len(rules) > 30
    assert any(not reading.violations for reading in readings)


def test_changes_of_a_file_reach_its_footer() -> None:
    """Faults that only a footer can have are made as well."""
    readings = [read_file(mangled(written(file=True), 0, number)) for number in range(300)]
    groups = {fault.rule.partition(".")[0] for reading in readings for fault in reading.violations}

    assert {"footer", "flatbuf", "message"} <= groups


def test_bytes_stay_short() -> None:
    """No change makes an input much longer, whatever it began with."""
    for data in (b"", b"\0", b"ARROW1", written()):
        assert all(len(mangled(data, 1, number)) <= 2 * len(data) + 8 for number in range(200))
