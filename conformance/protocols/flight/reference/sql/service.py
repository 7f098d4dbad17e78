"""The Flight reference with Flight SQL: commands in descriptors, and actions; one small overridable method per step.

A mutant is a subclass that replaces one method. Source:
https://github.com/apache/arrow/blob/main/format/FlightSql.proto.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Final

import pyarrow as pa
from grpc import StatusCode

from conformance.protocols.flight.contract.decoding import message_of
from conformance.protocols.flight.contract.encoding import number, part, text
from conformance.protocols.flight.contract.sqlmessages import command_in, packed, type_of, unpacked
from conformance.protocols.flight.contract.sqlschemas import SCHEMAS, WITH_SCHEMA
from conformance.protocols.flight.reference.service import FlightService, Messages
from conformance.protocols.flight.reference.sql import metadata
from conformance.protocols.flight.reference.sql.database import (
    Database,
    NoSuchTableError,
    TableExistsError,
    Tables,
    added,
    changed,
    selected,
)
from conformance.protocols.flight.reference.sql.statements import NotUnderstoodError, Select, Statement, parsed
from conformance.protocols.flight.reference.store import Batch, Flight, Store
from conformance.protocols.flight.wire.sql import ACTIONS
from conformance.wire.protobufmessages import ProtoMessage

__all__ = ["SqlFlightService"]

_APPEND, _REPLACE = 2, 3
_CREATE: Final = 1
_COMMIT: Final = 1
_RELEASE: Final = 1


class Prepared:
    """A prepared statement, and the parameters that were bound."""

    def __init__(self, statement: Statement, transaction: bytes) -> None:
        self.statement = statement
        self.transaction = transaction
        self.bound: Sequence[object] = ()


class SqlFlightService(FlightService):
    """A Flight service that executes statements; everything else is as in the service without them."""

    def __init__(self, store: Store | None = None) -> None:
        super().__init__(store)
        self.database = Database()
        self.prepared: dict[bytes, Prepared] = {}

    @contextmanager
    def executing(self) -> Iterator[None]:
        """Refuse what cannot be executed."""
        try:
            yield
        except NotUnderstoodError as error:
            self.refuse(StatusCode.INVALID_ARGUMENT, str(error))
        except NoSuchTableError as error:
            self.refuse(StatusCode.NOT_FOUND, str(error))
        except TableExistsError as error:
            self.refuse(StatusCode.ALREADY_EXISTS, str(error))
        except (pa.ArrowInvalid, pa.ArrowTypeError, KeyError) as error:
            self.refuse(StatusCode.INVALID_ARGUMENT, f"this cannot be executed: {error}")

    def unpack(self, data: bytes, name: str) -> ProtoMessage:
        """The message of that name; anything else is refused."""
        found = unpacked(data, name)
        if found is None:
            self.refuse(StatusCode.INVALID_ARGUMENT, f"expected a {name} in a google.protobuf.Any")
        return found

    def transaction_of(self, message: ProtoMessage) -> bytes:
        """The id of the open transaction of a request; empty without one."""
        transaction = bytes(message.data("transaction_id")) if message.has("transaction_id") else b""
        try:
            self.database.tables(transaction)
        except KeyError:
            self.refuse(StatusCode.INVALID_ARGUMENT, "no such transaction is open")
        return transaction

    # --- queries ------------------------------------------------------------------------------------

    def find(self, message: bytes) -> Flight:
        """The flight that a FlightDescriptor names, or the result of the command in it."""
        command = command_in(message)
        name = type_of(command)
        if not name:
            return super().find(message)
        with self.executing():
            return self.flight(self.key_of(message), self.rows_of(name, command))

    def flight(self, descriptor: bytes, table: pa.Table) -> Flight:
        """A table as a flight."""
        return Flight(descriptor, table.schema, tuple(Batch(rows) for rows in table.to_batches() if rows.num_rows))

    def rows_of(self, name: str, command: bytes) -> pa.Table:
        """The result of a command."""
        if name == "CommandStatementQuery":
            asked = self.unpack(command, name)
            return self.query(asked.text("query"), self.transaction_of(asked))
        if name == "CommandPreparedStatementQuery":
            return self.execute(self.statement_of(self.unpack(command, name)))
        if name not in SCHEMAS:
            self.refuse(StatusCode.UNIMPLEMENTED, f"{name} is not served")
        return self.metadata(name, self.unpack(command, name))

    def query(self, statement: str, transaction: bytes) -> pa.Table:
        """The result of a query."""
        return selected(self.database.tables(transaction), parsed(statement))

    def execute(self, prepared: Prepared) -> pa.Table:
        """The result of a prepared query with its parameters."""
        return selected(self.database.tables(prepared.transaction), prepared.statement, prepared.bound)

    def statement_of(self, message: ProtoMessage) -> Prepared:
        """The prepared statement that a message names."""
        found = self.prepared.get(bytes(message.data("prepared_statement_handle")))
        if found is None:
            self.refuse(StatusCode.NOT_FOUND, "no such statement is prepared")
        return found

    # --- metadata -----------------------------------------------------------------------------------

    def metadata(self, name: str, asked: ProtoMessage) -> pa.Table:
        """The answer to a metadata command."""
        if name == "CommandGetSqlInfo":
            return self.sql_info(asked.numbers("info"))
        if name == "CommandGetTables":
            return self.tables(asked)
        return self.rows(name, self.listed_rows(name, asked))

    def listed_rows(self, name: str, asked: ProtoMessage) -> Sequence[Mapping[str, object]]:
        """The rows of the answer to a command; the reference knows no keys."""
        wanted = asked.number("data_type") if name == "CommandGetXdbcTypeInfo" and asked.has("data_type") else None
        known: dict[str, Sequence[Mapping[str, object]]] = {
            "CommandGetXdbcTypeInfo": metadata.type_rows(wanted),
            "CommandGetCatalogs": [{"catalog_name": metadata.CATALOG}],
            "CommandGetDbSchemas": [{"catalog_name": metadata.CATALOG, "db_schema_name": metadata.DB_SCHEMA}],
            "CommandGetTableTypes": [{"table_type": metadata.KIND}],
        }
        return known.get(name, ())

    def rows(self, name: str, rows: Sequence[Mapping[str, object]]) -> pa.Table:
        """The answer to a command with these rows."""
        return metadata.rows_of(name, rows)

    def sql_info(self, codes: Sequence[int]) -> pa.Table:
        """What is asked for of the values of the server; without codes, all of them."""
        return metadata.info_table(
            {code: value for code, value in self.info_values().items() if not codes or code in codes}
        )

    def info_values(self) -> Mapping[int, object]:
        """The values that CommandGetSqlInfo tells."""
        return metadata.INFO

    def tables(self, asked: ProtoMessage) -> pa.Table:
        """The tables that CommandGetTables asks for."""
        pattern = asked.text("table_name_filter_pattern") if asked.has("table_name_filter_pattern") else "%"
        included = bool(asked.number("include_schema"))
        rows = [
            {"catalog_name": metadata.CATALOG, "db_schema_name": metadata.DB_SCHEMA, "table_name": name}
            | {"table_type": metadata.KIND}
            | ({"table_schema": self.table_schema(schema)} if included else {})
            for name, schema in self.listed(pattern, asked.texts("table_types"))
        ]
        return self.rows(WITH_SCHEMA if included else "CommandGetTables", rows)

    def listed(self, pattern: str, kinds: Sequence[str]) -> Sequence[tuple[str, pa.Schema]]:
        """The names and schemas of the tables that are asked for."""
        return list(metadata.tables_listed(self.database.tables(), pattern, kinds))

    def table_schema(self, schema: pa.Schema) -> bytes:
        """The schema of a table as an encapsulated message."""
        return self.schema_of(Flight(b"", schema, ()))

    # --- updates ------------------------------------------------------------------------------------

    def do_put(self, requests: Iterator[bytes]) -> Messages:
        """Execute the command of the first message; without one, store a table as the service without SQL does."""
        first = next(requests, None)
        named = None if first is None else message_of("FlightData", first)
        place = None if named is None else named.last("flight_descriptor")
        command = b"" if place is None or first is None else command_in(first[place.value_start : place.end])
        if first is None or not type_of(command):
            yield from super().do_put(itertools.chain(() if first is None else (first,), requests))
            return
        came = [first, *requests]
        with self.executing():
            yield from self.put(type_of(command), command, came)

    def put(self, name: str, command: bytes, came: Sequence[bytes]) -> Messages:
        """The answers to a command that came by DoPut."""
        match name:
            case "CommandStatementUpdate":
                asked = self.unpack(command, name)
                yield from self.counted(self.update(asked.text("query"), self.transaction_of(asked)))
            case "CommandPreparedStatementUpdate":
                prepared = self.statement_of(self.unpack(command, name))
                yield from self.counted(self.update_prepared(prepared, self.parameters(came)))
            case "CommandPreparedStatementQuery":
                asked = self.unpack(command, name)
                self.bind(self.statement_of(asked), self.parameters(came))
                yield from self.rebound(bytes(asked.data("prepared_statement_handle")))
            case "CommandStatementIngest":
                asked = self.unpack(command, name)
                yield from self.counted(self.ingest(asked, self.sent(came)))
            case _:
                self.refuse(StatusCode.UNIMPLEMENTED, f"{name} is not served by DoPut")

    def counted(self, count: int) -> Messages:
        """The DoPutUpdateResult of an update."""
        yield part(1, number(1, count))

    def rebound(self, handle: bytes) -> Messages:
        """The DoPutPreparedStatementResult of a statement whose parameters were bound."""
        yield part(1, part(1, handle))

    def update(self, statement: str, transaction: bytes) -> int:
        """Execute an update; returns the number of records that it changed."""
        return changed(self.database.tables(transaction), parsed(statement))

    def update_prepared(self, prepared: Prepared, parameters: Sequence[Sequence[object]]) -> int:
        """Execute a prepared update for each row of parameters."""
        return changed(self.database.tables(prepared.transaction), prepared.statement, parameters)

    def bind(self, prepared: Prepared, parameters: Sequence[Sequence[object]]) -> None:
        """Keep the parameters of a query."""
        prepared.bound = parameters[0] if parameters else ()

    def sent(self, came: Sequence[bytes]) -> pa.Table:
        """The rows of a DoPut."""
        schema, batches = self.table_of(came)
        return pa.Table.from_batches([batch.rows for batch in batches], schema)

    def parameters(self, came: Sequence[bytes]) -> list[list[object]]:
        """The rows of a DoPut as parameters."""
        return [list(row.values()) for row in self.sent(came).to_pylist()]

    def ingest(self, asked: ProtoMessage, rows: pa.Table) -> int:
        """Load rows into a table; returns their number."""
        options = asked.message("table_definition_options")
        if options is None or not options.number("if_exists") or not options.number("if_not_exist"):
            self.refuse(StatusCode.INVALID_ARGUMENT, "the options for the table are not specified")
        tables, name = self.database.tables(self.transaction_of(asked)), asked.text("table")
        if name in tables:
            self.into_existing(tables, name, options.number("if_exists"))
        elif options.number("if_not_exist") != _CREATE:
            raise NoSuchTableError(f"there is no table {name}")
        tables.setdefault(name, rows.schema.empty_table())
        return added(tables, name, rows)

    def into_existing(self, tables: Tables, name: str, option: int) -> None:
        """Do with a table that exists what the option says, before rows are added."""
        if option == _REPLACE:
            del tables[name]
        elif option != _APPEND:
            raise TableExistsError(f"there is a table {name}")

    # --- actions ------------------------------------------------------------------------------------

    def list_actions(self, requests: Iterator[bytes]) -> Messages:
        """The actions of Flight, and those of Flight SQL."""
        yield from super().list_actions(requests)
        for name in ACTIONS:
            yield text(1, name) + text(2, "An action of Flight SQL.")

    def do_action(self, requests: Iterator[bytes]) -> Messages:
        """An action of Flight SQL, or one of Flight."""
        request = self.the_one(requests)
        kind = self.decode("Action", request).text("type")
        if kind not in ACTIONS:
            yield from super().do_action(iter((request,)))
            return
        body = bytes(self.decode("Action", request).data("body"))
        with self.executing():
            yield from self.act(kind, self.unpack(body, ACTIONS[kind].request))

    def act(self, kind: str, asked: ProtoMessage) -> Messages:
        """The results of an action of Flight SQL."""
        match kind:
            case "CreatePreparedStatement":
                yield self.result(kind, self.prepare(asked.text("query"), self.transaction_of(asked)))
            case "ClosePreparedStatement":
                self.close(bytes(asked.data("prepared_statement_handle")))
            case "BeginTransaction":
                yield self.result(kind, part(1, self.database.begin()))
            case "EndTransaction":
                transaction = self.transaction_of(asked)
                self.end(transaction, commit=asked.number("action") == _COMMIT)
            case "BeginSavepoint":
                yield self.result(kind, part(1, self.database.savepoint(self.transaction_of(asked))))
            case "EndSavepoint":
                self.end_savepoint(bytes(asked.data("savepoint_id")), release=asked.number("action") == _RELEASE)
            case "CancelQuery":
                status = self.cancel(part(1, bytes(asked.data("info"))))
                yield self.result(kind, status)

    def result(self, kind: str, message: bytes) -> bytes:
        """The Result of an action."""
        return part(1, packed(ACTIONS[kind].result, message))

    def prepare(self, statement: str, transaction: bytes) -> bytes:
        """The ActionCreatePreparedStatementResult of a statement."""
        handle = b"\xffp%d" % len(self.prepared)
        found = Prepared(parsed(statement), transaction)
        self.prepared[handle] = found
        return part(1, handle) + self.dataset_schema(found)

    def dataset_schema(self, prepared: Prepared) -> bytes:
        """The field with the schema of the results; none for an update."""
        if not isinstance(prepared.statement, Select) or prepared.statement.table == "":
            return b""
        table = self.database.tables(prepared.transaction)[prepared.statement.table]
        names = prepared.statement.names
        return part(2, self.table_schema(table.schema if names == ("*",) else table.select(list(names)).schema))

    def close(self, handle: bytes) -> None:
        """Forget a prepared statement."""
        if self.prepared.pop(handle, None) is None:
            self.refuse(StatusCode.NOT_FOUND, "no such statement is prepared")

    def end_savepoint(self, savepoint: bytes, *, release: bool) -> None:
        """Release a savepoint, or go back to it."""
        if release:
            self.database.release(savepoint)
        else:
            self.database.back_to(savepoint)

    def end(self, transaction: bytes, *, commit: bool) -> None:
        """End a transaction."""
        self.database.end(transaction, commit=commit)
