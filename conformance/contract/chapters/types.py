"""The Arrow type of every BigQuery type.

Each clause binds the columns of one type at any depth, inside lists and structs too. Types are exact: text and lists
with 32-bit offsets, microseconds, the decimal width and parameters of the column. If the contract leaves a choice
(:mod:`conformance.contract.mapping`), every choice is permitted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from conformance.contract.clause import Violation
from conformance.contract.comparing.declarations import Declared, UnpairedFields, about_columns
from conformance.contract.mapping import bounds_metadata, bounds_nullable, decimal_parameters, decimal_widths
from conformance.contract.sources import ARROW_GUIDE, CAPTURED, LIVE_TEST, LIVE_TESTS, OBSERVED_TYPES, Sources
from conformance.records import BqType, Mode
from conformance.wire import Field, Type, TypeKind

SPARK: Final = "Spark (from its source): `UnsupportedOperationException` for every vector type except the expected one"

_MICROS: Final = Type(TypeKind.TIMESTAMP, bit_width=64, unit="us")
_UTC: Final = Type(TypeKind.TIMESTAMP, bit_width=64, unit="us", timezone="UTC")
_TEXT: Final = Type(TypeKind.UTF8)
_DATE: Final = Type(TypeKind.DATE, bit_width=32, unit="day")
_BOUNDS: Final = {BqType.DATE: _DATE, BqType.DATETIME: _MICROS, BqType.TIMESTAMP: _UTC}


Check = Callable[[Declared, BqType], Iterator[Violation]]


def _about(
    clause_id: str,
    kind: BqType,
    check: Check,
    says: str,
    breaks: str = SPARK,
    *,
    source: Sources = (ARROW_GUIDE, CAPTURED),
) -> None:
    """Register a clause on the columns of one type, with a check that several types share."""

    def check_type(declared: Declared) -> Iterator[Violation]:
        return check(declared, kind)

    about_columns(clause_id, kind, source=source, breaks=breaks, says=says)(check_type)


def _is(wanted: Type) -> Check:
    """Return a check that the columns of a type have exactly this Arrow type."""

    def check(declared: Declared, kind: BqType) -> Iterator[Violation]:
        for pair in declared.of(kind):
            if pair.element.type != wanted:
                yield Violation(str(wanted), _shown(pair.element), pair.path)

    return check


def _in_micros(declared: Declared, kind: BqType) -> Iterator[Violation]:
    for pair in declared.of(kind):
        if pair.element.type.kind is not TypeKind.TIMESTAMP or pair.element.type.unit != "us":
            yield Violation("a timestamp in microseconds", _shown(pair.element), pair.path)


def _shown(field: Field) -> str:
    return str(field).partition(": ")[2].removesuffix(" not null")


def _zone(found: Type) -> str:
    return "no time zone" if found.timezone is None else f"the time zone {found.timezone!r}"


# --- any field --------------------------------------------------------------------------------------

_SERVED: Final = frozenset(
    {
        Type(TypeKind.INT, bit_width=64, signed=True),
        Type(TypeKind.FLOATING_POINT, bit_width=64),
        Type(TypeKind.BOOL),
        _TEXT,
        Type(TypeKind.BINARY),
        _DATE,
        Type(TypeKind.TIME, bit_width=64, unit="us"),
        _MICROS,
        _UTC,
        Type(TypeKind.INTERVAL, bit_width=128, unit="month-day-nano"),
        Type(TypeKind.STRUCT),
        Type(TypeKind.LIST),
    }
)
"""The Arrow types that the service uses, without decimals, which have parameters."""
_DECIMALS: Final = frozenset({128, 256})


@about_columns("types.known", source=ARROW_GUIDE, breaks=SPARK, over=UnpairedFields())
def known(declared: Declared) -> Iterator[Violation]:
    """A field has an Arrow type that the service uses for some BigQuery type.

    The service uses int64, float64, bool, utf8, binary, date32, time64 and timestamps in microseconds, decimal128,
    decimal256, month-day-nano intervals, structs and lists. It uses no views, unions, maps, run ends,
    large or fixed-size types. This clause judges messages whose table is not known, and fields without a column; the
    other clauses of this chapter judge the type of each column.
    """
    for path, field in declared.unpaired():
        found = field.type
        if found not in _SERVED and not (found.kind is TypeKind.DECIMAL and found.bit_width in _DECIMALS):
            yield Violation("an Arrow type that the service uses", str(found), path)


# --- scalars ----------------------------------------------------------------------------------------

# A table, one row per clause: id, type, the function that checks it, explanation, affected software.
# fmt: off
_about("types.int64", BqType.INT64, _is(Type(TypeKind.INT, bit_width=64, signed=True)),
  "INT64 is a signed 64-bit integer.")
_about("types.float64", BqType.FLOAT64, _is(Type(TypeKind.FLOATING_POINT, bit_width=64)),
  "FLOAT64 is a floating-point number of double precision.")
_about("types.bool", BqType.BOOL, _is(Type(TypeKind.BOOL)), "BOOL is a boolean of one bit, not an integer.")
_about("types.string", BqType.STRING, _is(_TEXT),
  "STRING is utf8 with 32-bit offsets: not large and not a view, with any length parameter.")
_about("types.bytes", BqType.BYTES, _is(Type(TypeKind.BINARY)),
  "BYTES is binary with 32-bit offsets: not large, not a view, not fixed-size, not text.",
  "clients pass text to code that expects bytes")
_about("types.date", BqType.DATE, _is(_DATE), "DATE is a 32-bit date in days.",
  "schema mismatches: https://github.com/apache/arrow-adbc/pull/2446")
_about("types.time", BqType.TIME, _is(Type(TypeKind.TIME, bit_width=64, unit="us")),
  "TIME is a 64-bit time in microseconds.")
_about("types.datetime", BqType.DATETIME, _in_micros,
  "DATETIME is a timestamp in microseconds. A clause of its own judges its time zone.")
# fmt: on


@about_columns(
    "types.datetime-without-zone",
    BqType.DATETIME,
    source=CAPTURED,
    breaks="Python gets aware datetimes: https://github.com/Recidiviz/bigquery-emulator/pull/38",
)
def datetime_without_zone(declared: Declared) -> Iterator[Violation]:
    """DATETIME has no time zone, not even UTC: it is the time on a wall clock."""
    for pair in declared.of(BqType.DATETIME):
        if pair.element.type.timezone is not None:
            yield Violation("no time zone", _zone(pair.element.type), pair.path)


# fmt: off
_about("types.timestamp", BqType.TIMESTAMP, _in_micros,
  "TIMESTAMP is a timestamp in microseconds. A clause of its own judges its time zone.",
  "https://github.com/apache/arrow-adbc/pull/3364")
# fmt: on


@about_columns(
    "types.timestamp-utc",
    BqType.TIMESTAMP,
    source=CAPTURED,
    breaks="naive times: https://github.com/meztez/bigrquerystorage/issues/53",
)
def timestamp_utc(declared: Declared) -> Iterator[Violation]:
    """TIMESTAMP has the time zone `UTC`, in exactly this spelling."""
    for pair in declared.of(BqType.TIMESTAMP):
        if pair.element.type.kind is TypeKind.TIMESTAMP and pair.element.type.timezone != "UTC":
            yield Violation("the time zone UTC", _zone(pair.element.type), pair.path)


# --- decimals ---------------------------------------------------------------------------------------


def _is_decimal(declared: Declared, kind: BqType) -> Iterator[Violation]:
    for pair in declared.of(kind):
        widths, found = decimal_widths(pair.column), pair.element.type
        if found.kind is not TypeKind.DECIMAL or found.bit_width not in widths:
            wanted = " or ".join(f"decimal{width}" for width in sorted(widths))
            yield Violation(wanted, _shown(pair.element), pair.path)


def _has_parameters(declared: Declared, kind: BqType) -> Iterator[Violation]:
    for pair in declared.of(kind):
        wanted, found = decimal_parameters(pair.column), pair.element.type
        if found.kind is TypeKind.DECIMAL and (found.precision, found.scale) != wanted:
            yield Violation(f"precision {wanted[0]} and scale {wanted[1]}", str(found), pair.path)


DIGITS_LOST: Final = "digits are lost in floats: https://github.com/Recidiviz/bigquery-emulator/pull/45"
WRONG_SCALE: Final = "values are wrong by powers of ten if a reader trusts the table's scale"

# fmt: off
_about("types.numeric", BqType.NUMERIC, _is_decimal, "NUMERIC is a decimal of 128 bits.", DIGITS_LOST)
_about("types.numeric-parameters", BqType.NUMERIC, _has_parameters,
  "NUMERIC has precision 38 and scale 9; NUMERIC(P, S) of a base table has precision P and scale S.",
  WRONG_SCALE, source=(ARROW_GUIDE, LIVE_TESTS))
_about("types.bignumeric", BqType.BIGNUMERIC, _is_decimal,
  "BIGNUMERIC is a decimal of 256 bits; it may have 128 bits if its precision fits into these.", DIGITS_LOST,
  source=(ARROW_GUIDE, LIVE_TESTS))
_about("types.bignumeric-parameters", BqType.BIGNUMERIC, _has_parameters,
  "BIGNUMERIC has precision 76 and scale 38; BIGNUMERIC(P, S) of a base table has precision P and scale S.",
  WRONG_SCALE, source=(ARROW_GUIDE, LIVE_TEST))

# --- types in the storage of another ----------------------------------------------------------------

_about("types.json", BqType.JSON, _is(_TEXT), "JSON is utf8 with 32-bit offsets, with the JSON text.",
  source=(ARROW_GUIDE, OBSERVED_TYPES))
_about("types.geography", BqType.GEOGRAPHY, _is(_TEXT), "GEOGRAPHY is utf8 with 32-bit offsets, with WKT.",
  source=(ARROW_GUIDE, OBSERVED_TYPES))
_about("types.interval", BqType.INTERVAL, _is(Type(TypeKind.INTERVAL, bit_width=128, unit="month-day-nano")),
  "INTERVAL is an interval of months, days and nanoseconds.",
  "clients that read months, days and nanoseconds", source=OBSERVED_TYPES)
# fmt: on


# --- composite types --------------------------------------------------------------------------------


@about_columns(
    "types.range",
    BqType.RANGE,
    source=OBSERVED_TYPES,
    breaks="https://github.com/googleapis/google-cloud-go/pull/9795",
)
def range_(declared: Declared) -> Iterator[Violation]:
    """RANGE is a struct of `start` and `end`, both of the Arrow type of its bounds, nullable and without metadata.

    The flags of the bounds of a REQUIRED range are not known, so both values are permitted there. It is not known
    whether bounds of DATETIME have the metadata of a DATETIME column, so they may have it.
    """
    for pair in declared.of(BqType.RANGE):
        assert pair.column.range_of is not None
        bound, nullable = _BOUNDS[pair.column.range_of], bounds_nullable(pair.column)
        found = pair.element
        shape = [(child.name, child.type) for child in found.children]
        fits = found.type.kind is TypeKind.STRUCT and shape == [("start", bound), ("end", bound)]
        if not fits or any(child.nullable not in nullable for child in found.children):
            yield Violation(f"struct<start: {bound}, end: {bound}>, its fields nullable", _shown(found), pair.path)
            continue
        permitted = [*dict.fromkeys(tuple(metadata.items()) for metadata in bounds_metadata(pair.column))]
        for child in found.children:
            if child.metadata not in permitted:
                seen = f"metadata {dict(child.metadata)}"
                wanted = " or ".join(f"metadata {dict(each)}" if each else "no metadata" for each in permitted)
                yield Violation(wanted, seen, f"{pair.path}.{child.name}")


@about_columns(
    "types.record", BqType.RECORD, source=(ARROW_GUIDE, CAPTURED), breaks="clients get text instead of fields"
)
def record(declared: Declared) -> Iterator[Violation]:
    """RECORD is a struct. Its fields are judged as columns."""
    for pair in declared.of(BqType.RECORD):
        if pair.element.type.kind is not TypeKind.STRUCT:
            yield Violation("a struct", _shown(pair.element), pair.path)


@about_columns("types.repeated", source=CAPTURED, breaks="Spark, which supports no other list (from its source)")
def repeated(declared: Declared) -> Iterator[Violation]:
    """A REPEATED column is a list with 32-bit offsets: not large, not a view, not fixed-size, and not a scalar."""
    for pair in declared.pairs:
        if pair.column.mode is Mode.REPEATED and pair.field.type.kind is not TypeKind.LIST:
            yield Violation("a list with 32-bit offsets", _shown(pair.field), pair.path)
