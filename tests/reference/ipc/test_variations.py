"""Legal forms are legal: our own judge finds no violation, and every form says what the sample says."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

import pyarrow as pa
import pytest

from conformance.reference.ipc.register import Made
from conformance.reference.ipc.variations import IPC_VARIATIONS, IpcVariation
from conformance.reference.ipc.variations.files import EMBEDDED
from conformance.wire import read_stream
from conformance.wire.faults import Rule, Severity
from conformance.wire.file import FileReading, read_file
from conformance.wire.plain import plain_table
from conformance.wire.stream import StreamReading
from conformance.wire.tensors import TensorReading, read_tensor

REFUSED: Final = {"schema.index-type-absent": "Arrow C++ demands an index type (Schema.fbs: absent means int32)"}
"""Inputs that Arrow C++ should read, and does not."""


READERS: Final[Mapping[str, Callable[[bytes], StreamReading | FileReading | TensorReading]]] = {
    "stream": read_stream,
    "file": read_file,
    "tensor": read_tensor,
}


def judge(variation: IpcVariation, made: Made) -> list[Rule]:
    """The rules that the bytes violate."""
    return [fault.rule for fault in READERS[variation.kind](made.data).faults if fault.severity is Severity.VIOLATION]


@pytest.mark.parametrize("variation", IPC_VARIATIONS.values(), ids=IPC_VARIATIONS)
def test_variations_are_legal(variation: IpcVariation) -> None:
    """No rule is violated, and our own decoding gives the sample's rows."""
    made = list(variation.make())

    assert made
    for each in made:
        assert judge(variation, each) == ([Rule.FILE_MAGIC_START] if variation.name == EMBEDDED else [])
        if each.batches is not None and variation.kind != "tensor":
            reading = read_stream(each.data) if variation.kind == "stream" else read_file(each.data)
            assert rows(reading.to_batches()) == rows(each.batches)


@pytest.mark.parametrize(
    "variation",
    [each for each in IPC_VARIATIONS.values() if each.grade == "required" and each.name not in REFUSED],
    ids=lambda each: each.name,
)
def test_arrow_reads_what_a_reader_has_to_read(variation: IpcVariation) -> None:
    """Arrow C++ agrees on what every variation says that a reader owes."""
    for made in variation.make():
        if variation.kind == "tensor":
            if made.sample.startswith("dense"):
                assert pa.ipc.read_tensor(pa.py_buffer(made.data)).is_mutable is False
            continue
        reader = (pa.ipc.open_stream if variation.kind == "stream" else pa.ipc.open_file)(made.data)
        got = list(reader) if variation.kind == "stream" else pages(reader)
        assert made.batches is not None
        assert rows(got) == rows(made.batches)


def pages(reader: pa.RecordBatchFileReader) -> list[pa.RecordBatch]:
    """The batches of a file."""
    return [reader.get_batch(number) for number in range(reader.num_record_batches)]


def rows(batches: list[pa.RecordBatch]) -> list[object]:
    """The content of the batches without names: a variation may drop empty ones."""
    return [(table.rows, table.columns) for table in (plain_table([batch]) for batch in batches)]


def test_there_are_many_and_each_is_sourced() -> None:
    """Every variation names the text that permits it."""
    assert len(IPC_VARIATIONS) >= 50
    assert all(each.source.startswith("https://") and each.what for each in IPC_VARIATIONS.values())
