"""The metadata commands of Flight SQL: the schemas that FlightSql.proto fixes, and rows that keep to them.

A command that is refused is not judged.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterable, Iterator

import pyarrow as pa

from conformance import wire
from conformance.contain.text import many
from conformance.contract.clause import Role, Violation, clause
from conformance.contract.comparing.columnlists import names_differ, names_listed
from conformance.contract.sources import Inferred
from conformance.contract.view import View
from conformance.protocols.flight.contract import FLIGHT
from conformance.protocols.flight.contract.decoding import message_of
from conformance.protocols.flight.contract.sources import FLIGHT_SQL_PROTO
from conformance.protocols.flight.contract.sqlmessages import command_in, unpacked
from conformance.protocols.flight.contract.sqlschemas import KINDS, ORDER, SCHEMAS, FixedColumn, kind_of_info
from conformance.protocols.flight.contract.sqlsubjects import Described, described, undisturbed
from conformance.protocols.flight.contract.subjects import about
from conformance.protocols.flight.contract.view import FlightCall, FlightView
from conformance.protocols.flight.records import FlightMethod, SqlMetadata
from conformance.records import Level
from conformance.wire import DecodingError

_clause = functools.partial(clause, source=FLIGHT_SQL_PROTO, profiles=FLIGHT, role=Role.APPLICATION)


def _differences(came: pa.Schema, fixed: Iterable[FixedColumn]) -> Iterator[tuple[str, str]]:
    """Where a schema is not that of the text; order, names of nested fields and nullability are left out."""
    wanted = tuple(fixed)
    if sorted(came.names) != sorted(one.name for one in wanted):
        yield ", ".join(one.name for one in wanted), ", ".join(came.names) or "no columns"
        return
    for one in wanted:
        kind = came.field(one.name).type
        if _shape(kind) != _shape(one.type):
            yield f"{one.name}: {_told(one.type)}", f"{one.name}: {_told(kind)}"


def _shape(kind: pa.DataType) -> object:
    """A key that is equal for types that differ only in the names of nested fields."""
    if pa.types.is_union(kind):
        codes = [*kind.type_codes]
        return ("dense_union" if kind.mode == "dense" else "sparse_union", codes, [_shape(one.type) for one in kind])
    if pa.types.is_map(kind):
        return ("map", _shape(kind.key_type), _shape(kind.item_type))
    if pa.types.is_list(kind):
        return ("list", _shape(kind.value_type))
    return str(kind)


def _told(kind: pa.DataType) -> str:
    return " ".join(str(kind).split())


def _schema_of(one: Described) -> Iterator[tuple[str, pa.Schema, int]]:
    """The schemas of an answer: that of the info, and that of each stream, with the call that it came in."""
    if one.seen.info.schema:
        try:
            read = wire.read_schema(one.seen.info.schema).schema
            if read is not None:
                yield "the info", wire.schema_to_arrow(read), one.call
        except DecodingError:
            pass
    for read_ in one.seen.reads:
        if read_ is not None and read_.ok and read_.table is not None:
            yield "the stream", read_.table.schema, read_.index


@_clause(
    "flight-sql-metadata.schema-is-fixed",
    over=described,
    breaks="every driver: it finds the columns by their names, and reads them by their types",
)
def schema_is_fixed(one: Described) -> Iterator[Violation]:
    """The answer to a metadata command has the columns of the text, with their types.

    FlightSql.proto states them above each command: "The returned Arrow schema will be". Their order is a clause of its
    own; names of nested fields are not compared, and neither is nullability.
    """
    for place, schema, call in _schema_of(one):
        for wanted, came in _differences(schema, SCHEMAS[one.command]):
            yield Violation(f"{one.command}: {wanted}", f"{place} has {came}", call=call)
            return


@_clause(
    "flight-sql-metadata.columns-are-in-order",
    over=described,
    level=Level.SHOULD,
    breaks="clients that find a column by its position",
)
def columns_are_in_order(one: Described) -> Iterator[Violation]:
    """The columns of the answer to a metadata command are in the order of the text.

    FlightSql.proto: "The returned Arrow schema will be". Drivers find the columns by their names, so that this is no
    MUST.
    """
    wanted = [column.name for column in SCHEMAS[one.command]]
    for place, schema, call in _schema_of(one):
        if schema.names != wanted and sorted(schema.names) == sorted(wanted):
            yield Violation(f"{one.command}: {', '.join(wanted)}", f"{place} has {', '.join(schema.names)}", call=call)
            return


@about
def _schema_results(view: FlightView) -> list[FlightCall]:
    return [
        call
        for call in view.flight_calls
        if call.ok and isinstance(call.step, SqlMetadata) and call.raw.method == FlightMethod.GET_SCHEMA
    ]


@_clause(
    "flight-sql-metadata.get-schema-is-fixed",
    over=_schema_results,
    breaks="clients that ask for the schema first, and then read by it",
)
def get_schema_is_fixed(call: FlightCall) -> Iterator[Violation]:
    """GetSchema for a metadata command states the columns of the text.

    FlightSql.proto, above each command: "GetSchema: return the Arrow schema of the query."
    """
    assert isinstance(call.step, SqlMetadata)
    command = f"{call.step.command} with include_schema" if call.step.include_schema else call.step.command
    for answer in call.raw.responses[:1]:
        result = message_of("SchemaResult", answer)
        try:
            read = None if result is None else wire.read_schema(bytes(result.data("schema"))).schema
            schema = None if read is None else wire.schema_to_arrow(read)
        except DecodingError:
            return
        for wanted, came in [] if schema is None else _differences(schema, SCHEMAS[command]):
            yield Violation(f"{command}: {wanted}", came)
            return


@_clause(
    "flight-sql-metadata.required-columns-are-not-nullable",
    over=described,
    level=Level.SHOULD,
    breaks="clients that make a table of the answer by its schema",
)
def required_columns_are_not_nullable(one: Described) -> Iterator[Violation]:
    """A column that the text calls "not null" is not nullable. Any other may be either.

    FlightSql.proto: "catalog_name: utf8 not null", for example.
    """
    required = {column.name for column in SCHEMAS[one.command] if column.required}
    for _, schema, call in _schema_of(one):
        nullable = [field.name for field in schema if field.name in required and field.nullable]
        if nullable:
            yield Violation(f"{one.command}: {', '.join(nullable)} not null", "nullable", call=call)
            return


@_clause(
    "flight-sql-metadata.required-values-are-there",
    over=described,
    breaks="every driver: a name is missing where the text promises one",
)
def required_values_are_there(one: Described) -> Iterator[Violation]:
    """A column that the text calls "not null" has a value in every row.

    FlightSql.proto: "table_name: utf8 not null", for example.
    """
    required = [column.name for column in SCHEMAS[one.command] if column.required]
    for read in one.seen.reads:
        if read is None or not read.ok or read.table is None:
            continue
        for name in required:
            if name in read.table.schema.names and read.table.column(name).null_count:
                yield Violation(f"{name} not null", many(read.table.column(name).null_count, "null"), call=read.index)
                return


@_clause(
    "flight-sql-metadata.rows-are-ordered",
    over=lambda view: [one for one in described(view) if one.command in ORDER],
    level=Level.SHOULD,
    breaks="clients that show the rows as they come",
)
def rows_are_ordered(one: Described) -> Iterator[Violation]:
    """The rows are in the order that the text names; where a null is, is left open.

    FlightSql.proto: "The returned data should be ordered by catalog_name, then db_schema_name", for example.
    """
    keys = [tuple(row.get(name) for name in ORDER[one.command]) for row in one.rows]
    for before, after in itertools.pairwise(keys):
        if None not in (*before, *after) and _after(before, after):
            yield Violation(f"rows by {', '.join(ORDER[one.command])}", f"{before!r} comes before {after!r}")
            return


def _after(one: tuple[object, ...], other: tuple[object, ...]) -> bool:
    """True if a row belongs behind another, by bytes and without regard to case: collations differ."""
    if any(type(a) is not type(b) for a, b in zip(one, other, strict=True)):
        return False
    folded = [tuple(part.casefold() if isinstance(part, str) else part for part in key) for key in (one, other)]
    return bool(one > other) and bool(folded[0] > folded[1])


# --- tables -------------------------------------------------------------------------------------------


def _asked_tables(view: View) -> list[Described]:
    """The answers about the table of the case, if it was made."""
    return [
        one
        for one in described(view)
        if one.step.command == "CommandGetTables" and one.step.table and undisturbed(one.seen.of.view, one.call)
    ]


def _names(one: Described) -> list[str]:
    return [str(row["table_name"]) for row in one.rows if row.get("table_name") is not None]


def _pattern(one: Described) -> str:
    """The pattern of the request, as it was sent."""
    asked = unpacked(command_in(one.seen.of.raw.request), "CommandGetTables")
    return "" if asked is None else asked.text("table_name_filter_pattern")


@_clause(
    "flight-sql-metadata.table-is-listed",
    over=lambda view: [one for one in _asked_tables(view) if not one.step.types and one.seen.whole is not None],
    level=Level.SHOULD,
    breaks="tools that show what tables there are",
)
def table_is_listed(one: Described) -> Iterator[Violation]:
    """A table that was just made is listed by CommandGetTables for its name.

    FlightSql.proto: "Represents a request to retrieve the list of tables".
    """
    name = _pattern(one)
    if name.casefold() not in map(str.casefold, _names(one)):
        # In brackets: what other tables there are says nothing of the fault.
        yield Violation(f"the table {name!r}", f"{many(len(one.rows), 'row')}: {_names(one)[:5]}")


@_clause(
    "flight-sql-metadata.filter-is-obeyed",
    over=lambda view: [one for one in _asked_tables(view) if one.seen.whole is not None],
    level=Level.SHOULD,
    breaks="tools that ask for one table and get others",
)
def filter_is_obeyed(one: Described) -> Iterator[Violation]:
    """CommandGetTables lists no table whose name is not of the pattern, and none of a type that was not asked for.

    FlightSql.proto, ``table_name_filter_pattern``: "Specifies a filter pattern for tables to search for"; on
    ``table_types``: "Specifies a filter of table types which must match."
    """
    pattern = _pattern(one)
    other = [name for name in _names(one) if name.casefold() != pattern.casefold()]
    kinds = [
        str(row.get("table_type")) for row in one.rows if one.step.types and row["table_type"] not in one.step.types
    ]
    if other:
        yield Violation(f"tables of the pattern {pattern}", f"{other[0]}")
    elif kinds:
        yield Violation(f"tables of the types {', '.join(one.step.types)}", f"a {kinds[0]}")


@_clause(
    "flight-sql-metadata.table-schema-is-a-message",
    over=lambda view: [one for one in described(view) if one.step.include_schema],
    breaks="tools that describe a table: its schema cannot be read",
)
def table_schema_is_a_message(one: Described) -> Iterator[Violation]:
    """Each ``table_schema`` is an encapsulated Schema message.

    FlightSql.proto: "schema of the table as described in Schema.fbs::Schema, it is serialized as an IPC message."
    """
    for row in one.rows:
        data = row.get("table_schema")
        if isinstance(data, bytes) and wire.read_schema(data).schema is None:
            yield Violation("an encapsulated Schema message", f"{many(len(data), 'byte')} that are none")
            return


@_clause(
    "flight-sql-metadata.table-schema-has-the-columns",
    over=lambda view: [one for one in _asked_tables(view) if one.step.include_schema],
    level=Level.SHOULD,
    source=Inferred(FLIGHT_SQL_PROTO),
    breaks="tools that describe a table by it",
)
def table_schema_has_the_columns(one: Described) -> Iterator[Violation]:
    """The ``table_schema`` of a table that was just made has its columns.

    FlightSql.proto: "schema of the table".
    """
    wanted = one.seen.of.view.table.schema.names
    for row in one.rows:
        data, name = row.get("table_schema"), str(row.get("table_name"))
        read = wire.read_schema(data).schema if isinstance(data, bytes) else None
        if read is None or name.casefold() != _pattern(one).casefold():
            continue
        came = [field.name for field in read.fields]
        if said := names_differ([name.casefold() for name in wanted], [name.casefold() for name in came if name]):
            yield Violation(f"the columns {names_listed(wanted)}", f"{said}: {names_listed(map(str, came))}")


# --- SqlInfo ------------------------------------------------------------------------------------------


def _infos(view: View) -> list[Described]:
    return [one for one in described(view) if one.step.command == "CommandGetSqlInfo"]


@_clause(
    "flight-sql-metadata.info-values-have-their-types",
    over=_infos,
    breaks="every driver: it reads the value from the child of the union that the text names",
)
def info_values_have_their_types(one: Described) -> Iterator[Violation]:
    """Each value of CommandGetSqlInfo is of the type that the text names for its number.

    FlightSql.proto, SqlInfo: "Retrieves a UTF-8 string with the name of the Flight SQL Server.", for example.
    """
    for table in one.tables:
        if table.schema.names != ["info_name", "value"] or not pa.types.is_union(table.schema.field(1).type):
            continue
        for codes, values in zip(table.column(0).chunks, table.column(1).chunks, strict=True):
            for code, kind in zip(codes.to_pylist(), values.type_codes.to_pylist(), strict=True):
                wanted = kind_of_info(code)
                if wanted is not None and kind != wanted and kind < len(KINDS):
                    yield Violation(f"info {code}: {KINDS[wanted]}", KINDS[kind])
                    return


@_clause(
    "flight-sql-metadata.info-is-what-was-asked",
    over=lambda view: [one for one in _infos(view) if one.step.info],
    level=Level.SHOULD,
    breaks="clients that take the first row for the answer",
)
def info_is_what_was_asked(one: Described) -> Iterator[Violation]:
    """CommandGetSqlInfo with numbers tells what was asked for, once each, and nothing else.

    FlightSql.proto: "where there is one row per requested piece of metadata information."
    """
    came = [row.get("info_name") for row in one.rows]
    other = [code for code in came if code not in one.step.info]
    if other or len(set(came)) < len(came):
        wanted = f"one row for each of {', '.join(map(str, one.step.info))}"
        yield Violation(wanted, ", ".join(map(str, came[:10])))
