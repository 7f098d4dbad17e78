"""Reports of a run that repeats its cases say which failures occur only sometimes."""

from __future__ import annotations

import dataclasses
import io
import json
from pathlib import Path

import pytest

from conformance.engine.events import RunEnded
from conformance.engine.result import Result, fold
from conformance.report.document import document, write_json
from conformance.report.html import html
from conformance.report.junit import junit_xml
from conformance.report.reading import read_report
from conformance.report.summary import header, verdict_line
from conformance.report.terminal import print_report, terminal
from conformance.targets import ExpectedFailure
from tests.engine.samples import failing, judged, passing, started

FLAKY = "sometimes (1 of 2)"


def repeated(*, repeat: int = 2, expectations: tuple[ExpectedFailure, ...] = ()) -> Result:
    """Two attempts at one case: a clause that fails sometimes, and one that always fails."""
    attempts = [
        judged("a", failing("a", "framing.x", "3 messages"), failing("a", "rows.x", "3 rows")),
        judged("a", passing("a", "framing.x"), failing("a", "rows.x", "3 rows")),
    ]
    start = started("framing.x", "rows.x", cases=["a"], expectations=expectations)
    return fold([dataclasses.replace(start, repeat=repeat), *attempts[:repeat], RunEnded(2.0)])


def printed(result: Result) -> str:
    """The report on a terminal."""
    screen = io.StringIO()
    print_report(terminal(file=screen, width=120), result)
    return screen.getvalue()


def test_the_terminal_says_how_often_each_failure_occurs() -> None:
    """In full for failures, in brackets in the short lists."""
    text = printed(repeated())
    excused = printed(repeated(expectations=(ExpectedFailure("framing.x", "fail: *", sometimes=True),)))

    assert f"  occurs    {FLAKY}\n" in text
    assert "  occurs    always (2 of 2)\n" in text
    assert f"(expected-fail, 1 case, first a, {FLAKY}): 3 messages" in excused


def test_the_summary_counts_what_occurs_only_sometimes() -> None:
    """The number of attempts is named; verdicts are counted once for each case."""
    assert verdict_line(repeated()) == (
        "FAILED: 2 causes (2 MUST), 1 deviation only sometimes; 2 verdicts on 1 case, 2 attempts each, in 2.0 s"
    )
    assert ("repeat", "2 attempts at each case") in header(repeated().start, ())


def test_junit_and_html_say_it() -> None:
    """In the text of the failure, and as a tag that is seen without opening it."""
    result = repeated()

    assert f"occurs: {FLAKY}\n" in junit_xml(result).decode()
    page = html(document(result))
    assert f'<span class="tag">{FLAKY}</span>' in page
    assert f"<dt>occurs</dt><dd>{FLAKY}</dd>" in page
    assert '<span class="tag">always' not in page


def test_json_has_the_numbers_and_reads_back(tmp_path: Path) -> None:
    """For programs, and for the page that is made from the report."""
    path = tmp_path / "report.json"
    write_json(repeated(), path)

    numbers = [(item["occurred"], item["attempts"]) for item in json.loads(path.read_text())["deviations"]]
    assert numbers == [(1, 2), (2, 2)]
    assert [item.frequency for item in read_report(path).deviations] == [FLAKY, "always (2 of 2)"]


@pytest.mark.parametrize("word", ["occurs", "sometimes", "attempts"])
def test_a_run_without_repetition_says_nothing_of_it(word: str) -> None:
    """Its reports are as they were."""
    result = repeated(repeat=1)

    for text in (printed(result), junit_xml(result).decode(), html(document(result)), verdict_line(result)):
        assert word not in text
