"""The values themselves, type by type, exactly: decimals as integers, times raw, NaN as NaN, -0.0 apart from 0.0.

Every clause holds at any depth, in lists and structs too. A server may send rows in any order and write JSON and WKT
in its own way; a serializer keeps rows, order and text as they are. Slots that no one can see are not compared.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Final

import pyarrow as pa

from conformance.contract import cells, texts
from conformance.contract.clause import Violation, clause
from conformance.contract.compared import Compared, Counts, Place, Role, Serialized, Values, violation
from conformance.contract.loose import Loose, leaves, outside
from conformance.contract.values import Difference, Kind
from conformance.contract.view import BatchBytes
from conformance.records import BqType, Level

GUIDE: Final = "https://cloud.google.com/bigquery/docs/reference/storage#arrow_schema_details"
SQL_TYPES: Final = "https://cloud.google.com/bigquery/docs/reference/standard-sql/data-types"
RECIDIVIZ: Final = "https://github.com/Recidiviz/bigquery-emulator/pull/45"
EMPTY_ARRAYS: Final = "https://github.com/goccy/bigquery-emulator/pull/496"
LIVE_TESTS: Final = "https://github.com/abdolence/bigquery-rs/tree/main/tests"
"""Values written and read back through the service."""

Check = Callable[[Compared], Iterable[Violation]]


def _about(clause_id: str, *types: BqType, source: str = SQL_TYPES, breaks: str = "") -> Callable[[Check], Check]:
    over = Values(lambda shown: not shown.types.isdisjoint(types))
    return clause(clause_id, over=over, source=source, breaks=breaks)


def _different(
    one: Compared, *types: BqType, roles: tuple[Role, ...] = (Role.VALUE, Role.BOUND)
) -> Iterator[Violation]:
    """A violation for each path of the types at which values differ."""
    for found in one.differences:
        place = one.places.get(found.path)
        if place is None or found.path.partition(".item")[0] in one.reordered:
            continue
        if place.column.type in types and place.role in roles and _is_value(found, place):
            yield violation(found)


def _is_value(found: Difference, place: Place) -> bool:
    """Whether a difference is one of values, not of nulls or lists: a missing bound or a JSON null is a value."""
    if found.kind is Kind.NULL:
        return place.role is Role.BOUND or (place.column.type is BqType.JSON and found.wanted == "'null'")
    return found.kind is Kind.VALUE


# --- scalars ----------------------------------------------------------------------------------------


@_about("values.int64", BqType.INT64, breaks="every client: wrong numbers without an error")
def int64(one: Compared) -> Iterator[Violation]:
    """INT64 arrives as it is, all 64 bits of it: also beyond 2**53, where a double has no room for it."""
    return _different(one, BqType.INT64)


@_about("values.float64", BqType.FLOAT64, breaks="every client: wrong numbers without an error")
def float64(one: Compared) -> Iterator[Violation]:
    """FLOAT64 arrives bit by bit: infinities, the sign of zero, the last digit. NaN arrives as some NaN."""
    return _different(one, BqType.FLOAT64)


@_about("values.bool", BqType.BOOL, breaks="every client: wrong answers without an error")
def bool_(one: Compared) -> Iterator[Violation]:
    """TRUE arrives as true and FALSE as false."""
    return _different(one, BqType.BOOL)


@_about("values.string", BqType.STRING, breaks="every client: wrong text without an error")
def string(one: Compared) -> Iterator[Violation]:
    """STRING arrives character by character: untrimmed, not normalised, in UTF-8 exactly once."""
    return _different(one, BqType.STRING)


@_about("values.bytes", BqType.BYTES, source=RECIDIVIZ, breaks="clients get base64 text where they expect the bytes")
def bytes_(one: Compared) -> Iterator[Violation]:
    """BYTES arrives as the bytes themselves, not as their base64 or hexadecimal text."""
    return _different(one, BqType.BYTES)


@_about(
    "values.date",
    BqType.DATE,
    source="https://github.com/GoogleCloudDataproc/spark-bigquery-connector/issues/1389",
    breaks="days off by two before 1582, or by centuries where a day count went through nanoseconds",
)
def date(one: Compared) -> Iterator[Violation]:
    """DATE arrives as days since 1970-01-01 in the proleptic Gregorian calendar, from year 1 to 9999."""
    return _different(one, BqType.DATE)


@_about("values.time", BqType.TIME, source=RECIDIVIZ, breaks="pyarrow: `OverflowError`; others show another time")
def time(one: Compared) -> Iterator[Violation]:
    """TIME arrives as microseconds since midnight."""
    return _different(one, BqType.TIME)


@_about("values.datetime", BqType.DATETIME, breaks="every client: times shifted by some zone")
def datetime(one: Compared) -> Iterator[Violation]:
    """DATETIME arrives as microseconds since 1970-01-01 00:00:00 on the same clock: no zone shifts it."""
    return _different(one, BqType.DATETIME)


@_about("values.timestamp", BqType.TIMESTAMP, breaks="every client: other instants")
def timestamp(one: Compared) -> Iterator[Violation]:
    """TIMESTAMP arrives as microseconds since the Unix epoch, negative before it, all six decimals kept."""
    return _different(one, BqType.TIMESTAMP)


@_about("values.numeric", BqType.NUMERIC, source=RECIDIVIZ, breaks="every client: digits lost without an error")
def numeric(one: Compared) -> Iterator[Violation]:
    """NUMERIC arrives digit by digit: all 38 of them, 9 behind the point."""
    return _different(one, BqType.NUMERIC)


@_about("values.bignumeric", BqType.BIGNUMERIC, source=LIVE_TESTS, breaks="every client: digits lost without an error")
def bignumeric(one: Compared) -> Iterator[Violation]:
    """BIGNUMERIC arrives digit by digit: 76 of them, and the 77 of the extremes, 38 behind the point."""
    return _different(one, BqType.BIGNUMERIC)


# --- types in the storage of another ----------------------------------------------------------------


@_about("values.json", BqType.JSON, source=LIVE_TESTS, breaks="clients parse another document")
def json(one: Compared) -> Iterator[Violation]:
    """JSON arrives as a text of the same document; the JSON null is the text `null`, and not NULL.

    From a server, white space and the order of keys do not matter here. A serializer leaves the text as it is.
    """
    return _different(one, BqType.JSON)


@_about("values.geography", BqType.GEOGRAPHY, source=LIVE_TESTS, breaks="clients show another place")
def geography(one: Compared) -> Iterator[Violation]:
    """GEOGRAPHY arrives as WKT of the same shape, longitude first.

    From a server, spacing and spelling do not matter here. A serializer leaves the text as it is.
    """
    return _different(one, BqType.GEOGRAPHY)


@_about("values.interval", BqType.INTERVAL, source=LIVE_TESTS, breaks="clients add another span")
def interval(one: Compared) -> Iterator[Violation]:
    """INTERVAL arrives as its months, its days and its microseconds times 1000, each with its own sign."""
    return _different(one, BqType.INTERVAL)


@_about("values.range", BqType.RANGE, source=LIVE_TESTS, breaks="clients see another span, or none")
def range_(one: Compared) -> Iterator[Violation]:
    """RANGE arrives with its bounds in their places; a bound that does not exist arrives as NULL.

    In a REQUIRED range the service sends a default for such a bound; anything is permitted there.
    """
    return _different(one, BqType.RANGE)


# --- nulls, lists, structs --------------------------------------------------------------------------

_ANYTHING: Final = Values(lambda _shown: True)
_LISTS: Final = Values(lambda shown: shown.has_lists)


def _of_kind(one: Compared, kind: Kind, role: Role) -> Iterator[tuple[Difference, Place]]:
    for found in one.differences:
        place = one.places.get(found.path)
        if place is not None and found.kind is kind and place.role is role:
            yield found, place


@clause(
    "values.nulls", over=_ANYTHING, source=GUIDE, breaks="every client: values where there are none, or the reverse"
)
def nulls(one: Compared) -> Iterator[Violation]:
    """NULL arrives where NULL is, and nowhere else: not as 0 and not as the empty string."""
    for found, place in _of_kind(one, Kind.NULL, Role.VALUE):
        if place.column.type is not BqType.RECORD and not _is_value(found, place):
            yield violation(found)


@_about("values.record", BqType.RECORD, breaks="clients cannot tell a missing RECORD from one of empty fields")
def record(one: Compared) -> Iterator[Violation]:
    """A NULL RECORD arrives as NULL, and one whose fields are NULL arrives as a RECORD."""
    for found, place in _of_kind(one, Kind.NULL, Role.VALUE):
        if place.column.type is BqType.RECORD:
            yield violation(found)


@clause(
    "values.repeated", over=_LISTS, source=EMPTY_ARRAYS, breaks="Go: `panic: arrow/array: field has 6 rows. want=3`"
)
def repeated(one: Compared) -> Iterator[Violation]:
    """An array arrives with its items: as many as it has, in their order, in one list of its own per row."""
    for found, _ in _of_kind(one, Kind.ITEMS, Role.LIST):
        yield violation(found)
    for name in sorted(one.reordered):
        yield Violation("items in the order of the array", "the same items in another order", name)


@clause(
    "values.repeated-not-null",
    over=_LISTS,
    source=EMPTY_ARRAYS,
    breaks="Python: `'NoneType' object is not iterable`",
)
def repeated_not_null(one: Compared) -> Iterator[Violation]:
    """An array without items arrives as an empty list and never as NULL: BigQuery has no NULL arrays."""
    for found, _ in _of_kind(one, Kind.NULL, Role.LIST):
        yield violation(found)


@clause(
    "values.follow-names",
    over=_ANYTHING,
    source="https://github.com/goccy/bigquery-emulator/blob/cb8555bee739c794343337e8c3242b59d5d7470a/server/storage_handler.go",
    breaks="every client: values of one column under the name of another, without an error where the types agree",
)
def follow_names(one: Compared) -> Iterator[Violation]:
    """The values under a name are that column's, and not those of another column.

    A schema in one order and data in another look like this: every batch decodes, and columns are exchanged.
    """
    for name, owner in one.misplaced.items():
        yield Violation(f"the values of {name}", f"the values of {owner}", name)


@clause("values.serialized-rows", over=Counts(), source=GUIDE, breaks="every client: rows lost or invented")
def serialized_rows(one: Serialized) -> Iterator[Violation]:
    """A serializer's batches hold as many rows as the table that it was given."""
    if one.expected.num_rows != one.got.num_rows:
        yield Violation(f"{one.expected.num_rows} rows", f"{one.got.num_rows} rows")


