from __future__ import annotations

import pytest

from conformance.records import CallEnd, CreateSession, Outcome, ReadRows
from tests.contract.exchanges import Deviation, case_of, create, prove, read, verdicts

PLAIN = case_of(CreateSession(), ReadRows())

DEVIATIONS = (
    Deviation("calls.end-in-time", PLAIN, lambda a: read(a).break_off(CallEnd.DEADLINE)),
    Deviation("calls.end-in-time", case_of(CreateSession()), lambda a: create(a).break_off(CallEnd.DEADLINE)),
    Deviation("calls.leave-the-server-alive", PLAIN, lambda a: read(a).break_off(CallEnd.CRASH)),
    Deviation("calls.stay-within-reason", PLAIN, lambda a: read(a).break_off(CallEnd.OVER_BUDGET)),
)


@pytest.mark.parametrize("deviation", DEVIATIONS, ids=str)
def test_one_lie_is_told_by_its_clause_alone(deviation: Deviation) -> None:
    """A single deviation from an obedient answer fails the clause on it, and no other."""
    prove(deviation)


def test_what_a_hang_leaves_unseen_is_a_hang_and_no_pass() -> None:
    """A clause that the case names gets the outcome of the call that prevented its judgement."""
    case = case_of(CreateSession(), ReadRows(), clauses=("rows.none-is-missing",))

    found = verdicts(case, lambda answers: read(answers).break_off(CallEnd.DEADLINE))

    assert {v.outcome for v in found if v.clause == "rows.none-is-missing"} == {Outcome.HANG}
