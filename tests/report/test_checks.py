"""A check that ran before and does not now is named, whatever the outcomes."""

from __future__ import annotations

import dataclasses

import pytest

from conformance.records import Outcome, RecordError, Verdict
from conformance.report.checks import Checks
from conformance.report.document import Report
from conformance.report.notrun import ClauseNotRun, NotRun, no_longer_run
from conformance.report.reading import as_read
from tests.engine.samples import failing, passing
from tests.report.samples import report_of


def silent(case: str, clause: str) -> Verdict:
    """The clause could not be judged on the case."""
    return Verdict(case, clause, Outcome.UNTESTABLE, reason="cannot seed")


def test_a_report_says_on_which_cases_each_clause_was_judged() -> None:
    """Positions are packed into ranges, and clauses with the same cases stand together."""
    cases = "abcdefg"
    verdicts = [passing(case, clause) for case in cases for clause in ("framing.x", "types.x")]
    verdicts += [passing(case, "rows.x") if case in "abcfg" else silent(case, "rows.x") for case in cases]

    assert report_of(*verdicts).checks == (Checks(("framing.x", "types.x"), "0-6"), Checks(("rows.x",), "0-2,5-6"))


def test_positions_of_many_cases_are_read_back() -> None:
    """A text of positions is longer than any other, and is never cut off."""
    cases = [f"c{number}" for number in range(4000)]
    verdicts = [passing(case, ("framing.x", "rows.x")[number % 2]) for number, case in enumerate(cases)]
    report = report_of(*verdicts)

    assert max(len(item.cases) for item in report.checks) > 4096
    assert as_read(report).checks == report.checks


def test_a_clause_that_was_never_judged_is_no_check() -> None:
    """Neither are generated cases, which the next seed does not make."""
    report = report_of(silent("a", "framing.x"), passing("b", "rows.x"))

    assert report.checks == (Checks(("rows.x",), "1"),)


OLD = report_of(passing("a", "framing.x"), passing("a", "rows.x"), passing("b", "framing.x"), passing("b", "rows.x"))


@pytest.mark.parametrize(
    ("new", "missing"),
    [
        (OLD, NotRun()),
        (report_of(*(failing(case, clause, "3") for case in "ab" for clause in ("framing.x", "rows.x"))), NotRun()),
        (report_of(passing("a", "framing.x"), passing("a", "rows.x")), NotRun(cases=("b",))),
        (
            report_of(*(passing(case, "framing.x") for case in "ab"), passing("a", "rows.x"), silent("b", "rows.x")),
            NotRun(clauses=(ClauseNotRun("rows.x", ("b",)),)),
        ),
        (
            report_of(*(passing(case, "framing.x") for case in "ab")),
            NotRun(clauses=(ClauseNotRun("rows.x", ("a", "b")),)),
        ),
    ],
)
def test_a_check_that_does_not_run_any_more_is_named(new: Report, missing: NotRun) -> None:
    """A case without any check is named once; a failure is a check that ran."""
    assert no_longer_run(OLD, new) == missing


def test_checks_that_are_new_are_not_named() -> None:
    """Only losses are."""
    new = report_of(passing("a", "framing.x"))

    assert no_longer_run(new, OLD) == NotRun()


def test_the_order_of_the_cases_does_not_matter() -> None:
    """Positions are those of each report."""
    new = report_of(*(passing(case, clause) for case in "zba" for clause in ("framing.x", "rows.x")))

    assert no_longer_run(OLD, new) == NotRun()


def test_reports_of_an_earlier_suite_are_not_compared() -> None:
    """They do not say which checks ran."""
    earlier = dataclasses.replace(OLD, checks=())

    assert no_longer_run(earlier, OLD) == NotRun(unknown=("old",))
    assert no_longer_run(OLD, earlier) == NotRun(unknown=("new",))


@pytest.mark.parametrize("ranges", ["", "a", "1-", "1,", "-1", "1,,2", "1-2-3", "99999999"])
def test_ranges_that_are_none_are_refused(ranges: str) -> None:
    """A report may come from anybody."""
    with pytest.raises(RecordError, match="ranges of positions"):
        Checks(("framing.x",), ranges)


def test_positions_beyond_the_cases_are_passed_over() -> None:
    """A forged report costs no more memory than its cases."""
    forged = dataclasses.replace(OLD, checks=(Checks(("framing.x", "rows.x"), "0-9999999"),))

    assert no_longer_run(OLD, forged) == NotRun()
