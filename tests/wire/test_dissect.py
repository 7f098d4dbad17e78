"""The annotated dump: every byte once, in order, with its meaning, and faults at their place."""

from __future__ import annotations

import importlib
import json

import pyarrow as pa
import pytest

from conformance.wire import Dissection, RegionKind, Rule, dissect, read_schema
from conformance.wire import lines as dump_lines
from conformance.wire.closed import Kind, RowKind
from conformance.wire.dump import rows
from tests.wire.breaking import END, GOOD_BATCH, GOOD_SCHEMA, INT
from tests.wire.corpus import batches, compressed, pair
from tests.wire.forge import Forge, batch_message, column, encapsulate, i4, schema_message


def _assert_covered(dissection: Dissection) -> None:
    at = 0
    for region in dissection.regions:
        assert region.start == at < region.end
        at = region.end
    assert at == len(dissection.data)


@pytest.mark.parametrize("name", list(batches()))
def test_every_byte_is_covered_and_known(name: str) -> None:
    """Of legal messages each byte belongs to one region, and none is of no known part."""
    schema_bytes, data = pair(batches()[name])
    schema = read_schema(schema_bytes).schema

    for dissection in (dissect(schema_bytes), dissect(data, schema)):
        _assert_covered(dissection)
        assert [region for region in dissection.regions if region.kind is RegionKind.UNKNOWN] == []
        assert all(len(line) <= 110 for line in dump_lines(dissection))


def test_dump_reads_as_a_person_reads() -> None:
    """Offset, bytes, meaning and value are in one row; references say what they point to."""
    batch = pa.RecordBatch.from_pydict({"id": pa.array([1, None, 3]), "name": pa.array(["anna", None, "zo\u00eb"])})
    schema_bytes, data = pair(batch)

    text = "\n".join(dump_lines(dissect(data, read_schema(schema_bytes).schema)))

    for line in (
        "0x0000  ff ff ff ff              continuation word       Arrow 0.15 and later",
        "        vtable of Message.header (RecordBatch)",
        "bodyLength              ",
        "offset 8, length 24  · id data",
        "length 3, null_count 1  · name",
        "validity bitmap         bits 101 (1 null)",
        "data                    1, 0, 3",
        "offsets                 0, 4, 4, 8",
        "data                    'annazo\u00eb'",
        "padding                 7 bytes",
    ):
        assert line in text


def test_schema_dump_names_types_and_strings() -> None:
    """A reference to a string shows the string, a type byte its name."""
    lines = dump_lines(dissect(GOOD_SCHEMA))

    assert any(line.endswith("'x'") and "name" in line for line in lines)
    assert any(line.endswith("type_type               Int") for line in lines)


def test_stream_is_dissected_message_by_message() -> None:
    """In a stream each message has a heading, and batches are read by the schema before them."""
    dissection = dissect(GOOD_SCHEMA + GOOD_BATCH + END)

    headings = [row.text for row in rows(dissection) if row.kind is RowKind.MESSAGE]
    assert [heading.split(",")[0] for heading in headings] == [
        "1. Schema message V5",
        "2. RecordBatch message V5",
        "3. end of stream",
    ]
    assert any(region.path == "x" and region.value == "1, 2" for region in dissection.regions)
    _assert_covered(dissection)


def test_faults_stand_at_their_place() -> None:
    """The row after the bytes that are wrong says what is wrong with them."""
    data = batch_message(1, [(1, 0)], [b"", i4(86_400)])

    lines = dump_lines(dissect(data, column(pa.time32("s"))))

    at = next(number for number, line in enumerate(lines) if "time.range" in line)
    assert lines[at].strip().startswith("!! time.range: x data: the value 86400 in slot 0")
    assert "24:00:00" in lines[at - 1] or "data" in lines[at - 1]


def test_notes_are_marked_apart() -> None:
    """Notes are marked with one sign, violations with two."""
    dissection = dissect(encapsulate(GOOD_SCHEMA[8:] + bytes(4), legacy=True))

    kinds = [row.kind for row in rows(dissection) if row.kind in (RowKind.NOTE, RowKind.FAULT)]
    assert kinds == [RowKind.NOTE]


