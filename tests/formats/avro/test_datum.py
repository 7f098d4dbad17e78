"""Rows: every byte is accounted for, and hostile counts end at once."""

from __future__ import annotations

import datetime as dt
from typing import Any, Final

import pytest

from conformance.formats.avro import AvroRule, avro_to_arrow, read_avro_rows
from tests.formats.avro.breaking import ROWS, array, decimal, logical, record, schema_of, zigzag

MOMENT: Final = dt.datetime
UNREADABLE = {AvroRule.UTF8, AvroRule.INT_RANGE, AvroRule.DATETIME_TEXT, AvroRule.DECIMAL_RANGE}


def rows_of(data: str, *types: Any, count: int | None = None) -> list[Any]:
    """The values of the rows, which have to be clean."""
    reading = read_avro_rows(bytes.fromhex(data), schema_of(*types), count)
    assert reading.faults == ()
    assert reading.complete
    return [tuple(row.values()) for row in avro_to_arrow(reading).to_pylist()]


def rules_of(data: str, *types: Any, count: int | None = None) -> list[AvroRule]:
    """The rules that the rows break."""
    return [AvroRule(fault.rule) for fault in read_avro_rows(bytes.fromhex(data), schema_of(*types), count).faults]


@pytest.mark.parametrize(
    ("data", "types", "value"),
    [
        ("ff ff ff ff ff ff ff ff ff 01", ("long",), -(1 << 63)),
        ("fe ff ff ff 0f", ("int",), (1 << 31) - 1),
        ("01", ("boolean",), True),
        ("00 00 00 00 00 00 f0 3f", ("double",), 1.0),
        ("06 e2 82 ac", ("string",), "€"),
        ("02 ff", ("bytes",), b"\xff"),
        ("02", (["long", "null"],), None),
        ("04 02 04 02 06 00", (array("long"),), [1, 2, 3]),
        ("03 04 02 04 00", (array("long"),), [1, 2]),
        ("00", (array("long"),), []),
        ("04 02 02 00 00 00", (array(array("long")),), [[1], []]),
    ],
    ids=str,
)
def test_a_value_is_read(data: str, types: tuple[Any, ...], value: Any) -> None:
    """Also in the forms that writers may choose: several blocks, and a block with its size."""
    assert rows_of(data, *types) == [(value,)]


def test_rows_follow_one_another_to_the_end() -> None:
    """No count is needed; with one, as many rows are there."""
    assert rows_of("02 04 06", "long") == rows_of("02 04 06", "long", count=3) == [(1,), (2,), (3,)]
    assert rows_of("", "long") == rows_of("", "long", count=0) == []


@pytest.mark.parametrize("width", [1, 2, 16, 32, 40])
def test_a_decimal_has_any_width(width: int) -> None:
    """The sign fills the bytes that the number does not need."""
    data = bytes([2 * width]) + (-5).to_bytes(width, "big", signed=True)

    ((value,),) = rows_of(data.hex(), decimal(38, 1))

    assert str(value) == "-0.5"


@pytest.mark.parametrize(
    "text",
    ["0001-01-01T00:00:00", "2024-02-29T23:59:59.5", "9999-12-31T23:59:59.999999"],
)
def test_a_datetime_is_read(text: str) -> None:
    """With a fraction of up to six digits, or none: 19 to 26 characters."""
    data = bytes([2 * len(text)]) + text.encode()

    ((value,),) = rows_of(data.hex(), logical("string", "datetime"))

    assert value.isoformat().rstrip("0").rstrip(".") == text.rstrip("0").rstrip(".")


@pytest.mark.parametrize(
    "text",
    [
        *("2024-02-30T00:00:00", "0000-01-01T00:00:00", "2024-01-01T24:00:00", "2024-01-01 00:00:00"),
        *("2024-01-01T00:00:00.", "2024-01-01T00:00:00.1234567", "2024-01-01T00:00:00Z", "\uff12024-01-01T00:00:00"),
    ],
)
def test_other_texts_are_no_datetime(text: str) -> None:
    """A space, a zone, a seventh digit, or a day that does not exist."""
    raw = text.encode()

    assert rules_of((bytes([2 * len(raw)]) + raw).hex(), logical("string", "datetime")) == [AvroRule.DATETIME_TEXT]


@pytest.mark.parametrize(
    ("kind", "low", "high", "rule"),
    [
        (logical("int", "date"), dt.date.min, dt.date.max, AvroRule.DATE_RANGE),
        (logical("long", "time-micros"), dt.time.min, dt.time.max, AvroRule.TIME_RANGE),
        (logical("long", "timestamp-micros"), MOMENT.min, MOMENT.max, AvroRule.TIMESTAMP_RANGE),
    ],
    ids=["date", "time", "timestamp"],
)
def test_the_ends_of_a_range_are_in_it_and_their_neighbours_not(kind: Any, low: Any, high: Any, rule: AvroRule) -> None:
    """A number outside of the range is reported, and the reading goes on."""
    ends = [_number(low), _number(high)]
    data = b"".join(map(zigzag, [*ends, ends[0] - 1, ends[1] + 1]))

    reading = read_avro_rows(data, schema_of(kind))

    assert [(fault.rule, fault.path) for fault in reading.faults] == [(rule, "row 2, a"), (rule, "row 3, a")]
    assert (reading.rows, reading.complete) == (4, True)
    shown = [value.replace(tzinfo=None) if kind["logicalType"].startswith("timestamp") else value
             for value in avro_to_arrow(reading)[0][:2].to_pylist()]  # fmt: skip
    assert shown == [low, high]


