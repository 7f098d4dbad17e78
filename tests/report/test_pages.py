"""Every page is one file that loads nothing, and is usable on a phone, in the dark, in print and without a script.

Their sources are checked everywhere; what a browser makes of them is checked where Chromium and axe-core are installed.
"""

from __future__ import annotations

import dataclasses
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from conformance.contract.clause import load_chapters
from conformance.engine.events import Evidence, Line
from conformance.records import Finding
from conformance.report import driftpages
from conformance.report.html import html
from conformance.report.matrixtable import load_matrix
from conformance.report.pages import LARGEST, page, script
from conformance.report.reading import read_report
from conformance.report.site import html as matrix_html
from conformance.report.site import write_site
from publish.emulators import TARGETS
from tests.fixtures import ROOT
from tests.report.browser import AXE, CHROMIUM, Browser
from tests.report.pages import ParsedPage, contrasts, faults
from tests.report.test_driftpages import DRIFT

load_chapters()
REPORTS: Final = ROOT / "reports"
PAGES: Final = ("bqemulator-1.4.0", "reference", "index", "clauses", "drift", "all-in-one")

needs_browser: Final = pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed")
needs_axe: Final = pytest.mark.skipif(not AXE.is_file(), reason=f"axe-core is not installed: {AXE} is missing")


@pytest.fixture(scope="module")
def site() -> Iterator[Path]:
    """The pages of the published reports, made by the code of now."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        matrix = load_matrix([REPORTS / f"{target}.json" for target in TARGETS])
        write_site(matrix, folder)
        small = load_matrix([REPORTS / "bqemulator-1.4.0.json"])
        (folder / "all-in-one.html").write_text(matrix_html(small), encoding="utf-8")
        driftpages.write_html(DRIFT, folder / "drift.html")
        yield folder


@pytest.mark.parametrize("name", PAGES)
def test_the_source_of_a_page_is_sound(site: Path, name: str) -> None:
    """It is well formed, loads nothing, runs our script alone, and names what it asks for and shows."""
    assert list(faults(ParsedPage((site / f"{name}.html").read_text(encoding="utf-8")))) == []


@pytest.mark.parametrize("name", [name for name in PAGES if name != "all-in-one"])
def test_a_page_opens_at_once(site: Path, name: str) -> None:
    """Also on a phone; only the page that somebody asked to hold everything may be larger."""
    assert (site / f"{name}.html").stat().st_size <= LARGEST


def test_a_report_with_much_evidence_shows_less_of_it() -> None:
    """The lines around the marked one stay as long as they fit; the page says what is missing and how to see it."""
    report = read_report(REPORTS / "bqemulator-1.4.0.json")
    finding = Finding("framing.x", "one", "two", start=0, end=4)
    lines = tuple(Line(4 * at, "00 " * 16, f"field {at}", "zero" * 20, marked=at == 500) for at in range(1000))
    evidence = Evidence(finding, "a message", lines)

    def with_evidence(count: int) -> str:
        items = [
            dataclasses.replace(one, evidence=evidence if at < count else None)
            for at, one in enumerate(report.deviations)
        ]
        return html(dataclasses.replace(report, deviations=tuple(items), causes=()))

    few, many = with_evidence(1), with_evidence(60)

    assert few.count("<td>field ") == 40
    assert "<td>field 500</td>" in few
    assert "960 of 1000 annotated lines are left out here; this command prints all bytes:" in few
    assert 0 < many.count("<td>field 500</td>") <= 60
    assert many.count("<td>field ") < 60 * 40
    assert len(many.encode()) <= LARGEST


@pytest.mark.parametrize(
    ("spoilt", "fault"),
    [
        ("<main>", "2 of <main>"),
        ("<img>", "<img> loads something"),
        ("<p onclick='x()'></p>", "<p onclick> is a script"),
        ("<input>", "<input> has no label"),
        ("<script>1</script>", "another script than ours"),
        ("</p>", "</p> closes nothing"),
        ("<h6></h6>", "h1 before h6"),
        ("<p id=a></p><p id=a></p>", "id a is there twice"),
        ('<a href="http://a">a</a>', "a link to http://a"),
        ("<table><th>a</th></table>", "<th> without a scope"),
    ],
)
def test_a_fault_of_a_page_is_found(spoilt: str, fault: str) -> None:
    """What the checks above would say of a page that has it."""
    made = matrix_html(load_matrix([])).replace("</h1>", f"</h1>{spoilt}")

    assert fault in list(faults(ParsedPage(made)))


def test_every_text_can_be_read() -> None:
    """4.5 to 1 or more, as WCAG 2.2 asks of texts (AA)."""
    made = list(contrasts(matrix_html(load_matrix([]))))

    assert {scheme for scheme, *_ in made} == {"light", "dark"}
    assert [one for one in made if one[3] < 4.5] == []


def test_the_script_holds_no_end_tag() -> None:
    """It would end there, and not be the script that the policy permits."""
    assert "</" not in script()
    assert page("clauses", matrix=load_matrix([]), anchor=str, clauses={}).count("</script>") == 1


# --- in a browser -----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """One browser for all tests."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name, Browser(Path(name)) as opened:
        yield opened


