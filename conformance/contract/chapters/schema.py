"""The contents of a schema other than types: columns, their order, nullability, and field metadata.

Schemas are compared as data, never as bytes: the order of metadata pairs and the layout of the message are free. The
same rules bind the fields of a RECORD and the columns of the table.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from conformance import wire
from conformance.contract.clause import Violation, clause
from conformance.contract.comparing.columnlists import names_listed
from conformance.contract.comparing.declarations import LISTS, SECOND_FIELD, ColumnPair, Declared, about_columns
from conformance.contract.mapping import EXTENSION_METADATA, EXTENSION_NAME, ITEM, RANGE_KEY, field_metadata
from conformance.contract.messages import legible_schemas, per_schema
from conformance.contract.sources import (
    CAPTURED,
    LIVE_TEST,
    OBSERVED_TYPES,
    RUST_CLIENT,
    SCHEMA_FBS,
    STREAM_PROTO,
    Sources,
)
from conformance.records import BqType, Mode

FIELD_METADATA_KEYS: Final = frozenset({EXTENSION_NAME, EXTENSION_METADATA, RANGE_KEY})
"""The metadata keys by which the service distinguishes types that share an Arrow type."""


# --- columns ----------------------------------------------------------------------------------------


@about_columns(
    "schema.columns-present", source=(STREAM_PROTO, CAPTURED), breaks="every client that gets the column by its name"
)
def columns_present(declared: Declared) -> Iterator[Violation]:
    """Every column of the session, and every field of its RECORDs, is in the schema."""
    for layer in declared.unselected:
        there = {column.name for column, _ in layer.partners()}
        for column in layer.columns:
            if column.name not in there:
                names = names_listed(field.name for field in layer.fields)
                yield Violation(f"a field {column.name!r}", f"the fields {names}", _join(layer.path, column.name))


@about_columns(
    "schema.columns-known",
    source=(STREAM_PROTO, CAPTURED),
    breaks="clients that get columns by position read the wrong ones",
)
def columns_known(declared: Declared) -> Iterator[Violation]:
    """Every field of the schema is a column of the session, or a field of its RECORD, and occurs once."""
    for layer in declared.unselected:
        known = {id(field): field.name for _, field in layer.partners()}
        for field in layer.fields:
            if id(field) not in known:
                names = names_listed(column.name for column in layer.columns)
                again = f", {SECOND_FIELD} of this name" if field.name in known.values() else ""
                yield Violation(f"no field but {names}", f"{field}{again}", _join(layer.path, field.name))


@about_columns("schema.names", source=(STREAM_PROTO, CAPTURED), breaks="clients that get the column by its name")
def names(declared: Declared) -> Iterator[Violation]:
    """A field has its column's name in the table's own spelling and case, whatever spelling the request used."""
    for layer in declared.unselected:
        for column, field in layer.partners():
            if field.name != column.name:
                yield Violation(f"the name {column.name!r}", f"the name {field.name!r}", _join(layer.path, column.name))


@about_columns(
    "schema.order",
    source=(STREAM_PROTO, CAPTURED),
    breaks=(
        "cloud.google.com/go/bigquery 1.86.1: a panic row by row, and names in another order by batches. DuckDB maps"
        " columns by their position in the table (from its source): values get other names"
    ),
)
def order(declared: Declared) -> Iterator[Violation]:
    """Columns, and the fields of RECORDs, are in the order of the table, not in that of `selected_fields`."""
    for layer in declared.unselected:
        wanted = [field.name for _, field in layer.partners()]
        known = frozenset(wanted)
        got = [field.name for field in layer.fields if field.name in known]
        if sorted(got) == sorted(wanted) and got != wanted:
            yield Violation(f"the order {names_listed(wanted)}", f"the order {names_listed(got)}", layer.path)


def _join(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


# --- nullability ------------------------------------------------------------------------------------


@about_columns(
    "schema.required-not-nullable", source=CAPTURED, breaks="typed readers: schema equality and NOT NULL checks fail"
)
def required_not_nullable(declared: Declared) -> Iterator[Violation]:
    """A REQUIRED column is declared non-nullable."""
    for pair in declared.pairs:
        if pair.column.mode is Mode.REQUIRED and pair.field.nullable:
            yield Violation("a non-nullable field", str(pair.field), pair.path)


@about_columns(
    "schema.nullable-nullable", source=CAPTURED, breaks="readers that skip the validity of non-nullable fields"
)
def nullable_nullable(declared: Declared) -> Iterator[Violation]:
    """A NULLABLE column is declared nullable, even if this batch has no null in it."""
    for pair in declared.pairs:
        if pair.column.mode is Mode.NULLABLE and not pair.field.nullable:
            yield Violation("a nullable field", str(pair.field), pair.path)


@about_columns(
    "schema.repeated-not-nullable",
    source=CAPTURED,
    breaks="programs that write the table back, with load errors: https://github.com/googleapis/python-bigquery/issues/1998",
)
def repeated_not_nullable(declared: Declared) -> Iterator[Violation]:
    """A REPEATED column is a list that is declared non-nullable: BigQuery has empty arrays and no NULL arrays."""
    for pair in declared.pairs:
        if pair.column.mode is Mode.REPEATED and pair.is_list and pair.field.nullable:
            yield Violation("a non-nullable list", str(pair.field), pair.path)


@clause("schema.item-name", over=legible_schemas, source=CAPTURED, breaks="readers that compare schemas exactly")
@per_schema
def item_name(schema: wire.Schema) -> Iterator[Violation]:
    """The child of a list is called `item`."""
    for path, field in schema.walk():
        if field.type.kind in LISTS and field.children[0].name != ITEM:
            yield Violation(f"a child called {ITEM!r}", f"a child called {field.children[0].name!r}", path)


@clause("schema.item-nullable", over=legible_schemas, source=CAPTURED, breaks="readers that compare schemas exactly")
@per_schema
def item_nullable(schema: wire.Schema) -> Iterator[Violation]:
    """The child of a list is declared nullable, although BigQuery never sends a NULL inside an array."""
    for path, field in schema.walk():
        if field.type.kind in LISTS and not field.children[0].nullable:
            child = field.children[0]
            yield Violation("a nullable item", str(child), f"{path}.{child.name}")


# --- field metadata ---------------------------------------------------------------------------------


def _unmarked(declared: Declared, kind: BqType) -> Iterator[Violation]:
    """Yield a violation for each column of a type whose field metadata is missing or different, at any place."""
    for pair in declared.of(kind):
        wanted = dict(field_metadata(pair.column))
        if wanted not in (_field_metadata(pair.field), _field_metadata(pair.element)):
            yield Violation(_written(wanted), _written(_field_metadata(pair.field)), pair.path)


def _field_metadata(field: wire.Field) -> dict[str | None, str | None]:
    return {key: value for key, value in field.metadata if key in FIELD_METADATA_KEYS}


def _written(pairs: object) -> str:
    return f"metadata {pairs}" if pairs else "no metadata"


def _marked(clause_id: str, kind: BqType, says: str, breaks: str, *, source: Sources = LIVE_TEST) -> None:
    """Register the clause on the field metadata of one type."""

    def check(declared: Declared) -> Iterator[Violation]:
        return _unmarked(declared, kind)

    about_columns(clause_id, kind, source=source, breaks=breaks, says=says)(check)


# A table, one row per clause: id, type, explanation, affected software.
# fmt: off
_marked("schema.metadata-datetime", BqType.DATETIME,
  "The field metadata of DATETIME is `ARROW:extension:name` = `google:sqlType:datetime`, and nothing else.",
  "DATETIME looks like a TIMESTAMP without zone")
_marked("schema.metadata-json", BqType.JSON,
  "The field metadata of JSON is `ARROW:extension:name` = `google:sqlType:json`, and nothing else.",
  "JSON cannot be distinguished from STRING")
_marked("schema.metadata-geography", BqType.GEOGRAPHY,
  """The field metadata of GEOGRAPHY is a name and an encoding.

  `ARROW:extension:name` is `google:sqlType:geography`, and `ARROW:extension:metadata` is exactly
  `{"encoding": "WKT"}`, with one space after the colon.
  """, "GEOGRAPHY cannot be distinguished from STRING: https://github.com/googleapis/python-bigquery/issues/894")
_marked("schema.metadata-interval", BqType.INTERVAL,
  "The field metadata of INTERVAL is `ARROW:extension:name` = `google:sqlType:interval`, and nothing else.",
  "clients that choose their type by the field metadata", source=OBSERVED_TYPES)
_marked("schema.metadata-range", BqType.RANGE,
  "The field metadata of RANGE is `google:sqlType` = `range`: a key of its own, and not an extension type.",
  "a RANGE cannot be distinguished from a RECORD of start and end", source=OBSERVED_TYPES)
# fmt: on


@about_columns(
    "schema.metadata-on-list",
    source=RUST_CLIENT,
    breaks="ADBC and others look for the field metadata on the column: https://github.com/adbc-drivers/bigquery/pull/8",
)
def metadata_on_list(declared: Declared) -> Iterator[Violation]:
    """For a REPEATED column, the type's field metadata is on the list, not on its item."""
    for pair in _repeated(declared):
        if present := _field_metadata(pair.element):
            yield Violation("an item without metadata", _written(present), f"{pair.path}.{pair.element.name}")


