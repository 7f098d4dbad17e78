"""The scenarios of Flight SQL: metadata, statements, prepared statements, plans, transactions and an ingestion.

The handles are those that the servers of the scenarios give: the requests name them before they are given out, and the
checks compare. Source:
https://github.com/apache/arrow/blob/main/cpp/src/arrow/flight/integration_tests/test_integration.cc.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Final

import pyarrow as pa

from conformance.protocols.flight.contract import integration as fixed
from conformance.protocols.flight.contract.decoding import message_of
from conformance.protocols.flight.contract.encoding import descriptor, number, part, text
from conformance.protocols.flight.contract.scenarios.form import Answers, StreamRead, Unlike, frames, register, same
from conformance.protocols.flight.contract.sqlmessages import packed, rebound, record_count, unpacked
from conformance.protocols.flight.contract.sqlschemas import WITH_SCHEMA
from conformance.protocols.flight.records import (
    Descriptor,
    DoAction,
    DoGet,
    FlightMethod,
    GetFlightInfo,
    GetSchema,
    SendMessages,
)
from conformance.protocols.flight.wire.messages import CANCEL
from conformance.records import Step

__all__: list[str] = []

Checked = Callable[[Answers, int], Iterable[Unlike]]
"""What has to hold of the answers of a step, given its number."""
Part = tuple[Step, Checked]


def _nothing(answers: Answers, step: int) -> Iterator[Unlike]:
    """Nothing more than that the call ends in OK."""
    del answers, step
    yield from ()


def _endpoints(answers: Answers, step: int) -> Iterator[Unlike]:
    for index, info in answers.infos(step):
        if not info.endpoints:
            yield Unlike("an endpoint", "none", index)


def _rows(schema: pa.Schema, rows: Iterable[object] = ()) -> Checked:
    wanted = list(rows)

    def check(answers: Answers, step: int) -> Iterator[Unlike]:
        for index, read in answers.reads(step):
            yield from same(index, read, schema, wanted)

    return check


def _schema(schema: pa.Schema) -> Checked:
    def check(answers: Answers, step: int) -> Iterator[Unlike]:
        for index, call in answers.of(step):
            found = message_of("SchemaResult", b"".join(call.responses[:1]))
            try:
                came = None if found is None else pa.ipc.read_schema(pa.py_buffer(bytes(found.data("schema"))))
            except pa.ArrowException:
                came = None
            yield from same(index, None if came is None else StreamRead(came, ()), schema, ())

    return check


def _count(count: int) -> Checked:
    def check(answers: Answers, step: int) -> Iterator[Unlike]:
        for index, call in answers.of(step):
            found = [record_count(answer) for answer in call.responses]
            if found != [count]:
                yield Unlike(f"{count} records", f"{found}", index)

    return check


def _given(message: str, field: str, value: bytes) -> Checked:
    def check(answers: Answers, step: int) -> Iterator[Unlike]:
        for index, results in answers.results(step):
            found = unpacked(results[0], message) if len(results) == 1 else None
            came = None if found is None else bytes(found.data(field))
            if came != value:
                yield Unlike(f"{field} {value!r}", f"{came!r}", index)

    return check


def _cancelled(answers: Answers, step: int) -> Iterator[Unlike]:
    for index, results in answers.results(step):
        found = message_of("CancelFlightInfoResult", results[0]) if len(results) == 1 else None
        if found is None or found.number("status") != 1:
            yield Unlike("CANCELLED", "no result" if found is None else f"the status {found.number('status')}", index)


def _bound(handle: bytes) -> Checked:
    def check(answers: Answers, step: int) -> Iterator[Unlike]:
        for index, call in answers.of(step):
            # A server that gives no handle leaves the one that there is, as before Arrow 17.
            found = [rebound(answer) or handle for answer in call.responses]
            if any(one != handle for one in found):
                yield Unlike(f"the handle {handle!r}", f"{found}", index)

    return check


def _asked(
    command: bytes, schema: pa.Schema, of_schema: bytes = b"", result: pa.Schema | None = None
) -> Iterator[Part]:
    """A query: its info, its data without rows, and its schema."""
    yield GetFlightInfo(Descriptor(cmd=command)), _endpoints
    yield DoGet(), _rows(schema)
    yield GetSchema(Descriptor(cmd=of_schema or command)), _schema(result or schema)


def _put(command: bytes, schema: pa.Schema = pa.schema([]), *batches: pa.RecordBatch) -> SendMessages:  # noqa: B008
    named = descriptor(Descriptor(cmd=command))
    return SendMessages(FlightMethod.DO_PUT, tuple(frames(named, schema, [(batch, None) for batch in batches])))


def _act(kind: str, message: str, body: bytes) -> DoAction:
    return DoAction(kind, packed(message, body))


def _metadata() -> Iterator[Part]:
    for name, message in fixed.METADATA.items():
        included = name == "CommandGetTables"
        schema = fixed.metadata_schema(WITH_SCHEMA if included else name)
        plain = packed(name, number(5, 1) if included else message if name != "CommandGetSqlInfo" else b"")
        yield from _asked(packed(name, message), schema, plain)
        if included:
            yield GetSchema(Descriptor(cmd=packed(name))), _schema(fixed.metadata_schema(name))


_PARAMETERS: Final = pa.record_batch([pa.array([1], pa.int64())], schema=fixed.QUERY)


def _inside(field: int, *, transaction: bool) -> bytes:
    return part(field, fixed.TRANSACTION) if transaction else b""


def _statement(message: str, content: bytes, *, transaction: bool) -> Iterator[Part]:
    """A query by a statement or by a plan."""
    schema = fixed.QUERY_IN_TRANSACTION if transaction else fixed.QUERY
    yield from _asked(packed(message, content + _inside(2, transaction=transaction)), schema)


def _prepared(kind: str, request: str, content: bytes, *, transaction: bool, update: bool) -> Iterator[Part]:
    """A prepared query with its parameters, or a prepared update; the handle says which it is."""
    name = b"PLAN" if kind.endswith("Plan") else fixed.PREPARED[update].encode()
    handle = name + (b" WITH TXN" if transaction else b"") + b" HANDLE"
    given = _given("ActionCreatePreparedStatementResult", "prepared_statement_handle", handle)
    yield _act(kind, request, content + _inside(2, transaction=transaction)), given
    if update:
        yield _put(packed("CommandPreparedStatementUpdate", part(1, handle))), _count(fixed.COUNTS[True, transaction])
    else:
        command = packed("CommandPreparedStatementQuery", part(1, handle))
        yield _put(command, fixed.QUERY, _PARAMETERS), _bound(handle)
        yield from _asked(command, fixed.QUERY_IN_TRANSACTION if transaction else fixed.QUERY)
    closed = _act("ClosePreparedStatement", "ActionClosePreparedStatementRequest", part(1, handle))
    yield closed, _nothing


_STATEMENT: Final = ("CreatePreparedStatement", "ActionCreatePreparedStatementRequest")
_PLAN: Final = ("CreatePreparedSubstraitPlan", "ActionCreatePreparedSubstraitPlanRequest")
_BY_PLAN: Final = "CommandStatementSubstraitPlan"


def _plain() -> Iterator[Part]:
    yield from _metadata()
    yield from _statement("CommandStatementQuery", text(1, fixed.SELECT), transaction=False)
    yield _put(packed("CommandStatementUpdate", text(1, fixed.UPDATE))), _count(fixed.COUNTS[False, False])
    for update in (False, True):
        yield from _prepared(*_STATEMENT, text(1, fixed.PREPARED[update]), transaction=False, update=update)


def _extension() -> Iterator[Part]:
    codes = b"".join(number(1, code) for code in fixed.SQL_INFO)
    yield GetFlightInfo(Descriptor(cmd=packed("CommandGetSqlInfo", codes))), _endpoints
    told = [{"info_name": code, "value": value} for code, value in fixed.SQL_INFO.items()]
    yield DoGet(), _told(told)
    plan = part(1, fixed.PLAN)
    yield from _statement(_BY_PLAN, plan, transaction=False)
    yield DoAction(CANCEL, info="i"), _cancelled
    yield _put(packed(_BY_PLAN, plan)), _count(fixed.COUNTS[False, False])
    for update in (False, True):
        yield from _prepared(*_PLAN, plan, transaction=False, update=update)
    yield from _transaction()
    yield _begin()
    yield _ended(2)


def _transaction() -> Iterator[Part]:
    yield _begin()
    yield _savepoint()
    plan = part(1, fixed.PLAN)
    yield from _statement("CommandStatementQuery", text(1, fixed.SELECT), transaction=True)
    yield from _statement(_BY_PLAN, plan, transaction=True)
    for message, content in (("CommandStatementUpdate", text(1, fixed.UPDATE)), (_BY_PLAN, plan)):
        yield _put(packed(message, content + _inside(2, transaction=True))), _count(fixed.COUNTS[False, True])
    for update in (False, True):
        yield from _prepared(*_STATEMENT, text(1, fixed.PREPARED[update]), transaction=True, update=update)
        yield from _prepared(*_PLAN, plan, transaction=True, update=update)
    yield _end_of_savepoint(2)
    yield _savepoint()
    yield _end_of_savepoint(1)
    yield _ended(1)


def _begin() -> Part:
    begun = _given("ActionBeginTransactionResult", "transaction_id", fixed.TRANSACTION)
    return _act("BeginTransaction", "ActionBeginTransactionRequest", b""), begun


def _ended(how: int) -> Part:
    asked = part(1, fixed.TRANSACTION) + number(2, how)
    return _act("EndTransaction", "ActionEndTransactionRequest", asked), _nothing


def _savepoint() -> Part:
    asked = part(1, fixed.TRANSACTION) + text(2, fixed.SAVEPOINT_NAME)
    given = _given("ActionBeginSavepointResult", "savepoint_id", fixed.SAVEPOINT)
    return _act("BeginSavepoint", "ActionBeginSavepointRequest", asked), given


def _end_of_savepoint(how: int) -> Part:
    asked = part(1, fixed.SAVEPOINT) + number(2, how)
    return _act("EndSavepoint", "ActionEndSavepointRequest", asked), _nothing


def _told(rows: list[dict[str, object]]) -> Checked:
    """The values of CommandGetSqlInfo, in any order."""

    def check(answers: Answers, step: int) -> Iterator[Unlike]:
        schema = fixed.metadata_schema("CommandGetSqlInfo")
        for index, read in answers.reads(step):
            yield from same(index, read, schema, [] if read is None else read.rows)
            if read is not None and sorted(read.rows, key=str) != sorted(rows, key=str):
                yield Unlike(f"the values {rows}", f"{read.rows}", index)

    return check


def _ingestion() -> Iterator[Part]:
    rows = pa.record_batch([pa.nulls(3, pa.int64())], schema=fixed.INGESTED)
    yield _put(packed("CommandStatementIngest", fixed.INGESTION), fixed.INGESTED, rows), _count(rows.num_rows)


def _registered(name: str, title: str, parts: Iterable[Part]) -> None:
    every = list(parts)

    def check(answers: Answers) -> Iterator[Unlike]:
        for step, (_, checked) in enumerate(every):
            yield from checked(answers, step)

    register(name, title, *(step for step, _ in every))(check)


_registered("flight_sql", "Metadata, statements and prepared statements have fixed answers", _plain())
_registered(
    "flight_sql:extension", "Values of SqlInfo, plans, transactions and savepoints have fixed answers", _extension()
)
_registered("flight_sql:ingestion", "Three rows are ingested with every option", _ingestion())
