"""A small site as a whole: its links, its sizes, hostile names in it, and how it looks in a browser."""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

import conformance
from publish.site.__main__ import make
from publish.site.checking import faults
from publish.site.frame import HEADER
from publish.site.front import FIRST, INSTALL
from publish.site.published import Published
from tests.fixtures import ROOT
from tests.publish.site.looking import outside
from tests.publish.site.samples import CLAUSES, EVIL, SERVER, small_site
from tests.report.browser import CHROMIUM, Browser
from tests.report.pages import ParsedPage

PAGES = (
    "index.html",
    "servers/index.html",
    f"servers/{SERVER}.html",
    "implementations/bqemulator.html",
    "readers/evil.html",
    "clauses/framing.schema-without-end-of-stream.html",
    "clients/index.html",
    "drift/index.html",
    "search.html",
)
"""One page of each kind."""


@pytest.fixture(scope="module")
def site() -> Iterator[Path]:
    """The small site."""
    with tempfile.TemporaryDirectory() as name:
        yield small_site(Path(name))


def test_every_link_and_anchor_leads_somewhere(site: Path) -> None:
    """Nothing is fetched from elsewhere, and no page is too large."""
    assert list(faults(site)) == []


def test_there_is_a_page_of_each_kind(site: Path) -> None:
    """Each report has its JSON file beside it, and clauses have pages."""
    assert [name for name in PAGES if not (site / name).exists()] == []
    assert (site / "servers" / f"{SERVER}.json").exists()
    assert (site / "readers" / "evil.json").exists()


def test_every_page_has_the_header_and_the_search(site: Path) -> None:
    """The same links, relative to the page; without guides there is no link to them."""
    for path in site.rglob("*.html"):
        text = path.read_text(encoding="utf-8")
        led = {(path.parent / link.partition("#")[0]).resolve() for link in ParsedPage(text).links}
        assert {site / place for _, place in HEADER if not place.startswith("docs/")} <= led, path
        action = f'action="{"../" * (len(path.relative_to(site).parts) - 1)}search.html"'
        assert (action in text) is (path != site / "search.html"), path


def words(page: Path) -> str:
    """The words of a page."""
    found = ParsedPage(page.read_text(encoding="utf-8")).texts
    return " ".join("".join(text for tag, text in found if tag not in ("script", "style")).split())


def made_by(site: Path) -> set[str]:
    """The suites that made the reports of the small site on implementations."""
    reports = (json.loads(path.read_text("utf-8")) for path in (site.parent / "reports").rglob("*.json"))
    return {one["run"]["suite"] for one in reports if "summary" in one}


def test_the_front_page_says_how_to_begin_and_what_it_shows(site: Path) -> None:
    """The commands are those of the README; the suites are those that made the reports, not that of now."""
    text = words(site / "index.html")
    readme = (ROOT / "README.md").read_text(encoding="utf-8")

    assert all(command in text and command in readme for command in (INSTALL, FIRST))
    assert f"Version {conformance.__version__}" in text
    suites = re.findall(r"suites ([\d.,a-z ]+): each report names its own\.", text)
    assert {suite for one in suites for suite in re.split(", | and ", one)} == made_by(site)
    assert (site / "files" / "CHANGELOG.md.html").exists()
    assert "OWNER" not in text


def test_readers_are_shown_by_inputs(site: Path) -> None:
    """Six clauses over thousands of inputs are no score."""
    for name in ("index.html", "libraries/index.html", "readers/index.html"):
        text = words(site / name)
        assert "5,410 of 5,818 read right · 1 with wrong rows · 0 crashes · 407 errors" in text, name
        assert "0 crashes, 3 hangs in 2,734 · 52 accepted that are to be refused" in text, name


@pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed")
def test_the_search_waits_for_a_word(site: Path) -> None:
    """Thousands of lines answer no question."""
    shown = "[...document.querySelectorAll('[data-item]')].filter(one => one.checkVisibility()).length"
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name, Browser(Path(name)) as browser:
        browser.open(site / "search.html")
        assert browser.evaluate(shown) == 0
        browser.evaluate(
            "(() => { const one = document.querySelector('select[data-by=kind]'); one.value = 'clause';"
            " one.dispatchEvent(new Event('change')); })()"
        )
        assert browser.evaluate(shown) == len(CLAUSES - {"case"})


def test_what_a_program_says_is_text(site: Path) -> None:
    """A name, a text and a title that are markup are shown as they are, on every page."""
    shown = 0
    for path in site.rglob("*.html"):
        text = path.read_text(encoding="utf-8")
        assert text.count("<script") == 1, path
        assert EVIL not in text, path
        shown += "&lt;script&gt;alert(1)" in text
    assert shown > 5


def test_a_clause_says_who_fails_it(site: Path) -> None:
    """Its page leads to the finding in the report, and names the mutant and the source."""
    text = (site / "clauses" / "framing.schema-without-end-of-stream.html").read_text(encoding="utf-8")

    assert f'href="../servers/{SERVER}.html#clause--framing.schema-without-end-of-stream"' in text
    assert "1 of 1 published implementations" in text
    assert "<code>schema.end-of-stream</code>" in text
    assert "arrow.proto" in text


def test_a_clause_that_no_report_has_judged_says_so(site: Path) -> None:
    """That nobody fails it would look better than the truth."""
    text = (site / "clauses" / "query-results.page-count-is-true.html").read_text(encoding="utf-8")

    assert "No report on this site judges it." in text
    assert "None of them." not in text


def test_a_report_leads_to_its_clauses(site: Path) -> None:
    """A clause with a page is a link, one without is not."""
    text = (site / "servers" / f"{SERVER}.html").read_text(encoding="utf-8")

    assert 'href="../clauses/framing.schema-without-end-of-stream.html"' in text
    assert 'href="../clauses/readers.find-the-values.html"' not in text


def test_drift_begins_with_the_decision(site: Path) -> None:
    """Before the versions, the legend and the table."""
    text = (site / "drift" / "index.html").read_text(encoding="utf-8")

    assert text.index("STOP: ") < text.index("14.0.2 →") < text.index("newly refused;") < text.index('class="changes"')


@pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed")
def test_no_element_is_wider_than_its_page(site: Path) -> None:
    """On a phone and on a desktop; nothing is complained of, and nothing but the page is asked for."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name, Browser(Path(name)) as browser:
        for page in PAGES:
            for width in (360, 1280):
                assert outside(browser, site / page, width) == [], (page, width)
                assert browser.complaints == [], page
                assert browser.requests == [(site / page).as_uri()]


@pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed")
def test_the_search_of_any_page_finds_a_clause(site: Path) -> None:
    """From disk: the form leads to the page of everything, which shows what has all words."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name, Browser(Path(name)) as browser:
        browser.open(site / "search.html")
        browser.ask("Page.navigate", url=f"{(site / 'search.html').as_uri()}?q=survives+reader")
        shown = "[...document.querySelectorAll('[data-item]')].filter(one => one.checkVisibility())"
        names = browser.evaluate(
            "new Promise(done => document.readyState === 'complete' ? done() : addEventListener('load', done))"
            f".then(() => {shown}.map(one => one.querySelector('a').textContent))"
        )

        assert names == ["reader.survives"]


def test_a_folder_with_other_things_is_left_as_it_is(tmp_path: Path) -> None:
    """The command makes its folder anew, and a wrong word must not cost a home directory."""
    (tmp_path / "index.html").write_text("mine")

    with pytest.raises(FileExistsError, match="expected an empty folder or a site"):
        make(tmp_path, Published())

    with pytest.raises(FileExistsError, match="expected an empty folder or a site"):
        make(tmp_path / "index.html", Published())

    assert (tmp_path / "index.html").read_text() == "mine"
