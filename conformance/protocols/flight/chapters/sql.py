"""Statements of Flight SQL: updates and their counts, prepared statements, transactions, and ingestion."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Final

from conformance import wire
from conformance.contain.text import many
from conformance.contract.clause import Role, Violation, clause
from conformance.contract.sources import STATUS_CODES, Inferred
from conformance.protocols.flight.contract import FLIGHT
from conformance.protocols.flight.contract.sources import FLIGHT_SQL_PAGE, FLIGHT_SQL_PROTO
from conformance.protocols.flight.contract.sqlmessages import record_count, result_in, type_of, unpacked
from conformance.protocols.flight.contract.sqlsubjects import Updated, of_step, undisturbed, updated
from conformance.protocols.flight.contract.subjects import about, asked_for
from conformance.protocols.flight.contract.view import FlightCall, FlightView
from conformance.protocols.flight.records import (
    FlightMethod,
    SqlBegin,
    SqlCancel,
    SqlClose,
    SqlEnd,
    SqlEndSavepoint,
    SqlPrepare,
    SqlQuery,
    SqlSavepoint,
)
from conformance.protocols.flight.wire.sql import ACTIONS
from conformance.records import Level

_clause = functools.partial(clause, source=(FLIGHT_SQL_PROTO, FLIGHT_SQL_PAGE), profiles=FLIGHT, role=Role.APPLICATION)

_UNKNOWN: Final = -1


@_clause(
    "flight-sql.update-has-a-result",
    over=updated,
    level=Level.SHOULD,
    breaks="clients that read the number of records",
    role=Role.LIBRARY,
)
def update_has_a_result(update: Updated) -> Iterator[Violation]:
    """An update that ends in OK has one result, which is a DoPutUpdateResult.

    FlightSql.proto, DoPutUpdateResult: "Returned from the RPC call DoPut when a CommandStatementUpdate,
    CommandPreparedStatementUpdate, or CommandStatementIngest was in the request".
    """
    answers = update.of.raw.responses
    if len(answers) != 1:
        yield Violation("one PutResult", many(len(answers), "message"))
    elif record_count(answers[0]) is None:
        yield Violation("a PutResult whose app_metadata is a DoPutUpdateResult", many(len(answers[0]), "byte"))


@_clause(
    "flight-sql.update-counts",
    over=lambda view: [one for one in updated(view) if one.count is not None],
    breaks="every client that believes the number: it repeats an insertion, or reports a wrong number",
)
def update_counts(update: Updated) -> Iterator[Violation]:
    """The number of records of an insertion, a deletion or an ingestion is that of the rows, or -1.

    FlightSql.proto, ``record_count``: "The number of records updated. A return value of -1 represents an unknown
    updated record count."
    """
    for answer in update.of.raw.responses[:1]:
        count = record_count(answer)
        if count is not None and count not in (update.count, _UNKNOWN):
            yield Violation(f"record_count {update.count}, or -1", str(count))


@_clause(
    "flight-sql.actions-have-results",
    over=lambda view: [call for call in of_step(SqlPrepare, SqlBegin, SqlSavepoint)(view) if call.ok],
    breaks="every client: it has no handle to go on with",
    role=Role.LIBRARY,
)
def actions_have_results(call: FlightCall) -> Iterator[Violation]:
    """CreatePreparedStatement, BeginTransaction and BeginSavepoint that end in OK have one result: their message in an
    Any.

    FlightSql.proto, on all three: "The result should be wrapped in a google.protobuf.Any message." Without it there is
    no handle, and the status OK is all that the client learns.
    """
    wanted = ACTIONS[call.raw.label].result
    answers = call.raw.responses
    body = result_in(answers[0]) if len(answers) == 1 else None
    if body is None or unpacked(body, wanted) is None:
        came = many(len(answers), "message") if len(answers) != 1 else f"{type_of(body or b'') or 'other bytes'}"
        yield Violation(f"one result: {wanted} in a google.protobuf.Any", came)


@_clause(
    "flight-sql.dataset-schema-is-a-message",
    over=lambda view: [call for call in of_step(SqlPrepare)(view) if call.ok],
    breaks="clients that describe a result before they execute it",
    role=Role.LIBRARY,
)
def dataset_schema_is_a_message(call: FlightCall) -> Iterator[Violation]:
    """The schemas of a prepared statement, if it states any, are encapsulated Schema messages.

    FlightSql.proto, ``dataset_schema``: "It should be an IPC-encapsulated Schema, as described in Schema.fbs."
    """
    for answer in call.raw.responses[:1]:
        found = unpacked(result_in(answer) or b"", "ActionCreatePreparedStatementResult")
        for name in ("dataset_schema", "parameter_schema"):
            data = b"" if found is None else bytes(found.data(name))
            if data and wire.read_schema(data).schema is None:
                yield Violation("an encapsulated Schema message", f"{many(len(data), 'byte')} that are none", name)


@_clause(
    "flight-sql.end-of-statement-is-served",
    over=of_step(SqlClose, SqlEnd, SqlEndSavepoint),
    breaks="every client: transactions and statements stay open",
)
def end_of_statement_is_served(call: FlightCall) -> Iterator[Violation]:
    """A statement that was prepared can be closed, and a transaction or a savepoint that was begun can be ended.

    FlightSql.proto, on transactions: "The transaction can be manipulated with the "EndTransaction" action"; on prepared
    statements: "The resultant PreparedStatement can be closed"; on savepoints: "Rolling back to a savepoint does not
    invalidate the savepoint". A server that gives out a handle and does not take it contradicts itself.
    """
    if not call.ok:
        yield Violation("status OK for a handle that was just given out", f"{call.raw.status}: {call.raw.details}")


@_clause(
    "flight-sql.handle-is-served",
    over=lambda view: [call for call in of_step(SqlQuery)(view) if _uses_handle(call)],
    breaks="every client: what was prepared cannot be executed",
)
def handle_is_served(call: FlightCall) -> Iterator[Violation]:
    """A query that was prepared, and whose parameters were bound, can be executed by its handle.

    FlightSql.proto, CommandPreparedStatementQuery: "GetFlightInfo: execute the prepared statement instance."
    """
    if not call.ok:
        yield Violation("status OK for a statement that was just prepared", f"{call.raw.status}: {call.raw.details}")


def _uses_handle(call: FlightCall) -> bool:
    return isinstance(call.step, SqlQuery) and bool(call.step.prepared) and not call.step.schema


@_clause(
    "flight-sql.nonsense-is-refused",
    over=about(asked_for("nonsense")),
    source=(STATUS_CODES, Inferred(FLIGHT_SQL_PROTO)),
    breaks="every client whose statement was wrong: the server says that it was executed",
)
def nonsense_is_refused(call: FlightCall) -> Iterator[Violation]:
    """A text that is no SQL in any dialect, or no plan of Substrait, does not end in OK; a query may be refused when
    its ticket is redeemed.

    FlightSql.proto: "cause the server to execute the included SQL update". OK, which gRPC defines as "returned on
    success", would say that it was.
    """
    if call.ok and not _fails_later(call):
        yield Violation("a status other than OK for what is no statement", "OK")


def _fails_later(call: FlightCall) -> bool:
    """True if the info of a query has no ticket that gives data."""
    if call.raw.method == FlightMethod.DO_PUT:
        return False
    seen = [one for one in call.view.infos if one.of is call]
    return not any(read is not None and read.ok for one in seen for read in one.reads)


@about
def _ingestions(view: FlightView) -> list[FlightCall]:
    """Return the ingestions that have to fail, if those before them were served."""
    calls = asked_for("table-exists", "no-table")(view)
    return [call for call in calls if undisturbed(view, call.index)]


@_clause(
    "flight-sql.ingestion-fails-as-asked",
    over=_ingestions,
    breaks="every client that protects a table: its rows are added to, or replaced",
)
def ingestion_fails_as_asked(call: FlightCall) -> Iterator[Violation]:
    """An ingestion with the option FAIL fails where its table exists, or where it does not.

    FlightSql.proto, TableDefinitionOptions: "Fail if the table already exists", and "Fail if the table does not exist".
    """
    if call.ok:
        exists = call.step.expect.reason == "table-exists"
        yield Violation(f"a status other than OK: the table {'exists' if exists else 'does not exist'}", "OK")


_CANCELS: Final = {1: "CANCELLED", 2: "CANCELLING", 3: "NOT_CANCELLABLE"}


@_clause(
    "flight-sql.cancel-says-what-happened",
    over=lambda view: [call for call in of_step(SqlCancel)(view) if call.ok],
    level=Level.SHOULD,
    breaks="clients of before version 13, which cancel by this action",
)
def cancel_says_what_happened(call: FlightCall) -> Iterator[Violation]:
    """CancelQuery that ends in OK has one result in an Any: CANCELLED, CANCELLING or NOT_CANCELLABLE.

    FlightSql.proto, ActionCancelQueryResult: "The result should be wrapped in a google.protobuf.Any message", and on
    UNSPECIFIED: "Servers should avoid using this value". The action is deprecated; a server need not have it.
    """
    answers = call.raw.responses
    body = result_in(answers[0]) if len(answers) == 1 else None
    found = None if body is None else unpacked(body, "ActionCancelQueryResult")
    if found is None or found.number("result") not in _CANCELS:
        came = many(len(answers), "message") if found is None else f"the result {found.number('result')}"
        yield Violation(f"one ActionCancelQueryResult in an Any: {', '.join(_CANCELS.values())}", came)
