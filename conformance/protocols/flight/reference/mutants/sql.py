"""Mutants of statements, prepared statements, transactions and ingestion."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
from grpc import StatusCode

from conformance.protocols.flight.contract.encoding import number, part
from conformance.protocols.flight.reference.register import mutant
from conformance.protocols.flight.reference.service import Messages
from conformance.protocols.flight.reference.sql.database import Tables
from conformance.protocols.flight.reference.sql.service import Prepared, SqlFlightService
from conformance.protocols.flight.reference.sql.statements import NotUnderstoodError
from conformance.wire.protobufmessages import ProtoMessage


@mutant("flight-sql.update-without-result", kills="flight-sql.update-has-a-result")
class UpdateWithoutResult(SqlFlightService):
    """An update ends in OK without a result."""

    def counted(self, count: int) -> Messages:
        del count
        return ()


@mutant("flight-sql.update-in-words", kills="flight-sql.update-has-a-result")
class UpdateInWords(SqlFlightService):
    """The result of an update is a text."""

    def counted(self, count: int) -> Messages:
        yield part(1, b"%d rows" % count)


@mutant("flight-sql.counts-one", kills="flight-sql.update-counts")
class CountsOne(SqlFlightService):
    """An insertion counts as one record, whatever its number of rows."""

    def update(self, statement: str, transaction: bytes) -> int:
        return min(1, super().update(statement, transaction))


@mutant("flight-sql.ingestion-uncounted", kills="flight-sql.update-counts")
class IngestionUncounted(SqlFlightService):
    """An ingestion says that it changed no record."""

    def ingest(self, asked: ProtoMessage, rows: pa.Table) -> int:
        super().ingest(asked, rows)
        return 0


@mutant(
    "flight-sql.result-without-any",
    kills="flight-sql.actions-have-results",
    also={"flight-sql.cancel-says-what-happened": "the result of CancelQuery is in no Any, either"},
)
class ResultWithoutAny(SqlFlightService):
    """The result of an action is its message, without the Any around it."""

    def result(self, kind: str, message: bytes) -> bytes:
        del kind
        return part(1, message)


@mutant("flight-sql.begins-in-silence", kills="flight-sql.actions-have-results")
class BeginsInSilence(SqlFlightService):
    """BeginTransaction ends in OK without an id."""

    def act(self, kind: str, asked: ProtoMessage) -> Messages:
        return () if kind == "BeginTransaction" else super().act(kind, asked)


@mutant("flight-sql.dataset-schema-in-words", kills="flight-sql.dataset-schema-is-a-message")
class DatasetSchemaInWords(SqlFlightService):
    """The schema of a prepared query is a text."""

    def dataset_schema(self, prepared: Prepared) -> bytes:
        del prepared
        return part(2, b"row_id BIGINT, word VARCHAR")


@mutant("flight-sql.closes-nothing", kills="flight-sql.end-of-statement-is-served")
class ClosesNothing(SqlFlightService):
    """A handle that was given out cannot be closed."""

    def close(self, handle: bytes) -> None:
        self.refuse(StatusCode.NOT_FOUND, f"no statement has the handle {handle!r}")


@mutant("flight-sql.ends-nothing", kills="flight-sql.end-of-statement-is-served")
class EndsNothing(SqlFlightService):
    """A transaction that was begun cannot be ended."""

    def end(self, transaction: bytes, *, commit: bool) -> None:
        del commit
        self.refuse(StatusCode.INVALID_ARGUMENT, f"no transaction is {transaction!r}")


@mutant("flight-sql.executes-nothing", kills="flight-sql.handle-is-served")
class ExecutesNothing(SqlFlightService):
    """A handle that was given out cannot be executed."""

    def execute(self, prepared: Prepared) -> pa.Table:
        del prepared
        self.refuse(StatusCode.NOT_FOUND, "the statement is not known")


@mutant("flight-sql.executes-nonsense", kills="flight-sql.nonsense-is-refused")
class ExecutesNonsense(SqlFlightService):
    """An update that is no SQL changes nothing, and ends in OK."""

    def update(self, statement: str, transaction: bytes) -> int:
        try:
            return super().update(statement, transaction)
        except NotUnderstoodError:
            return 0


@mutant("flight-sql.selects-nonsense", kills="flight-sql.nonsense-is-refused")
class SelectsNonsense(SqlFlightService):
    """A query that is no SQL has an empty result."""

    def query(self, statement: str, transaction: bytes) -> pa.Table:
        try:
            return super().query(statement, transaction)
        except NotUnderstoodError:
            return pa.table({"result": pa.array([], pa.string())})


@mutant("flight-sql.ingests-into-existing", kills="flight-sql.ingestion-fails-as-asked")
class IngestsIntoExisting(SqlFlightService):
    """An ingestion that has to fail where its table exists adds to it."""

    def into_existing(self, tables: Tables, name: str, option: int) -> None:
        super().into_existing(tables, name, 2 if option == 1 else option)


@mutant("flight-sql.ingests-into-nothing", kills="flight-sql.ingestion-fails-as-asked")
class IngestsIntoNothing(SqlFlightService):
    """An ingestion that has to fail where there is no table says that it loaded the rows."""

    def put(self, name: str, command: bytes, came: Sequence[bytes]) -> Messages:
        if name == "CommandStatementIngest":
            asked = self.unpack(command, name)
            options = asked.message("table_definition_options")
            if (
                options is not None
                and options.number("if_not_exist") == 2
                and asked.text("table") not in self.database.tables()
            ):
                return (part(1, number(1, self.sent(came).num_rows)),)
        return super().put(name, command, came)
