"""The limits of a case are those of its calls together."""

from __future__ import annotations

import dataclasses

import pytest

from conformance.records import Call, CallEnd
from conformance.targets.allowance import Allowance, late
from conformance.targets.calls import CallBudget

CALL = Call(0, "", "DoGet", b"", (b"12", b"345"))


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The monotonic clock, which a test sets."""
    now = [0.0]
    monkeypatch.setattr("conformance.targets.allowance.time.monotonic", lambda: now[0])
    return now


def test_a_call_has_its_own_limits_first(clock: list[float]) -> None:
    """The limits of the case are further away."""
    left = Allowance(CallBudget(2.0, 7, 100), until=10.0, case_bytes=1000)

    assert left.left() == CallBudget(2.0, 7, 100)


def test_the_end_of_the_case_comes_closer(clock: list[float]) -> None:
    """The last call gets the rest of the time, and none is made afterwards."""
    left = Allowance(CallBudget(2.0, 7, 100), until=10.0, case_bytes=1000)

    clock[0] = 9.5
    assert left.left() == CallBudget(0.5, 7, 100)
    clock[0] = 10.0
    assert left.left() is None


@pytest.mark.usefixtures("clock")
def test_the_bytes_of_all_responses_are_counted() -> None:
    """What is left may be nothing, and is never less."""
    left = Allowance(CallBudget(2.0, 7, 100), until=10.0, case_bytes=8)
    found = []

    for _ in range(3):
        budget = left.left()
        assert budget is not None
        found.append(budget.bytes)
        left.count(CALL)

    assert found == [8, 3, 0]


def test_a_call_that_was_not_made_hung() -> None:
    """It has no status, and says why."""
    made = late(CALL)

    assert (made.status, made.end) == ("", CallEnd.DEADLINE)
    assert made.details == "the case's deadline had passed before this call could be made"


@pytest.mark.usefixtures("clock")
def test_after_a_flood_all_calls_together_have_what_one_may_have() -> None:
    """Otherwise each call of a case would keep as much again."""
    left = Allowance(CallBudget(2.0, 7, 100), until=10.0, case_bytes=1000)

    left.count(dataclasses.replace(CALL, end=CallEnd.OVER_BUDGET))
    assert left.left() == CallBudget(2.0, 7, 100)
    left.count(CALL)
    assert left.left() == CallBudget(2.0, 7, 95)
