"""A clause that passed and fails is a regression; clauses that cannot be compared are counted apart."""

from __future__ import annotations

import dataclasses

import pytest

from conformance.contract.clause import load_chapters
from conformance.engine.standing import Standing
from conformance.records import Outcome, Verdict
from conformance.report.differences import ChangeKind, compare
from conformance.report.document import Report
from conformance.targets import ExpectedFailure
from tests.engine.samples import failing, passing
from tests.report.samples import report_of

load_chapters()

HOLDS = report_of(passing("a", "framing.x"))
FAILS = report_of(failing("a", "framing.x", "3 messages"))
CRASHES = report_of(Verdict("a", "framing.x", Outcome.CRASH, reason="it died"))
UNKNOWN = report_of(Verdict("a", "framing.x", Outcome.UNTESTABLE, reason="cannot seed"))
EXCUSED = report_of(
    failing("a", "framing.x", "3 messages"), expectations=[ExpectedFailure("framing.x", "fail: *", case="a")]
)


@pytest.mark.parametrize(
    ("old", "new", "change"),
    [
        (HOLDS, FAILS, ChangeKind.REGRESSION),
        (HOLDS, CRASHES, ChangeKind.REGRESSION),
        (HOLDS, EXCUSED, ChangeKind.REGRESSION),
        (FAILS, HOLDS, ChangeKind.REPAIR),
        (EXCUSED, HOLDS, ChangeKind.REPAIR),
        (UNKNOWN, HOLDS, ChangeKind.NEWLY_JUDGED),
        (UNKNOWN, FAILS, ChangeKind.NEWLY_JUDGED),
        (HOLDS, UNKNOWN, ChangeKind.NO_LONGER_JUDGED),
        (FAILS, UNKNOWN, ChangeKind.NO_LONGER_JUDGED),
        (HOLDS, HOLDS, None),
        (FAILS, EXCUSED, None),
        (FAILS, CRASHES, None),
    ],
)
def test_a_clause_changes_in_one_way(old: Report, new: Report, change: ChangeKind | None) -> None:
    """Only a clause that passed and now fails makes the comparison fail."""
    difference = compare(old, new)

    assert [item.change for item in difference.clauses] == ([] if change is None else [change])
    assert difference.fails is (change is ChangeKind.REGRESSION)


MAY = "session.trace-id-is-echoed"
MET = report_of(passing("a", MAY), clauses=[MAY])


@pytest.mark.parametrize(
    ("new", "change", "fails"),
    [
        (failing("a", MAY, "no trace_id"), ChangeKind.NO_LONGER_MET, False),
        (Verdict("a", MAY, Outcome.CRASH, reason="it died"), ChangeKind.REGRESSION, True),
    ],
)
def test_a_may_clause_that_is_no_longer_met_is_no_regression(new: Verdict, change: ChangeKind, *, fails: bool) -> None:
    """It is a change all the same; a crash is more than that."""
    difference = compare(MET, report_of(new, clauses=[MAY]))

    assert [item.change for item in difference.clauses] == [change]
    assert difference.fails is fails


def test_a_change_names_cases_and_replay() -> None:
    """The reader can go and look."""
    (change,) = compare(HOLDS, FAILS).clauses

    assert (change.clause, change.before, change.after) == ("framing.x", Standing.HELD, Standing.FAILED)
    assert (change.text, change.cases) == ("3 messages", ("a",))
    assert change.replay == "conformance replay a --target fake.toml"


def test_a_clause_that_fails_on_new_cases_alone_is_no_regression() -> None:
    """Nobody asked the older implementation."""
    new = report_of(passing("a", "framing.x"), failing("new", "framing.x", "3 messages"))

    difference = compare(HOLDS, new)

    assert [item.change for item in difference.clauses] == [ChangeKind.NEWLY_JUDGED]
    assert not difference.fails


@pytest.mark.parametrize(("index", "fails"), [(3, True), (4, False)])
def test_a_generated_case_is_old_where_it_was_generated(index: int, *, fails: bool) -> None:
    """The ids of generated cases are in no list: seed and number say which there were."""
    run = dataclasses.replace(HOLDS.run, generated=4)
    new = report_of(failing(f"generated.server.s7.i{index}", "framing.x", "3 messages"))

    assert compare(dataclasses.replace(HOLDS, run=run), new).fails is fails


def test_a_failure_behind_one_that_was_repaired_is_no_regression() -> None:
    """Nobody knows whether it is new: the answer was another one."""
    old = report_of(passing("a", "framing.x"), failing("a", "rows.x", "no rows"))
    new = report_of(failing("a", "framing.x", "3 messages"), passing("a", "rows.x"))

    difference = compare(old, new)

    assert {item.clause: item.change for item in difference.clauses} == {
        "framing.x": ChangeKind.NEWLY_JUDGED,
        "rows.x": ChangeKind.REPAIR,
    }
    assert not difference.fails


def test_a_failure_beside_one_that_stays_is_a_regression() -> None:
    """On a case on which nothing was repaired, a pass that is gone is lost."""
    old = report_of(passing("a", "framing.x"), failing("a", "rows.x", "no rows"))
    new = report_of(failing("a", "framing.x", "3 messages"), failing("a", "rows.x", "no rows"))

    assert compare(old, new).fails


def test_reports_without_places_of_cases_are_compared_as_a_whole() -> None:
    """The suite before version 0.3 did not write on which cases a clause passed."""
    older = [dataclasses.replace(item, standing=None, judged=0, owed=0) for item in HOLDS.clauses]

    assert compare(dataclasses.replace(HOLDS, clauses=tuple(older), checks=()), FAILS).fails


def test_a_clause_that_the_older_suite_lacked_is_new() -> None:
    """A failure of it is neither a regression nor a new deviation."""
    old = report_of(passing("a", "rows.x"), clauses=["rows.x"])
    new = report_of(passing("a", "rows.x"), failing("a", "framing.x", "3 messages"), clauses=["rows.x", "framing.x"])

    forth, back = compare(old, new), compare(new, old)

    assert [(item.change, item.clause) for item in forth.clauses] == [(ChangeKind.NEW_CLAUSE, "framing.x")]
    assert (forth.new_deviations, forth.fails) == ((), False)
    assert [item.change for item in back.clauses] == [ChangeKind.GONE_CLAUSE]


def test_a_clause_that_was_not_chosen_is_not_new() -> None:
    """The older suite had it, and did not judge it."""
    old = report_of(passing("a", "rows.x"), clauses=["rows.x"], left_out=["framing.x"])
    new = report_of(passing("a", "rows.x"), passing("a", "framing.x"), clauses=["rows.x", "framing.x"])

    assert [item.change for item in compare(old, new).clauses] == [ChangeKind.NEWLY_JUDGED]


def test_another_deviation_of_a_failing_clause_is_new() -> None:
    """It is listed, and fails nothing: the clause failed before."""
    other = report_of(failing("a", "framing.x", "no message"))

    difference = compare(FAILS, other)

    assert [item.text for item in difference.new_deviations] == ["no message"]
    assert [item.text for item in difference.gone_deviations] == ["3 messages"]
    assert not difference.fails


def test_the_same_deviation_with_other_data_is_the_same() -> None:
    """Three messages or four are one deviation."""
    difference = compare(FAILS, report_of(failing("b", "framing.x", "4 messages")))

    assert (difference.new_deviations, difference.gone_deviations) == ((), ())


def test_a_deviation_is_not_gone_where_its_clause_was_not_judged() -> None:
    """Not seen is not repaired."""
    assert compare(FAILS, UNKNOWN).gone_deviations == ()
