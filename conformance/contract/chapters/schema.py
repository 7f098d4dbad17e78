"""What a schema says beside the types: which columns, in which order, what may be null, what is marked.

Schemas are compared as data, never as bytes: the order of metadata pairs and the layout of the message are free.
The same rules hold for the fields of a RECORD as for the columns of the table.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from typing import Final

from conformance import wire
from conformance.contract.clause import Violation, clause
from conformance.contract.comparing.declarations import LISTS, ColumnPair, Declared, about_columns
from conformance.contract.mapping import EXTENSION_METADATA, EXTENSION_NAME, ITEM, RANGE_KEY, field_metadata
from conformance.contract.messages import legible_schemas, per_schema
from conformance.contract.sources import CAPTURED, LIVE_TEST, SCHEMA_FBS, STREAM_PROTO
from conformance.records import BqType, Mode

MAX_LISTED: Final = 100
"""Names that a finding lists: nobody reads more, and each of very many findings would carry them all."""
FIELD_METADATA_KEYS: Final = frozenset({EXTENSION_NAME, EXTENSION_METADATA, RANGE_KEY})
"""The keys by which the service tells types apart that share an Arrow type."""


# --- columns ----------------------------------------------------------------------------------------


@about_columns(
    "schema.columns-present", source=STREAM_PROTO, breaks="every client that asks for the column by its name"
)
def columns_present(declared: Declared) -> Iterator[Violation]:
    """Every column of the session, and every field of its RECORDs, is in the schema."""
    for layer in declared.unselected:
        there = {column.name for column, _ in layer.partners()}
        for column in layer.columns:
            if column.name not in there:
                names = _listed(field.name for field in layer.fields)
                yield Violation(f"a field {column.name!r}", names, _join(layer.path, column.name))


@about_columns(
    "schema.columns-known", source=STREAM_PROTO, breaks="clients that take columns by position read the wrong ones"
)
def columns_known(declared: Declared) -> Iterator[Violation]:
    """Every field of the schema is a column of the session, or a field of its RECORD, and stands there once."""
    for layer in declared.unselected:
        known = {id(field) for _, field in layer.partners()}
        for field in layer.fields:
            if id(field) not in known:
                names = _listed(column.name for column in layer.columns)
                yield Violation(f"no field beside {names}", str(field), _join(layer.path, field.name))


@about_columns("schema.names", source=STREAM_PROTO, breaks="clients that ask for the column by its name")
def names(declared: Declared) -> Iterator[Violation]:
    """A field has its column's name in the table's own spelling and case, whatever the request used."""
    for layer in declared.unselected:
        for column, field in layer.partners():
            if field.name != column.name:
                yield Violation(f"the name {column.name!r}", repr(field.name), _join(layer.path, column.name))


@about_columns(
    "schema.order",
    source=STREAM_PROTO,
    breaks="Go and DuckDB map columns by their place in the table (from their source): values land under other names",
)
def order(declared: Declared) -> Iterator[Violation]:
    """Columns, and the fields of RECORDs, stand in the order of the table, not in that of `selected_fields`."""
    for layer in declared.unselected:
        wanted = [field.name for _, field in layer.partners()]
        known = frozenset(wanted)
        got = [field.name for field in layer.fields if field.name in known]
        if sorted(got) == sorted(wanted) and got != wanted:
            yield Violation(f"the order {_listed(wanted)}", f"the order {_listed(got)}", layer.path)


def _listed(names: Iterable[str]) -> str:
    """Names as a list for people, the first of very many."""
    some = list(itertools.islice(names, MAX_LISTED + 1))
    return str(some) if len(some) <= MAX_LISTED else f"{str(some[:MAX_LISTED])[:-1]}, …]"


def _join(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


# --- what may be null -------------------------------------------------------------------------------


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
    """A NULLABLE column is declared nullable, even where this batch happens to have no null in it."""
    for pair in declared.pairs:
        if pair.column.mode is Mode.NULLABLE and not pair.field.nullable:
            yield Violation("a nullable field", str(pair.field), pair.path)


@about_columns(
    "schema.repeated-not-nullable",
    source=CAPTURED,
    breaks="python-bigquery: load errors, https://github.com/googleapis/python-bigquery/issues/1998",
)
def repeated_not_nullable(declared: Declared) -> Iterator[Violation]:
    """A REPEATED column is a list that is declared non-nullable: BigQuery has empty arrays and no NULL ones."""
    for pair in declared.pairs:
        if pair.column.mode is Mode.REPEATED and pair.is_list and pair.field.nullable:
            yield Violation("a non-nullable list", str(pair.field), pair.path)


@clause("schema.item-name", over=legible_schemas, source=CAPTURED, breaks="readers that compare schemas exactly")
@per_schema
def item_name(schema: wire.Schema) -> Iterator[Violation]:
    """The child of a list is called `item`."""
    for path, field in schema.walk():
        if field.type.kind in LISTS and field.children[0].name != ITEM:
            yield Violation(f"a child called {ITEM}", field.children[0].name, path)


@clause("schema.item-nullable", over=legible_schemas, source=CAPTURED, breaks="readers that compare schemas exactly")
@per_schema
def item_nullable(schema: wire.Schema) -> Iterator[Violation]:
    """The child of a list is declared nullable, although BigQuery never sends a NULL inside an array."""
    for path, field in schema.walk():
        if field.type.kind in LISTS and not field.children[0].nullable:
            yield Violation("a nullable item", str(field.children[0]), path)


# --- marks ------------------------------------------------------------------------------------------


def _unmarked(declared: Declared, kind: BqType) -> Iterator[Violation]:
    """A violation for each column of a marked type whose marks are missing or others; their place is not judged."""
    for pair in declared.of(kind):
        wanted = dict(field_metadata(pair.column))
        if wanted not in (_field_metadata(pair.field), _field_metadata(pair.element)):
            yield Violation(_written(wanted), _written(_field_metadata(pair.field)), pair.path)


def _field_metadata(field: wire.Field) -> dict[str | None, str | None]:
    return {key: value for key, value in field.metadata if key in FIELD_METADATA_KEYS}


def _written(pairs: object) -> str:
    return f"metadata {pairs}" if pairs else "no metadata"


def _marked(clause_id: str, kind: BqType, says: str, breaks: str, *, source: str = LIVE_TEST) -> None:
    """Register the clause on the marks of one type."""

    def check(declared: Declared) -> Iterator[Violation]:
        return _unmarked(declared, kind)

    about_columns(clause_id, kind, source=source, breaks=breaks, says=says)(check)


# A table reads as a table: id, type, explanation, who breaks.
# fmt: off
_marked("schema.metadata-datetime", BqType.DATETIME,
  "DATETIME is marked by `ARROW:extension:name` = `google:sqlType:datetime`, and nothing else.",
  "DATETIME looks like a TIMESTAMP without zone")
_marked("schema.metadata-json", BqType.JSON,
  "JSON is marked by `ARROW:extension:name` = `google:sqlType:json`, and nothing else.",
  "JSON cannot be told from STRING")
_marked("schema.metadata-geography", BqType.GEOGRAPHY,
  """GEOGRAPHY is marked by name and encoding.

  `ARROW:extension:name` is `google:sqlType:geography`, and `ARROW:extension:metadata` is exactly
  `{"encoding": "WKT"}`, with one space after the colon.
  """, "GEOGRAPHY cannot be told from STRING, https://github.com/googleapis/python-bigquery/issues/894")
_marked("schema.metadata-interval", BqType.INTERVAL,
  "INTERVAL is marked by `ARROW:extension:name` = `google:sqlType:interval`, and nothing else.",
  "clients that choose their type by the mark", source="https://github.com/airbytehq/airbyte")
_marked("schema.metadata-range", BqType.RANGE,
  "RANGE is marked by `google:sqlType` = `range`: under a key of its own, and not as an extension type.",
  "a RANGE cannot be told from a RECORD of start and end", source="https://github.com/airbytehq/airbyte")
# fmt: on


@about_columns(
    "schema.metadata-on-list",
    source="https://github.com/abdolence/bigquery-rs",
    breaks="ADBC and others look for the mark on the column: https://github.com/adbc-drivers/bigquery/pull/8",
)
def metadata_on_list(declared: Declared) -> Iterator[Violation]:
    """The mark of a REPEATED column stands on the list, not on its item."""
    for pair in _repeated(declared):
        if present := _field_metadata(pair.element):
            yield Violation("an item without metadata", _written(present), f"{pair.path}.{pair.element.name}")


def _repeated(declared: Declared) -> Iterator[ColumnPair]:
    return (pair for pair in declared.pairs if pair.element is not pair.field)


@about_columns(
    "schema.metadata-plain", source=LIVE_TEST, breaks="readers that fail on extension names which they do not know"
)
def metadata_plain(declared: Declared) -> Iterator[Violation]:
    """A type that Arrow knows by itself carries no mark: INT64, STRING, BYTES, NUMERIC, TIMESTAMP, RECORD …"""
    for pair in declared.pairs:
        if not field_metadata(pair.column) and (present := _field_metadata(pair.field)):
            yield Violation("no metadata", _written(present), pair.path)


@clause("schema.metadata-keys", over=legible_schemas, source=CAPTURED, breaks="readers that compare schemas exactly")
@per_schema
def metadata_keys(schema: wire.Schema) -> Iterator[Violation]:
    """Fields carry no metadata of the server's own: no key beside those that mark a type."""
    for path, field in schema.walk():
        if foreign := {key: value for key, value in field.metadata if key not in FIELD_METADATA_KEYS}:
            yield Violation(f"no keys beside {', '.join(sorted(FIELD_METADATA_KEYS))}", _written(foreign), path)


@clause("schema.no-metadata", over=legible_schemas, source=CAPTURED, breaks="readers that compare schemas exactly")
@per_schema
def no_metadata(schema: wire.Schema) -> Iterator[Violation]:
    """The schema itself carries no metadata: pandas' or anyone else's does not belong to a table."""
    if schema.metadata:
        yield Violation("no metadata", _written(dict(schema.metadata)))


# --- the byte order ---------------------------------------------------------------------------------


@clause(
    "schema.little-endian",
    over=legible_schemas,
    source=SCHEMA_FBS,
    breaks="most readers refuse big-endian bodies; those that ignore the flag read other numbers",
)
@per_schema
def little_endian(schema: wire.Schema) -> Iterator[Violation]:
    """Bodies are little-endian, and the schema says so by leaving the default."""
    if schema.endianness is not wire.Endianness.LITTLE:
        yield Violation("endianness Little", "endianness Big")