# --- how texts are written --------------------------------------------------------------------------


def _unlike(one: Compared, kind: BqType, is_right: Callable[[str], bool], wanted: str) -> Iterator[Violation]:
    for path, place in one.places.items():
        if place.column.type is kind and place.role is Role.VALUE:
            odd = [text for text in _texts(one.got, path) if text is not None and not is_right(text)]
            if odd:
                yield Violation(wanted, f"{odd[0]!r}, and so in {len(odd)} places", path)


def _texts(table: pa.Table, path: str) -> list[str | None]:
    """The texts at a path, and bytes in their place; lists are opened by its ``item`` steps. Empty where neither is."""
    first, *steps = path.split(".")
    if table.schema.get_field_index(first) < 0:
        return []
    arrays = table.column(first).chunks
    for step in steps:
        arrays = [inner for array in arrays for inner in _below(array, step)]
    texts = (array for array in arrays if cells.is_text(array.type))
    return [cells.string(value) for array in texts for value in array]


def _below(array: pa.Array, step: str) -> list[pa.Array]:
    if cells.is_list(array.type):
        return [array.flatten()]
    place = array.type.get_field_index(step) if pa.types.is_struct(array.type) else -1
    return [array.field(place)] if place >= 0 else []


@clause(
    "values.json-compact",
    over=Values(lambda shown: shown.from_server and BqType.JSON in shown.types),
    source="https://github.com/flink-gcp/flink-connector-gcp",
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
    """WKT is written as the service does: `POINT(1 2)`, `LINESTRING(1 2, 3 4)`, `GEOMETRYCOLLECTION EMPTY`."""
    return _unlike(one, BqType.GEOGRAPHY, texts.is_plain_wkt, "WKT as in LINESTRING(1 2, 3 4)")


# --- limits, where there is nothing to compare with ---------------------------------------------------

_DAYS: Final = (-719_162, 2_932_896)
"""0001-01-01 and 9999-12-31 in days since 1970-01-01."""
_MICROS: Final = (-62_135_596_800_000_000, 253_402_300_799_999_999)
"""0001-01-01 00:00:00 and 9999-12-31 23:59:59.999999 in microseconds since 1970-01-01."""


def _is_micros(arrow: pa.DataType) -> bool:
    return bool(pa.types.is_timestamp(arrow)) and arrow.unit == "us"


@clause("values.date-limits", over=Loose(pa.types.is_date32), source=SQL_TYPES, breaks="Python: `OverflowError`")
def date_limits(batch: BatchBytes) -> Iterator[Violation]:
    """A date lies in the years 1 to 9999. Asked only of values that are compared with nothing."""
    for path, dates in leaves(batch, pa.types.is_date32):
        if found := outside(dates, *_DAYS):
            yield Violation("days from 0001-01-01 to 9999-12-31", f"day {found[0]}, {found[1]} such", path)


@clause("values.timestamp-limits", over=Loose(_is_micros), source=SQL_TYPES, breaks="Python: `OverflowError`")
def timestamp_limits(batch: BatchBytes) -> Iterator[Violation]:
    """A TIMESTAMP or DATETIME lies in the years 1 to 9999. Asked only of values that are compared with nothing."""
    for path, times in leaves(batch, _is_micros):
        if found := outside(times, *_MICROS):
            yield Violation("microseconds of the years 1 to 9999", f"{found[0]} us, {found[1]} such", path)
