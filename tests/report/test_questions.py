"""The two verdicts on a reader: every report counts conformance apart from robustness, conformance first."""

from __future__ import annotations

import dataclasses
import io
from pathlib import Path

import pytest

from conformance.contract.clause import load_chapters
from conformance.contract.closed import Question
from conformance.engine.causes import causes
from conformance.engine.events import READ_PROFILE, RunEnded
from conformance.engine.result import Result, fold
from conformance.records import Level, to_json
from conformance.report.badge import badge_svg
from conformance.report.differences import compare
from conformance.report.document import document, write_json
from conformance.report.github import step_summary
from conformance.report.html import html
from conformance.report.matrixtable import load_matrix
from conformance.report.sarif import sarif
from conformance.report.site import html as matrix_html
from conformance.report.site import markdown
from conformance.report.summary import numbers_line, verdict_line
from conformance.report.terminal import print_report, terminal
from tests.engine.samples import failing, judged, passing, started

load_chapters()
CLAUSES = (
    "reader.survives",
    "reader.refuses.body",
    "reader.refuses.unknown",
    "reader.rows-true",
    "reader.accepts.core",
)


def result(*, repaired: bool = False) -> Result:
    """A reader that accepts malformed bytes, and gives wrong rows for legal ones unless it is repaired."""
    start = dataclasses.replace(
        started(*CLAUSES, cases=["good", "bad"]), profile=READ_PROFILE, target="a reader 1.0", target_file="reader"
    )
    rows = passing("good", "reader.rows-true") if repaired else failing("good", "reader.rows-true", "4")
    bad = judged("bad", failing("bad", "reader.refuses.body", "rows"), passing("bad", "reader.survives"))
    return fold([start, bad, judged("good", rows, passing("good", "reader.accepts.core")), RunEnded(1.0)])


def test_counts_are_apart() -> None:
    """Each question has its own numbers by level, conformance first."""
    report = document(result())

    assert [(one.question, one.level, one.counts.share) for one in report.questions] == [
        (Question.CONFORMANCE, Level.MUST, "1/2"),
        (Question.ROBUSTNESS, Level.MUST, "0/1"),
        (Question.ROBUSTNESS, Level.SHOULD, "1/2"),
    ]
    assert {item.id: item.question for item in report.clauses}["reader.survives"] is Question.ROBUSTNESS
    assert to_json(report)["questions"][0]["question"] == "conformance"


def test_lines_name_the_question() -> None:
    """The counts and the verdict say which question they answer."""
    made = result()

    assert numbers_line(made.start, made.standings) == (
        "conformance MUST 1 pass · 1 fail · 0 not judged; robustness MUST 0 pass · 0 fail · 1 not judged; "
        "robustness SHOULD 1 pass · 1 fail · 0 not judged"
    )
    assert verdict_line(made).startswith("FAILED: conformance: 1 cause (1 MUST), robustness: 1 cause (1 SHOULD); ")


def test_conformance_is_to_be_fixed_first() -> None:
    """Causes are in this order, however many inputs they have."""
    assert [one.clause for one in causes(result())] == ["reader.rows-true", "reader.refuses.body"]


def test_terminal_has_a_row_for_each() -> None:
    """The table has sections instead of the chapter."""
    out = io.StringIO()
    print_report(terminal(file=out), result())

    lines = [
        line.split()[0] for line in out.getvalue().splitlines() if line.startswith(("conformance ", "robustness "))
    ]
    assert lines[:2] == ["conformance", "robustness"]
    assert not [line for line in out.getvalue().splitlines() if line.startswith("reader  ")]


def test_badge_has_two_numbers() -> None:
    """The MUST clauses on conformance, and all on robustness."""
    counts = "conformance 1 pass · 1 fail · 0 not judged, robustness 1 pass · 1 fail · 1 not judged"

    assert f'aria-label="arrow ipc reader: {counts}"' in badge_svg(document(result()))


def test_sarif_and_the_job_summary_name_them() -> None:
    """Rules are tagged with the question; the table of a job has a row for each."""
    report = document(result())
    rules = {rule["id"]: rule for rule in sarif(report)["runs"][0]["tool"]["driver"]["rules"]}

    assert rules["reader.rows-true"]["properties"]["tags"] == ["conformance", "must"]
    assert "\n| conformance | 1/2 |" in step_summary(report)


def test_pages_name_them() -> None:
    """Deviations have the question as a tag."""
    page = html(document(result()))

    assert '<span class="tag">conformance</span>' in page
    assert page.index('<th scope="row">conformance</th>') < page.index('<th scope="row">robustness</th>')


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """The JSON report in a file."""
    write_json(result(), tmp_path / "reader.json")
    return tmp_path / "reader.json"


def test_matrix_has_them_as_columns_and_sections(path: Path) -> None:
    """A reader has no column that mixes them, and the page says what they are."""
    matrix = load_matrix([path])
    text = markdown(matrix)

    assert "| implementation | conformance MUST | robustness MUST | robustness SHOULD |" in text
    assert "| a reader 1.0 | 1/2 | 0/1 | 1/2 |" in text
    assert text.index("## conformance") < text.index("## robustness")
    assert "A reader has two verdicts." in text
    assert "A reader has two verdicts." in matrix_html(matrix)


def test_difference_names_the_question() -> None:
    """A repair of conformance is one, whatever happens to robustness."""
    (change,) = compare(document(result()), document(result(repaired=True))).clauses

    assert (change.clause, change.question) == ("reader.rows-true", Question.CONFORMANCE)