def test_an_int_has_32_bits() -> None:
    """The numbers after its last ones have more."""
    data = b"".join(map(zigzag, [-(1 << 31), (1 << 31) - 1, -(1 << 31) - 1, 1 << 31]))

    reading = read_avro_rows(data, schema_of("int"))

    assert [fault.path for fault in reading.faults] == ["row 2, a", "row 3, a"]
    assert {fault.rule for fault in reading.faults} == {AvroRule.INT_RANGE}


def _number(value: Any) -> int:
    """A date in days, a time or a date and time in microseconds."""
    if isinstance(value, dt.time):
        value = dt.datetime.combine(dt.date(1970, 1, 1), value)
    if isinstance(value, dt.datetime):
        return (value - dt.datetime(1970, 1, 1)) // dt.timedelta(microseconds=1)  # noqa: DTZ001
    return int((value - dt.date(1970, 1, 1)).days)


def test_a_fault_of_a_value_does_not_end_the_reading() -> None:
    """The next row is read, and each fault names its row."""
    reading = read_avro_rows(bytes.fromhex("02 03"), schema_of("boolean"))

    assert [fault.path for fault in reading.faults] == ["row 0, a", "row 1, a"]
    assert (reading.rows, reading.complete) == (2, True)


def test_a_row_that_ends_early_leaves_the_rows_before_it() -> None:
    """The parts of the last row do not become values."""
    types = (["null", "long"], array("long"), record(["null", "string"], name="s"))
    whole = bytes.fromhex("02 02 02 02 00 02 02 78")

    reading = read_avro_rows(whole + whole[:-1], schema_of(*types))

    assert [fault.rule for fault in reading.faults] == [AvroRule.LENGTH_BEYOND]
    assert (reading.rows, reading.end, reading.complete) == (1, len(whole), False)
    assert avro_to_arrow(reading).to_pylist() == [{"a": 1, "b": [1], "c": {"a": "x"}}]


def test_every_prefix_of_a_row_is_a_fault() -> None:
    """A truncated last row never vanishes, as it does in a client that reads up to an error."""
    types = (["null", "long"], array("long"), "double", "string")
    whole = bytes.fromhex("02 02 02 02 00 00 00 00 00 00 00 00 00 02 78")

    for size in range(1, len(whole)):
        reading = read_avro_rows(whole[:size], schema_of(*types))
        assert (reading.rows, len(reading.faults)) == (0, 1)
    assert read_avro_rows(whole, schema_of(*types)).faults == ()


@pytest.mark.parametrize("rule", ROWS, ids=str)
def test_a_value_that_arrow_has_not_is_counted(rule: AvroRule) -> None:
    """Such rows have no batch; all others that were read have one."""
    types, data, count = ROWS[rule]

    reading = read_avro_rows(bytes.fromhex(data), schema_of(*types), count)

    assert reading.unreadable == (rule in UNREADABLE)
    if not reading.unreadable:
        assert avro_to_arrow(reading).num_rows == reading.rows


def test_the_header_of_a_file_is_named() -> None:
    """The faults say that the bytes are a whole Avro file."""
    (fault,) = read_avro_rows(b"Obj\x01\x04", schema_of("bytes", "bytes")).faults

    assert "the bytes begin as an Avro file does" in fault.observed


@pytest.mark.parametrize("count", [1 << 62, -(1 << 63), (1 << 63) - 1], ids=str)
def test_a_hostile_count_of_items_ends_at_once(count: int) -> None:
    """Of items with bytes, because there are not so many; of items without, by the limit."""
    for items in ("long", record(name="s")):
        reading = read_avro_rows(zigzag(count) + b"\x02\x02", schema_of(array(items)))
        assert [fault.rule for fault in reading.faults][-1] in (AvroRule.BLOCK_COUNT, AvroRule.ITEMS_LIMIT)


def test_a_truncated_double_says_how_many_bytes_there_are() -> None:
    """And nothing at all is a truncated row."""
    (fault,) = read_avro_rows(bytes(3), schema_of("double")).faults

    assert fault.observed == "3 bytes of a double"


def test_values_without_bytes_are_counted_to_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """As many as the limit are read, one more is not; null counts in each row."""
    monkeypatch.setattr("conformance.formats.avro.cursor.MAX_FREE", 6)

    assert rules_of("", "null", "null", count=3) == []
    assert rules_of("", "null", "null", count=4) == [AvroRule.ITEMS_LIMIT]


def test_a_count_beyond_the_bytes_says_how_many_there_are() -> None:
    """The bytes after the count, which have no room for the items."""
    (fault,) = read_avro_rows(bytes.fromhex("06 02 00"), schema_of(array("double"))).faults

    assert fault.observed == "3 items, and 2 bytes after the count"


def test_rows_without_bytes_end() -> None:
    """A record without fields takes no bytes, so only the declared number says how many there are."""
    assert read_avro_rows(b"", schema_of(), 1000).rows == 1000
    assert rules_of("00", *()) == [AvroRule.ROWS_BEHIND]
    assert rules_of("", *(), count=1 << 62) == [AvroRule.ITEMS_LIMIT]
    assert rules_of("", "null", count=3) == []


def test_a_negative_number_of_rows_is_too_few() -> None:
    """The number comes from a server, too."""
    assert rules_of("02", "long", count=-1) == [AvroRule.ROWS_BEHIND]


def test_a_decimal_of_a_megabyte_is_a_fault() -> None:
    """Its digits are not counted one by one."""
    raw = b"\x7f" + b"\xff" * (1 << 20)
    reading = read_avro_rows(zigzag(len(raw)) + raw, schema_of(decimal(38)))

    assert [fault.rule for fault in reading.faults] == [AvroRule.DECIMAL_DIGITS]
    assert reading.unreadable == 1
