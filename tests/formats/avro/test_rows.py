"""Rows as Arrow: another library's rows come out clean and equal, in the types that BigQuery's mapping gives."""

from __future__ import annotations

import datetime as dt
import decimal as dec
import json
import math
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given

from conformance.contract.mapping import arrow_schema
from conformance.formats.avro import avro_arrow_schema, avro_to_arrow, read_avro_rows, read_avro_schema
from conformance.generate.materialise import materialise
from conformance.protocols.storage_read.reference.avro import AvroWriter
from conformance.records import BqType, Column, Mode, Recipe, Table, ValueProfile
from conformance.wire import UndecodableError, UnsupportedHereError
from tests.fixtures import real_bigquery
from tests.formats.avro.breaking import array, decimal, record, schema_of, zigzag
from tests.formats.avro.samples import plain, tables, written

COLUMNS = (
    *(Column(f"c{place}", kind) for place, kind in enumerate(BqType) if kind not in (BqType.RANGE, BqType.RECORD)),
    Column("p", BqType.NUMERIC, precision=5, scale=2),
    *(
        Column(f"r{place}", BqType.RANGE, range_of=kind)
        for place, kind in enumerate([BqType.DATE, BqType.DATETIME, BqType.TIMESTAMP] * 2)
    ),
    Column("s", BqType.RECORD, Mode.NULLABLE, fields=(Column("x", BqType.INT64), Column("y", BqType.STRING))),
    Column("l", BqType.RECORD, Mode.REPEATED, fields=(Column("x", BqType.JSON, Mode.REPEATED),)),
)


def _same(one: Any, other: Any) -> bool:
    """Equal, with NaN equal to NaN."""
    if isinstance(one, float) and isinstance(other, float):
        return one == other or (math.isnan(one) and math.isnan(other))
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(_same(one[key], other[key]) for key in one)
    if isinstance(one, list):
        return len(one) == len(other) and all(map(_same, one, other))
    return bool(one == other)


@given(tables())
def test_what_another_library_writes_reads_clean_and_equal(table: tuple[dict[str, Any], list[Any]]) -> None:
    """Of any types, nested in any way, with every value."""
    schema, rows = table
    read = read_avro_schema(json.dumps(schema))
    assert read.faults == ()
    assert read.schema is not None

    reading = read_avro_rows(written(schema, rows), read.schema, len(rows))

    assert [str(fault) for fault in reading.faults] == []
    made = avro_to_arrow(reading)
    made.validate(full=True)
    assert _same(made.to_pylist(), [plain(row, schema) for row in rows])


def test_the_types_are_those_of_the_mapping() -> None:
    """Every type of BigQuery, declared in Avro, has the Arrow type in which the service sends it in Arrow."""
    schema = read_avro_schema(AvroWriter(COLUMNS).schema)
    assert schema.faults == ()
    assert schema.schema is not None

    made = avro_arrow_schema(schema.schema)

    assert made.equals(arrow_schema(COLUMNS), check_metadata=False)


@pytest.mark.parametrize("profile", [profile for profile in ValueProfile if profile is not ValueProfile.WIDE])
def test_the_rows_of_a_case_come_back(profile: ValueProfile) -> None:
    """The extremes of every type, as the reference sends them, are clean and give the table of the case."""
    columns = [column for column in COLUMNS if column.type is not BqType.INTERVAL]  # which the reference stores apart
    table = materialise(Table(tuple(columns), recipe=Recipe(rows=40, seed=5, values=profile)))
    writer = AvroWriter(columns)
    schema = read_avro_schema(writer.schema).schema
    assert schema is not None

    (batch,) = table.to_batches()
    reading = read_avro_rows(writer.rows(batch), schema, table.num_rows)

    assert [str(fault) for fault in reading.faults] == []
    made = avro_to_arrow(reading, arrow_schema(columns))
    assert made.schema.equals(table.schema, check_metadata=True)
    for column, sent, found in zip(columns, batch, made, strict=True):
        assert _same(found.to_pylist(), sent.to_pylist()), column.name


