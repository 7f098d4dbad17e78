"""The Flight SQL scenarios: each statement, handle and option is compared with a fixed one, and nothing is executed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

import pyarrow as pa
from grpc import StatusCode

from conformance.protocols.flight.contract import integration as fixed
from conformance.protocols.flight.contract.decoding import message_of, read_info
from conformance.protocols.flight.contract.encoding import number, part
from conformance.protocols.flight.contract.sqlmessages import command_in, packed, type_of, unpacked
from conformance.protocols.flight.contract.sqlschemas import WITH_SCHEMA
from conformance.protocols.flight.reference.actions import CANCEL
from conformance.protocols.flight.reference.scenarios.register import scenario
from conformance.protocols.flight.reference.service import FlightService, Messages
from conformance.protocols.flight.reference.sql.metadata import info_table
from conformance.protocols.flight.reference.store import Batch, Flight
from conformance.wire.protobufmessages import ProtoMessage

__all__ = ["FixedSql", "Ingesting"]

IN_TRANSACTION: Final = b" WITH TXN"
HANDLE: Final = b" HANDLE"


class Fixed(FlightService):
    """The parts of a Flight SQL server that all of these scenarios need."""

    def unpack(self, command: bytes, name: str) -> ProtoMessage:
        """The message of that name in a command; anything else is refused."""
        found = unpacked(command, name)
        if found is None:
            self.refuse(StatusCode.INVALID_ARGUMENT, f"expected a {name} in a google.protobuf.Any")
        return found

    def require(self, came: object, wanted: object, what: str) -> None:
        """Refuse what is not as the scenario has it."""
        if came != wanted:
            self.refuse(StatusCode.INVALID_ARGUMENT, f"{what}: expected {wanted!r}, got {came!r}")

    def do_put(self, requests: Iterator[bytes]) -> Messages:
        """Carry out the command of the first message."""
        came = list(requests)
        first = message_of("FlightData", came[0]) if came else None
        place = None if first is None else first.last("flight_descriptor")
        command = b"" if place is None else command_in(came[0][place.value_start : place.end])
        yield from self.put(type_of(command), command, came)

    def put(self, name: str, command: bytes, came: Sequence[bytes]) -> Messages:
        """The answers to a command that came by DoPut."""
        del command, came
        self.refuse(StatusCode.UNIMPLEMENTED, f"{name or 'this command'} is not served by DoPut")

    def counted(self, count: int) -> Messages:
        """The DoPutUpdateResult of an update."""
        yield part(1, number(1, count))


@scenario("flight_sql", "flight_sql:extension")
class FixedSql(Fixed):
    """Queries without rows, updates with fixed counts, prepared statements, plans, transactions and savepoints."""

    @property
    def sql_actions(self) -> Mapping[str, tuple[str, Callable[[ProtoMessage], bytes | None]]]:
        """The actions of Flight SQL: the message of the request, and the step that gives the result, None for none."""
        return {
            "CreatePreparedStatement": ("ActionCreatePreparedStatementRequest", self.prepare),
            "CreatePreparedSubstraitPlan": ("ActionCreatePreparedSubstraitPlanRequest", self.prepare_plan),
            "ClosePreparedStatement": ("ActionClosePreparedStatementRequest", self.close),
            "BeginTransaction": ("ActionBeginTransactionRequest", self.begin_transaction),
            "EndTransaction": ("ActionEndTransactionRequest", self.end_transaction),
            "BeginSavepoint": ("ActionBeginSavepointRequest", self.begin_savepoint),
            "EndSavepoint": ("ActionEndSavepointRequest", self.end_savepoint),
            "CancelQuery": ("ActionCancelQueryRequest", self.cancel_query),
        }

    # --- queries ------------------------------------------------------------------------------------

    def find(self, message: bytes) -> Flight:
        """The result of a command: no rows, except of CommandGetSqlInfo in ``flight_sql:extension``."""
        command = command_in(message)
        name = type_of(command)
        if name in fixed.METADATA:
            return self.metadata(message, name, self.unpack(command, name))
        match name:
            case "CommandStatementQuery":
                asked = self.unpack(command, name)
                self.require(asked.text("query"), fixed.SELECT, "the statement")
            case "CommandStatementSubstraitPlan":
                asked = self.unpack(command, name)
                self.check_plan(asked)
            case "CommandPreparedStatementQuery":
                handle = self.handle_in(self.unpack(command, name), "SELECT PREPARED STATEMENT")
                return Flight(message, self.result_schema_in(transaction=handle.endswith(IN_TRANSACTION + HANDLE)), ())
            case _:
                self.refuse(StatusCode.UNIMPLEMENTED, f"{name or 'this descriptor'} is not served")
        return Flight(message, self.result_schema_in(transaction=asked.has("transaction_id")), ())

    def result_schema_in(self, *, transaction: bool) -> pa.Schema:
        """The schema of a result."""
        return fixed.QUERY_IN_TRANSACTION if transaction else fixed.QUERY

    def metadata(self, message: bytes, name: str, asked: ProtoMessage) -> Flight:
        """The answer to a metadata command; the schema alone may be asked for with no arguments."""
        included = name == "CommandGetTables" and bool(asked.number("include_schema"))
        schema = fixed.metadata_schema(WITH_SCHEMA if included else name)
        codes = asked.numbers("info") if name == "CommandGetSqlInfo" else ()
        told = {code: value for code, value in fixed.SQL_INFO.items() if code in codes}
        return Flight(message, schema, (Batch(_of_schema(info_table(told), schema)),) if told else ())

    def total_records(self, flight: Flight) -> int:
        """Unknown, as in Arrow's servers."""
        del flight
        return -1

    def check_plan(self, message: ProtoMessage) -> None:
        """Refuse another plan than that of the scenario."""
        plan = message.message("plan")
        came = None if plan is None else (bytes(plan.data("plan")), plan.text("version"))
        self.require(came, (b"plan", "version"), "the plan")

    def handle_in(self, message: ProtoMessage, statement: str) -> bytes:
        """The handle of a prepared plan or of a statement, in a transaction or not."""
        handle = bytes(message.data("prepared_statement_handle"))
        known = [name.encode() + within + HANDLE for name in (statement, "PLAN") for within in (b"", IN_TRANSACTION)]
        if handle not in known:
            self.refuse(StatusCode.INVALID_ARGUMENT, f"no such statement is prepared: {handle!r}")
        return handle

    # --- updates ------------------------------------------------------------------------------------

    def put(self, name: str, command: bytes, came: Sequence[bytes]) -> Messages:
        """Count an update, or take the parameters of a query."""
        match name:
            case "CommandStatementUpdate":
                asked = self.unpack(command, name)
                self.require(asked.text("query"), fixed.UPDATE, "the statement")
                yield from self.counted(fixed.COUNTS[False, asked.has("transaction_id")])
            case "CommandStatementSubstraitPlan":
                asked = self.unpack(command, name)
                self.check_plan(asked)
                yield from self.counted(fixed.COUNTS[False, asked.has("transaction_id")])
            case "CommandPreparedStatementUpdate":
                handle = self.handle_in(self.unpack(command, name), "UPDATE PREPARED STATEMENT")
                yield from self.counted(fixed.COUNTS[True, handle.endswith(IN_TRANSACTION + HANDLE)])
            case "CommandPreparedStatementQuery":
                handle = self.handle_in(self.unpack(command, name), "SELECT PREPARED STATEMENT")
                schema, _ = self.table_of(came)
                self.require(
                    schema.equals(fixed.QUERY), wanted=True, what="the schema of the parameters is that of the query"
                )
                yield part(1, part(1, handle))
            case _:
                yield from super().put(name, command, came)

    # --- actions ------------------------------------------------------------------------------------

    def do_action(self, requests: Iterator[bytes]) -> Messages:
        """An action of Flight SQL, or CancelFlightInfo."""
        request = self.the_one(requests)
        asked = self.decode("Action", request)
        kind, body = asked.text("type"), bytes(asked.data("body"))
        if kind not in self.sql_actions:
            yield from super().do_action(iter((request,)))
            return
        name, act = self.sql_actions[kind]
        result = act(self.unpack(body, name))
        if result is not None:
            yield part(1, result)

    def prepare(self, asked: ProtoMessage) -> bytes:
        """The handle of a statement."""
        if asked.text("query") not in fixed.PREPARED:
            self.refuse(StatusCode.INVALID_ARGUMENT, f"the statement is not known: {asked.text('query')!r}")
        return self.prepared(asked.text("query").encode(), asked)

    def prepare_plan(self, asked: ProtoMessage) -> bytes:
        """The handle of a plan."""
        self.check_plan(asked)
        return self.prepared(b"PLAN", asked)

    def prepared(self, name: bytes, asked: ProtoMessage) -> bytes:
        """The ActionCreatePreparedStatementResult."""
        handle = name + (IN_TRANSACTION if asked.has("transaction_id") else b"") + HANDLE
        return packed("ActionCreatePreparedStatementResult", part(1, handle))

    def close(self, asked: ProtoMessage) -> None:
        """Close a prepared statement of either kind."""
        handle = bytes(asked.data("prepared_statement_handle"))
        self.handle_in(asked, fixed.PREPARED[handle.startswith(b"UPDATE")])

    def begin_transaction(self, asked: ProtoMessage) -> bytes:
        """The id of the transaction."""
        del asked
        return packed("ActionBeginTransactionResult", part(1, fixed.TRANSACTION))

    def end_transaction(self, asked: ProtoMessage) -> None:
        """Commit it, or roll it back."""
        self.require(bytes(asked.data("transaction_id")), fixed.TRANSACTION, "the transaction")
        self.require(asked.number("action") in (1, 2), wanted=True, what="the action is a commit or a rollback")

    def begin_savepoint(self, asked: ProtoMessage) -> bytes:
        """The id of the savepoint."""
        self.require(bytes(asked.data("transaction_id")), fixed.TRANSACTION, "the transaction")
        self.require(asked.text("name"), fixed.SAVEPOINT_NAME, "the name of the savepoint")
        return packed("ActionBeginSavepointResult", part(1, fixed.SAVEPOINT))

    def end_savepoint(self, asked: ProtoMessage) -> None:
        """Release it, or roll back to it."""
        self.require(bytes(asked.data("savepoint_id")), fixed.SAVEPOINT, "the savepoint")
        self.require(asked.number("action") in (1, 2), wanted=True, what="the action is a release or a rollback")

    def cancel_query(self, asked: ProtoMessage) -> bytes:
        """The older form of CancelFlightInfo; both have the same numbers for their results."""
        info = bytes(asked.data("info"))
        if read_info(info) is None:
            self.refuse(StatusCode.INVALID_ARGUMENT, f"the request has no info; {CANCEL} is the newer action")
        return packed("ActionCancelQueryResult", self.cancel(part(1, info)))


