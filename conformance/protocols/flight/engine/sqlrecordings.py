"""What is said in Flight SQL: which call ends what another one began, and the steps that single calls carry out.

A prepared statement, a transaction or a savepoint is begun by one call and ended by another one. The end is judged
where nothing else explains a refusal: the handle is a minute old at most, no other call that names it failed or still
ran, and it is no commit, which may fail for the sake of others. A prepared query is judged under the same conditions,
if the server said which columns it has and needs no further parameters, and if nothing was written since: NOT_FOUND
is about the handle then. Any other refusal may be about the statement.

Nobody knows the tables, so rows are not judged. Of the counts, those of ingestions that make their table are.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final

from conformance import wire
from conformance.protocols.flight.contract.decoding import action_of, message_of
from conformance.protocols.flight.contract.sqlmessages import command_in, rebound, result_in, type_of, unpacked
from conformance.protocols.flight.contract.sqlschemas import SCHEMAS
from conformance.protocols.flight.engine.writes import Writes
from conformance.protocols.flight.records import (
    EndOfSavepoint,
    EndOfTransaction,
    FlightMethod,
    FlightSqlStep,
    IfExists,
    IfNotExist,
    SqlBegin,
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
from conformance.protocols.flight.wire.messages import CLOSE_SESSION
from conformance.protocols.flight.wire.sql import ACTIONS
from conformance.records import Call, CallEnd, Expect, Step
from conformance.wire.protobufmessages import ProtoMessage

__all__ = ["CLAUSES", "SECONDS", "action_type", "begun_by", "is_temporary", "sql_step"]

_ON_SQL: Final[Mapping[str, tuple[str, ...]]] = {
    "sql": (
        "actions-have-results",
        "cancel-says-what-happened",
        "dataset-schema-is-a-message",
        "end-of-statement-is-served",
        "handle-is-served",
        "update-counts",
        "update-has-a-result",
    ),
    "sql-metadata": (
        "columns-are-in-order",
        "get-schema-is-fixed",
        "info-is-what-was-asked",
        "info-values-have-their-types",
        "required-columns-are-not-nullable",
        "required-values-are-there",
        "rows-are-ordered",
        "schema-is-fixed",
        "table-schema-is-a-message",
    ),
}
CLAUSES: Final = frozenset(f"flight-{chapter}.{name}" for chapter, names in _ON_SQL.items() for name in names)
"""The clauses on calls of Flight SQL that requests and answers alone decide."""

SECONDS: Final = 60.0
"""The age of a handle up to which its end is judged: a server may forget what is older."""

_GIVES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "CreatePreparedStatement": "prepared_statement_handle",
        "BeginTransaction": "transaction_id",
        "BeginSavepoint": "savepoint_id",
    }
)
"""The field of the result with the handle, by the action that gives one."""
_ENDS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "ClosePreparedStatement": "prepared_statement_handle",
        "EndTransaction": "transaction_id",
        "EndSavepoint": "savepoint_id",
    }
)
"""The field of the request with the handle, by the action that ends it."""
_UPDATES: Final = ("CommandStatementUpdate", "CommandPreparedStatementUpdate")
_QUERY_OF_HANDLE: Final = "CommandPreparedStatementQuery"
_STATEMENTS: Final = ("CommandStatementQuery", "CommandStatementSubstraitPlan")
_OF_A_HANDLE: Final = "NOT_FOUND"
"""The status that says of a handle that it is not known; any other may be about the statement."""
_UNTOLD: Final = "?"
"""The text of a statement in a step: what is judged does not depend on it."""
_BEGUN: Final[Mapping[str, FlightSqlStep]] = {
    "CreatePreparedStatement": SqlPrepare(_UNTOLD),
    "BeginTransaction": SqlBegin(),
    "BeginSavepoint": SqlSavepoint(),
    "CancelQuery": SqlCancel(),
}
_ENDED: Final[Mapping[tuple[str, int], FlightSqlStep]] = {
    ("ClosePreparedStatement", 0): SqlClose(),
    ("EndTransaction", 1): SqlEnd(EndOfTransaction.COMMIT),
    ("EndTransaction", 2): SqlEnd(EndOfTransaction.ROLLBACK),
    ("EndSavepoint", 1): SqlEndSavepoint(EndOfSavepoint.RELEASE),
    ("EndSavepoint", 2): SqlEndSavepoint(EndOfSavepoint.ROLLBACK),
}
"""The steps of actions; an end by its action, as FlightSql.proto numbers it."""


def action_type(call: Call) -> str:
    """The type of the action that a call of Flight SQL asks for; empty if it is none of these actions."""
    action = action_of(call)
    kind = "" if action is None else action.text("type")
    return kind if kind in ACTIONS else ""


@dataclasses.dataclass(slots=True)
class _Handle:
    """A handle that call ``number`` of ``party`` gave; ``busy`` is the instant up to which other calls used it.

    ``parent`` is the transaction of a savepoint. With ``doubtful``, its end may be refused. ``asked`` is when it was
    asked for. A statement that ``selects`` has columns; it is executed when its parameters are ``bound``.
    """

    number: int
    given: float
    party: str
    asked: float
    selects: bool = False
    bound: bool = False
    parent: bytes = b""
    busy: float = 0.0
    doubtful: bool = False


def begun_by(calls: Sequence[Call]) -> dict[int, int]:
    """For each call that ends a handle or executes it, and is judged, the number of the call that gave it; calls in
    their order.
    """
    held: dict[tuple[str, bytes], _Handle] = {}
    found: dict[int, int] = {}
    writes = Writes(call for call in calls if _writes(call))
    for number, call in enumerate(calls):
        executed = held.get(("prepared_statement_handle", _executed(call)))
        if executed is not None and _is_executable(executed, call, writes):
            found[number] = executed.number
        kind = action_type(call)
        asked = _asked(call, kind)
        handle = held.pop((_ENDS[kind], bytes(asked.data(_ENDS[kind]))), None) if asked and kind in _ENDS else None
        if handle is not None and asked is not None:
            if _is_certain(handle, call) and (call.status == "OK" or not _is_commit(kind, asked)):
                found[number] = handle.number
            _end_below(held, kind, asked, handle)
        _use(held, call)
        _give(held, number, call, kind, asked)
    return found


def _is_certain(handle: _Handle, call: Call) -> bool:
    """True if nothing but the handle itself explains that a call is refused which names it."""
    return not handle.doubtful and handle.busy <= call.started <= handle.given + SECONDS


def _is_executable(handle: _Handle, call: Call, writes: Writes) -> bool:
    """True if the execution of a prepared query is served, or if its refusal can be about the handle alone."""
    if not (handle.selects and handle.bound and _is_certain(handle, call)):
        return False
    if call.status == "OK":
        return True
    return call.status == _OF_A_HANDLE and call.label == handle.party and not writes.between(handle.asked, call)


def _executed(call: Call) -> bytes:
    """The handle of the prepared query that a GetFlightInfo executes; empty if it executes none."""
    if call.method != FlightMethod.GET_FLIGHT_INFO:
        return b""
    return _handle_in(command_in(call.request), _QUERY_OF_HANDLE)


def _handle_in(command: bytes, kind: str) -> bytes:
    asked = unpacked(command, kind)
    return b"" if asked is None else bytes(asked.data("prepared_statement_handle"))


def _writes(call: Call) -> bool:
    """True for a call that may change tables, or what a statement sees of them."""
    if call.method in (FlightMethod.DO_PUT, FlightMethod.DO_EXCHANGE):
        return type_of(command_in(_descriptor(call))) != _QUERY_OF_HANDLE
    if call.method == FlightMethod.DO_ACTION:
        return action_type(call) not in ("CreatePreparedStatement", "ClosePreparedStatement", "BeginTransaction")
    # Some servers execute any statement that a query is asked for.
    return type_of(command_in(call.request)) in _STATEMENTS


def _end_below(held: dict[tuple[str, bytes], _Handle], kind: str, asked: ProtoMessage, ended: _Handle) -> None:
    """Take note that savepoints end with their transaction, and that the end of one may end those after it."""
    for key, handle in [*held.items()]:
        if kind == "EndTransaction" and handle.parent == bytes(asked.data("transaction_id")):
            del held[key]
        elif kind == "EndSavepoint" and handle.parent == ended.parent:
            handle.doubtful = True


def _use(held: dict[tuple[str, bytes], _Handle], call: Call) -> None:
    """Take note of the handles that a call names: a server may give up what a call failed on."""
    if _is_close(call):
        held.clear()
    for (_, handle), one in held.items():
        if handle in call.request:
            one.busy = max(one.busy, call.started + call.seconds)
            one.doubtful = one.doubtful or call.status != "OK" or _rebinds(call, handle)
            one.bound = one.bound or (call.method == FlightMethod.DO_PUT and call.status == "OK")


def _rebinds(call: Call, handle: bytes) -> bool:
    """True if the answer to a DoPut gives another handle for the statement."""
    return call.method == FlightMethod.DO_PUT and any(rebound(one) not in (b"", handle) for one in call.responses)


def _is_close(call: Call) -> bool:
    action = action_of(call)
    return action is not None and action.text("type") == CLOSE_SESSION


def _give(
    held: dict[tuple[str, bytes], _Handle], number: int, call: Call, kind: str, asked: ProtoMessage | None
) -> None:
    """Take note of the handle that an answer gives."""
    handle = _given(call, kind)
    if not handle:
        return
    parent = bytes(asked.data("transaction_id")) if asked is not None and kind == "BeginSavepoint" else b""
    key = (_GIVES[kind], handle)
    selects, complete = _described(call) if kind == "CreatePreparedStatement" else (False, False)
    held[key] = _Handle(
        number,
        call.started + call.seconds,
        call.label,
        call.started,
        selects,
        complete,
        parent,
        doubtful=key in held,  # nobody knows which of two equal handles a later call ends
    )


def _described(call: Call) -> tuple[bool, bool]:
    """Whether a prepared statement has columns, and whether it has no parameters, as the server says."""
    result = unpacked(result_in(call.responses[0]) or b"", "ActionCreatePreparedStatementResult")
    schemas = [b"" if result is None else bytes(result.data(f"{name}_schema")) for name in ("dataset", "parameter")]
    columns, parameters = (wire.read_schema(data).schema if data else None for data in schemas)
    return bool(columns and columns.fields), not schemas[1] or (parameters is not None and not parameters.fields)


def _asked(call: Call, kind: str) -> ProtoMessage | None:
    """The message of an action of Flight SQL; None if it cannot be read."""
    action = action_of(call) if kind else None
    return None if action is None else unpacked(bytes(action.data("body")), ACTIONS[kind].request)


def _given(call: Call, kind: str) -> bytes:
    """The handle in an answer that ended in OK; empty without one."""
    if kind not in _GIVES or call.status != "OK" or call.end is not CallEnd.COMPLETE or len(call.responses) != 1:
        return b""
    result = unpacked(result_in(call.responses[0]) or b"", ACTIONS[kind].result)
    return b"" if result is None else bytes(result.data(_GIVES[kind]))


def _is_commit(kind: str, asked: ProtoMessage) -> bool:
    return kind == "EndTransaction" and asked.number("action") == 1


def sql_step(call: Call, expect: Expect, before: Sequence[Call]) -> Step | None:
    """The step of Flight SQL that a call carries out; None if it is none that is judged.

    ``before`` are the earlier calls of its group: a call that ends something is grouped with the one that began it.
    """
    match call.method:
        case FlightMethod.DO_ACTION:
            return _acted(call, expect, before)
        case FlightMethod.DO_PUT:
            kind = type_of(command_in(_descriptor(call)))
            if kind in _UPDATES:
                return SqlUpdate(_UNTOLD, expect=expect)
            return _ingestion(command_in(_descriptor(call)), expect) if kind == "CommandStatementIngest" else None
        case FlightMethod.GET_FLIGHT_INFO | FlightMethod.GET_SCHEMA:
            schema = call.method == FlightMethod.GET_SCHEMA
            command = command_in(call.request)
            return _query(call, command, expect, before, schema=schema) or _metadata(command, expect, schema=schema)
    return None


def _query(call: Call, command: bytes, expect: Expect, before: Sequence[Call], *, schema: bool) -> Step | None:
    """The step of a statement, of a plan, or of a prepared query that is grouped with its preparation."""
    match type_of(command):
        case "CommandStatementQuery":
            return SqlQuery(_UNTOLD, schema=schema, expect=expect)
        case "CommandStatementSubstraitPlan":
            return SqlQuery(plan=_UNTOLD.encode(), schema=schema, expect=expect)
    handle = _executed(call)
    prepared = handle and any(_given(one, action_type(one)) == handle for one in before)
    return SqlQuery(prepared="p", expect=expect) if prepared else None


def is_temporary(call: Call) -> bool:
    """True for an ingestion into a temporary table."""
    asked = (
        unpacked(command_in(_descriptor(call)), "CommandStatementIngest")
        if call.method == FlightMethod.DO_PUT
        else None
    )
    return asked is not None and bool(asked.number("temporary"))


def _ingestion(command: bytes, expect: Expect) -> Step:
    """The step of an ingestion; one without its options is taken for one into a table that exists."""
    asked = unpacked(command, "CommandStatementIngest")
    options = None if asked is None else asked.message("table_definition_options")
    numbers = (0, 0) if options is None else (options.number("if_exists"), options.number("if_not_exist"))
    exists = {1: IfExists.FAIL, 3: IfExists.REPLACE}.get(numbers[0], IfExists.APPEND)
    missing = IfNotExist.CREATE if numbers[1] == 1 else IfNotExist.FAIL
    return SqlIngest(if_exists=exists, if_not_exist=missing, expect=expect)


def _descriptor(call: Call) -> bytes:
    """The descriptor of the first message of a DoPut."""
    data = message_of("FlightData", call.request)
    field = None if data is None else data.last("flight_descriptor")
    return b"" if field is None else call.request[field.value_start : field.end]


def _acted(call: Call, expect: Expect, before: Sequence[Call]) -> Step | None:
    kind = action_type(call)
    asked = _asked(call, kind)
    if asked is None:
        return None
    step = _BEGUN.get(kind)
    if kind in _ENDS:
        handle = bytes(asked.data(_ENDS[kind]))
        action = asked.number("action") if kind != "ClosePreparedStatement" else 0
        step = _ENDED.get((kind, action)) if any(_given(one, action_type(one)) == handle for one in before) else None
    return None if step is None else dataclasses.replace(step, expect=expect)


def _metadata(command: bytes, expect: Expect, *, schema: bool) -> Step | None:
    """The step of a metadata command, without its filters: what they leave out depends on the tables."""
    kind = type_of(command)
    asked = unpacked(command, kind) if kind in SCHEMAS else None
    if asked is None:
        return None
    of_tables = kind == "CommandGetTables"
    return SqlMetadata(
        kind,
        include_schema=of_tables and bool(asked.number("include_schema")),
        info=tuple(asked.numbers("info")) if kind == "CommandGetSqlInfo" else (),
        schema=schema,
        expect=expect,
    )
