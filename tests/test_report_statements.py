"""What statements on the published reports say is true, and every name in the reports can be explained."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from conformance.cli._clausesets import clause_sets, gone
from conformance.contract.offers import profile_titles
from conformance.contract.wholecase import EXPLAINED, WHOLE_CASE
from conformance.engine.selection import all_clauses
from conformance.engine.standing import BLOCKED, FAILING, IN_PART, Standing
from conformance.records import Outcome
from conformance.report.document import Report
from conformance.report.profiles import has_profiles
from conformance.report.reading import read_report
from conformance.report.statementnumbers import ANOTHER, NOT_MADE, SILENT, FileDigest, Statement, statement_on
from tests.cli.typed import conformance_
from tests.test_reports import PUBLISHED, REPORTS

ALL: Final = sorted(
    str(path.relative_to(REPORTS).with_suffix(""))
    for path in REPORTS.rglob("*.json")
    if '"schema_version"' in path.read_text(encoding="utf-8")[:60]
)
"""The reports on targets, readers and writers."""


def report_on(name: str) -> Report:
    """A published report."""
    return read_report(REPORTS / f"{name}.json")


def stated(report: Report) -> Statement:
    """The statement on a report; the digests do not matter here."""
    return statement_on(report, releases=(), report_file=FileDigest("it.json", ""), logs=(), cases=0)


@pytest.mark.parametrize("name", PUBLISHED)
def test_a_clause_is_said_to_have_failed_if_it_failed(name: str) -> None:
    """Nothing else is listed among the failures, and no failure is left out."""
    report = report_on(name)
    statement = stated(report)

    said = {one.clause for one in (*statement.failed, *statement.expected)}
    assert {clause for clause, item in report.standings.items() if item.standing in FAILING} == said


@pytest.mark.parametrize("name", PUBLISHED)
def test_the_reason_for_a_judgement_in_part_occurred(name: str) -> None:
    """That another clause failed is said only where one failed, and that tables were missing only where some were; what
    a target does not offer keeps no clause from being judged that other cases show.
    """
    report = report_on(name)
    failed = any(item.outcome.fails_run or item.outcome is Outcome.EXPECTED_FAIL for item in report.deviations)
    unmade = any(item.text.startswith("cannot seed") for item in report.deviations)

    for gap in stated(report).not_judged:
        assert failed or not (ANOTHER in gap.reason or BLOCKED in gap.reason), gap
        assert unmade or NOT_MADE not in gap.reason, gap
        if gap.kind.endswith(Standing.HELD_WHERE_JUDGED.words):
            assert not gap.reason.startswith("unsupported"), gap
            assert gap.reason.partition(": ")[2] or BLOCKED in gap.reason or IN_PART in gap.reason, gap


@pytest.mark.parametrize("name", PUBLISHED)
def test_a_clause_that_some_case_owed_is_not_said_to_be_about_nothing(name: str) -> None:
    """Silent are clauses that no case could show."""
    report = report_on(name)
    undecided = [
        one for one in report.standings.values() if one.standing in (Standing.NOT_JUDGED, Standing.NOT_OFFERED)
    ]

    silent = sum(gap.count for gap in stated(report).not_judged if gap.reason == SILENT)
    assert silent <= sum(not one.owed for one in undecided)


@pytest.mark.parametrize("name", PUBLISHED)
def test_the_words_of_the_suite_are_not_masked(name: str) -> None:
    """What is not supported is said by the suite alone, so that no foreign word has to be hidden in it."""
    report = report_on(name)
    words = {f"unsupported: {item.text}" for item in report.deviations if item.outcome is Outcome.UNSUPPORTED}
    statement = stated(report)

    assert {gap.reason for gap in statement.not_judged if gap.reason.startswith("unsupported")} <= words
    required = {" ".join(item.required.split()) for item in report.deviations}
    assert all(any(whole.startswith(one.required.rstrip("…")) for whole in required) for one in statement.failed)
    assert all(one.observed for one in statement.failed)


@pytest.mark.parametrize("name", PUBLISHED)
def test_a_statement_on_a_server_groups_by_profile(name: str) -> None:
    """Of Storage Read and of Flight; a serializer has chapters."""
    report = report_on(name)

    groups = {row.group for row in stated(report).results}
    assert (groups <= {*profile_titles()}) is has_profiles(report.run)


@pytest.mark.parametrize("name", ALL)
def test_every_name_in_a_report_is_explained(name: str) -> None:
    """Clauses, a case as a whole, chapters, profiles and questions; clauses of before are said to be gone."""
    report, known = report_on(name), all_clauses()
    clauses = {*report.run.clauses, *report.silent, *(item.id for item in report.clauses)}
    clauses |= {clause for item in report.deviations for clause in item.clauses}
    clauses |= {clause for cause in report.causes for clause in cause.blocks}
    others = {clause.partition(".")[0] for clause in known} | {one.profile for one in report.profiles}
    others |= {one.question.value for one in report.questions}

    assert [one for one in sorted(clauses) if one not in EXPLAINED and not gone(one, known)] == []
    assert sorted(others - set(clause_sets())) == []


@pytest.mark.parametrize(
    ("name", "said"),
    [
        (WHOLE_CASE, "A case ends with answers"),
        ("sql-handles", "flight-sql.handle-is-served  [MUST]"),
        ("flight-put", "flight-put.is-found  [MUST]"),
        ("robustness", "question about a reader"),
        ("offsets.resumed-read-has-the-schema", "is given up"),
    ],
)
def test_explain_takes_each_kind_of_name(name: str, said: str) -> None:
    """As a report prints it; a clause that is gone is refused with what became of it."""
    result = conformance_("explain", name)

    assert said in result.output
    assert result.exit_code == (2 if said == "is given up" else 0)


def test_what_can_be_printed_has_a_text_and_a_source() -> None:
    """A finding without either could not be acted on."""
    all_clauses()

    assert [one.id for one in EXPLAINED.values() if not (one.explanation and one.source and one.evidence)] == []


def test_reports_are_found() -> None:
    """The tests above are about all of them."""
    assert set(PUBLISHED) <= set(ALL)
    assert Path(REPORTS / "readers").is_dir()
