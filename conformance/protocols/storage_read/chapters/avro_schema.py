"""The Avro schema of a session: JSON, names, unions, and the type of each column.

The text is read strictly (:mod:`conformance.formats.avro`). A type is compared through the Arrow type to which it
corresponds, so that a column has one mapping in the suite.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from typing import Final

import pyarrow as pa

from conformance.contract import mapping
from conformance.contract.clause import PROFILES, AtCall, Violation, clause
from conformance.contract.comparing.columnlists import names_differ, names_listed
from conformance.contract.comparing.expected import expected_columns
from conformance.contract.rules import must, rule_clauses, should
from conformance.contract.sources import (
    AVRO_GUIDE,
    AVRO_NAMES,
    AVRO_SPEC,
    CAPTURED,
    JAVA_LIVE_TEST,
    SERVICE_TESTS,
)
from conformance.contract.view import once_per_view
from conformance.formats.avro import (
    AvroArray,
    AvroField,
    AvroPrimitive,
    AvroRecord,
    AvroReference,
    AvroRule,
    AvroSchema,
    AvroType,
    AvroUnion,
    avro_arrow_type,
)
from conformance.formats.messages import AVRO
from conformance.protocols.storage_read.contract.avrobytes import AvroSchemaBytes
from conformance.protocols.storage_read.contract.subjects import created
from conformance.protocols.storage_read.contract.view import StorageView
from conformance.records import BqType, Column, Level, Mode

IGNORED: Final = (
    "readers, which ignore such a logical type"
    " (https://avro.apache.org/docs/1.12.0/specification/#logical-types): the value is a number, or bytes"
)
SERVER: Final = PROFILES[:1]
_ROOT: Final = "__root__"
_SQL_TYPES: Final = {BqType.JSON: "JSON", BqType.GEOGRAPHY: "GEOGRAPHY"}


@once_per_view
def _schemas(view: StorageView) -> list[AvroSchemaBytes]:
    return view.avro_schemas if view.exchange.driven else []


# fmt: off
rule_clauses(_schemas, SERVER,
    must("avro-schema.is-json", (AvroRule.SCHEMA_JSON, AvroRule.SCHEMA_FORM),
      says="The Avro schema of a session is JSON in UTF-8 that declares a type.", source=(AVRO_SPEC, CAPTURED)),
    should("avro-schema.keys-come-once", AvroRule.SCHEMA_KEY_REPEATED,
      says="No object of the schema has a key twice: parsers differ in which value they take."),
    must("avro-schema.is-valid", (
      AvroRule.ATTRIBUTE_TYPE, AvroRule.TYPE_MISSING, AvroRule.TYPE_UNKNOWN, AvroRule.NAME_UNDEFINED,
      AvroRule.NAME_MISSING, AvroRule.NAME_RESERVED, AvroRule.FIELDS_MISSING, AvroRule.ITEMS_MISSING,
      AvroRule.UNION_NESTED, AvroRule.UNION_REPEATED),
      says="Each type in the schema is declared as the Avro specification requires.", source=(AVRO_SPEC, CAPTURED)),
    must("avro-schema.logical-types-annotate-their-type", AvroRule.LOGICAL_BASE,
      IGNORED,
      "A logical type annotates the type that its definition names: a date an int, a time a long, a decimal bytes.",
      source=(AVRO_SPEC, CAPTURED)),
    must("avro-schema.names-are-legal", (
      AvroRule.NAME_ILLEGAL, AvroRule.NAMESPACE_ILLEGAL, AvroRule.FIELD_NAME_ILLEGAL),
      "Avro for Java: `Illegal character in: my-project` (https://github.com/goccy/bigquery-emulator/issues/221)",
      "The names of records, of their namespaces and of fields are Avro names, whatever the project is called.",
      source=(AVRO_SPEC, CAPTURED)),
    must("avro-schema.names-are-unique", AvroRule.NAME_REDEFINED,
      "parsers of Avro, which refuse the schema (https://github.com/apache/beam/issues/26318)",
      "No two records of a schema have one name, wherever they are and whatever their fields are called.",
      source=(AVRO_SPEC, AVRO_NAMES)),
    must("avro-schema.field-names-are-unique", AvroRule.FIELD_REPEATED,
      says="The fields of a record have different names: a reader that makes a row by names loses a column.",
      source=(AVRO_SPEC, CAPTURED)),
    must("avro-schema.root-is-a-record", AvroRule.ROOT,
      says="The schema of a session is that of one row: a record, with a field for each column.",
      source=(AVRO_GUIDE, CAPTURED)),
    must("avro-schema.null-is-the-first-branch", (AvroRule.UNION_NULL_FIRST, AvroRule.UNION_BRANCHES),
      says="A union is of null and one other type, null first: the byte 00 says NULL.", source=(CAPTURED, AVRO_GUIDE)),
    must("avro-schema.types-are-bigquerys", (
      AvroRule.TYPE_UNMAPPED, AvroRule.RECURSION, AvroRule.DEPTH, AvroRule.SIZE, AvroRule.NAME_LONG),
      says="The schema has only types to which BigQuery maps its own: no float, map, enum or fixed, no record in"
      " itself, and not more of them, deeper ones or longer names than a table can have.",
      source=(AVRO_GUIDE, CAPTURED)),
    must("avro-schema.decimals-are-declared", (
      AvroRule.DECIMAL_PRECISION, AvroRule.DECIMAL_SCALE, AvroRule.DECIMAL_WIDE),
      IGNORED,
      "A decimal has a precision and a scale that fit each other and BigQuery's types.", source=(AVRO_SPEC, CAPTURED)),
)
# fmt: on


# --- columns --------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True, slots=True)
class DescribedSchema(AtCall):
    """The schema of a session that can be decoded, and the columns that it has to describe."""

    schema: AvroSchema
    columns: tuple[Column, ...]


@once_per_view
def _declared(view: StorageView) -> list[DescribedSchema]:
    found = []
    for session in (session for session in created(view) if session.asks_for(AVRO)):
        columns = expected_columns(session.columns, session.step.selected_fields)
        if columns is not None and session.avro_schema is not None and session.avro_schema.schema is not None:
            found.append(DescribedSchema(session.index, session.avro_schema.schema, columns))
    return found


def _pairs(declared: DescribedSchema) -> Iterator[tuple[str, Column, AvroField]]:
    """Yield each column with its field, at every depth, by name."""
    yield from _below(declared.schema, declared.columns, declared.schema.root, "")


def _below(
    schema: AvroSchema, columns: Sequence[Column], record: AvroRecord, path: str
) -> Iterator[tuple[str, Column, AvroField]]:
    fields = {field.display or field.name: field for field in reversed(record.fields)}
    for column in columns:
        field = fields.get(column.name)
        if field is None:
            continue
        here = f"{path}.{column.name}" if path else column.name
        yield here, column, field
        below = _element(field.type)
        if column.type is BqType.RECORD and isinstance(below, AvroRecord | AvroReference):
            yield from _below(schema, column.fields, schema.record(below), here)


def _element(made: AvroType) -> AvroType:
    """The type of one value: without the union of a NULLABLE column, or the array of a REPEATED one."""
    while isinstance(made, AvroUnion | AvroArray):
        made = made.value if isinstance(made, AvroUnion) else made.items
    return made


@clause(
    "avro-schema.root-has-its-name",
    over=_declared,
    source=(CAPTURED, JAVA_LIVE_TEST),
    level=Level.SHOULD,
)
def root_has_its_name(declared: DescribedSchema) -> Iterator[Violation]:
    """The record of a row is called ``__root__`` and has no namespace, whatever the table is called."""
    if declared.schema.root.name != _ROOT:
        yield Violation(f"the name {_ROOT!r}", f"the name {declared.schema.root.name[:80]!r}", field="avro_schema")


@clause("avro-schema.fields-are-the-columns", over=_declared, source=(CAPTURED, AVRO_GUIDE))
def fields_are_the_columns(declared: DescribedSchema) -> Iterator[Violation]:
    """The fields of each record are the columns, or the selected ones, in the order of the table.

    Values have no names in Avro: a reader knows them by their place.
    """
    yield from _fields(declared.columns, declared.schema.root, "")
    for path, column, field in _pairs(declared):
        below = _element(field.type)
        if column.type is BqType.RECORD and isinstance(below, AvroRecord | AvroReference):
            yield from _fields(column.fields, declared.schema.record(below), path)


def _fields(columns: Sequence[Column], record: AvroRecord, path: str) -> Iterator[Violation]:
    wanted, came = [column.name for column in columns], [field.display or field.name for field in record.fields]
    if said := names_differ(wanted, came):
        observed = f"the fields {said}: {names_listed(came)}"
        yield Violation(f"the fields {names_listed(wanted)}", observed, field=path or "avro_schema")


@clause(
    "avro-schema.types-are-the-columns",
    over=_declared,
    source=(CAPTURED, AVRO_GUIDE, SERVICE_TESTS),
)
def types_are_the_columns(declared: DescribedSchema) -> Iterator[Violation]:
    """Each field has the Avro type of its column's type: DATETIME is a text, NUMERIC a decimal in bytes."""
    for path, column, field in _pairs(declared):
        element = _element(field.type)
        if column.type is BqType.RECORD:
            if not isinstance(element, AvroRecord | AvroReference):
                yield Violation("a record", _words(element), field=path)
            continue
        came = avro_arrow_type(element, declared.schema)
        if not _is_type_of(column, came):
            yield Violation(f"the Avro type of {column.type}", f"{_words(element)}, which is {came}", field=path)


