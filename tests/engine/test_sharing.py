"""Which clause leads where two of them judge one answer."""

from __future__ import annotations

import fnmatch

import pytest

from conformance.contract.clause import CLAUSES, load_chapters
from conformance.engine.events import CaseJudged
from conformance.engine.sharing import FORMS, GENERAL
from tests.engine.causing import fails, found
from tests.engine.samples import judged, passing

load_chapters()

NOTHING, PROJECTED = GENERAL
BETWEEN, COMPARISON = "restriction.between", "restriction.comparison"
WRONG = "1 other row"


def wrong(name: str, *clauses: str) -> CaseJudged:
    """A case in which these clauses fail on one answer."""
    return judged(name, *(fails(name, clause, WRONG) for clause in clauses))


def right(name: str, *clauses: str) -> CaseJudged:
    """A case in which these clauses pass."""
    return judged(name, *(passing(name, clause) for clause in clauses))


@pytest.mark.parametrize("clause", [*FORMS, *GENERAL])
def test_each_name_is_that_of_a_clause(clause: str) -> None:
    """A name that matches nothing would hide that a clause is called otherwise."""
    assert fnmatch.filter(CLAUSES, clause) == [clause]


def test_a_form_that_is_wrong_on_an_empty_answer_leads() -> None:
    """Other empty answers are right, so the empty answer of BETWEEN is its own fault."""
    (cause,) = found(wrong("a", BETWEEN, NOTHING), right("b", BETWEEN), right("c", COMPARISON, NOTHING))

    assert cause.clause == BETWEEN
    assert [echo.clause for echo in cause.echoes] == [NOTHING]


def test_empty_answers_that_are_all_wrong_are_one_cause() -> None:
    """Whatever the form is, it is right where rows come."""
    (cause,) = found(
        wrong("a", BETWEEN, NOTHING), wrong("b", COMPARISON, NOTHING), right("c", BETWEEN), right("d", COMPARISON)
    )

    assert cause.clause == NOTHING
    assert {echo.clause for echo in cause.echoes} == {BETWEEN, COMPARISON}


def test_a_form_that_is_judged_on_empty_answers_alone_follows() -> None:
    """It fails in every case, as the empty answers do, but there are more of these."""
    (cause,) = found(wrong("a", BETWEEN, NOTHING), wrong("b", COMPARISON, NOTHING), right("c", COMPARISON))

    assert cause.clause == NOTHING


def test_a_form_that_is_wrong_on_other_answers_too_stays_a_cause() -> None:
    """All empty answers are wrong, and so is one of BETWEEN with rows: two faults."""
    answers = [wrong("a", BETWEEN, NOTHING), wrong("b", COMPARISON, NOTHING), wrong("c", BETWEEN)]
    causes = found(*answers, *(right(name, COMPARISON) for name in "defgh"))

    assert {cause.clause for cause in causes} == {NOTHING, BETWEEN}


def test_the_only_empty_answer_of_a_run_is_blamed_on_its_form() -> None:
    """Nothing shows that another form would be wrong."""
    (cause,) = found(wrong("a", BETWEEN, NOTHING))

    assert cause.clause == BETWEEN


def test_a_form_that_is_wrong_under_a_projection_leads() -> None:
    """A restriction on other columns is right where its form is."""
    (cause,) = found(wrong("a", BETWEEN, PROJECTED), right("b", BETWEEN), right("c", COMPARISON, PROJECTED))

    assert cause.clause == BETWEEN


def test_restrictions_that_are_wrong_under_every_projection_are_one_cause() -> None:
    """The forms are right without a projection."""
    (cause,) = found(
        wrong("a", BETWEEN, PROJECTED), wrong("b", COMPARISON, PROJECTED), right("c", BETWEEN), right("d", COMPARISON)
    )

    assert cause.clause == PROJECTED


DATES, LIST = "restriction.temporal-literal", "restriction.in-list"


def test_an_operator_that_is_wrong_on_dates_leads() -> None:
    """Dates are right with other operators."""
    (cause,) = found(wrong("a", DATES, BETWEEN), right("b", DATES, COMPARISON), right("c", BETWEEN))

    assert cause.clause == BETWEEN
    assert [echo.clause for echo in cause.echoes] == [DATES]


@pytest.mark.parametrize("other", [(DATES,), (DATES, LIST)])
def test_an_operand_that_is_wrong_with_several_operators_leads(other: tuple[str, ...]) -> None:
    """Comparisons have no clause next to that of dates."""
    (cause,) = found(
        wrong("a", DATES, BETWEEN), wrong("b", *other), right("c", BETWEEN), right("d", LIST), right("e", DATES)
    )

    assert cause.clause == DATES


def test_an_operator_that_is_wrong_on_an_empty_answer_leads_to_its_operand_and_to_the_answer() -> None:
    """Three clauses judge the answer, and BETWEEN is what is wrong."""
    (cause,) = found(wrong("a", DATES, BETWEEN, NOTHING), right("b", DATES, NOTHING), right("c", BETWEEN))

    assert cause.clause == BETWEEN
    assert [echo.clause for echo in cause.echoes] == [DATES, NOTHING]


def test_another_answer_of_the_case_explains_nothing() -> None:
    """Two calls of one case, each with a fault of its own."""
    case = judged("a", fails("a", BETWEEN, WRONG, call=0), fails("a", NOTHING, WRONG, call=2))

    assert len(found(case, right("b", BETWEEN, NOTHING))) == 2