@pytest.mark.parametrize("size", range(1, 5800, 97))
def test_cut_bytes_are_dissected_up_to_the_break(size: int) -> None:
    """A truncated message prints what is there, all of it, and says why it stops."""
    schema_bytes, data = pair(batches()["every type"])
    assert len(data) > 5800

    dissection = dissect(data[:size], read_schema(schema_bytes).schema)

    _assert_covered(dissection)
    assert dissection.faults
    assert any("!!" in line for line in dump_lines(dissection))


def test_long_buffers_are_collapsed() -> None:
    """Hundreds of bytes of one buffer take four rows, and their number is said."""
    data = pair(pa.RecordBatch.from_pydict({"x": pa.array(range(100))}))[1]

    dissection = dissect(data, column(pa.int64()))

    (region,) = [region for region in dissection.regions if region.meaning == "data"]
    more = [row for row in rows(dissection) if row.kind is RowKind.MORE]
    assert [(row.offset, row.text) for row in more] == [(region.start + 24, f"… 776 more bytes, to {region.end:#06x}")]
    _assert_covered(dissection)


def test_compressed_buffers_show_their_values() -> None:
    """The stored bytes are shown, and the values that they stand for."""
    batch = pa.RecordBatch.from_pydict({"x": pa.array(range(100))})

    dissection = dissect(compressed(batch, "zstd"), column(pa.int64()))

    assert any("zstd, 800 bytes: 0, 1, 2, 3, 4, 5, … 100 in all" in region.value for region in dissection.regions)


def test_broken_parts_are_named_as_such() -> None:
    """Metadata that cannot be read is shown as unknown bytes, with the fault."""
    forge = Forge()
    forge.root("Message", {"version": 4, "header_type": 1, "header": {"fields": [INT]}})
    forge.patch(forge.places["Message.header"], "<I", 1 << 20)

    dissection = dissect(encapsulate(bytes(forge.out)))

    _assert_covered(dissection)
    assert [fault.rule for fault in dissection.faults if fault.rule is Rule.FLATBUF_OFFSET_OUT_OF_RANGE]
    assert any(region.kind is RegionKind.UNKNOWN for region in dissection.regions)


def test_json_form_is_json() -> None:
    """The same dump as JSON values, with the bytes of each region and the source of each fault."""
    made = json.loads(json.dumps(dissect(schema_message(INT, message={"version": 2})).to_json()))

    assert made["messages"][0]["header"] == "Schema"
    assert made["regions"][0] == {
        "start": 0,
        "end": 4,
        "kind": "prefix",
        "path": "prefix",
        "meaning": "continuation word",
        "value": "Arrow 0.15 and later",
        "bytes": "ffffffff",
    }
    assert made["faults"][0]["rule"] == "message.version-before-v4"
    assert made["faults"][0]["severity"] == "violation"


@pytest.mark.parametrize("read", ["stream", "file"])
def test_no_more_messages_are_read_than_are_dissected(read: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The memory for a stream of tiny messages is that of the messages in the dump."""
    dissecting = importlib.import_module("conformance.wire.dissect")  # the package gives its name to the function
    monkeypatch.setattr(dissecting, "MAX_MESSAGES", 3)
    asked: list[int] = []
    reader = getattr(dissecting, f"read_{read}")
    monkeypatch.setattr(dissecting, f"read_{read}", lambda data, most: (asked.append(most), reader(data, most))[1])
    stream = GOOD_SCHEMA + GOOD_BATCH * 9 + END

    dissection = dissect(stream, kind=Kind(read))

    assert asked == [3]
    assert len(dissection.messages) <= 3
    _assert_covered(dissection)


def test_a_dump_has_a_bounded_number_of_regions(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of metadata with thousands of pairs only the first parts are made, and the bytes of the others are said to be
    left out.
    """
    schema = pa.schema([("a", pa.int64())], metadata={f"k{number}": "v" for number in range(2000)})
    whole = dissect(schema.serialize().to_pybytes())
    monkeypatch.setattr(importlib.import_module("conformance.wire.dissect"), "MAX_REGIONS", 50)

    made = dissect(schema.serialize().to_pybytes())

    _assert_covered(made)
    assert len(whole.regions) > 20_000
    assert len(made.regions) <= 101
    assert "not annotated" in {region.meaning for region in made.regions}
    assert "not annotated" not in {region.meaning for region in whole.regions}
