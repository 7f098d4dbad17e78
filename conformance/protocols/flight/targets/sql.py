"""Carries out the steps of Arrow Flight SQL: each becomes one call, with a message of Flight SQL inside it.

As :mod:`.flightconversation`, it judges nothing. It keeps the handles of prepared statements and of transactions, and
decodes an answer only for them.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Container, Iterable, Mapping
from typing import Final, TypeAlias

import pyarrow as pa

from conformance.protocols.flight.contract import encoding
from conformance.protocols.flight.contract.decoding import Info
from conformance.protocols.flight.contract.encoding import number, part, text
from conformance.protocols.flight.contract.sqlmessages import packed, rebound, result_in, unpacked
from conformance.protocols.flight.records import (
    Descriptor,
    EndOfSavepoint,
    EndOfTransaction,
    FlightSqlStep,
    IfExists,
    IfNotExist,
    SqlBegin,
    SqlBind,
    SqlCancel,
    SqlClose,
    SqlEnd,
    SqlEndSavepoint,
    SqlIngest,
    SqlMetadata,
    SqlPrepare,
    SqlQuery,
    SqlSavepoint,
    SqlUpdate,
)
from conformance.protocols.flight.table.dialect import Statements
from conformance.protocols.flight.targets.pieces import pieces_of
from conformance.records import Call, Case

__all__ = ["UPDATE", "SqlSteps"]

UPDATE: Final = "update"
"""The label of the info of an update that is executed as a query."""

_IF_EXISTS: Final = {IfExists.FAIL: 1, IfExists.APPEND: 2, IfExists.REPLACE: 3}
_IF_NOT_EXIST: Final = {IfNotExist.CREATE: 1, IfNotExist.FAIL: 2}
_ENDS: Final = {EndOfTransaction.COMMIT: 1, EndOfTransaction.ROLLBACK: 2}
_SAVEPOINT_ENDS: Final = {EndOfSavepoint.RELEASE: 1, EndOfSavepoint.ROLLBACK: 2}
_NOTHING: Final = pa.schema([])
"""The schema of an update without parameters."""


@dataclasses.dataclass(frozen=True, slots=True)
class SqlSteps:
    """The steps of one case; ``ask`` makes a call with one request, ``send`` one in which the client streams.

    ``statements`` is None if the target file says nothing of SQL: then no step applies. With ``by_query``, an update
    asks for an info labelled :data:`UPDATE`, whose tickets are still to be redeemed. ``infos`` are those of the
    conversation by their labels.
    """

    case: Case
    table: pa.Table
    statements: Statements | None
    ask: Callable[[Call], Call]
    send: Callable[[Call, Iterable[bytes]], Call]
    by_query: bool = False
    prepared: dict[str, bytes] = dataclasses.field(default_factory=dict)
    transactions: dict[str, bytes] = dataclasses.field(default_factory=dict)
    savepoints: dict[str, bytes] = dataclasses.field(default_factory=dict)
    infos: Mapping[str, Info] = dataclasses.field(default_factory=dict)

    def carried_out(self, index: int, step: FlightSqlStep) -> Call | None:
        """The call of a step; None if it does not apply, because an earlier call gave no handle."""
        if self.statements is None or not self._known(step):
            return None
        if isinstance(step, SqlUpdate) and step.sql and self.by_query:
            asked = SqlQuery(step.sql, transaction=step.transaction)
            return self.ask(Call(index, UPDATE, "GetFlightInfo", _descriptor(self._command(asked))))
        if isinstance(step, SqlUpdate | SqlBind | SqlIngest):
            return self._write(index, step)
        if isinstance(step, SqlQuery | SqlMetadata):
            method = "GetSchema" if step.schema else "GetFlightInfo"
            return self.ask(Call(index, step.label, method, _descriptor(self._command(step))))
        return self._act(index, step)

    def _write(self, index: int, step: SqlUpdate | SqlBind | SqlIngest) -> Call:
        """A call of DoPut."""
        match step:
            case SqlUpdate():
                return self._put(index, self._command(step), self.table if step.prepared else None)
            case SqlBind():
                command = packed("CommandPreparedStatementQuery", part(1, self.prepared[step.prepared]))
                call = self._put(index, command, self.table.slice(step.row, 1).select([0]))
                self._bound(step.prepared, call)
                return call
            case SqlIngest():
                return self._put(index, packed("CommandStatementIngest", self._ingestion(step)), self.table)

    def _act(self, index: int, step: _Action) -> Call:
        """A call of DoAction."""
        match step:
            case SqlPrepare() | SqlBegin() | SqlSavepoint():
                return self._begin(index, step)
            case SqlEndSavepoint():
                ended = part(1, self.savepoints[step.savepoint]) + number(2, _SAVEPOINT_ENDS[step.action])
                if step.action is EndOfSavepoint.RELEASE:
                    del self.savepoints[step.savepoint]
                return self._action(index, "EndSavepoint", "ActionEndSavepointRequest", ended)
            case SqlCancel():
                info = part(1, self.infos[step.info].raw)
                return self._action(index, "CancelQuery", "ActionCancelQueryRequest", info)
            case SqlClose():
                handle = part(1, self.prepared.pop(step.prepared))
                return self._action(index, "ClosePreparedStatement", "ActionClosePreparedStatementRequest", handle)
            case SqlEnd():
                ended = part(1, self.transactions.pop(step.transaction)) + number(2, _ENDS[step.action])
                return self._action(index, "EndTransaction", "ActionEndTransactionRequest", ended)

    def _known(self, step: FlightSqlStep) -> bool:
        """True if what the step refers to by labels was given out before."""
        known: dict[str, Container[str]] = {
            "prepared": self.prepared,
            "transaction": self.transactions,
            "savepoint": self.savepoints,
            "info": self.infos if isinstance(step, SqlCancel) else (),
        }
        named = ((getattr(step, field, ""), labels) for field, labels in known.items())
        return all(not isinstance(label, str) or not label or label in labels for label, labels in named)

    def _filled(self, template: str) -> str:
        assert self.statements is not None
        return self.statements.filled(template)

    def _in_transaction(self, label: str, field: int = 2) -> bytes:
        return part(field, self.transactions[label]) if label else b""

    def _command(self, step: SqlQuery | SqlUpdate | SqlMetadata) -> bytes:
        """The command of a statement, of a prepared one, or of a question about metadata."""
        if isinstance(step, SqlMetadata):
            return packed(step.command, self._metadata(step))
        if isinstance(step, SqlQuery) and step.plan:
            return packed("CommandStatementSubstraitPlan", part(1, part(1, step.plan)))
        kind = "Query" if isinstance(step, SqlQuery) else "Update"
        if step.prepared:
            return packed(f"CommandPreparedStatement{kind}", part(1, self.prepared[step.prepared]))
        asked = text(1, self._filled(step.sql)) + self._in_transaction(step.transaction)
        return packed(f"CommandStatement{kind}", asked)

    def _metadata(self, step: SqlMetadata) -> bytes:
        name = self._filled(step.table)
        match step.command:
            case "CommandGetTables":
                named = text(3, name) if name else b""
                return (
                    named
                    + b"".join(text(4, one) for one in step.types)
                    + (number(5, 1) if step.include_schema else b"")
                )
            case "CommandGetSqlInfo":
                return b"".join(number(1, code) for code in step.info)
            case "CommandGetCrossReference":
                return text(3, name) + text(6, name)
            case _:
                return text(3, name) if name else b""

    def _ingestion(self, step: SqlIngest) -> bytes:
        options = number(1, _IF_NOT_EXIST[step.if_not_exist]) + number(2, _IF_EXISTS[step.if_exists])
        assert self.statements is not None
        return part(1, options) + text(2, self.statements.name) + self._in_transaction(step.transaction, 6)

    def _begin(self, index: int, step: SqlPrepare | SqlBegin | SqlSavepoint) -> Call:
        """Ask for a handle, and keep it."""
        if isinstance(step, SqlBegin):
            kind, kept, asked = "BeginTransaction", self.transactions, b""
        elif isinstance(step, SqlSavepoint):
            kind, kept = "BeginSavepoint", self.savepoints
            asked = self._in_transaction(step.transaction, 1) + text(2, step.label)
        else:
            kind, kept = "CreatePreparedStatement", self.prepared
            asked = text(1, self._filled(step.sql)) + self._in_transaction(step.transaction)
        call = self._action(index, kind, f"Action{kind}Request", asked)
        name = _HANDLES[kind]
        for answer in call.responses[:1] if call.status == "OK" else ():
            found = unpacked(result_in(answer) or b"", f"Action{kind}Result")
            if found is not None and found.has(name):
                kept[step.label] = bytes(found.data(name))
        return call

    def _bound(self, label: str, call: Call) -> None:
        """Take the handle that the server gave in place of the one of the statement, if it gave one."""
        for answer in call.responses[:1] if call.status == "OK" else ():
            found = rebound(answer)
            if found:
                self.prepared[label] = found

    def _action(self, index: int, kind: str, message: str, body: bytes) -> Call:
        return self.ask(Call(index, kind, "DoAction", encoding.action(kind, packed(message, body))))

    def _put(self, index: int, command: bytes, rows: pa.Table | None) -> Call:
        """A DoPut: the command with the schema of the rows, and the rows; without rows, with an empty schema."""
        table = pa.table([], schema=_NOTHING) if rows is None else rows
        first, *others = pieces_of(self.case, table)
        messages = [piece.message for piece in (dataclasses.replace(first, of=_descriptor(command)), *others)]
        return self.send(Call(index, "", "DoPut", b""), messages)


_Action: TypeAlias = SqlPrepare | SqlClose | SqlBegin | SqlEnd | SqlSavepoint | SqlEndSavepoint | SqlCancel

_HANDLES: Final = {
    "CreatePreparedStatement": "prepared_statement_handle",
    "BeginTransaction": "transaction_id",
    "BeginSavepoint": "savepoint_id",
}
"""The fields of the handles that actions give out."""


def _descriptor(command: bytes) -> bytes:
    return encoding.descriptor(Descriptor(cmd=command))
