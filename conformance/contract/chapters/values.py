"""The values themselves, type by type, exactly: decimals as integers, times raw, NaN as NaN, -0.0 apart from 0.0.

Every clause binds values at any depth, in lists and structs too. A server may send rows in any order and write JSON
and WKT in its own way; a serializer keeps rows, order and text unchanged. Invisible slots are not compared.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

import pyarrow as pa

from conformance.contain.text import many
from conformance.contract.clause import Violation, clause
from conformance.contract.comparing import cellbits, texts
from conformance.contract.comparing.differences import ValueDifference, ValueDifferenceKind
from conformance.contract.comparing.received import Compared, Counts, PathRole, Serialized, TablePath, Values, violation
from conformance.contract.comparing.uncompared import Loose, leaves, outside
from conformance.contract.sources import ARROW_GUIDE, CAPTURED, LIVE_TESTS, SERVICE_TESTS, SQL_TYPES, Sources
from conformance.contract.view import BatchBytes
from conformance.records import BqType, Level


def _of(kind: BqType) -> Values:
    return Values(lambda shown: kind in shown.types)


def _arrives(
    clause_id: str, kind: BqType, says: str, breaks: str, *, source: Sources = (SQL_TYPES, LIVE_TESTS)
) -> None:
    """Register the clause on the values of one type."""
    register = clause(clause_id, over=_of(kind), source=source, breaks=breaks, says=says)
    register(lambda one: _different(one, kind))


def _different(one: Compared, kind: BqType) -> Iterator[Violation]:
    """Yield a violation for each path of the type at which values, or bounds, differ."""
    for found in one.differences:
        place = one.places.get(found.path)
        if place is None or found.path.partition(".item")[0] in one.reordered:
            continue
        if place.column.type is kind and place.role is not PathRole.LIST and _is_value(found, place):
            yield violation(found)


def _is_value(found: ValueDifference, place: TablePath) -> bool:
    """True if a difference is one of values, not of nulls or lists: a missing bound or a JSON null is a value."""
    if found.kind is ValueDifferenceKind.NULL:
        return place.role is PathRole.BOUND or (place.column.type is BqType.JSON and found.wanted == "'null'")
    return found.kind is ValueDifferenceKind.VALUE


# --- scalars ----------------------------------------------------------------------------------------


# A table, one row per clause: id, type, explanation, affected software.
# fmt: off
_arrives("values.int64", BqType.INT64,
  "INT64 arrives with all 64 bits, also beyond 2**53, where a double cannot represent every integer.",
  "every client: wrong numbers without an error")
_arrives("values.float64", BqType.FLOAT64,
  "FLOAT64 arrives bit by bit: infinities, the sign of zero, the last digit. NaN arrives as a NaN.",
  "every client: wrong numbers without an error")
_arrives("values.bool", BqType.BOOL,
  "TRUE arrives as true and FALSE as false.",
  "every client: wrong answers without an error")
_arrives("values.string", BqType.STRING,
  "STRING arrives character by character: untrimmed, not normalised, in UTF-8 exactly once.",
  "every client: wrong text without an error")
_arrives("values.bytes", BqType.BYTES,
  "BYTES arrives as the bytes themselves, not as their base64 or hexadecimal text.",
  "clients get base64 text where they expect the bytes: https://github.com/Recidiviz/bigquery-emulator/pull/45")
_arrives("values.date", BqType.DATE,
  "DATE arrives as days since 1970-01-01 in the proleptic Gregorian calendar, from year 1 to 9999.",
  "days wrong by two before 1582, or by centuries if a day count was converted to nanoseconds:"
  " https://github.com/GoogleCloudDataproc/spark-bigquery-connector/issues/1389")
_arrives("values.time", BqType.TIME,
  "TIME arrives as microseconds since midnight.",
  "pandas with pyarrow 26.0.1: `ValueError: hour must be in 0..23`; others show a wrong time")
_arrives("values.datetime", BqType.DATETIME,
  "DATETIME arrives as microseconds since 1970-01-01 00:00:00 on the same clock: no time zone shifts it.",
  "every client: times shifted by a time zone")
_arrives("values.timestamp", BqType.TIMESTAMP,
  "TIMESTAMP arrives as microseconds since the Unix epoch, negative before it, with all six decimals.",
  "every client: other instants")
_arrives("values.numeric", BqType.NUMERIC,
  "NUMERIC arrives with all digits: 38, of which 9 are after the point.",
  "every client: digits lost without an error: https://github.com/Recidiviz/bigquery-emulator/pull/45")
_arrives("values.bignumeric", BqType.BIGNUMERIC,
  "BIGNUMERIC arrives with all digits: 76, or 77 for the extremes, of which 38 are after the point.",
  "every client: digits lost without an error")

# --- types in the storage of another ----------------------------------------------------------------

_arrives("values.json", BqType.JSON,
  """JSON arrives as a text of the same document; the JSON null is the text `null`, and not NULL.

  From a server, white space and the order of keys do not matter here. A serializer leaves the text as it is.
  """, "clients parse a different document")
_arrives("values.geography", BqType.GEOGRAPHY,
  """GEOGRAPHY arrives as WKT of the same shape, longitude first.

  From a server, spacing and spelling do not matter here. A serializer leaves the text as it is.
  """, "clients show a different place")
_arrives("values.interval", BqType.INTERVAL,
  "INTERVAL arrives as its months, its days and its microseconds times 1000, each with its own sign.",
  "clients add a different span")
_arrives("values.range", BqType.RANGE,
  """RANGE arrives with its bounds in their places; a bound that does not exist arrives as NULL.

  In a REQUIRED range the service sends a default for such a bound; any value is permitted there.
  """, "clients see a different span, or no span")
# fmt: on


# --- nulls, lists, structs --------------------------------------------------------------------------

_ANYTHING: Final = Values(lambda _shown: True)
_LISTS: Final = Values(lambda shown: shown.has_lists)


def _of_kind(one: Compared, kind: ValueDifferenceKind, role: PathRole) -> Iterator[tuple[ValueDifference, TablePath]]:
    for found in one.differences:
        place = one.places.get(found.path)
        if place is not None and found.kind is kind and place.role is role:
            yield found, place


@clause(
    "values.nulls",
    over=_ANYTHING,
    source=(ARROW_GUIDE, CAPTURED),
    breaks="every client: values in place of NULL, or the reverse",
)
def nulls(one: Compared) -> Iterator[Violation]:
    """NULL arrives as NULL, not as 0 and not as the empty string; no other value arrives as NULL."""
    for found, place in _of_kind(one, ValueDifferenceKind.NULL, PathRole.VALUE):
        if place.column.type is not BqType.RECORD and not _is_value(found, place):
            yield violation(found)


@clause(
    "values.record",
    over=_of(BqType.RECORD),
    source=(SQL_TYPES, LIVE_TESTS),
    breaks="clients cannot distinguish a missing RECORD from one with NULL fields",
)
def record(one: Compared) -> Iterator[Violation]:
    """A NULL RECORD arrives as NULL, and a RECORD whose fields are NULL arrives as a RECORD."""
    for found, place in _of_kind(one, ValueDifferenceKind.NULL, PathRole.VALUE):
        if place.column.type is BqType.RECORD:
            yield violation(found)


@clause(
    "values.repeated",
    over=_LISTS,
    source=(SQL_TYPES, LIVE_TESTS),
    breaks=(
        "every client: other lists, without an error; a slot for each element is a"
        " `panic: arrow/array: field has 6 rows. want=3`: https://github.com/goccy/bigquery-emulator/pull/496"
    ),
)
def repeated(one: Compared) -> Iterator[Violation]:
    """An array arrives with all its items, in their order, in a list of its own per row."""
    for found, _ in _of_kind(one, ValueDifferenceKind.ITEMS, PathRole.LIST):
        yield violation(found)
    for name in sorted(one.reordered):
        yield Violation("items in the order of the array", "the same items in another order", name)


@clause(
    "values.repeated-not-null",
    over=_LISTS,
    source=(ARROW_GUIDE, LIVE_TESTS),
    breaks=(
        "arro3 0.9.1 refuses the batch; Python programs that loop over the value: `'NoneType' object is not iterable`"
    ),
)
def repeated_not_null(one: Compared) -> Iterator[Violation]:
    """An array without items arrives as an empty list and never as NULL: BigQuery has no NULL arrays."""
    for found, _ in _of_kind(one, ValueDifferenceKind.NULL, PathRole.LIST):
        yield violation(found)


@clause(
    "values.follow-names",
    over=_ANYTHING,
    source=(ARROW_GUIDE, CAPTURED),
    breaks="every client: values of one column under the name of another, without an error if the types agree",
)
def follow_names(one: Compared) -> Iterator[Violation]:
    """The values under a name are those of that column, and not those of another column.

    This happens if the schema is in one order and the data in another: every batch decodes, with columns exchanged.
    """
    for name, owner in one.misplaced.items():
        yield Violation(f"the values of {name!r}", f"the values of {owner!r}", name)


@clause(
    "values.serialized-rows",
    over=Counts(),
    source=(ARROW_GUIDE, CAPTURED),
    breaks="every client: rows lost or invented",
)
def serialized_rows(one: Serialized) -> Iterator[Violation]:
    """A serializer's batches have as many rows as the table that it was given."""
    if one.expected.num_rows != one.got.num_rows:
        yield Violation(many(one.expected.num_rows, "row"), many(one.got.num_rows, "row"))


