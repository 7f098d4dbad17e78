"""The annotated dump of streams, files and tensors: every byte once, known parts by name, up to any break."""

from __future__ import annotations

import json
import struct
import sys
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from conformance.wire import Dissection, Kind, RegionKind, Rule, SectionKind, dissect
from conformance.wire import lines as dump_lines
from conformance.wire.dump import rows
from tests.wire.breaking import END, GOOD_BATCH, GOOD_SCHEMA
from tests.wire.breaking_files import FILES, GOOD_FILE, GOOD_SPARSE, GOOD_TENSOR, TENSORS
from tests.wire.corpus import batches
from tests.wire.forge import Forge, encapsulate
from tests.wire.sealing import DELTA, INT, SCHEMA, VALUES, encoded

_FIELD = "Message.header.fields[0] (Field 'x')"


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
    assert both[-2:] == ["no dictionaries", "… 1 more fault in what is not shown"]


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


def test_messages_beyond_the_limit_are_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """They stand before the end of the stream, even if the stream has an end."""
    monkeypatch.setattr(sys.modules["conformance.wire.dissect"], "MAX_MESSAGES", 2)

    assert _unknown(_covered(dissect(GOOD_SCHEMA + GOOD_BATCH + GOOD_BATCH + END))) == ["not read"]


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


@pytest.mark.parametrize(
    "kinds", [[SectionKind.SCHEMA], [SectionKind.BATCHES], [SectionKind.FOOTER], [], list(SectionKind)]
)
def test_regions_within_sections_are_those_between_their_ends(kinds: list[SectionKind]) -> None:
    """Regions of the chosen sections, and no other, also where sections of one kind follow one another."""
    dissection = dissect(GOOD_FILE)
    chosen = [section for section in dissection.sections if section.kind in kinds or not kinds]

    expected = [
        region
        for region in dissection.regions
        if any(section.start <= region.start < section.end for section in chosen)
    ]
    assert list(dissection.within(kinds)) == expected
    assert dissection.chosen(kinds) == chosen
    shown = dissection.to_json(only=kinds)
    assert [(one["start"], one["end"]) for one in shown["regions"]] == [(one.start, one.end) for one in expected]


def test_a_file_without_a_footer_has_the_schema_of_its_stream() -> None:
    """Batches are dissected by the schema in front of them where the footer names none."""
    dissection = dissect(FILES[Rule.FOOTER_SCHEMA_MISSING])

    assert dissection.schema == dissect(GOOD_FILE).schema
    assert dissection.schema is not None
    assert [field.name for field in dissection.schema.fields] == ["x"]


def test_json_shows_the_first_64_bytes_of_a_region() -> None:
    """A long region is cut, a short one is whole; offsets stay those of the bytes."""
    data = GOOD_SCHEMA + END + bytes(range(1, 101))

    *_, short, last = dissect(data, kind=Kind.STREAM).to_json()["regions"]

    assert bytes.fromhex(short["bytes"]) == data[short["start"] : short["end"]]
    assert (last["start"], last["end"]) == (len(data) - 100, len(data))
    assert last["value"] == "100 bytes"
    assert bytes.fromhex(last["bytes"]) == bytes(range(1, 65))
    stray = dissect(END * 8 + b"\x80" * 100, kind=Kind.MESSAGE).to_json()["regions"][-1]
    assert (stray["start"], stray["bytes"]) == (64, "80" * 64)


def _parts(data: bytes, kind: Kind | None = None) -> list[tuple[int, int, str, str]]:
    return [(region.start, region.end, region.meaning, region.value) for region in dissect(data, kind=kind).regions]


def test_sections_are_named_after_their_messages() -> None:
    """Number, kind, version, framing and place of each message; markers and stray bytes have no version."""
    data = encapsulate(GOOD_SCHEMA[8:], legacy=True) + GOOD_BATCH + END
    size = len(GOOD_SCHEMA) - 4

    assert [section.title for section in dissect(data, kind=Kind.STREAM).sections] == [
        f"1. Schema message V5, legacy framing, bytes 0 to {size}",
        f"2. RecordBatch message V5, bytes {size} to {size + len(GOOD_BATCH)}",
        f"3. end of stream, bytes {size + len(GOOD_BATCH)} to {len(data)}",
    ]
    stray = dissect(bytes.fromhex("ffffffff feffffff"), kind=Kind.MESSAGE)
    assert [section.title for section in stray.sections] == [f"1. {stray.messages[0].header}, bytes 0 to 8"]


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        pytest.param(b"\xff\xff", [(0, 2, "no message begins here", "2 bytes")], id="a prefix cut short"),
        pytest.param(
            bytes.fromhex("ffffffff feffffff 00"), [(0, 9, "no message begins here", "9 bytes")], id="a negative length"
        ),
        pytest.param(
            END,
            [(0, 4, "continuation word", "Arrow 0.15 and later"), (4, 8, "metadata length", "end of stream")],
            id="the end of a stream",
        ),
        pytest.param(
            bytes(4),
            [(0, 4, "metadata length, with no continuation word before it", "end of stream")],
            id="the end of a legacy stream",
        ),
        pytest.param(
            bytes.fromhex("ffffffff 10000000 0102"),
            [
                (0, 4, "continuation word", "Arrow 0.15 and later"),
                (4, 8, "metadata length", "16 bytes"),
                (8, 10, "metadata, cut short", ""),
            ],
            id="metadata cut short",
        ),
        pytest.param(
            bytes.fromhex("ffffffff 10000000"),
            [(0, 4, "continuation word", "Arrow 0.15 and later"), (4, 8, "metadata length", "16 bytes")],
            id="a prefix alone",
        ),
    ],
)
def test_broken_messages_are_shown_up_to_the_break(data: bytes, expected: list[tuple[int, int, str, str]]) -> None:
    """Each part that is there is named, the rest says why it has no parts."""
    assert _parts(data, Kind.MESSAGE) == expected


