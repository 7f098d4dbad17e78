"""The result of a run in plain words."""

from __future__ import annotations

import dataclasses

import pytest

from conformance.contract.clause import load_chapters
from conformance.engine.standing import ClauseStanding, Standing
from conformance.report.badge import GREY, badge_svg
from conformance.report.badges import profile_badge
from conformance.report.document import document
from conformance.report.html import html
from conformance.report.summary import header, headline
from tests.engine.samples import served_nothing, started


def standings(*found: Standing) -> dict[str, ClauseStanding]:
    """A MUST clause with each of these standings; a SHOULD clause that fails is no required one."""
    load_chapters()
    required = {f"rows.x{number}": ClauseStanding(standing) for number, standing in enumerate(found)}
    return {**required, "body.padding-zero": ClauseStanding(Standing.FAILED)}


PASSED, FAILED = Standing.HELD, Standing.FAILED


@pytest.mark.parametrize(
    ("found", "said"),
    [
        ((PASSED, PASSED), "None of 2 required clauses fails."),
        ((PASSED, Standing.HELD_WHERE_JUDGED, FAILED), "1 of 3 required clauses fails."),
        ((FAILED, FAILED), "2 of 2 required clauses fail."),
        ((FAILED,), "1 of 1 required clause fails."),
        ((PASSED, FAILED, Standing.NOT_JUDGED), "1 of 3 required clauses fails; 1 was not judged."),
        ((PASSED, *[Standing.NOT_JUDGED] * 2), "None of 3 required clauses fails; 2 were not judged."),
        ((PASSED, Standing.EXPECTED), "None of 2 required clauses fails; 1 fails as expected."),
        ((PASSED, Standing.NOT_OFFERED), "None of 1 required clause fails."),
    ],
)
def test_required_clauses_are_counted(found: tuple[Standing, ...], said: str) -> None:
    """What was not judged is no pass, and what is not offered is not asked."""
    assert headline(started(), standings(*found)) == said


def test_the_first_cause_says_how_much_it_hides() -> None:
    """The work that pays most."""
    assert headline(started(), standings(PASSED, FAILED), 14) == (
        "1 of 2 required clauses fails. Repairing the first cause lets 14 more be judged."
    )


def test_a_selection_speaks_of_what_it_reaches() -> None:
    """Most clauses are about other cases."""
    narrowed = dataclasses.replace(started(), select=("types.*",))

    assert headline(narrowed, standings(PASSED, FAILED, *[Standing.NOT_JUDGED] * 50)) == (
        "1 of 2 required clauses that this selection reaches fails."
    )


@pytest.mark.parametrize(("form", "narrowed"), [("arrow", False), ("both", False), ("avro", True)])
def test_the_header_says_the_form_of_the_cases(form: str, *, narrowed: bool) -> None:
    """A run in one other form leaves out the cases without it, so that its clauses are those of a selection."""
    start = dataclasses.replace(started(), form=form)

    (selection,) = (text for name, text in header(start, ()) if name == "selection")

    assert (f"[--data-format {form}]" in selection) == (form != "arrow")
    assert ("that this selection reaches" in headline(start, standings(PASSED))) == narrowed


def test_a_run_that_served_nothing_is_not_shown_as_a_pass() -> None:
    """Its passes are refusals: the badge is grey, and the page begins with the reason."""
    report = document(served_nothing())

    assert report.shows_nothing
    assert GREY in badge_svg(report)
    assert all(GREY in profile_badge(report, one) for one in report.profiles)
    assert "required clauses" not in html(report)
    assert ">FAILED: the server answered 4 calls with refusals or nothing" in html(report)


def test_a_run_that_was_cut_short_shows_what_it_judged() -> None:
    """It is not conclusive, and its page begins with the numbers of all the same."""
    report = dataclasses.replace(document(served_nothing()), complete=False)

    assert not report.shows_nothing
    assert not report.conclusive