OPEN_ALL: Final = "document.querySelectorAll('details').forEach(one => { one.open = true })"
SHOWN: Final = "[...document.querySelectorAll('[data-item]')].filter(one => one.checkVisibility())"


@needs_browser
class TestBrowser:
    """What a browser makes of the pages."""

    @pytest.mark.parametrize("dark", [False, True])
    @pytest.mark.parametrize("width", [1280, 390])
    @pytest.mark.parametrize("name", PAGES)
    def test_a_page_loads_nothing_and_fits(
        self, browser: Browser, site: Path, name: str, width: int, *, dark: bool
    ) -> None:
        """No request but for the page, nothing in the console, nothing that scrolls sideways but inside its frame."""
        browser.open(site / f"{name}.html", width=width, dark=dark)
        browser.evaluate(OPEN_ALL)

        assert browser.requests == [(site / f"{name}.html").as_uri()]
        assert browser.complaints == []
        assert browser.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0

    @needs_axe
    @pytest.mark.parametrize(("width", "dark"), [(1280, False), (1280, True), (390, False), (390, True)])
    @pytest.mark.parametrize("name", ["bqemulator-1.4.0", "drift"])
    def test_axe_finds_nothing(self, browser: Browser, site: Path, name: str, width: int, *, dark: bool) -> None:
        """With all evidence open."""
        browser.open(site / f"{name}.html", width=width, dark=dark)
        browser.evaluate(OPEN_ALL)

        assert browser.violations() == []

    @needs_axe
    @pytest.mark.parametrize(("name", "dark"), [("index", False), ("clauses", True)])
    def test_axe_finds_nothing_in_large_pages(self, browser: Browser, site: Path, name: str, *, dark: bool) -> None:
        """Once each: they have the same few parts hundreds of times."""
        browser.open(site / f"{name}.html", width=390, dark=dark)

        assert browser.violations() == []

    @needs_axe
    def test_axe_finds_nothing_in_an_open_panel(self, browser: Browser, site: Path) -> None:
        """Of the page that holds everything."""
        browser.open(site / "all-in-one.html")
        browser.evaluate("location.hash = document.querySelector('.panel').id")
        browser.evaluate(
            "document.querySelector('.matrix-scroll').remove()"
        )  # it takes seconds, and is no part of this

        assert browser.evaluate("document.querySelector('.panel').checkVisibility()")
        assert browser.violations() == []

    @needs_axe
    def test_axe_finds_a_fault(self, browser: Browser, site: Path) -> None:
        """The check works."""
        browser.open(site / "drift.html")
        spoilt = "<input><p style=color:#ccc>hardly to be read"
        browser.evaluate(f"document.querySelector('h1').insertAdjacentHTML('afterend', {spoilt!r})")

        found = " ".join(browser.violations())

        assert "label (1)" in found
        assert "color-contrast (1)" in found

    def test_the_console_is_heard(self, browser: Browser, site: Path) -> None:
        """A script of another origin, or one that somebody wrote into the page, is refused, and that is seen."""
        browser.open(site / "drift.html")
        browser.evaluate("document.body.append(Object.assign(document.createElement('script'), { text: 'x = 1' }))")
        browser.evaluate("fetch('https://example.org/').catch(() => 0)")

        said = " ".join(browser.complaints)
        assert "Executing inline script violates" in said
        assert "Refused to connect" in said
        assert browser.evaluate("typeof x") == "undefined"

    def test_only_deviations_are_shown_on_demand(self, browser: Browser, site: Path) -> None:
        """Sections without one go, and come back."""
        browser.open(site / "bqemulator-1.4.0.html")
        before = browser.evaluate(f"{SHOWN}.length")
        deviating = browser.evaluate("document.querySelectorAll('[data-item=deviates]').length")

        browser.evaluate("document.querySelector('[type=checkbox]').click()")

        assert 0 < browser.evaluate(f"{SHOWN}.length") == deviating < before
        assert browser.evaluate("document.getElementById('held').checkVisibility()") is False
        assert browser.evaluate("document.querySelector('output').textContent") == f"{deviating} of {before} shown"
        browser.evaluate("document.querySelector('[type=checkbox]').click()")
        assert browser.evaluate(f"{SHOWN}.length") == before

    @pytest.mark.parametrize(("name", "words"), [("bqemulator-1.4.0", "compression zstd"), ("index", "FRAMING.")])
    def test_a_search_shows_what_has_all_words(self, browser: Browser, site: Path, name: str, words: str) -> None:
        """In any case."""
        browser.open(site / f"{name}.html")

        typed = f"Object.assign(document.querySelector('[type=search]'), {{ value: {words!r} }})"
        browser.evaluate(f"{typed}.dispatchEvent(new Event('input'))")

        texts = browser.evaluate(f"{SHOWN}.map(one => one.textContent.toLowerCase())")
        assert texts
        assert all(word in text for text in texts for word in words.lower().split())
        assert len(texts) < browser.evaluate("document.querySelectorAll('[data-item]').length")

    @pytest.mark.parametrize(
        ("order", "key"),
        [("clause", "one.dataset.clause"), ("level", "+one.dataset.level"), ("cases", "-one.dataset.cases")],
    )
    def test_deviations_are_put_in_order(self, browser: Browser, site: Path, order: str, key: str) -> None:
        """Within their section, and back to the order of the report."""
        browser.open(site / "bqemulator-1.4.0.html")
        keys = f"[...document.querySelectorAll('.failed [data-item]')].map(one => {key})"
        before = browser.evaluate(keys)

        chosen = "Object.assign(document.querySelector('select'), { value: %r }).dispatchEvent(new Event('change'))"
        browser.evaluate(chosen % order)

        assert browser.evaluate(keys) == sorted(before) != before
        browser.evaluate(chosen % "")
        assert browser.evaluate(keys) == before

    def test_a_table_is_sorted_by_a_column(self, browser: Browser, site: Path) -> None:
        """Up, then down, and numbers by their value."""
        browser.open(site / "bqemulator-1.4.0.html")
        head = "document.querySelectorAll('[data-sort].chapters thead th')[7]"
        values = "[...document.querySelectorAll('[data-sort].chapters tbody tr')].map(row => row.cells[7].textContent)"

        browser.evaluate(f"{head}.firstChild.click()")
        up, said = browser.evaluate(values), browser.evaluate(f"{head}.ariaSort")
        browser.evaluate(f"{head}.firstChild.click()")

        numbers = [int(value) for value in up if value.isdecimal()]
        assert (said, numbers) == ("ascending", sorted(numbers))
        assert next(value for value in browser.evaluate(values) if value.isdecimal()) == str(max(numbers))
        assert browser.evaluate(f"{head}.ariaSort") == "descending"

    def test_a_chapter_of_the_matrix_stays_above_its_clauses(self, browser: Browser, site: Path) -> None:
        """Whatever it is sorted by."""
        browser.open(site / "index.html")

        browser.evaluate("document.querySelectorAll('.matrix thead button')[4].click()")

        assert browser.evaluate(
            "[...document.querySelectorAll('.matrix tbody')].every(one => 'head' in one.rows[0].dataset)"
        )

    def test_a_link_opens_the_deviation_that_it_leads_to(self, browser: Browser, site: Path) -> None:
        """From the matrix, for one."""
        browser.open(site / "bqemulator-1.4.0.html")

        browser.evaluate("location.hash = document.querySelector('.failed dt[id]').id")
        browser.evaluate("new Promise(done => setTimeout(done))")

        assert browser.evaluate("document.querySelector('.failed dt[id]').closest('details').open") is True

    @pytest.mark.parametrize("name", PAGES)
    def test_everything_is_there_without_a_script(self, browser: Browser, site: Path, name: str) -> None:
        """But for the controls, which would do nothing."""
        browser.open(site / f"{name}.html", script=False)

        items = browser.evaluate("document.querySelectorAll('[data-item]').length")
        assert browser.evaluate(f"{SHOWN}.length") == items
        assert (
            browser.evaluate("[...document.querySelectorAll('.controls')].some(one => one.checkVisibility())") is False
        )

    @pytest.mark.parametrize("script", [True, False])
    def test_evidence_is_open_in_print(self, browser: Browser, site: Path, *, script: bool) -> None:
        """With the script, which opens it for browsers that need that, and by the style alone."""
        browser.open(site / "bqemulator-1.4.0.html", width=800, script=script)
        browser.media("print")

        if script:
            browser.evaluate("dispatchEvent(new Event('beforeprint'))")
            assert browser.evaluate("document.querySelector('details:not([open])')") is None
        rows = "[...document.querySelectorAll('.bytes tr, dl.facts dd')]"
        assert browser.evaluate(f"{rows}.every(one => one.getBoundingClientRect().height > 0)")
        assert browser.evaluate("document.querySelector('.controls').checkVisibility()") is False
        if script:
            browser.evaluate("dispatchEvent(new Event('afterprint'))")
            assert (
                browser.evaluate("document.querySelectorAll('details[open]').length") == 1
            )  # the first cause, as before