def test_a_name_that_is_no_text_gets_another() -> None:
    """Half a character has no form in UTF-8; the fault is on the name."""
    field = '{"name":"\\ud800","type":"long"}'
    schema = read_avro_schema(f'{{"type":"record","name":"r","fields":[{field}]}}').schema
    assert schema is not None

    assert avro_arrow_schema(schema).names == ["\\ud800"]


def test_a_capture_of_the_service_reads_clean() -> None:
    """The bytes that the Spark connector keeps as test data: every column, without a fault."""
    read = read_avro_schema(real_bigquery("alltypes.avroschema.json"))
    assert read.schema is not None

    reading = read_avro_rows(real_bigquery("alltypes.avro"), read.schema, 1)

    assert (read.faults, reading.faults, reading.complete) == ((), (), True)
    (row,) = avro_to_arrow(reading).to_pylist()
    moment = dt.datetime(2019, 3, 18, 1, 23, 45, 678901)  # noqa: DTZ001
    assert row == {
        "int_req": 42,
        "int_null": None,
        "bl": True,
        "str": "string",
        "day": dt.date(2019, 3, 18),
        "ts": moment.replace(tzinfo=dt.UTC),
        "dt": moment,
        "tm": moment.time(),
        "binary": b"bytes",
        "float": 4.2,
        "nums": {
            "min": dec.Decimal("-99999999999999999999999999999.999999999"),
            "max": dec.Decimal("99999999999999999999999999999.999999999"),
            "pi": dec.Decimal("3.140000000"),
            "big_pi": dec.Decimal("31415926535897932384626433832.795028841"),
        },
        "int_arr": [1, 2, 3],
        "int_struct_arr": [{"i": 1}],
    }


def test_a_bignumeric_may_have_its_77th_digit() -> None:
    """The largest BIGNUMERIC fits into 256 bits."""
    largest = (1 << 255) - 1
    data = bytes([64]) + largest.to_bytes(32, "big")

    made = avro_to_arrow(read_avro_rows(data, schema_of(decimal(77, 38))))

    assert made.schema.field(0).type == pa.decimal256(76, 38)
    assert int.from_bytes(made[0].buffers()[1].to_pybytes()[:32], "little") == largest


def test_the_bits_of_a_float_are_kept() -> None:
    """Also those of a NaN with a payload."""
    data = bytes.fromhex("010000000000f47f")

    made = avro_to_arrow(read_avro_rows(data, schema_of("double")))

    assert made[0].buffers()[1].to_pybytes()[:8] == data


PARTS = {"months": "int", "days": "int", "microseconds": "long"}
INTERVAL = {
    "type": "record",
    "namespace": "google.sqlType",
    "name": "INTERVAL",
    "fields": [{"name": name, "type": kind} for name, kind in PARTS.items()],
}


def test_an_interval_becomes_months_days_and_nanoseconds() -> None:
    """1-2 3 4:5:6.789999, a null, and none that nanoseconds cannot hold."""
    schema = schema_of(["null", INTERVAL])
    parts = b"\x02" + b"".join(map(zigzag, (14, 3, 14_706_789_999)))

    made = avro_to_arrow(read_avro_rows(parts + b"\x00", schema))

    assert made[0].to_pylist() == [pa.MonthDayNano([14, 3, 14_706_789_999_000]), None]
    with pytest.raises(UndecodableError, match="64 bits of nanoseconds"):
        avro_to_arrow(read_avro_rows(b"\x02\x00\x00" + zigzag(1 << 62), schema))


def test_a_null_record_has_slots_in_its_fields() -> None:
    """Values below it stay in their rows."""
    schema = schema_of(["null", record("long", ["null", "string"], array("long"), name="s")])
    data = bytes.fromhex("00 02 02 02 02 78 02 06 00 00 02 04 00 00")

    made = avro_to_arrow(read_avro_rows(data, schema))

    made.validate(full=True)
    assert made[0].to_pylist() == [
        None,
        {"a": 1, "b": "x", "c": [3]},
        None,
        {"a": 2, "b": None, "c": []},
    ]


