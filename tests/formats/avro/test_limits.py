"""The memory and the work of reading rows: both follow the bytes, and end where a caller permits no more."""

from __future__ import annotations

import tracemalloc

import pytest

from conformance.formats.avro import ReadingLimit, read_avro_rows, slots_of
from conformance.formats.avro.cursor import PACE
from conformance.generate import materialise
from conformance.records import BqType, Column, Json, Mode, Recipe, Table
from tests.formats.avro.breaking import array, decimal, record, schema_of, zigzag
from tests.studies import sample

COUNT = 300_000


def _row(count: int, item: bytes) -> bytes:
    """A row of one array."""
    return zigzag(count) + item * count + b"\x00"


def _peak(data: bytes, items: object, *, keeps: bool) -> int:
    """The bytes of memory that reading takes at most."""
    schema = schema_of(array(items))
    tracemalloc.start()
    try:
        assert read_avro_rows(data, schema, keeps=keeps).rows == 1
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


SMALL = {
    "boolean": ("boolean", b"\x01", 1),
    "long": ("long", b"\x02", 8),
    "double": ("double", bytes(8), 8),
    "string": ("string", b"\x02a", 9),
    "decimal": (decimal(9), b"\x02\x05", 16),
    "nullable": (["null", "long"], b"\x02\x02", 9),
    "list": (array("long"), b"\x00", 8),
}
"""Items of few bytes, each with its bytes and with what it takes in an array."""


@pytest.mark.parametrize("name", sample(SMALL, ("boolean", "string", "nullable"), env="thorough"))
def test_a_value_takes_the_memory_of_its_array(name: str) -> None:
    """A row of many small values has no object for each of them; nothing is kept where only faults are wanted."""
    items, item, each = SMALL[name]
    data = _row(COUNT, item)

    assert _peak(data, items, keeps=True) < 2.5 * each * COUNT + (1 << 20)
    assert _peak(data, items, keeps=False) < 25 * PACE + (1 << 20)


def test_rows_are_not_kept_where_only_faults_are_wanted() -> None:
    """The values of many rows take no memory either, and the last row is counted."""
    reading = read_avro_rows(b"\x02" * (3 * PACE), schema_of("long"), keeps=False)

    assert (reading.rows, reading.complete) == (3 * PACE, True)


def test_a_limit_ends_the_reading_before_the_values_are_read() -> None:
    """No fault is reported, because the bytes have none; the next rows under the limit are not read at all."""
    limit = ReadingLimit(2 * PACE)

    reading = read_avro_rows(_row(COUNT, b"\x01"), schema_of(array("boolean")), limit=limit)

    assert (reading.rows, reading.faults, reading.complete, limit.exceeded) == (0, (), False, True)
    assert read_avro_rows(b"\x00", schema_of(array("boolean")), limit=limit).rows == 0


def test_rows_within_a_limit_are_read_and_counted() -> None:
    """A row of a record with two fields takes a slot in each array, and one of its own."""
    limit = ReadingLimit(9)

    reading = read_avro_rows(bytes(6), schema_of("long", "long"), limit=limit)

    assert (reading.rows, reading.complete, limit.left, limit.exceeded) == (3, True, 0, False)


def test_a_long_reading_asks_whether_it_may_go_on() -> None:
    """In the middle of one row, as often as the values demand; what is raised then ends the reading."""
    asked: list[int] = []

    def ask() -> None:
        asked.append(len(asked))
        if len(asked) == 3:
            raise TimeoutError

    with pytest.raises(TimeoutError):
        read_avro_rows(_row(10 * PACE, b"\x01"), schema_of(array("boolean")), limit=ReadingLimit(1 << 30, ask))

    assert asked == [0, 1, 2]


def test_a_null_record_counts_with_its_fields() -> None:
    """It takes one byte, and a slot in the array of each field."""
    limit = ReadingLimit(1000)

    read_avro_rows(b"\x00", schema_of(["null", record("long", "long", name="s")]), limit=limit)

    assert limit.left == 1000 - 4


def test_a_table_has_the_slots_of_its_arrays() -> None:
    """Those of records and of items too."""
    columns = (Column("a", BqType.INT64), Column("l", BqType.RECORD, Mode.REPEATED, fields=(Column("x", BqType.BOOL),)))
    table = materialise(
        Table(columns, rows=(Json({"a": 1, "l": [{"x": True}, {"x": None}]}), Json({"a": None, "l": []})))
    )

    assert slots_of(table) == 2 + 2 + 2 + 2
    assert slots_of(materialise(Table(columns[:1], recipe=Recipe(50)))) == 50
