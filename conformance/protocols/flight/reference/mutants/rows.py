"""Mutants of the rows that queries give."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc

from conformance.protocols.flight.reference.register import mutant
from conformance.protocols.flight.reference.sql.service import Prepared, SqlFlightService
from conformance.wire.protobufmessages import ProtoMessage


@mutant("flight-rows.last-row-lost", kills="flight-rows.nothing-is-lost")
class LastRowLost(SqlFlightService):
    """The last row of each result is missing."""

    def query(self, statement: str, transaction: bytes) -> pa.Table:
        table = super().query(statement, transaction)
        return table.slice(0, max(0, table.num_rows - 1))


@mutant("flight-rows.twice", kills="flight-rows.nothing-is-added")
class Twice(SqlFlightService):
    """Each row of a result comes twice."""

    def query(self, statement: str, transaction: bytes) -> pa.Table:
        table = super().query(statement, transaction)
        return pa.concat_tables([table, table])


@mutant(
    "flight-rows.condition-ignored",
    kills="flight-rows.nothing-is-added",
)
class ConditionIgnored(SqlFlightService):
    """A query gives all rows of its table, whatever its condition."""

    def query(self, statement: str, transaction: bytes) -> pa.Table:
        return super().query(statement.partition(" WHERE ")[0], transaction)


@mutant("flight-rows.nulls-as-empty", kills="flight-rows.values-are-kept")
class NullsAsEmpty(SqlFlightService):
    """A NULL comes as an empty text."""

    def query(self, statement: str, transaction: bytes) -> pa.Table:
        table = super().query(statement, transaction)
        for at, field in enumerate(table.schema):
            if pa.types.is_string(field.type):
                table = table.set_column(at, field, pc.fill_null(table.column(at), ""))
        return table


@mutant("flight-rows.numbers-through-double", kills="flight-rows.values-are-kept")
class NumbersThroughDouble(SqlFlightService):
    """Integers go through a double, so that large ones change."""

    def query(self, statement: str, transaction: bytes) -> pa.Table:
        table = super().query(statement, transaction)
        for at, field in enumerate(table.schema):
            if pa.types.is_int64(field.type):
                rounded = pa.chunked_array(
                    [pa.array([int(float(one)) for one in table.column(at).to_pylist()], field.type)]
                )
                table = table.set_column(at, field, rounded)
        return table


@mutant("flight-rows.columns-numbered", kills="flight-rows.columns-are-named")
class ColumnsNumbered(SqlFlightService):
    """The columns of a result are called by their numbers."""

    def query(self, statement: str, transaction: bytes) -> pa.Table:
        table = super().query(statement, transaction)
        return table.rename_columns([f"column{at}" for at in range(table.num_columns)])


@mutant(
    "flight-rows.first-parameter-kept",
    kills="flight-rows.values-are-kept",
)
class FirstParameterKept(SqlFlightService):
    """A prepared query keeps the parameter that was bound first."""

    def bind(self, prepared: Prepared, parameters: Sequence[Sequence[object]]) -> None:
        if not prepared.bound:
            super().bind(prepared, parameters)


@mutant("flight-rows.rollback-commits", kills="flight-rows.nothing-is-added")
class RollbackCommits(SqlFlightService):
    """A rollback keeps what the transaction changed."""

    def end(self, transaction: bytes, *, commit: bool) -> None:
        del commit
        super().end(transaction, commit=True)


@mutant("flight-rows.commit-loses", kills="flight-rows.nothing-is-lost")
class CommitLoses(SqlFlightService):
    """A commit forgets what the transaction changed."""

    def end(self, transaction: bytes, *, commit: bool) -> None:
        del commit
        super().end(transaction, commit=False)


@mutant("flight-rows.replace-appends", kills="flight-rows.nothing-is-added")
class ReplaceAppends(SqlFlightService):
    """An ingestion that replaces a table adds to it."""

    def into_existing(self, tables: dict[str, pa.Table], name: str, option: int) -> None:
        super().into_existing(tables, name, 2 if option == 3 else option)


@mutant("flight-rows.append-replaces", kills="flight-rows.nothing-is-lost")
class AppendReplaces(SqlFlightService):
    """An ingestion that adds to a table replaces it."""

    def into_existing(self, tables: dict[str, pa.Table], name: str, option: int) -> None:
        super().into_existing(tables, name, 3 if option == 2 else option)


@mutant("flight-rows.last-parameters-lost", kills="flight-rows.nothing-is-lost")
class LastParametersLost(SqlFlightService):
    """A prepared update leaves out the last row of its parameters, and counts it."""

    def update_prepared(self, prepared: Prepared, parameters: Sequence[Sequence[object]]) -> int:
        return super().update_prepared(prepared, parameters[:-1]) + 1


@mutant("flight-rows.ingestion-stops", kills="flight-rows.nothing-is-lost")
class IngestionStops(SqlFlightService):
    """An ingestion keeps the first batch alone, and counts every row."""

    def ingest(self, asked: ProtoMessage, rows: pa.Table) -> int:
        first = pa.Table.from_batches(rows.to_batches()[:1], rows.schema)
        super().ingest(asked, first)
        return int(rows.num_rows)