def test_the_wanted_schema_is_used() -> None:
    """With its metadata and its name for items; the caller knows which columns the session has."""
    items = pa.list_(pa.field("element", pa.int64()))
    wanted = pa.schema([pa.field("a", items, metadata={"k": "v"}), pa.field("b", pa.decimal256(5, 2))])
    reading = read_avro_rows(bytes.fromhex("02 02 00 02 fd"), schema_of(array("long"), decimal(5, 2)))

    made = avro_to_arrow(reading, wanted)

    assert made.schema.equals(wanted, check_metadata=True)
    assert made.to_pylist() == [{"a": [1], "b": dec.Decimal("-0.03")}]


@pytest.mark.parametrize(
    "wanted",
    [
        pa.schema([("a", pa.string())]),
        pa.schema([("b", pa.list_(pa.int64()))]),
        pa.schema([]),
        pa.schema([("a", pa.list_(pa.int32()))]),
    ],
    ids=["type", "name", "count", "item"],
)
def test_another_schema_than_wanted_is_said(wanted: pa.Schema) -> None:
    """No value is cast."""
    with pytest.raises(UndecodableError, match="the Avro schema has the columns"):
        avro_to_arrow(read_avro_rows(b"\x00", schema_of(array("long"))), wanted)


def test_a_batch_without_columns_has_its_rows() -> None:
    """As many as the response declares."""
    assert avro_to_arrow(read_avro_rows(b"", schema_of(), 3)).num_rows == 3


@pytest.mark.parametrize(("precision", "bits"), [(38, 127), (77, 255)])
def test_a_decimal_with_too_many_digits_is_kept_while_it_fits(precision: int, bits: int) -> None:
    """Its fault names the digits; Arrow has room for it up to the last bit."""
    values = [(1 << bits) - 1, -(1 << bits) + 1, 1 << bits]
    data = b"".join(bytes([66]) + value.to_bytes(33, "big", signed=True) for value in values)

    kept = read_avro_rows(data[: 2 * 34], schema_of(decimal(precision)))

    width = (bits + 1) // 8
    raw = avro_to_arrow(kept)[0].buffers()[1].to_pybytes()
    assert [int.from_bytes(raw[at : at + width], "little", signed=True) for at in (0, width)] == values[:2]
    assert read_avro_rows(data, schema_of(decimal(precision))).unreadable == 1


def test_offsets_have_32_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    """A text at the limit has an array, one byte more has none."""
    monkeypatch.setattr("conformance.formats.avro.rows._LARGEST", 3)

    assert avro_to_arrow(read_avro_rows(b"\x06abc", schema_of("string"))).num_rows == 1
    with pytest.raises(UnsupportedHereError, match="an offset of 4"):
        avro_to_arrow(read_avro_rows(b"\x08abcd", schema_of("string")))


def test_values_without_an_arrow_form_are_not_invented() -> None:
    """A batch with something else in their place would be compared with the expected rows."""
    with pytest.raises(UndecodableError, match="1 value cannot be read"):
        avro_to_arrow(read_avro_rows(b"\x02\xff", schema_of("string")))


def test_arrays_much_larger_than_the_bytes_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """A null record takes a byte, and a slot in each of its fields."""
    monkeypatch.setattr("conformance.formats.avro.rows._LEAST_SLOTS", 0)
    fields = [{"name": f"f{place}", "type": "long"} for place in range(64)]
    schema = schema_of(["null", {"type": "record", "name": "s", "fields": fields}])

    reading = read_avro_rows(bytes(100), schema)

    assert (reading.rows, reading.faults) == (100, ())
    with pytest.raises(UnsupportedHereError, match="slots in arrays"):
        avro_to_arrow(reading)