def _is_type_of(column: Column, came: pa.DataType) -> bool:
    """True if an Arrow type is that of one value of a column, whatever is nullable in it and however wide it is."""
    wanted = mapping.element_type(column)
    if pa.types.is_decimal(wanted):
        return pa.types.is_decimal(came) and (came.precision, came.scale) == (wanted.precision, wanted.scale)
    if pa.types.is_struct(wanted):
        return pa.types.is_struct(came) and _named_types(came) == _named_types(wanted)
    return bool(came == wanted)


def _named_types(struct: pa.StructType) -> list[tuple[str, pa.DataType]]:
    return [(field.name, field.type) for field in struct]


def _words(made: AvroType) -> str:
    if isinstance(made, AvroPrimitive):
        digits = f" ({made.precision}, {made.scale})" if made.logical == "decimal" else ""
        return f"{made.kind} as {made.logical}{digits}" if made.logical else str(made.kind)
    return f"the record {made.name[:80]}" if isinstance(made, AvroRecord | AvroReference) else "a union or an array"


@clause(
    "avro-schema.modes-are-the-columns",
    over=_declared,
    source=(CAPTURED, JAVA_LIVE_TEST),
)
def modes_are_the_columns(declared: DescribedSchema) -> Iterator[Violation]:
    """A REQUIRED column is its type alone, a NULLABLE one a union with null, a REPEATED one an array of the type."""
    for path, column, field in _pairs(declared):
        came = _mode(field.type)
        if came != _MODES[column.mode]:
            yield Violation(f"{_MODES[column.mode]}, as the column is {column.mode}", came, field=path)