# --- the form of texts ------------------------------------------------------------------------------


def _unlike(one: Compared, kind: BqType, is_right: Callable[[str], bool], wanted: str) -> Iterator[Violation]:
    for path, place in one.places.items():
        if place.column.type is kind and place.role is PathRole.VALUE:
            odd = [text for text in _texts(one.got, path) if text is not None and not is_right(text)]
            if odd:
                yield Violation(wanted, f"{odd[0]!r} ({many(len(odd), 'place')} differ)", path)


def _texts(table: pa.Table, path: str) -> list[str | None]:
    """Return the texts (or bytes) at a path, whose ``item`` steps lead into lists; empty if other values are there."""
    first, *steps = path.split(".")
    if table.schema.get_field_index(first) < 0:
        return []
    arrays = table.column(first).chunks
    for step in steps:
        arrays = [inner for array in arrays for inner in _below(array, step)]
    texts = (array for array in arrays if cellbits.is_text(array.type))
    return [cellbits.string(value) for array in texts for value in array]


def _below(array: pa.Array, step: str) -> list[pa.Array]:
    if cellbits.is_list(array.type):
        return [array.flatten()]
    place = array.type.get_field_index(step) if pa.types.is_struct(array.type) else -1
    return [array.field(place)] if place >= 0 else []


