from __future__ import annotations

import itertools

import pyarrow as pa
import pytest

from conformance.contract import mapping
from conformance.records import BqType, Column, Mode

RANGE_OF_DATE = Column("r", BqType.RANGE, range_of=BqType.DATE)
RECORD = Column("s", BqType.RECORD, fields=(Column("a", BqType.INT64, Mode.REQUIRED), Column("b", BqType.JSON)))


def column(kind: BqType, mode: Mode = Mode.NULLABLE) -> Column:
    """A column of any type, with what the type demands."""
    fields = RECORD.fields if kind is BqType.RECORD else ()
    return Column("c", kind, mode, fields=fields, range_of=BqType.DATE if kind is BqType.RANGE else None)


@pytest.mark.parametrize(
    ("kind", "arrow"),
    [
        (BqType.INT64, "int64"),
        (BqType.FLOAT64, "double"),
        (BqType.BOOL, "bool"),
        (BqType.STRING, "string"),
        (BqType.BYTES, "binary"),
        (BqType.DATE, "date32[day]"),
        (BqType.DATETIME, "timestamp[us]"),
        (BqType.TIME, "time64[us]"),
        (BqType.TIMESTAMP, "timestamp[us, tz=UTC]"),
        (BqType.NUMERIC, "decimal128(38, 9)"),
        (BqType.BIGNUMERIC, "decimal256(76, 38)"),
        (BqType.JSON, "string"),
        (BqType.GEOGRAPHY, "string"),
        (BqType.INTERVAL, "month_day_nano_interval"),
        (BqType.RANGE, "struct<start: date32[day], end: date32[day]>"),
        (BqType.RECORD, "struct<a: int64 not null, b: string>"),
    ],
)
def test_type(kind: BqType, arrow: str) -> None:
    """Every BigQuery type has one Arrow type."""
    assert str(mapping.arrow_field(column(kind)).type) == arrow


def test_every_type_has_a_row() -> None:
    """No type of the closed set is forgotten."""
    for kind, mode in itertools.product(BqType, Mode):
        field = mapping.arrow_field(column(kind, mode))

        assert mapping.permits(column(kind, mode), field)


@pytest.mark.parametrize(
    ("kind", "metadata"),
    [
        (BqType.STRING, None),
        (BqType.TIMESTAMP, None),
        (BqType.DATETIME, {b"ARROW:extension:name": b"google:sqlType:datetime"}),
        (BqType.JSON, {b"ARROW:extension:name": b"google:sqlType:json"}),
        (BqType.INTERVAL, {b"ARROW:extension:name": b"google:sqlType:interval"}),
        (
            BqType.GEOGRAPHY,
            {
                b"ARROW:extension:name": b"google:sqlType:geography",
                b"ARROW:extension:metadata": b'{"encoding": "WKT"}',
            },
        ),
        (BqType.RANGE, {b"google:sqlType": b"range"}),
    ],
)
@pytest.mark.parametrize("mode", Mode)
def test_metadata(kind: BqType, metadata: dict[bytes, bytes] | None, mode: Mode) -> None:
    """Metadata is on the column's own field in every mode; the item of a list has none."""
    field = mapping.arrow_field(column(kind, mode))

    assert field.metadata == metadata
    assert mode is not Mode.REPEATED or field.type.value_field.metadata is None


def test_modes() -> None:
    """Only NULLABLE is nullable; a list is not, and its item is."""
    nullable, required, repeated = (mapping.arrow_field(column(BqType.INT64, mode)) for mode in Mode)

    assert nullable.nullable
    assert not required.nullable
    assert not repeated.nullable
    assert repeated.type.value_field == pa.field("item", pa.int64(), nullable=True)


@pytest.mark.parametrize(
    ("declared", "arrow"),
    [
        (Column("n", BqType.NUMERIC, precision=10, scale=2), pa.decimal128(10, 2)),
        (Column("n", BqType.NUMERIC, precision=5), pa.decimal128(5, 0)),
        (Column("n", BqType.BIGNUMERIC, precision=40), pa.decimal256(40, 0)),
        (Column("n", BqType.BIGNUMERIC, precision=10, scale=2), pa.decimal256(10, 2)),
    ],
)
def test_declared_precision(declared: Column, arrow: pa.DataType) -> None:
    """Declared precision and scale are kept."""
    assert mapping.arrow_field(declared).type == arrow