def test_metadata_whose_root_cannot_be_read_leaves_the_rest_unread() -> None:
    """Where the metadata does not say how long the body is, all that follows is shown as not read."""
    data = bytes.fromhex("ffffffff 08000000 ffffff00 00000000") + b"\7" * 5

    assert _parts(data, Kind.MESSAGE)[2:] == [
        (8, 12, "root table", "→ 0x1000007"),
        (12, 16, "padding", "4 bytes"),
        (16, 21, "not read", "the metadata does not say"),
    ]


def test_the_head_of_a_file_is_magic_and_padding() -> None:
    """Without its two bytes of padding, a head is not read."""
    assert _parts(GOOD_FILE)[:2] == [(0, 6, "magic", "ARROW1"), (6, 8, "padding", "2 bytes")]
    assert _parts(b"ARROW1\0", Kind.FILE) == [(0, 7, "not read", "7 bytes")]


def test_the_tail_of_a_file_is_a_length_and_magic() -> None:
    """The length of the footer has 4 bytes, the magic behind it 6."""
    end = len(GOOD_FILE)
    (length,) = struct.unpack("<i", GOOD_FILE[-10:-6])

    assert _parts(GOOD_FILE)[-2:] == [
        (end - 10, end - 6, "length of the footer", f"{length} bytes"),
        (end - 6, end, "magic", "ARROW1"),
    ]


def test_slots_of_no_known_name_are_shown() -> None:
    """A vtable with more entries than the table has slots ends in a region of its own."""
    forge = Forge()
    meta = bytearray(forge.root("Message", {"version": 4, "header_type": 1, "header": {}}))
    table = forge.places["Message()"]
    vtable = len(meta)
    old = forge.places["Message.vtable"]
    (size,) = struct.unpack_from("<H", meta, old)
    entries = bytes(meta[old + 4 : old + size]).ljust(10, b"\0")  # all five slots of a message
    meta += struct.pack("<HH", 4 + len(entries) + 4, *struct.unpack_from("<H", meta, old + 2)) + entries + bytes(4)
    struct.pack_into("<i", meta, table, table - vtable)
    meta += bytes(-len(meta) % 8)

    shown = _parts(encapsulate(bytes(meta)), Kind.MESSAGE)

    assert (8 + vtable + 14, 8 + vtable + 18, "slots of no known name", "") in shown
    assert all(meaning != "slots of no known name" for *_, meaning, _ in _parts(GOOD_SCHEMA))


@pytest.mark.parametrize(
    ("message", "path", "meaning", "value"),
    [
        ({"version": 4, "header_type": 9, "header": None}, "Message", "header_type", "9, unknown"),
        ({"version": 9, "header_type": 1, "header": {}}, "Message", "version", "9, unknown"),
        ({"version": 3, "header_type": 1, "header": {}}, "Message", "version", "V4"),
        ({"header_type": 1, "header": {"endianness": 1}}, "Message.header (Schema)", "endianness", "Big"),
        ({"header_type": 1, "header": {"features": [2, 7]}}, "Message.header.features", "[1]", "7"),
        ({"bodyLength": -8}, "Message", "bodyLength", "-8"),
        ({"header_type": 1, "header": {"fields": [INT | {"nullable": 0}]}}, _FIELD, "nullable", "false"),
        ({"header_type": 1, "header": {"fields": [INT | {"nullable": 1}]}}, _FIELD, "nullable", "true"),
        ({"header_type": 1, "header": {"fields": [INT | {"nullable": 2}]}}, _FIELD, "nullable", "2"),
        ({"header_type": 3, "header": {"nodes": [(3, 1)]}}, "Message.header.nodes", "[0]", "length 3, null_count 1"),
    ],
)
def test_slots_are_shown_by_name(message: dict[str, Any], path: str, meaning: str, value: str) -> None:
    """Numbers of enumerations and unions by name, an unknown one as a number; booleans and structs in words."""
    slots = {name: made for name, made in message.items() if made is not None}
    regions = dissect(encapsulate(Forge().root("Message", slots)), kind=Kind.MESSAGE).regions

    assert [one.value for one in regions if (one.path, one.meaning) == (path, meaning)] == [value]


def test_strings_are_shown_with_length_text_and_terminator() -> None:
    """An empty string has no text, and a long one is cut."""
    pairs = [{"key": "", "value": "v" * 57}]
    data = encapsulate(Forge().root("Message", {"custom_metadata": pairs}))

    regions = dissect(data, kind=Kind.MESSAGE).regions
    shown = {name: [one for one in regions if one.path.endswith(name)] for name in (".key", ".value")}

    assert [(one.meaning, one.value, one.end - one.start) for one in shown[".key"]] == [
        ("length of the string", "0 bytes", 4),
        ("terminator", "", 1),
    ]
    assert [(one.meaning, one.value, one.end - one.start) for one in shown[".value"]] == [
        ("length of the string", "57 bytes", 4),
        ("text", repr("v" * 55 + "…"), 57),
        ("terminator", "", 1),
    ]
