from __future__ import annotations

import dataclasses
import decimal
import hashlib
from typing import Any

import pyarrow as pa
import pytest

from conformance.contract.mapping import arrow_schema
from conformance.generate.materialise import explicit, materialise, to_json_rows
from conformance.records import (
    BqType,
    Case,
    Column,
    Json,
    Mode,
    NullPattern,
    Recipe,
    RecordError,
    Table,
    ValueProfile,
    from_json,
    to_json,
)

RANGES = (BqType.DATE, BqType.DATETIME, BqType.TIMESTAMP)
SCALARS = tuple(
    Column(f"{kind}_{mode}_{range_of}".lower(), kind, mode, range_of=range_of)
    for kind in BqType
    if kind is not BqType.RECORD
    for mode in Mode
    for range_of in (RANGES if kind is BqType.RANGE else (None,))
)
EVERYTHING = (
    *SCALARS,
    *(
        Column(f"record_{mode}".lower(), BqType.RECORD, mode, (*SCALARS, Column("deep", BqType.RECORD, mode, SCALARS)))
        for mode in Mode
    ),
)
"""Every type in every mode, at the top and inside records of every mode."""


def written(*rows: dict[str, Any], columns: tuple[Column, ...]) -> Table:
    """A table of written-out rows."""
    return Table(columns, rows=tuple(map(Json, rows)))


def messages(table: pa.Table) -> list[bytes]:
    """The table's batches as bytes."""
    return [batch.serialize().to_pybytes() for batch in table.to_batches()]


@pytest.mark.parametrize("values", ValueProfile)
@pytest.mark.parametrize("nulls", NullPattern)
def test_written_rows_give_the_bytes_of_the_recipe(values: ValueProfile, nulls: NullPattern) -> None:
    """A recipe's table and the rows written out from it are the same to the byte, for every type at every level."""
    made = materialise(Table(EVERYTHING, recipe=Recipe(3, 7, nulls, values)))

    again = materialise(written(*to_json_rows(made, EVERYTHING), columns=EVERYTHING))

    assert made.schema.equals(arrow_schema(EVERYTHING), check_metadata=True)
    assert messages(again) == messages(made)


@pytest.mark.parametrize("values", ValueProfile)
def test_arrays_are_valid(values: ValueProfile) -> None:
    """Arrow finds nothing wrong with what is made, but for the 77th digit of BIGNUMERIC."""
    columns = tuple(column for column in EVERYTHING if column.type not in {BqType.BIGNUMERIC, BqType.RECORD})

    materialise(Table(EVERYTHING, recipe=Recipe(9, values=values))).validate()
    materialise(Table(columns, recipe=Recipe(70, values=values))).validate(full=True)


def test_recipe_gives_the_same_bytes_everywhere() -> None:
    """The digest of a recipe's buffers is pinned: no machine, numpy or pyarrow may change them."""
    table = materialise(Table(EVERYTHING, recipe=Recipe(65, 2026, NullPattern.SOME, ValueProfile.RANDOM)))
    digest = hashlib.sha256()
    for column in table.columns:
        for buffer in column.chunk(0).buffers():
            digest.update(b"-" if buffer is None else buffer.to_pybytes())

    assert digest.hexdigest() == "d0dff288b41931168e1fc28484d0657f944fe4b165eba57a71f206d3b1afbb42"


def test_fewer_rows_are_a_prefix() -> None:
    """A shorter table has the first rows of a longer one of the same seed."""
    long, short = (to_json_rows(materialise(Table(EVERYTHING, recipe=Recipe(rows, 5))), EVERYTHING) for rows in (20, 7))

    assert repr(short) == repr(long[:7])


def test_columns_do_not_depend_on_each_other() -> None:
    """Dropping a column leaves the values of the others."""
    columns = (Column("a", BqType.INT64), Column("b", BqType.STRING, Mode.REPEATED))
    recipe = Recipe(9, values=ValueProfile.RANDOM)

    both = materialise(Table(columns, recipe=recipe))
    second = materialise(Table(columns[1:], recipe=recipe))

    assert both.column("b").equals(second.column("b"))


@pytest.mark.parametrize(
    ("nulls", "expected"),
    [
        (NullPattern.NONE, [1, 1, 1, 1, 1]),
        (NullPattern.ALL, [None] * 5),
        (NullPattern.FIRST, [None, 1, 1, 1, 1]),
        (NullPattern.LAST, [1, 1, 1, 1, None]),
        (NullPattern.ALTERNATE, [1, None, 1, None, 1]),
    ],
)
def test_null_patterns(nulls: NullPattern, expected: list[int | None]) -> None:
    """The fixed patterns put NULL where their name says; CONSTANT fills the rest."""
    table = materialise(Table((Column("a", BqType.INT64),), recipe=Recipe(5, 0, nulls, ValueProfile.CONSTANT)))

    assert table.column("a").to_pylist() == expected


