"""The limits of a case are those of its calls together."""

from __future__ import annotations

import dataclasses

import pyarrow as pa
import pytest

from conformance.records import Call, CallEnd, CreateSession, ReadRows
from conformance.targets.allowance import OUT_OF_BYTES, OUT_OF_TIME, Allowance, UsedUpError, call_budget, unreached
from conformance.targets.recordedcall import CallBudget
from conformance.targets.spec import Deadlines, Limits
from tests.targets.conftest import case_of

CALL = Call(0, "", "DoGet", b"", (b"12", b"345"))


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The monotonic clock, which a test sets."""
    now = [0.0]
    monkeypatch.setattr("conformance.targets.allowance.time.monotonic", lambda: now[0])
    return now


def test_a_call_that_begins_has_all_of_its_own_time(clock: list[float]) -> None:
    """A server would hang because of the calls before if the last call had only the rest of the case's time."""
    left = Allowance(CallBudget(2.0, 7, 100), until=10.0, case_bytes=1000)

    clock[0] = 9.5

    assert left.left() == CallBudget(2.0, 7, 100, longest=2.0)


def test_a_call_that_goes_on_sending_has_the_rest_of_the_case(clock: list[float]) -> None:
    """However slow it is, it does not hang; without an end it ends with the case."""
    left = Allowance(CallBudget(2.0, 7, 100), until=10.0, case_bytes=1000)

    clock[0] = 4.0

    assert left.left() == CallBudget(2.0, 7, 100, longest=6.0)


def test_no_call_begins_after_the_deadline_of_the_case(clock: list[float]) -> None:
    """The reason is that of the case, not of a call."""
    left = Allowance(CallBudget(2.0, 7, 100), until=10.0, case_bytes=1000)

    clock[0] = 10.0

    with pytest.raises(UsedUpError) as raised:
        left.left()
    assert str(raised.value) == OUT_OF_TIME


@pytest.mark.usefixtures("clock")
def test_no_call_begins_after_the_bytes_of_the_case() -> None:
    """The bytes of all calls count together, and each call has all of its own."""
    left = Allowance(CallBudget(2.0, 7, 100), until=10.0, case_bytes=8)

    left.count(CALL)
    assert left.left() == CallBudget(2.0, 7, 100, longest=10.0)
    left.count(CALL)

    with pytest.raises(UsedUpError) as raised:
        left.left()
    assert str(raised.value) == OUT_OF_BYTES


def test_a_call_has_no_more_than_its_case() -> None:
    """A target file may give the case less than a call."""
    table = pa.table({"a": pa.array([], pa.int64())})

    budget = call_budget(table, Deadlines(call=20.0, case=5.0), Limits(call=1000, case=10))

    assert (budget.seconds, budget.bytes) == (5.0, 10)


def test_steps_without_calls_are_not_reached() -> None:
    """A step is named once, whether it was skipped before or not."""
    case = case_of(CreateSession(), ReadRows(), ReadRows(), ReadRows())

    assert unreached(case, [CALL, dataclasses.replace(CALL, step=1)], [2], 1) == [3]


@pytest.mark.usefixtures("clock")
def test_after_a_flood_all_calls_together_have_what_one_may_have() -> None:
    """Otherwise each call of a case would keep as much again."""
    left = Allowance(CallBudget(2.0, 7, 100), until=10.0, case_bytes=1000)

    left.count(dataclasses.replace(CALL, end=CallEnd.OVER_BUDGET))
    assert left.left() == CallBudget(2.0, 7, 100, longest=10.0)
    left.count(dataclasses.replace(CALL, responses=(bytes(100),)))

    with pytest.raises(UsedUpError):
        left.left()