@clause(
    "values.json-compact",
    over=Values(lambda shown: shown.from_server and BqType.JSON in shown.types),
    source=SERVICE_TESTS,
    level=Level.SHOULD,
)
def json_compact(one: Compared) -> Iterator[Violation]:
    """JSON is written without white space, as in `{"k":[1,null]}`."""
    return _unlike(one, BqType.JSON, texts.is_compact_json, "JSON without white space")


@clause(
    "values.geography-form",
    over=Values(lambda shown: shown.from_server and BqType.GEOGRAPHY in shown.types),
    source=LIVE_TESTS,
    level=Level.SHOULD,
)
def geography_form(one: Compared) -> Iterator[Violation]:
    """WKT is written as by the service: `POINT(1 2)`, `LINESTRING(1 2, 3 4)`, `GEOMETRYCOLLECTION EMPTY`."""
    return _unlike(one, BqType.GEOGRAPHY, texts.is_plain_wkt, "WKT as in LINESTRING(1 2, 3 4)")


# --- limits, for values that are not compared with a case ---------------------------------------------

_DAYS: Final = (-719_162, 2_932_896)
"""0001-01-01 and 9999-12-31 in days since 1970-01-01."""
_MICROS: Final = (-62_135_596_800_000_000, 253_402_300_799_999_999)
"""0001-01-01 00:00:00 and 9999-12-31 23:59:59.999999 in microseconds since 1970-01-01."""


def _is_micros(arrow: pa.DataType) -> bool:
    return bool(pa.types.is_timestamp(arrow)) and arrow.unit == "us"


@clause(
    "values.date-limits",
    over=Loose(pa.types.is_date32),
    source=SQL_TYPES,
    breaks="pyarrow 26.0.1: `OverflowError: date value out of range`",
)
def date_limits(batch: BatchBytes) -> Iterator[Violation]:
    """A date is in the years 1 to 9999. This applies to values that are not compared with a case."""
    for path, dates in leaves(batch, pa.types.is_date32):
        if found := outside(dates, *_DAYS):
            yield Violation(
                "days from 0001-01-01 to 9999-12-31", f"the day {found[0]} ({many(found[1], 'such value')})", path
            )


@clause(
    "values.timestamp-limits",
    over=Loose(_is_micros),
    source=SQL_TYPES,
    breaks="pyarrow 26.0.1: `OverflowError: date value out of range`",
)
def timestamp_limits(batch: BatchBytes) -> Iterator[Violation]:
    """A TIMESTAMP or DATETIME is in the years 1 to 9999. This applies to values that are not compared with a case."""
    for path, times in leaves(batch, _is_micros):
        if found := outside(times, *_MICROS):
            yield Violation(
                "microseconds of the years 1 to 9999",
                f"the instant {found[0]} us ({many(found[1], 'such value')})",
                path,
            )
