"""The dump of rows names every byte: its row, its column and its part."""

from __future__ import annotations

import pytest

from conformance.formats.avro import dissect_avro
from conformance.wire import RegionKind, lines
from conformance.wire.regions import MAX_REGIONS
from tests.formats.avro.breaking import array, decimal, logical, record, schema_of

TYPES = (
    ["null", "long"],
    "string",
    array(record("boolean", name="s")),
    decimal(5, 2),
    logical("int", "date"),
    "double",
)
ROW = bytes.fromhex("02 54 06 e2 82 ac 03 04 01 00 00 04 ff 85 00 000000000000f03f")


def test_every_byte_has_its_column_and_part() -> None:
    """In the order of the bytes."""
    regions = dissect_avro(ROW, schema_of(*TYPES)).regions

    assert [(region.start, region.end, region.path, region.meaning, region.value) for region in regions] == [
        (0, 1, "row 0, a", "union branch", "1 (value)"),
        (1, 2, "row 0, a", "long", "42"),
        (2, 3, "row 0, b", "length of the text", "3 bytes"),
        (3, 6, "row 0, b", "text", "'€'"),
        (6, 7, "row 0, c", "block count", "2 items"),
        (7, 8, "row 0, c", "block size", "2 bytes"),
        (8, 9, "row 0, c.item.a", "boolean", "true"),
        (9, 10, "row 0, c.item.a", "boolean", "false"),
        (10, 11, "row 0, c", "block count", "end of the array"),
        (11, 12, "row 0, d", "length of the decimal", "2 bytes"),
        (12, 14, "row 0, d", "decimal", "-1.23"),
        (14, 15, "row 0, e", "date", "0 (1970-01-01)"),
        (15, 23, "row 0, f", "double", "1.0"),
    ]


def test_a_dump_shows_faults_where_they_are() -> None:
    """With the mark that the dump of Arrow data has."""
    shown = lines(dissect_avro(bytes.fromhex("02 02"), schema_of("long"), 1))

    assert shown[0].startswith("── rows in Avro, bytes 0 to 2, 1 row ─")
    assert any("long" in line and line.endswith("1") for line in shown)
    assert any("bytes of no known part" in line for line in shown)
    assert any(line.lstrip().startswith("!  avro-rows.behind") for line in shown)


def test_bytes_after_a_break_are_one_region() -> None:
    """They are covered, too."""
    *_, last = dissect_avro(bytes.fromhex("02 05 06 07"), schema_of("boolean", "string")).regions

    assert (last.start, last.end, last.kind) == (2, 4, RegionKind.UNKNOWN)


def test_a_dump_of_a_million_values_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    """The rest is one region."""
    monkeypatch.setattr("conformance.formats.avro.cursor.MAX_REGIONS", 3)
    monkeypatch.setattr("conformance.formats.avro.dissect.MAX_REGIONS", 3)

    made = dissect_avro(bytes(10), schema_of("long"))

    assert MAX_REGIONS > 3
    assert [(region.start, region.end) for region in made.regions] == [(0, 1), (1, 2), (2, 3), (3, 10)]
    assert made.regions[-1].meaning == "not annotated"


def test_a_dump_is_json() -> None:
    """As that of Arrow data."""
    made = dissect_avro(ROW[:2], schema_of(["null", "long"])).to_json()

    assert made["kind"] == "avro rows"
    assert made["regions"][1]["bytes"] == "54"
