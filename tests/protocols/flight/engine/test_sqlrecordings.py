"""Calls of Flight SQL in a recording: whose end is judged, and what a legal server may refuse."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import pyarrow as pa
import pytest

from conformance.engine.conversed import as_driven, conversations
from conformance.protocols.flight.contract.encoding import action, number, part, text
from conformance.protocols.flight.contract.sqlmessages import packed
from conformance.protocols.flight.engine.sqlrecordings import begun_by
from conformance.protocols.flight.records import (
    IfExists,
    IfNotExist,
    SqlClose,
    SqlIngest,
    SqlMetadata,
    SqlQuery,
    SqlUpdate,
)
from conformance.records import Call
from tests.protocols.flight.engine.test_recordings import alone

HANDLE = b"handle of a statement"
TRANSACTION = b"id of a transaction"
FIRST, SECOND = b"the first savepoint", b"the second savepoint"


def act(kind: str, request: str, body: bytes, *, at: float, result: bytes = b"", status: str = "OK") -> Call:
    """An action of Flight SQL."""
    asked, answers = action(kind, packed(request, body)), (part(1, result),) if result else ()
    return Call(0, "", "DoAction", asked, answers, status=status, details="", started=at, seconds=0.5)


def prepare(*, at: float = 0.0, handle: bytes = HANDLE, more: bytes = b"") -> Call:
    """A prepared statement; its result has ``more`` fields."""
    result = packed("ActionCreatePreparedStatementResult", part(1, handle) + more)
    return act("CreatePreparedStatement", "ActionCreatePreparedStatementRequest", text(1, "S"), at=at, result=result)


def close(*, at: float, status: str = "NOT_FOUND") -> Call:
    """The end of a prepared statement."""
    return act("ClosePreparedStatement", "ActionClosePreparedStatementRequest", part(1, HANDLE), at=at, status=status)


def begin() -> Call:
    """A transaction."""
    result = packed("ActionBeginTransactionResult", part(1, TRANSACTION))
    return act("BeginTransaction", "ActionBeginTransactionRequest", b"", at=0.0, result=result)


def end(how: int, *, at: float, status: str = "NOT_FOUND") -> Call:
    """The end of the transaction: 1 commits, 2 rolls back."""
    body = part(1, TRANSACTION) + number(2, how)
    return act("EndTransaction", "ActionEndTransactionRequest", body, at=at, status=status)


def savepoint(name: bytes, *, at: float) -> Call:
    """A savepoint in the transaction."""
    result = packed("ActionBeginSavepointResult", part(1, name))
    return act("BeginSavepoint", "ActionBeginSavepointRequest", part(1, TRANSACTION), at=at, result=result)


def back_to(name: bytes, *, at: float, status: str = "NOT_FOUND") -> Call:
    """A rollback to a savepoint."""
    body = part(1, name) + number(2, 2)
    return act("EndSavepoint", "ActionEndSavepointRequest", body, at=at, status=status)


def statement(*, at: float, seconds: float = 0.5, status: str = "OK") -> Call:
    """An update in the transaction, or by the handle."""
    command = packed("CommandStatementUpdate", text(1, "S") + part(2, TRANSACTION) + HANDLE)
    return Call(0, "", "DoPut", part(1, command), status=status, details="", started=at, seconds=seconds)


class TestJudged:
    """An end whose refusal nothing else explains."""

    def test_a_statement_that_was_just_prepared(self) -> None:
        """It is closed by the same client or by another one."""
        assert begun_by([prepare(), close(at=1.0)]) == {1: 0}

    def test_a_rollback(self) -> None:
        """After statements that were served."""
        assert begun_by([begin(), statement(at=1.0), end(2, at=2.0)]) == {2: 0}

    def test_a_savepoint(self) -> None:
        """The first that is ended."""
        assert begun_by([begin(), savepoint(FIRST, at=1.0), back_to(FIRST, at=2.0)]) == {2: 1}

    def test_the_two_calls_are_one_exchange(self) -> None:
        """With a step for each."""
        (one,) = conversations(alone([prepare(), close(at=1.0)]))

        assert isinstance(as_driven(one).case.steps[1], SqlClose)


@pytest.mark.parametrize(
    "calls",
    [
        pytest.param([prepare(), close(at=100.0)], id="an old handle"),
        pytest.param([prepare(), close(at=1.0, status="OK"), close(at=2.0)], id="a handle that is closed twice"),
        pytest.param([prepare(), prepare(at=1.0), close(at=2.0)], id="a handle that was given twice"),
        pytest.param([begin(), end(1, at=1.0)], id="a commit, which may fail for the sake of others"),
        pytest.param([begin(), statement(at=1.0, status="INTERNAL"), end(2, at=2.0)], id="after a failed statement"),
        pytest.param([begin(), statement(at=1.0, seconds=9.0), end(2, at=2.0)], id="while a statement runs"),
        pytest.param([prepare(), act("CloseSession", "X", b"", at=1.0), close(at=2.0)], id="after the session"),
        pytest.param([begin(), savepoint(FIRST, at=1.0), end(2, at=2.0, status="OK"), back_to(FIRST, at=3.0)],
                     id="a savepoint after its transaction"),
        pytest.param([begin(), savepoint(FIRST, at=1.0), savepoint(SECOND, at=2.0),
                      back_to(FIRST, at=3.0, status="OK"), back_to(SECOND, at=4.0)],
                     id="a savepoint after one before it"),
    ],
)  # fmt: skip
def test_a_legal_refusal_is_not_judged(calls: Sequence[Call]) -> None:
    """The last call is refused, and its server may have a reason."""
    assert len(calls) - 1 not in begun_by(calls)


def test_a_commit_that_is_served_is_judged() -> None:
    """As every end that ended in OK."""
    assert begun_by([begin(), end(1, at=1.0, status="OK")]) == {1: 0}


@pytest.mark.parametrize(
    ("method", "request_", "kind"),
    [
        ("DoPut", part(1, text(2, "")), None),
        ("DoPut", part(1, part(2, packed("CommandStatementUpdate", text(1, "S")))), SqlUpdate),
        ("DoPut", part(1, part(2, packed("CommandStatementIngest"))), SqlIngest),
        ("GetFlightInfo", part(2, packed("CommandGetCatalogs")), SqlMetadata),
        ("GetSchema", part(2, packed("CommandGetTables", number(5, 1))), SqlMetadata),
        ("GetFlightInfo", part(2, packed("CommandStatementQuery", text(1, "S"))), SqlQuery),
        ("GetFlightInfo", part(2, packed("CommandStatementSubstraitPlan")), SqlQuery),
        ("GetFlightInfo", part(2, packed("CommandPreparedStatementQuery", part(1, HANDLE))), None),
    ],
)
def test_a_single_call_has_the_step_of_its_command(method: str, request_: bytes, kind: type | None) -> None:
    """Any other is one that sends what was sent."""
    (one,) = conversations(alone([dataclasses.replace(prepare(), method=method, request=request_)]))

    (step,) = as_driven(one).case.steps

    assert (type(step) is kind) if kind else type(step).__name__ == "SendMessages"


COLUMNS = part(2, pa.schema([("n", pa.int64())]).serialize().to_pybytes())
NO_PARAMETERS = part(3, pa.schema([]).serialize().to_pybytes())
PARAMETERS = part(3, pa.schema([("p", pa.int64())]).serialize().to_pybytes())
"""Fields in the result of a preparation."""
QUERY = packed("CommandPreparedStatementQuery", part(1, HANDLE))


def execute(*, at: float = 1.0, status: str = "NOT_FOUND", label: str = "") -> Call:
    """An execution of the prepared query."""
    return Call(0, label, "GetFlightInfo", part(2, QUERY), status=status, details="", started=at, seconds=0.5)


def update(*, at: float, seconds: float = 0.2) -> Call:
    """An update that names no handle."""
    command = packed("CommandStatementUpdate", text(1, "S"))
    return Call(0, "", "DoPut", part(1, part(2, command)), details="", started=at, seconds=seconds)


def bind(*, at: float = 0.7, handle: bytes = b"") -> Call:
    """Parameters of the prepared query; the answer may give another handle."""
    answers = (part(1, part(1, handle)),) if handle else ()
    return Call(0, "", "DoPut", part(1, part(2, QUERY)), answers, details="", started=at, seconds=0.1)


@pytest.mark.parametrize(
    "calls",
    [
        pytest.param([prepare(more=COLUMNS), execute()], id="without parameters"),
        pytest.param([prepare(more=COLUMNS + NO_PARAMETERS), execute()], id="with none of them"),
        pytest.param([prepare(more=COLUMNS + PARAMETERS), bind(), execute()], id="with parameters that are bound"),
        pytest.param([prepare(more=COLUMNS), update(at=0.6), execute(status="OK")], id="served after an update"),
    ],
)
def test_a_prepared_query_is_judged(calls: Sequence[Call]) -> None:
    """With the call that prepared it, in one exchange."""
    driven = [as_driven(one) for one in conversations(alone(calls))]

    assert begun_by(calls) == {len(calls) - 1: 0}
    assert isinstance(driven[0].case.steps[1], SqlQuery)


@pytest.mark.parametrize(
    "calls",
    [
        pytest.param([prepare(), execute()], id="a statement without columns, as an update is"),
        pytest.param([prepare(more=COLUMNS + PARAMETERS), execute()], id="without its parameters"),
        pytest.param([prepare(more=COLUMNS), bind(handle=b"other"), execute()], id="a handle that was replaced"),
        pytest.param([prepare(more=COLUMNS), execute(at=90.0)], id="an old handle"),
        pytest.param([prepare(more=COLUMNS), execute(status="INVALID_ARGUMENT")], id="an error of the statement"),
        pytest.param([prepare(more=COLUMNS), execute(status="UNIMPLEMENTED")], id="a part of it that is not there"),
        pytest.param([prepare(more=COLUMNS), execute(label="login 2")], id="another user"),
        pytest.param([prepare(more=COLUMNS), update(at=0.1), execute()], id="after an update"),
        pytest.param([prepare(more=COLUMNS), execute(), update(at=1.2)], id="beside an update"),
        pytest.param([prepare(more=COLUMNS), close(at=0.7, status="OK"), execute()], id="a closed handle"),
    ],
)
def test_a_legal_refusal_of_a_prepared_query_is_not_judged(calls: Sequence[Call]) -> None:
    """Its server may have a reason that is none of the handle."""
    assert all(calls[number].method != "GetFlightInfo" for number in begun_by(calls))


def test_the_reads_of_a_prepared_query_go_along_with_it() -> None:
    """They stay in one exchange with their info."""
    asked = dataclasses.replace(execute(status="OK"), responses=(part(3, part(1, part(1, b"t"))),))
    get = Call(0, "", "DoGet", part(1, b"t"), started=2.0, seconds=0.5)
    (one,) = conversations(alone([prepare(more=COLUMNS), asked, get]))

    assert [call.method for call in one.exchange.calls] == ["DoAction", "GetFlightInfo", "DoGet"]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (number(1, 1) + number(2, 1), (IfExists.FAIL, IfNotExist.CREATE)),
        (number(1, 1) + number(2, 3), (IfExists.REPLACE, IfNotExist.CREATE)),
        (number(1, 2) + number(2, 2), (IfExists.APPEND, IfNotExist.FAIL)),
        (b"", (IfExists.APPEND, IfNotExist.FAIL)),
    ],
)
def test_an_ingestion_says_whether_it_makes_its_table(options: bytes, expected: tuple[IfExists, IfNotExist]) -> None:
    """Its step has the options of the request."""
    command = packed("CommandStatementIngest", part(1, options) if options else b"")
    (one,) = conversations(alone([Call(0, "", "DoPut", part(1, part(2, command)))]))

    (step,) = as_driven(one).case.steps

    assert isinstance(step, SqlIngest)
    assert (step.if_exists, step.if_not_exist) == expected
