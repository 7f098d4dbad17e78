"""The annotated dump of streams, files and tensors: every byte once, known parts by name, up to any break."""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa
import pytest

from conformance.wire import Dissection, Kind, RegionKind, Rule, SectionKind, dissect
from conformance.wire import lines as dump_lines
from conformance.wire.dump import rows
from tests.wire.breaking import END, GOOD_BATCH, GOOD_SCHEMA
from tests.wire.breaking_files import FILES, GOOD_FILE, GOOD_SPARSE, GOOD_TENSOR, TENSORS
from tests.wire.corpus import batches
from tests.wire.sealing import DELTA, SCHEMA, VALUES, encoded


def _covered(dissection: Dissection) -> Dissection:
    at = 0
    for region in dissection.regions:
        assert region.start == at < region.end
        at = region.end
    assert at == len(dissection.data)
    return dissection


def _unknown(dissection: Dissection) -> list[str]:
    return [region.meaning for region in dissection.regions if region.kind is RegionKind.UNKNOWN]


def _written(batch: pa.RecordBatch, kind: Kind) -> bytes:
    sink = pa.BufferOutputStream()
    new = pa.ipc.new_file if kind is Kind.FILE else pa.ipc.new_stream
    with new(sink, batch.schema) as writer:
        writer.write_batch(batch)
    return bytes(sink.getvalue().to_pybytes())


@pytest.mark.parametrize("kind", [Kind.STREAM, Kind.FILE])
def test_every_byte_of_pyarrow_is_covered_and_known(kind: Kind) -> None:
    """Of a legal stream or file no byte is of no known part, and there is nothing to remark."""
    every = batches()["every type"]
    columns = [*every.columns, pa.array(list("abba")).dictionary_encode()]
    batch = pa.RecordBatch.from_arrays(columns, [*every.schema.names, "level"])

    dissection = _covered(dissect(_written(batch, kind)))

    assert dissection.kind is kind
    assert _unknown(dissection) == []
    assert dissection.faults == ()
    assert any(region.path == "level" and region.value == "0, 1, 1, 0" for region in dissection.regions)
    assert any(region.path == "level" and region.value == "'ab'" for region in dissection.regions)


@pytest.mark.parametrize("data", [GOOD_TENSOR, *GOOD_SPARSE], ids=["dense", "COO", "CSX", "CSF"])
def test_every_byte_of_a_tensor_is_covered_and_known(data: bytes) -> None:
    """Buffers of a tensor are named, with their first values."""
    dissection = _covered(dissect(data))

    assert dissection.kind is Kind.TENSOR
    assert _unknown(dissection) == []
    assert dissection.faults == ()
    assert any(region.path == "data" and region.meaning == "int32" for region in dissection.regions)


def test_tensor_values_are_shown() -> None:
    """The first values of the data are in its row."""
    sink = pa.BufferOutputStream()
    pa.ipc.write_tensor(pa.Tensor.from_numpy(np.arange(10.0)), sink)

    assert any("0.0, 1.0, 2.0, 3.0, 4.0, 5.0, … 10 in all" in line for line in dump_lines(dissect(sink.getvalue())))


def test_file_is_set_in_sections() -> None:
    """Head, messages and footer each have a heading, and blocks say what they lead to."""
    dissection = _covered(dissect(GOOD_FILE))

    assert [section.kind for section in dissection.sections] == [
        *(SectionKind.OTHER, SectionKind.SCHEMA, SectionKind.BATCHES, SectionKind.BATCHES),
        *(SectionKind.OTHER, SectionKind.FOOTER),
    ]
    lines = dump_lines(dissection)
    assert lines[0].startswith("── head of the file, bytes 0 to 8 ")
    assert sum(line.endswith("· RecordBatch") for line in lines) == 2
    assert any("length of the footer" in line for line in lines)


