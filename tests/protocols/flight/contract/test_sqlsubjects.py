"""What is judged of Flight SQL: what rests on something that was refused is not."""

from __future__ import annotations

import dataclasses

import pytest

from conformance.protocols.flight.contract.sqlsubjects import answered, described, executable, undisturbed, updated
from conformance.protocols.flight.records import DoGet, SqlIngest, SqlMetadata, SqlQuery, SqlUpdate
from conformance.protocols.flight.reference.variations import FLIGHT_VARIATIONS
from conformance.records import Expect, Step
from tests.protocols.flight.reference.direct import case_of, seen

CREATE = SqlUpdate("{create}", count=0)
INSERT = SqlUpdate("INSERT INTO {table} ({names}) VALUES {values}", count=3)
ALL = Expect(rows=(0, 1, 2))
SELECT = SqlQuery("SELECT {names} FROM {table}", expect=ALL)


def test_updates_have_counts() -> None:
    """Those of the steps, or of the rows that were sent."""
    view = seen(case_of(CREATE, INSERT, SqlIngest(), SELECT))

    assert [one.count for one in updated(view)] == [0, 3]


def test_a_result_is_compared_with_the_rows_of_the_case() -> None:
    """By position, whatever the case of the names and the width of the types."""
    for service in (None, FLIGHT_VARIATIONS["flight-rows.other-widths"].service()):
        (one,) = answered(seen(case_of(CREATE, INSERT, SELECT, DoGet()), service))

        assert one.came is not None
        assert one.came.to_pylist() == one.expected.to_pylist()
        assert one.columns is not None


@pytest.mark.parametrize(
    "steps",
    [
        (INSERT, SELECT, DoGet()),  # there is no table
        (CREATE, SqlUpdate("nonsense", expect=Expect(reason="nonsense")), CREATE, SELECT, DoGet()),
    ],
)
def test_what_rests_on_a_refusal_is_not_judged(steps: tuple[Step, ...]) -> None:
    """A refusal that the step asks for disturbs nothing."""
    view = seen(case_of(*steps))

    assert answered(view) == []
    assert not undisturbed(view, len(view.flight_calls) - 1)


def test_a_statement_that_may_be_refused_has_no_ticket_to_redeem() -> None:
    """It is wrong, or an earlier one was refused."""
    service = FLIGHT_VARIATIONS["flight-sql.executed-by-tickets"].service()
    wrong = dataclasses.replace(SELECT, expect=Expect(reason="nonsense"))
    view = seen(case_of(wrong, SELECT), service)

    assert [executable(one) for one in view.infos] == [False, True]


def test_metadata_has_its_command_and_its_rows() -> None:
    """With include_schema, the schema is another."""
    view = seen(case_of(CREATE, SqlMetadata("CommandGetTables", include_schema=True), DoGet()))
    (one,) = described(view)

    assert one.command == "CommandGetTables with include_schema"
    assert [row["table_name"] for row in one.rows] == ["c_by_hand"]
