"""Mutants of the answers to metadata commands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pyarrow as pa

from conformance.protocols.flight.reference.register import mutant
from conformance.protocols.flight.reference.sql import metadata
from conformance.protocols.flight.reference.sql.service import SqlFlightService
from conformance.protocols.flight.reference.store import Flight
from conformance.wire.protobufmessages import ProtoMessage

_CHAPTER = "flight-sql-metadata"
_SCHEMAS = (f"{_CHAPTER}.schema-is-fixed", f"{_CHAPTER}.get-schema-is-fixed")


def _retyped(table: pa.Table, name: str, kind: pa.DataType) -> pa.Table:
    """The table with another type of that column, if it has one."""
    at = table.schema.get_field_index(name)
    if at < 0:
        return table
    return table.set_column(at, table.schema.field(at).with_type(kind), table.column(at).cast(kind))


class _Changed(SqlFlightService):
    """Changes the answers to some commands."""

    def metadata(self, name: str, asked: ProtoMessage) -> pa.Table:
        """The changed answer."""
        return self.change(name, super().metadata(name, asked))

    def change(self, name: str, table: pa.Table) -> pa.Table:
        """The change."""
        del name
        return table


@mutant(f"{_CHAPTER}.catalogs-called-name", kills=_SCHEMAS)
class CatalogsCalledName(_Changed):
    """The column of CommandGetCatalogs is called ``name``."""

    def change(self, name: str, table: pa.Table) -> pa.Table:
        return table.rename_columns(["name"]) if name == "CommandGetCatalogs" else table


@mutant(f"{_CHAPTER}.rules-as-numbers", kills=_SCHEMAS)
class RulesAsNumbers(_Changed):
    """The rules of foreign keys are 32-bit integers."""

    def change(self, name: str, table: pa.Table) -> pa.Table:
        return _retyped(table, "update_rule", pa.int32())


@mutant(f"{_CHAPTER}.texts-large", kills=_SCHEMAS)
class TextsLarge(_Changed):
    """The names of tables are large texts."""

    def change(self, name: str, table: pa.Table) -> pa.Table:
        return _retyped(table, "table_name", pa.large_string())


@mutant(f"{_CHAPTER}.info-as-text", kills=_SCHEMAS)
class InfoAsText(_Changed):
    """Every value of CommandGetSqlInfo is a text."""

    def change(self, name: str, table: pa.Table) -> pa.Table:
        if name != "CommandGetSqlInfo":
            return table
        return table.set_column(1, "value", pa.array([str(one) for one in table.column(1).to_pylist()], pa.string()))


@mutant(f"{_CHAPTER}.schema-left-out", kills=_SCHEMAS)
class SchemaLeftOut(_Changed):
    """CommandGetTables ignores ``include_schema``."""

    def change(self, name: str, table: pa.Table) -> pa.Table:
        return table.drop_columns(["table_schema"]) if "table_schema" in table.schema.names else table


@mutant(f"{_CHAPTER}.names-first", kills=f"{_CHAPTER}.columns-are-in-order")
class NamesFirst(_Changed):
    """CommandGetDbSchemas gives the name of the schema before that of its catalog."""

    def change(self, name: str, table: pa.Table) -> pa.Table:
        return table.select(["db_schema_name", "catalog_name"]) if name == "CommandGetDbSchemas" else table


@mutant(f"{_CHAPTER}.all-nullable", kills=f"{_CHAPTER}.required-columns-are-not-nullable")
class AllNullable(_Changed):
    """Every column of an answer is nullable."""

    def change(self, name: str, table: pa.Table) -> pa.Table:
        return table.cast(pa.schema([field.with_nullable(nullable=True) for field in table.schema]))


@mutant(
    f"{_CHAPTER}.types-without-names",
    kills=f"{_CHAPTER}.required-values-are-there",
    also={
        f"{_CHAPTER}.required-columns-are-not-nullable": "a column with nulls has to be nullable",
    },
)
class TypesWithoutNames(_Changed):
    """The types of tables have no names."""

    def change(self, name: str, table: pa.Table) -> pa.Table:
        if name != "CommandGetTableTypes":
            return table
        return pa.table({"table_type": pa.nulls(table.num_rows, pa.string())})


@mutant(f"{_CHAPTER}.types-by-name", kills=f"{_CHAPTER}.rows-are-ordered")
class TypesByName(SqlFlightService):
    """CommandGetXdbcTypeInfo orders the types by their names."""

    def listed_rows(self, name: str, asked: ProtoMessage) -> Sequence[Mapping[str, object]]:
        rows = super().listed_rows(name, asked)
        return sorted(rows, key=lambda row: str(row["type_name"])) if name == "CommandGetXdbcTypeInfo" else rows


@mutant(
    f"{_CHAPTER}.tables-forgotten",
    kills=f"{_CHAPTER}.table-is-listed",
)
class TablesForgotten(SqlFlightService):
    """CommandGetTables lists no table."""

    def listed(self, pattern: str, kinds: Sequence[str]) -> Sequence[tuple[str, pa.Schema]]:
        del pattern, kinds
        return ()


@mutant(f"{_CHAPTER}.pattern-ignored", kills=f"{_CHAPTER}.filter-is-obeyed")
class PatternIgnored(SqlFlightService):
    """CommandGetTables lists a table that is of no pattern, too."""

    def listed(self, pattern: str, kinds: Sequence[str]) -> Sequence[tuple[str, pa.Schema]]:
        found = super().listed(pattern, kinds)
        return [("another", pa.schema([("n", pa.int64())])), *found] if found else found


@mutant(f"{_CHAPTER}.types-ignored", kills=f"{_CHAPTER}.filter-is-obeyed")
class TypesIgnored(SqlFlightService):
    """CommandGetTables ignores the types that it is asked for."""

    def listed(self, pattern: str, kinds: Sequence[str]) -> Sequence[tuple[str, pa.Schema]]:
        del kinds
        return super().listed(pattern, ())


@mutant(f"{_CHAPTER}.table-schema-in-words", kills=f"{_CHAPTER}.table-schema-is-a-message")
class TableSchemaInWords(SqlFlightService):
    """The schema of a table in an answer is a text."""

    def tables(self, asked: ProtoMessage) -> pa.Table:
        table = super().tables(asked)
        at = table.schema.get_field_index("table_schema")
        texts = pa.array([b"CREATE TABLE"] * table.num_rows, pa.binary())
        return table if at < 0 else table.set_column(at, table.schema.field(at), texts)


@mutant(f"{_CHAPTER}.table-schema-cut", kills=f"{_CHAPTER}.table-schema-has-the-columns")
class TableSchemaCut(SqlFlightService):
    """The schema of a table in an answer lacks the last column."""

    def table_schema(self, schema: pa.Schema) -> bytes:
        return self.schema_of(Flight(b"", pa.schema(list(schema)[:-1]), ()))


@mutant(f"{_CHAPTER}.read-only-as-text", kills=f"{_CHAPTER}.info-values-have-their-types")
class ReadOnlyAsText(_Changed):
    """The value of FLIGHT_SQL_SERVER_READ_ONLY is a text."""

    def change(self, name: str, table: pa.Table) -> pa.Table:
        if name != "CommandGetSqlInfo" or 3 not in table.column(0).to_pylist():
            return table
        values = table.column(1).combine_chunks()
        at = table.column(0).to_pylist().index(3)
        kinds, offsets = values.type_codes.to_pylist(), values.offsets.to_pylist()
        texts = values.field(0).to_pylist()
        kinds[at], offsets[at] = 0, len(texts)
        children = [pa.array([*texts, "false"]), *(values.field(child) for child in range(1, 6))]
        names = [field.name for field in values.type]
        union = pa.UnionArray.from_dense(pa.array(kinds, pa.int8()), pa.array(offsets, pa.int32()), children, names)
        return pa.table([table.column(0), union], schema=table.schema)


@mutant(f"{_CHAPTER}.info-whole", kills=f"{_CHAPTER}.info-is-what-was-asked")
class InfoWhole(SqlFlightService):
    """CommandGetSqlInfo tells all that there is, whatever it is asked for."""

    def sql_info(self, codes: Sequence[int]) -> pa.Table:
        del codes
        return metadata.info_table(self.info_values())