def test_dump_is_limited_to_what_is_asked_for() -> None:
    """Of a dump of some sections nothing else is shown, and what is wrong elsewhere is counted."""
    dissection = dissect(FILES[Rule.FOOTER_SCHEMA_DIFFERS])

    footer = dump_lines(dissection, only=[SectionKind.FOOTER])
    both = [row.text for row in rows(dissection, only=[SectionKind.SCHEMA, SectionKind.DICTIONARIES])]

    assert footer[0].startswith("── footer of the file")
    assert sum(line.startswith("──") for line in footer) == 1
    assert any("footer.schema-differs" in line for line in footer)
    assert both[0].startswith("1. Schema message V5")
    assert both[-2:] == ["no dictionaries", "… 1 more faults in what is not shown"]


def test_dictionaries_of_a_stream_are_annotated() -> None:
    """A dictionary batch is read by the schema as a record batch is."""
    file = encoded(VALUES, DELTA)
    data = b"".join(file.messages) + END

    dissection = _covered(dissect(data))

    assert _unknown(dissection) == []
    shown = dissection.to_json(only=[SectionKind.DICTIONARIES])
    assert [section["title"].split(",")[0] for section in shown["sections"]] == [
        "2. DictionaryBatch message V5",
        "3. DictionaryBatch message V5",
    ]
    assert {region["value"] for region in shown["regions"] if region["path"] == "x"} == {"10, 20", "30"}


def test_what_follows_the_end_is_one_region() -> None:
    """Bytes behind the marker are not dissected, and said to be there."""
    dissection = _covered(dissect(GOOD_SCHEMA + END + GOOD_BATCH))

    assert _unknown(dissection) == ["after the end of the stream"]
    assert [fault.rule for fault in dissection.faults] == [Rule.STREAM_BYTES_AFTER_END]


def test_faults_of_a_stream_are_those_of_its_reading() -> None:
    """An index is judged by the dictionary of its time, which no message says alone."""
    file = encoded(GOOD_BATCH)

    faults = dissect(b"".join(file.messages) + END).faults

    assert [fault.rule for fault in faults] == [Rule.DICTIONARY_MISSING]


def test_batches_are_found_by_the_footer_where_the_stream_breaks_off() -> None:
    """Blocks of the footer are dissected even behind a message that cannot be read."""
    data = bytearray(GOOD_FILE)
    data[8 + len(SCHEMA) + 4] = 0xFF  # the metadata length of the first batch
    data[8 + len(SCHEMA) + 5] = 0x7F

    dissection = _covered(dissect(bytes(data)))

    assert sum(section.kind is SectionKind.BATCHES for section in dissection.sections) == 1
    assert Rule.METADATA_TRUNCATED in [fault.rule for fault in dissection.faults]


@pytest.mark.parametrize("rule", [*FILES, *TENSORS], ids=str)
def test_broken_bytes_are_covered_and_told(rule: Rule) -> None:
    """Under every fault, each byte has its region, and the fault is in the dump and in its JSON form."""
    dissection = _covered(dissect(FILES.get(rule) or TENSORS[rule]))

    assert any(rule in line for line in dump_lines(dissection))
    assert rule in {fault["rule"] for fault in json.loads(json.dumps(dissection.to_json()))["faults"]}


@pytest.mark.parametrize("size", range(1, len(GOOD_FILE), 13))
def test_cut_files_are_dissected_up_to_the_break(size: int) -> None:
    """A truncated file prints what is there, all of it, and says what it lacks."""
    dissection = _covered(dissect(GOOD_FILE[:size], kind=Kind.FILE))

    assert any("!!" in line for line in dump_lines(dissection))


@pytest.mark.parametrize("kind", list(Kind))
@pytest.mark.parametrize("data", [GOOD_FILE, GOOD_SCHEMA + END, GOOD_TENSOR, b"", b"\0" * 100])
def test_bytes_are_dissected_as_what_they_are_said_to_be(data: bytes, kind: Kind) -> None:
    """A wrong kind is covered as well as the right one."""
    assert _covered(dissect(data, kind=kind)).kind is kind