def _repeated(declared: Declared) -> Iterator[ColumnPair]:
    return (pair for pair in declared.pairs if pair.element is not pair.field)


@about_columns("schema.metadata-plain", source=LIVE_TEST, breaks="readers that fail on unknown extension names")
def metadata_plain(declared: Declared) -> Iterator[Violation]:
    """A type that exists in Arrow has no field metadata: INT64, STRING, BYTES, NUMERIC, TIMESTAMP, RECORD …"""
    for pair in declared.pairs:
        if not field_metadata(pair.column) and (present := _field_metadata(pair.field)):
            yield Violation("no metadata", _written(present), pair.path)


@clause("schema.metadata-keys", over=legible_schemas, source=CAPTURED, breaks="readers that compare schemas exactly")
@per_schema
def metadata_keys(schema: wire.Schema) -> Iterator[Violation]:
    """Fields have no metadata of the server's own: no keys other than those that identify a type."""
    for path, field in schema.walk():
        if foreign := {key: value for key, value in field.metadata if key not in FIELD_METADATA_KEYS}:
            yield Violation(f"no keys but {', '.join(sorted(FIELD_METADATA_KEYS))}", _written(foreign), path)


@clause("schema.no-metadata", over=legible_schemas, source=CAPTURED, breaks="readers that compare schemas exactly")
@per_schema
def no_metadata(schema: wire.Schema) -> Iterator[Violation]:
    """The schema itself has no metadata: that of pandas or another program does not belong to a table."""
    if schema.metadata:
        yield Violation("no metadata", _written(dict(schema.metadata)))


# --- the byte order ---------------------------------------------------------------------------------


@clause(
    "schema.little-endian",
    over=legible_schemas,
    source=SCHEMA_FBS,
    breaks=(
        "arro3 0.9.1 reads other numbers, without an error; pyarrow 26.0.1, nanoarrow 0.9.0 and Polars 2.1.0 convert"
        " them, and readers are permitted to refuse them"
    ),
)
@per_schema
def little_endian(schema: wire.Schema) -> Iterator[Violation]:
    """Bodies are little-endian, and the schema declares that by leaving the default."""
    if schema.endianness is not wire.Endianness.LITTLE:
        yield Violation("endianness Little", "endianness Big")
