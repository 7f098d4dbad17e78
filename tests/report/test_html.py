"""The HTML report is one self-contained file that shows each deviation with its bytes, and escapes what targets say."""

from __future__ import annotations

import dataclasses

import pytest

from conformance.engine.events import CaseJudged, Evidence, Line, RunEnded
from conformance.engine.result import fold
from conformance.engine.selection import all_clauses
from conformance.records import Finding, Outcome, Verdict
from conformance.report.badge import badge_svg
from conformance.report.document import Report, document
from conformance.report.html import html
from conformance.report.reading import read_report
from tests.engine.samples import failing, judged, passing, started
from tests.fixtures import ROOT
from tests.report.pages import visible

FINDING = Finding("framing.x", "one message", "<script>alert(1)</script>", call=1, response=0, start=4, end=8)
EVIDENCE = Evidence(
    FINDING,
    "record batch message of call 1, 24 bytes",
    (Line(0, "ff ff ff ff", "continuation", "a message follows"), Line(4, "10 00 00 00", "length", "16", marked=True)),
)


def failed_run() -> Report:
    """A run with one failure that has bytes, and one clause that was not judged."""
    verdicts = (
        Verdict("a", "framing.x", Outcome.FAIL, (FINDING,)),
        Verdict("a", "types.x", Outcome.UNTESTABLE, reason="cannot seed"),
        passing("a", "rows.once"),
    )
    event = CaseJudged("a", "Case a", "a", verdicts, (EVIDENCE,))
    return document(fold([started("framing.x", "types.x", "rows.once"), event, RunEnded(2.0)]))


def test_a_failure_is_shown_with_bytes_and_replay() -> None:
    """From a red line to the bytes and the command in one click."""
    text = visible(html(failed_run()))

    assert "record batch message of call 1, 24 bytes" in text
    assert "10 00 00 00 length 16" in text
    assert "conformance replay a --target fake.toml" in text
    assert "FAILED: 1 cause (1 MUST); 2 verdicts on 1 case (1 untestable) in 2.0 s" in text


def test_a_clause_is_explained_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its first deviation has its text, on one line, and the anchor of the clause; the others lead there."""
    clause = dataclasses.replace(next(iter(all_clauses().values())), id="framing.x", explanation="One message\neach.")
    monkeypatch.setattr("conformance.report.html.EXPLAINED", {"framing.x": clause})
    other = Finding("framing.x", "one message", "two messages", call=1, response=0)
    verdict = Verdict("a", "framing.x", Outcome.FAIL, (FINDING, other))
    report = document(fold([started("framing.x"), judged("a", verdict), RunEnded(2.0)]))

    page = html(report)

    assert len(report.deviations) == 2
    assert page.count("One message each.</dd>") == 1
    assert page.count('<dt id="clause--framing.x">') == 1
    assert page.count('<a href="#clause--framing.x">') == 1


def test_a_cause_says_its_sentence_once_and_the_first_shows_its_bytes() -> None:
    """The heading is what its clause requires, only the first card is open, and what follows from it is marked."""
    report = read_report(ROOT / "reports" / "bqemulator-1.4.0.json")
    first = report.causes[0]
    text = html(report)
    part = text[text.index(f'id="cause--{first.key}"') : text.index(f'id="cause--{report.causes[1].key}"')]

    assert "<h3 id=" in text
    assert "No end-of-stream marker follows the schema.</h3>" in part
    assert text.count(" open data-item=") == part.count("<details open data-item=") == 1
    assert part.count('<details class="echo"') == part.count("also fails because of it") == len(first.echoes)
    assert part.index('<tr class="marked">') < part.index("<dt id=")


def test_the_evidence_for_a_requirement_is_shown() -> None:
    """A reader sees beside the source how it is known that the service requires this."""
    clause = all_clauses()["offsets.end-is-served"]
    verdict = Verdict("a", clause.id, Outcome.FAIL, (dataclasses.replace(FINDING, clause=clause.id),))
    run = fold([started(clause.id), CaseJudged("a", "Case a", "a", (verdict,), ()), RunEnded(2.0)])

    assert "<dt>evidence</dt><dd>recorded from the service, measured on the service</dd>" in html(document(run))


def test_the_line_at_fault_is_marked() -> None:
    """Only that one."""
    assert html(failed_run()).count('<tr class="marked">') == 1


def test_what_a_target_says_is_text_and_never_markup() -> None:
    """A hostile message must not run in the reader's browser."""
    document = html(failed_run())

    assert document.count("<script") == 1
    assert "<script>alert(1)</script>" in visible(document)


def test_what_was_not_judged_is_listed_with_its_reason() -> None:
    """The reader sees what the run does not say."""
    text = visible(html(failed_run()))

    assert "Not judged 1" in text
    assert "cannot seed" in text


def test_what_is_held_is_listed_by_name() -> None:
    """By chapter; a clause that failed is not among it."""
    text = visible(html(failed_run()))

    assert "Passed 1 rows 1 rows.once MUST" in text


def test_a_clean_run_has_no_list_of_failures() -> None:
    """Sections without members are left out."""
    clean = document(fold([started("rows.once"), judged("a", passing("a", "rows.once")), RunEnded(1.0)]))

    assert "Failed" not in visible(html(clean))


def test_a_run_that_passes_lists_failures_of_may_clauses_as_optional() -> None:
    """They fail no run, and nothing on its page says that anything failed."""
    optional, kept = "session.trace-id-is-echoed", "session.names-differ"
    verdicts = (failing("a", optional, "absent"), passing("a", kept))
    page = visible(html(document(fold([started(optional, kept), judged("a", *verdicts), RunEnded(1.0)]))))

    assert "Optional" in page
    assert "Failed" not in page


def test_the_badge_counts_must_clauses_that_hold() -> None:
    """Red where one fails, green where all hold, grey where nothing was judged."""
    good = document(fold([started("rows.once"), judged("a", passing("a", "rows.once")), RunEnded(1.0)]))
    bad = document(fold([started("rows.once"), judged("a", failing("a", "rows.once", "2 rows")), RunEnded(1.0)]))
    none = document(fold([started("rows.once"), RunEnded(1.0)]))

    assert "1 pass · 0 fail · 0 not judged" in badge_svg(good)
    assert "#2e7d32" in badge_svg(good)
    assert "0 pass · 1 fail · 0 not judged" in badge_svg(bad)
    assert "#b3261e" in badge_svg(bad)
    assert "not judged" in badge_svg(none)