def test_small_bignumeric_width_is_open() -> None:
    """A BIGNUMERIC that fits 128 bits may come as either decimal; a larger one and a NUMERIC may not."""
    small = Column("n", BqType.BIGNUMERIC, precision=10, scale=2)
    large = Column("n", BqType.BIGNUMERIC, precision=39, scale=2)

    assert mapping.permits(small, pa.field("n", pa.decimal128(10, 2)))
    assert mapping.permits(small, pa.field("n", pa.decimal256(10, 2)))
    assert mapping.decimal_widths(large) == {256}
    assert mapping.decimal_widths(Column("n", BqType.NUMERIC)) == {128}
    assert not mapping.permits(Column("n", BqType.NUMERIC), pa.field("n", pa.decimal256(38, 9)))


@pytest.mark.parametrize("mode", Mode)
@pytest.mark.parametrize("flag", [True, False])
def test_bounds_of_a_required_range_are_open(mode: Mode, *, flag: bool) -> None:
    """The bounds are nullable, but for a REQUIRED range either flag is permitted."""
    ranged = column(BqType.RANGE, mode)
    struct = pa.struct([pa.field(name, pa.date32(), nullable=flag) for name in ("start", "end")])
    arrow = pa.list_(pa.field("item", struct)) if mode is Mode.REPEATED else struct
    field = pa.field("c", arrow, nullable=mode is Mode.NULLABLE, metadata={"google:sqlType": "range"})

    assert mapping.permits(ranged, field) is (flag or mode is Mode.REQUIRED)


@pytest.mark.parametrize("of", [BqType.DATE, BqType.DATETIME, BqType.TIMESTAMP])
def test_bounds_of_datetimes_may_be_marked(of: BqType) -> None:
    """Bounds have no metadata, or that of a column of their type: only a DATETIME has some."""
    ranged = Column("c", BqType.RANGE, range_of=of)
    bound = mapping.arrow_field(Column("start", of)).type

    def permitted(marks: dict[str, str] | None) -> bool:
        struct = pa.struct([pa.field(name, bound, metadata=marks) for name in ("start", "end")])
        return mapping.permits(ranged, pa.field("c", struct, metadata={"google:sqlType": "range"}))

    assert permitted(None)
    assert permitted({"ARROW:extension:name": "google:sqlType:datetime"}) is (of is BqType.DATETIME)
    assert not permitted({"ARROW:extension:name": "google:sqlType:json"})


@pytest.mark.parametrize(
    "wrong",
    [
        pa.field("c", pa.int64(), nullable=False),
        pa.field("C", pa.int64()),
        pa.field("c", pa.int32()),
        pa.field("c", pa.list_(pa.int64())),
        pa.field("c", pa.int64(), metadata={"BIGQUERY:type": "INT64"}),
    ],
)
def test_refuses_other_forms(wrong: pa.Field) -> None:
    """A wrong flag, name, type, shape or metadata is not permitted."""
    assert not mapping.permits(column(BqType.INT64), wrong)


@pytest.mark.parametrize(
    "wrong",
    [
        pa.list_(pa.field("element", pa.int64())),
        pa.list_(pa.field("item", pa.int64(), nullable=False)),
        pa.list_(pa.field("item", pa.int64(), metadata={"a": "b"})),
        pa.large_list(pa.field("item", pa.int64())),
        pa.int64(),
    ],
)
def test_refuses_other_lists(wrong: pa.DataType) -> None:
    """The list of a REPEATED column is a 32-bit list of a nullable bare ``item``."""
    assert not mapping.permits(column(BqType.INT64, Mode.REPEATED), pa.field("c", wrong, nullable=False))


@pytest.mark.parametrize(
    "wrong",
    [
        pa.struct([pa.field("a", pa.int64(), nullable=False)]),
        pa.struct([pa.field("a", pa.int64()), mapping.arrow_field(RECORD.fields[1])]),
        pa.struct([mapping.arrow_field(RECORD.fields[1]), mapping.arrow_field(RECORD.fields[0])]),
        pa.utf8(),
    ],
)
def test_refuses_other_records(wrong: pa.DataType) -> None:
    """A struct has its fields' own forms, all of them, in order."""
    assert not mapping.permits(RECORD, pa.field("s", wrong))


def test_schema_keeps_order_and_has_no_metadata() -> None:
    """The schema lists the columns as the table does, and nothing else."""
    schema = mapping.arrow_schema([RECORD, RANGE_OF_DATE])

    assert schema.names == ["s", "r"]
    assert schema.metadata is None


@pytest.mark.parametrize("kind", [kind for kind in BqType if kind is not BqType.INT64])
def test_no_other_type_is_an_integer(kind: BqType) -> None:
    """A column of integers stands for INT64 alone, whatever the name of the other type."""
    assert not mapping.permits(column(kind), pa.field("c", pa.int64()))