def test_null_densities() -> None:
    """SOME strikes about a quarter of the slots and MOST about seven eighths."""
    columns = (Column("a", BqType.INT64),)

    some, most = (
        materialise(Table(columns, recipe=Recipe(4000, nulls=nulls))).column("a").null_count
        for nulls in (NullPattern.SOME, NullPattern.MOST)
    )

    assert 800 < some < 1200
    assert 3300 < most < 3700


@pytest.mark.parametrize("rows", [0, 1, 2, 7, 8, 9, 63, 64, 65, 5000])
def test_nulls_reach_every_level(rows: int) -> None:
    """Under a NULL record a nullable field is NULL, a list is empty, and a REQUIRED field holds its type's zero."""
    fields = (
        Column("required", BqType.STRING, Mode.REQUIRED),
        Column("nullable", BqType.DATE),
        Column("list", BqType.INT64, Mode.REPEATED),
    )
    table = materialise(Table((Column("r", BqType.RECORD, fields=fields),), recipe=Recipe(rows, nulls=NullPattern.ALL)))
    record = table.column("r").chunk(0)

    assert table.column("r").null_count == rows
    assert record.field(0).null_count == 0
    assert set(record.field(0).to_pylist()) <= {""}
    assert record.field(1).null_count == rows
    assert record.field(2).to_pylist() == [[]] * rows


def test_row_id_counts_rows() -> None:
    """A first column row_id, INT64 REQUIRED, numbers the rows; inside a record the name means nothing."""
    row_id = Column("row_id", BqType.INT64, Mode.REQUIRED)
    inside = Column("r", BqType.RECORD, Mode.REQUIRED, (row_id,))

    table = materialise(Table((row_id, inside), recipe=Recipe(5000, values=ValueProfile.CONSTANT)))

    assert table.column(0).to_pylist() == list(range(5000))
    assert set(table.column(1).chunk(0).field(0).to_pylist()) == {1}


@pytest.mark.parametrize("rows", [0, 1, 9])
def test_table_without_columns_keeps_its_rows(rows: int) -> None:
    """No columns, but rows: they are counted, written out and counted again."""
    table = materialise(Table((), recipe=Recipe(rows)))

    assert (table.num_columns, table.num_rows) == (0, rows)
    assert sum(batch.num_rows for batch in table.to_batches()) == rows
    assert materialise(Table((), rows=tuple(map(Json, to_json_rows(table, ()))))).num_rows == rows


def test_bignumeric_extremes_are_exact() -> None:
    """The 77-digit extremes are the largest and least 256-bit integers."""
    texts = (
        "578960446186580977117854925043439539266.34992332820282019728792003956564819967",
        "-578960446186580977117854925043439539266.34992332820282019728792003956564819968",
    )
    columns = (Column("n", BqType.BIGNUMERIC, Mode.REQUIRED),)

    table = materialise(written(*({"n": text} for text in texts), columns=columns))

    raw = table.column(0).chunk(0).buffers()[1].to_pybytes()
    assert [int.from_bytes(raw[at : at + 32], "little", signed=True) for at in (0, 32)] == [(1 << 255) - 1, -(1 << 255)]
    assert [row["n"] for row in to_json_rows(table, columns)] == list(texts)


VALUES: list[tuple[BqType, Any, Any]] = [
    (BqType.INT64, -(1 << 63), -(1 << 63)),
    (BqType.FLOAT64, "-Infinity", float("-inf")),
    (BqType.BYTES, "AAH/", b"\x00\x01\xff"),
    (BqType.NUMERIC, "-99999999999999999999999999999.999999999", decimal.Decimal("-" + "9" * 29 + "." + "9" * 9)),
    (BqType.JSON, "null", "null"),
    (BqType.STRING, "a\x00😀", "a\x00😀"),
    (BqType.INTERVAL, {"months": 14, "days": -3, "micros": 14_706_789_000}, (14, -3, 14_706_789_000_000)),
]


@pytest.mark.parametrize(("kind", "shown", "value"), VALUES)
def test_written_value(kind: BqType, shown: Any, value: Any) -> None:
    """A written-out value arrives as the Arrow value that it means, and goes back to its JSON form."""
    columns = (Column("v", kind),)

    table = materialise(written({"v": shown}, {}, columns=columns))

    assert table.column(0).to_pylist() == [value, None]
    assert to_json_rows(table, columns) == [{"v": shown}, {"v": None}]