@scenario("flight_sql:ingestion")
class Ingesting(Fixed):
    """Rows that come with the options of the scenario are counted."""

    def put(self, name: str, command: bytes, came: Sequence[bytes]) -> Messages:
        """The number of rows."""
        if name != "CommandStatementIngest":
            yield from super().put(name, command, came)
            return
        asked = self.unpack(command, name)
        wanted = unpacked(packed(name, fixed.INGESTION), name)
        assert wanted is not None, "the suite writes it"
        self.require(_ingestion(asked), _ingestion(wanted), "the command")
        schema, batches = self.table_of(came)
        self.require(schema.equals(fixed.INGESTED), wanted=True, what="the schema is that of the scenario")
        yield from self.counted(sum(batch.rows.num_rows for batch in batches))


def _of_schema(told: pa.Table, schema: pa.Schema) -> pa.RecordBatch:
    """The values of CommandGetSqlInfo under a schema whose union has no nullable children."""
    codes, values = (column.combine_chunks() for column in told.columns)
    kind = schema.field("value").type
    children = [values.field(at) for at in range(kind.num_fields)]
    union = pa.Array.from_buffers(kind, len(values), values.buffers()[:3], children=children)
    return pa.RecordBatch.from_arrays([codes, union], schema=schema)


def _ingestion(message: ProtoMessage) -> tuple[object, ...]:
    """What a CommandStatementIngest says, whatever the order of its fields."""
    options = message.message("table_definition_options")
    return (
        None if options is None else (options.number("if_not_exist"), options.number("if_exists")),
        *(message.text(name) for name in ("table", "schema", "catalog")),
        message.number("temporary"),
        bytes(message.data("transaction_id")),
        sorted((entry.text("key"), entry.text("value")) for entry in message.messages("options")),
    )