_MODES: Final = {
    Mode.REQUIRED: "the type alone",
    Mode.NULLABLE: "a union of null and the type",
    Mode.REPEATED: "an array of the type",
}


def _mode(made: AvroType) -> str:
    """How a type is wrapped, in the words of :data:`_MODES` where a mode is so."""
    if isinstance(made, AvroUnion):
        inner = isinstance(made.value, AvroUnion | AvroArray)
        return "a union of null and a union or an array" if inner else _MODES[Mode.NULLABLE]
    if isinstance(made, AvroArray):
        inner = isinstance(made.items, AvroUnion | AvroArray)
        return "an array of unions or arrays" if inner else _MODES[Mode.REPEATED]
    return _MODES[Mode.REQUIRED]


@clause("avro-schema.sql-types-are-named", over=_declared, source=(AVRO_GUIDE, SERVICE_TESTS), level=Level.SHOULD)
def sql_types_are_named(declared: DescribedSchema) -> Iterator[Violation]:
    """A text of JSON or GEOGRAPHY has the attribute ``sqlType``, by which a reader tells it from a STRING."""
    for path, column, field in _pairs(declared):
        wanted, element = _SQL_TYPES.get(column.type), _element(field.type)
        if wanted is not None and isinstance(element, AvroPrimitive) and element.sql != wanted:
            yield Violation(f"sqlType {wanted}", f"sqlType {element.sql[:40]}" if element.sql else "none", field=path)


@clause("avro-schema.bounds-are-unions", over=_declared, source=(AVRO_GUIDE, SERVICE_TESTS), level=Level.SHOULD)
def bounds_are_unions(declared: DescribedSchema) -> Iterator[Violation]:
    """The bounds of a RANGE are unions with null, in a REQUIRED column too: an unbounded end is null."""
    for path, column, field in _pairs(declared):
        element = _element(field.type)
        if column.type is BqType.RANGE and isinstance(element, AvroRecord | AvroReference):
            for bound in declared.schema.record(element).fields:
                if not isinstance(bound.type, AvroUnion):
                    yield Violation("a union of null and the type", "the type alone", field=f"{path}.{bound.name}")
