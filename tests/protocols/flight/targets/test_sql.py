"""Steps of Flight SQL become calls with the message that the step describes."""

from __future__ import annotations

import pytest

from conformance.protocols.flight.contract.decoding import message_of
from conformance.protocols.flight.contract.sqlmessages import command_in, type_of, unpacked
from conformance.protocols.flight.records import (
    DoGet,
    EndOfSavepoint,
    EndOfTransaction,
    IfExists,
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
from conformance.protocols.flight.reference.service import FlightService
from conformance.protocols.flight.table.dialect import SqlSpec
from conformance.records import Call, Step
from tests.protocols.flight.reference.direct import case_of, seen

CREATE = SqlUpdate("{create}")
INSERT = SqlUpdate("INSERT INTO {table} ({names}) VALUES {values}", count=3)
SELECT = SqlQuery("SELECT {names} FROM {table}")


def made(*steps: Step) -> list[Call]:
    """The calls of steps with the reference."""
    return [call.raw for call in seen(case_of(*steps)).flight_calls]


def command_of(call: Call) -> bytes:
    """The command in the descriptor of a call."""
    if call.method != "DoPut":
        return command_in(call.request)
    found = message_of("FlightData", call.request)
    place = None if found is None else found.last("flight_descriptor")
    assert place is not None
    return command_in(call.request[place.value_start : place.end])


def test_statements_are_calls() -> None:
    """An update is a DoPut, a query a GetFlightInfo, and its tickets are redeemed like any other."""
    calls = made(CREATE, INSERT, SELECT, DoGet())

    assert [(call.method, call.status) for call in calls] == [
        ("DoPut", "OK"), ("DoPut", "OK"), ("GetFlightInfo", "OK"), ("DoGet", "OK"),
    ]  # fmt: skip
    assert [type_of(command_of(call)) for call in calls[:3]] == [
        *["CommandStatementUpdate"] * 2,
        "CommandStatementQuery",
    ]
    asked = unpacked(command_of(calls[2]), "CommandStatementQuery")
    assert asked is not None
    assert asked.text("query") == "SELECT n, word FROM c_by_hand"


def test_a_handle_is_kept_and_given_back() -> None:
    """Of a prepared statement, and of a transaction; after its end it is none."""
    calls = made(
        CREATE, SqlBegin(), SqlUpdate(INSERT.sql, transaction="t"), SqlEnd(EndOfTransaction.COMMIT),
        SqlPrepare("SELECT {names} FROM {table} WHERE n = {marker}"), SqlBind(row=1), SqlQuery(prepared="p"), DoGet(),
        SqlClose(), SqlQuery(prepared="p"), SqlUpdate(INSERT.sql, transaction="t"),
    )  # fmt: skip

    assert [call.status for call in calls] == ["OK"] * 9
    within = unpacked(command_of(calls[2]), "CommandStatementUpdate")
    assert within is not None
    assert within.has("transaction_id")
    assert len(calls[7].responses) == 2


def test_an_ingestion_has_its_options() -> None:
    """Both, always: a server should refuse one that is not specified."""
    (call,) = made(SqlIngest(if_exists=IfExists.APPEND))

    asked = unpacked(command_of(call), "CommandStatementIngest")
    assert asked is not None
    options = asked.message("table_definition_options")
    assert options is not None
    assert (options.number("if_not_exist"), options.number("if_exists"), asked.text("table")) == (1, 2, "c_by_hand")


@pytest.mark.parametrize(
    ("step", "method", "fields"),
    [
        (SqlMetadata("CommandGetCatalogs"), "GetFlightInfo", {}),
        (SqlMetadata("CommandGetCatalogs", schema=True), "GetSchema", {}),
        (
            SqlMetadata("CommandGetTables", table="{table}", types=("TABLE",), include_schema=True),
            "GetFlightInfo",
            {"table_name_filter_pattern": "c_by_hand"},
        ),
        (SqlMetadata("CommandGetPrimaryKeys", table="{table}"), "GetFlightInfo", {"table": "c_by_hand"}),
        (
            SqlMetadata("CommandGetCrossReference", table="{table}"),
            "GetFlightInfo",
            {"pk_table": "c_by_hand", "fk_table": "c_by_hand"},
        ),
    ],
)
def test_a_metadata_command_is_sent(step: SqlMetadata, method: str, fields: dict[str, str]) -> None:
    """With the fields that it has."""
    (call,) = made(step)

    assert call.method == method
    asked = unpacked(command_of(call), step.command)
    assert asked is not None
    assert {name: asked.text(name) for name in fields} == fields


def test_numbers_of_infos_are_sent() -> None:
    """As a repeated field."""
    (call,) = made(SqlMetadata("CommandGetSqlInfo", info=(0, 2)))

    asked = unpacked(command_of(call), "CommandGetSqlInfo")
    assert asked is not None
    assert asked.numbers("info") == [0, 2]


def test_without_sql_no_step_applies() -> None:
    """Nothing is sent to a server that is not known to speak it."""
    view = seen(case_of(CREATE, SELECT, DoGet()), FlightService())

    assert view.exchange.calls == ()
    assert view.exchange.skipped_steps == (0, 1, 2)


def test_an_update_may_be_executed_as_a_query() -> None:
    """Its tickets are redeemed at once."""
    view = seen(case_of(CREATE), sql=SqlSpec(by_query=True))

    assert [(call.raw.method, call.raw.label) for call in view.flight_calls] == [("GetFlightInfo", "update")]


def test_a_savepoint_is_gone_back_to_twice_and_released() -> None:
    """Its id is kept until it is released."""
    back, released = SqlEndSavepoint(EndOfSavepoint.ROLLBACK), SqlEndSavepoint(EndOfSavepoint.RELEASE)
    view = seen(case_of(SqlBegin(), SqlSavepoint(), back, back, released, back))

    assert [(call.raw.label, call.raw.status) for call in view.flight_calls[1:]] == [
        ("BeginSavepoint", "OK"), ("EndSavepoint", "OK"), ("EndSavepoint", "OK"), ("EndSavepoint", "OK"),
    ]  # fmt: skip
    assert view.exchange.skipped_steps == (5,)


def test_a_query_is_cancelled_by_its_info() -> None:
    """There is nothing to cancel without one."""
    view = seen(case_of(SqlCancel(), SqlQuery("SELECT 7 AS n"), SqlCancel()))

    assert [(call.raw.label, call.raw.status) for call in view.flight_calls] == [("i", "OK"), ("CancelQuery", "OK")]
    assert view.exchange.skipped_steps == (0,)


def test_a_plan_is_a_command_of_its_own() -> None:
    """The reference executes none."""
    (call,) = made(SqlQuery(plan=b"\xff"))

    assert (type_of(command_of(call)), call.status) == ("CommandStatementSubstraitPlan", "UNIMPLEMENTED")
