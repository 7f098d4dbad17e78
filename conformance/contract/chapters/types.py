"""The Arrow type of every BigQuery type.

Each clause holds for the columns of one type at any depth, inside lists and structs too. Types are exact: text and
lists with 32-bit offsets, microseconds, the decimal width and parameters of the column. Where the contract leaves a
choice (:mod:`conformance.contract.mapping`), every choice is permitted.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from conformance.contract.clause import Violation
from conformance.contract.declared import Declared, about_columns
from conformance.contract.mapping import bounds_nullable, decimal_parameters, decimal_widths
from conformance.records import BqType, Mode
from conformance.wire import Field, Type, TypeKind

GUIDE: Final = "https://cloud.google.com/bigquery/docs/reference/storage#arrow_schema_details"
CAPTURED: Final = (
    "https://github.com/GoogleCloudDataproc/spark-bigquery-connector/tree/master/"
    "spark-bigquery-connector-common/src/test/resources"
)
"""A schema captured from the service, with columns of most types."""
FLATTENED: Final = (
    "https://github.com/vantaboard/bigquery-emulator/blob/73f58d84a21edc6cf072619befec1b30fc7abb4a/"
    "gateway/handlers/bqstorage/arrow.go"
)
SPARK: Final = "Spark: `UnsupportedOperationException` for every vector but the expected one"

_MICROS: Final = Type(TypeKind.TIMESTAMP, bit_width=64, unit="us")
_UTC: Final = Type(TypeKind.TIMESTAMP, bit_width=64, unit="us", timezone="UTC")
_DATE: Final = Type(TypeKind.DATE, bit_width=32, unit="day")
_BOUNDS: Final = {BqType.DATE: _DATE, BqType.DATETIME: _MICROS, BqType.TIMESTAMP: _UTC}


def _differing(declared: Declared, kind: BqType, wanted: Type) -> Iterator[Violation]:
    for pair in declared.of(kind):
        if pair.element.type != wanted:
            yield Violation(str(wanted), _shown(pair.element), pair.path)


def _shown(field: Field) -> str:
    return str(field).partition(": ")[2]


# --- scalars ----------------------------------------------------------------------------------------


@about_columns("types.int64", BqType.INT64, source=GUIDE, breaks=SPARK)
def int64(declared: Declared) -> Iterator[Violation]:
    """INT64 is a signed integer of 64 bits."""
    return _differing(declared, BqType.INT64, Type(TypeKind.INT, bit_width=64, signed=True))


@about_columns("types.float64", BqType.FLOAT64, source=GUIDE, breaks=SPARK)
def float64(declared: Declared) -> Iterator[Violation]:
    """FLOAT64 is a floating-point number of double precision."""
    return _differing(declared, BqType.FLOAT64, Type(TypeKind.FLOATING_POINT, bit_width=64))


@about_columns("types.bool", BqType.BOOL, source=GUIDE, breaks=SPARK)
def bool_(declared: Declared) -> Iterator[Violation]:
    """BOOL is a boolean of one bit, not an integer."""
    return _differing(declared, BqType.BOOL, Type(TypeKind.BOOL))


@about_columns("types.string", BqType.STRING, source=GUIDE, breaks=SPARK)
def string(declared: Declared) -> Iterator[Violation]:
    """STRING is utf8 with 32-bit offsets: not large, not a view, and whatever its length parameter."""
    return _differing(declared, BqType.STRING, Type(TypeKind.UTF8))


@about_columns("types.bytes", BqType.BYTES, source=GUIDE, breaks="clients hand text to code that expects bytes")
def bytes_(declared: Declared) -> Iterator[Violation]:
    """BYTES is binary with 32-bit offsets: not large, not a view, not fixed-size, not text."""
    return _differing(declared, BqType.BYTES, Type(TypeKind.BINARY))


@about_columns(
    "types.date",
    BqType.DATE,
    source=GUIDE,
    breaks="schema mismatches: https://github.com/apache/arrow-adbc/pull/2446",
)
def date(declared: Declared) -> Iterator[Violation]:
    """DATE is a date of 32 bits that counts days."""
    return _differing(declared, BqType.DATE, _DATE)


@about_columns("types.time", BqType.TIME, source=GUIDE, breaks=SPARK)
def time(declared: Declared) -> Iterator[Violation]:
    """TIME is a time of 64 bits that counts microseconds."""
    return _differing(declared, BqType.TIME, Type(TypeKind.TIME, bit_width=64, unit="us"))


def _not_in_micros(declared: Declared, kind: BqType) -> Iterator[Violation]:
    for pair in declared.of(kind):
        if pair.element.type.kind is not TypeKind.TIMESTAMP or pair.element.type.unit != "us":
            yield Violation("a timestamp in microseconds", _shown(pair.element), pair.path)


@about_columns("types.datetime", BqType.DATETIME, source=GUIDE, breaks=SPARK)
def datetime(declared: Declared) -> Iterator[Violation]:
    """DATETIME is a timestamp that counts microseconds. Whether it has a zone is asked on its own."""
    return _not_in_micros(declared, BqType.DATETIME)


@about_columns(
    "types.datetime-without-zone",
    BqType.DATETIME,
    source=CAPTURED,
    breaks="Python gets aware datetimes: https://github.com/Recidiviz/bigquery-emulator/pull/38",
)
def datetime_without_zone(declared: Declared) -> Iterator[Violation]:
    """DATETIME has no time zone, not even UTC: it is what a clock on a wall showed."""
    for pair in declared.of(BqType.DATETIME):
        if pair.element.type.timezone is not None:
            yield Violation("no time zone", f"the time zone {pair.element.type.timezone}", pair.path)


@about_columns(
    "types.timestamp", BqType.TIMESTAMP, source=GUIDE, breaks="https://github.com/apache/arrow-adbc/pull/3364"
)
def timestamp(declared: Declared) -> Iterator[Violation]:
    """TIMESTAMP is a timestamp that counts microseconds. Its zone is asked on its own."""
    return _not_in_micros(declared, BqType.TIMESTAMP)


@about_columns(
    "types.timestamp-utc",
    BqType.TIMESTAMP,
    source=CAPTURED,
    breaks="naive times: https://github.com/meztez/bigrquerystorage/issues/53",
)
def timestamp_utc(declared: Declared) -> Iterator[Violation]:
    """TIMESTAMP has the time zone `UTC`, spelt so."""
    for pair in declared.of(BqType.TIMESTAMP):
        if pair.element.type.kind is TypeKind.TIMESTAMP and pair.element.type.timezone != "UTC":
            yield Violation("the time zone UTC", f"the time zone {pair.element.type.timezone}", pair.path)


# --- decimals ---------------------------------------------------------------------------------------


def _not_decimal(declared: Declared, kind: BqType) -> Iterator[Violation]:
    for pair in declared.of(kind):
        widths, found = decimal_widths(pair.column), pair.element.type
        if found.kind is not TypeKind.DECIMAL or found.bit_width not in widths:
            wanted = " or ".join(f"decimal{width}" for width in sorted(widths))
            yield Violation(wanted, _shown(pair.element), pair.path)


def _other_parameters(declared: Declared, kind: BqType) -> Iterator[Violation]:
    for pair in declared.of(kind):
        wanted, found = decimal_parameters(pair.column), pair.element.type
        if found.kind is TypeKind.DECIMAL and (found.precision, found.scale) != wanted:
            yield Violation(f"precision {wanted[0]} and scale {wanted[1]}", str(found), pair.path)


@about_columns(
    "types.numeric",
    BqType.NUMERIC,
    source=GUIDE,
    breaks="digits are lost in floats: https://github.com/Recidiviz/bigquery-emulator/pull/45",
)
def numeric(declared: Declared) -> Iterator[Violation]:
    """NUMERIC is a decimal of 128 bits."""
    return _not_decimal(declared, BqType.NUMERIC)


@about_columns(
    "types.numeric-parameters",
    BqType.NUMERIC,
    source="https://github.com/abdolence/bigquery-rs",
    breaks="values are off by powers of ten where a reader trusts the table's scale",
)
def numeric_parameters(declared: Declared) -> Iterator[Violation]:
    """NUMERIC has precision 38 and scale 9; NUMERIC(P, S) of a base table has precision P and scale S."""
    return _other_parameters(declared, BqType.NUMERIC)


@about_columns(
    "types.bignumeric",
    BqType.BIGNUMERIC,
    source=GUIDE,
    breaks="digits are lost in floats: https://github.com/Recidiviz/bigquery-emulator/pull/45",
)
def bignumeric(declared: Declared) -> Iterator[Violation]:
    """BIGNUMERIC is a decimal of 256 bits; one whose precision fits into 128 bits may have those."""
    return _not_decimal(declared, BqType.BIGNUMERIC)


@about_columns(
    "types.bignumeric-parameters",
    BqType.BIGNUMERIC,
    source=GUIDE,
    breaks="values are off by powers of ten where a reader trusts the table's scale",
)
def bignumeric_parameters(declared: Declared) -> Iterator[Violation]:
    """BIGNUMERIC has precision 76 and scale 38; BIGNUMERIC(P, S) of a base table has precision P and scale S."""
    return _other_parameters(declared, BqType.BIGNUMERIC)


# --- types in the storage of another ----------------------------------------------------------------


@about_columns("types.json", BqType.JSON, source=GUIDE, breaks=SPARK)
def json(declared: Declared) -> Iterator[Violation]:
    """JSON is utf8 with 32-bit offsets, and holds the text."""
    return _differing(declared, BqType.JSON, Type(TypeKind.UTF8))


@about_columns("types.geography", BqType.GEOGRAPHY, source=GUIDE, breaks=SPARK)
def geography(declared: Declared) -> Iterator[Violation]:
    """GEOGRAPHY is utf8 with 32-bit offsets, and holds WKT."""
    return _differing(declared, BqType.GEOGRAPHY, Type(TypeKind.UTF8))


@about_columns(
    "types.interval",
    BqType.INTERVAL,
    source="https://github.com/airbytehq/airbyte",
    breaks="clients that read months, days and nanoseconds",
)
def interval(declared: Declared) -> Iterator[Violation]:
    """INTERVAL is an interval of months, days and nanoseconds."""
    return _differing(declared, BqType.INTERVAL, Type(TypeKind.INTERVAL, bit_width=128, unit="month-day-nano"))


# --- composite types --------------------------------------------------------------------------------


@about_columns(
    "types.range",
    BqType.RANGE,
    source="https://github.com/airbytehq/airbyte",
    breaks="https://github.com/googleapis/google-cloud-go/pull/9795",
)
def range_(declared: Declared) -> Iterator[Violation]:
    """RANGE is a struct of `start` and `end`, both of the Arrow type of its bounds, nullable and without metadata.

    The flags of the bounds of a REQUIRED range are not known, and either is permitted there.
    """
    for pair in declared.of(BqType.RANGE):
        assert pair.column.range_of is not None
        bound, nullable = _BOUNDS[pair.column.range_of], bounds_nullable(pair.column)
        found = pair.element
        shape = [(child.name, child.type, child.metadata) for child in found.children]
        fits = found.type.kind is TypeKind.STRUCT and shape == [("start", bound, ()), ("end", bound, ())]
        if not fits or any(child.nullable not in nullable for child in found.children):
            yield Violation(f"a struct of start and end: {bound}, nullable", _shown(found), pair.path)


@about_columns("types.record", BqType.RECORD, source=FLATTENED, breaks="clients get text instead of fields")
def record(declared: Declared) -> Iterator[Violation]:
    """RECORD is a struct. Its fields are judged as columns are."""
    for pair in declared.of(BqType.RECORD):
        if pair.element.type.kind is not TypeKind.STRUCT:
            yield Violation("a struct", _shown(pair.element), pair.path)


@about_columns("types.repeated", source=CAPTURED, breaks="Spark and typed readers know no other list")
def repeated(declared: Declared) -> Iterator[Violation]:
    """A REPEATED column is a list with 32-bit offsets: not large, not a view, not fixed-size, and not a scalar."""
    for pair in declared.pairs:
        if pair.column.mode is Mode.REPEATED and pair.field.type.kind is not TypeKind.LIST:
            yield Violation("a list with 32-bit offsets", _shown(pair.field), pair.path)