INSTANTS: list[tuple[BqType, str, int]] = [
    (BqType.DATE, "0001-01-01", -719162),
    (BqType.DATE, "9999-12-31", 2932896),
    (BqType.TIME, "23:59:59.999999", 86_399_999_999),
    (BqType.DATETIME, "1969-12-31T23:59:59.999999", -1),
    (BqType.TIMESTAMP, "0001-01-01T00:00:00Z", -62_135_596_800_000_000),
    (BqType.TIMESTAMP, "9999-12-31T23:59:59.999999Z", 253_402_300_799_999_999),
]


@pytest.mark.parametrize(("kind", "shown", "stored"), INSTANTS)
def test_written_time(kind: BqType, shown: str, stored: int) -> None:
    """Dates are days and times microseconds since the epoch (or midnight), to both ends of BigQuery's range."""
    columns = (Column("v", kind),)

    table = materialise(written({"v": shown}, columns=columns))

    width = pa.int32() if kind is BqType.DATE else pa.int64()
    assert table.column(0).chunk(0).view(width).to_pylist() == [stored]
    assert to_json_rows(table, columns) == [{"v": shown}]


def test_sliced_tables_are_written_out() -> None:
    """A slice of a table writes out the rows of the slice, lists and records included."""
    made = materialise(Table(EVERYTHING, recipe=Recipe(9, values=ValueProfile.BOUNDARY)))

    assert repr(to_json_rows(made.slice(3, 4), EVERYTHING)) == repr(to_json_rows(made, EVERYTHING)[3:7])


R = Column("r", BqType.RECORD, Mode.REPEATED, (Column("a", BqType.INT64, Mode.REPEATED), Column("b", BqType.DATE)))


@pytest.mark.parametrize(
    ("column", "row", "message"),
    [
        (R, {"r": [{}, {"a": [1, "x"]}]}, "rows[0].r[1].a[1]: expected an integer of 64 bits but got 'x' (str)"),
        (R, {"r": [{"c": 1}]}, "rows[0].r[0].c: expected one of the columns a, b but got 'c' (str)"),
        (R, {"r": None}, "rows[0].r: expected a list, because the column is REPEATED but got None (NoneType)"),
        (R, {"q": 1}, "rows[0].q: expected one of the columns r but got 'q' (str)"),
        (R, {"r": [{"b": "2019-02-29"}]}, "rows[0].r[0].b: expected a date as YYYY-MM-DD but got '2019-02-29' (str)"),
        (
            Column("a", BqType.INT64, Mode.REQUIRED),
            {"a": None},
            "rows[0].a: expected a value, because the column is REQUIRED but got None (NoneType)",
        ),
        (
            Column("n", BqType.NUMERIC, precision=3, scale=1),
            {"n": "1.25"},
            "rows[0].n: expected a decimal string within precision 3 and scale 1 but got '1.25' (str)",
        ),
        (
            Column("n", BqType.NUMERIC, precision=3, scale=1),
            {"n": "9" * 5000},
            f"rows[0].n: expected a decimal string within precision 3 and scale 1 but got {'9' * 5000!r} (str)",
        ),
        (
            Column("t", BqType.TIME),
            {"t": "24:00:00"},
            "rows[0].t: expected a time as HH:MM:SS[.ffffff] but got '24:00:00' (str)",
        ),
        (
            Column("s", BqType.STRING, max_length=2),
            {"s": "abc"},
            "rows[0].s: expected a string of at most 2 characters but got 'abc' (str)",
        ),
        (Column("b", BqType.BOOL), {"b": 1}, "rows[0].b: expected true or false but got 1 (int)"),
        (
            Column("j", BqType.JSON),
            {"j": "{"},
            "rows[0].j: expected a string that holds a JSON text but got '{' (str)",
        ),
    ],
)
def test_refuses_a_value_out_of_place(column: Column, row: dict[str, Any], message: str) -> None:
    """A row that does not fit its columns is refused with its place, the expected form and the actual value."""
    with pytest.raises(RecordError) as caught:
        materialise(written(row, columns=(column,)))

    assert str(caught.value) == message


def test_explicit_case_has_the_same_rows() -> None:
    """An explicit case differs from its recipe's in nothing but the form of its table, and survives JSON."""
    case = Case("a.b", "t", Table(EVERYTHING, recipe=Recipe(4, values=ValueProfile.BOUNDARY)))

    written_out = explicit(case)

    assert messages(materialise(from_json(Case, to_json(written_out)).table)) == messages(materialise(case.table))
    assert dataclasses.replace(written_out, table=case.table) == case
    assert explicit(written_out) is written_out
