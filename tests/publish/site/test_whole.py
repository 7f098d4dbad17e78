"""The whole site: made from every published report, with the guides where mkdocs-material is installed."""

from __future__ import annotations

import importlib.util
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from publish.site.__main__ import make
from publish.site.checking import faults
from publish.site.published import Published
from tests.publish.site.looking import FIRST_SCREEN, WIDTHS, outside
from tests.report.browser import AXE, CHROMIUM, Browser

pytestmark = pytest.mark.slow(env="site")

GUIDES: Final = importlib.util.find_spec("material") is not None
KINDS: Final = (
    "index.html",
    "search.html",
    "servers/index.html",
    "storage-write/index.html",
    "flight/index.html",
    "readers/index.html",
    "serializers/index.html",
    "libraries/index.html",
    "servers/bqemulator-1.4.0.html",
    "readers/arrow-java.html",
    "storage-write/write-bqemulator-1.4.0.html",
    "flight/flight-sqlite-go.html",
    "writers/polars.html",
    "implementations/bqemulator.html",
    "implementations/pyarrow.html",
    "clauses/index.html",
    "clauses/framing.schema-without-end-of-stream.html",
    "clauses/reader.survives.html",
    "clients/index.html",
    "clients/queries.html",
    "clients/flight.html",
    "clients/bigquery-go.html",
    "clients/flight-rust.html",
    "drift/index.html",
    *(("docs/index.html", "docs/results.html", "docs/implementers.html", "docs/dev/hostile.html") if GUIDES else ()),
)
"""Pages of every kind, those with much on them first of all."""

needs_browser: Final = pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed")
needs_axe: Final = pytest.mark.skipif(not AXE.is_file(), reason=f"axe-core is not installed: {AXE} is missing")


@pytest.fixture(scope="module")
def site() -> Iterator[Path]:
    """The site as ``tox -e site`` makes it."""
    with tempfile.TemporaryDirectory() as name:
        make(Path(name) / "site", Published(), docs=GUIDES)
        yield Path(name) / "site"


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """One browser for all tests."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name, Browser(Path(name)) as opened:
        yield opened


def test_every_link_and_anchor_leads_somewhere(site: Path) -> None:
    """The front page has at most 300 kB and any other 500 kB; nothing is fetched from elsewhere."""
    assert list(faults(site)) == []


@needs_browser
@pytest.mark.parametrize("page", KINDS)
def test_no_element_is_wider_than_its_page(browser: Browser, site: Path, page: str) -> None:
    """From a small phone to a large screen; nothing is complained of, and nothing is asked of another host."""
    for width in WIDTHS:
        assert outside(browser, site / page, width) == [], width
        assert browser.complaints == []
        assert [one for one in browser.requests if not one.startswith(("file:", "data:"))] == []


@needs_browser
def test_the_first_finding_of_a_report_is_on_the_first_screen(browser: Browser, site: Path) -> None:
    """Of every report that fails."""
    first = "document.querySelector('.failed [data-item]')?.getBoundingClientRect().top"
    places = {}
    for result in Published().results:
        if any(one.outcome.fails_run for one in result.item.report.deviations):
            browser.open(site / result.page, width=1280)
            places[result.page] = browser.evaluate(first)

    assert len(places) > 30
    assert {page: place for page, place in places.items() if place is None or place > FIRST_SCREEN - 60} == {}


@needs_browser
@needs_axe
@pytest.mark.parametrize(("width", "dark"), [(1280, False), (390, True)])
@pytest.mark.parametrize("page", KINDS)
def test_axe_finds_nothing(browser: Browser, site: Path, page: str, width: int, *, dark: bool) -> None:
    """Light on a desktop, dark on a phone."""
    browser.open(site / page, width=width, dark=dark)

    assert browser.violations() == []


@needs_browser
@pytest.mark.skipif(not GUIDES, reason="mkdocs-material is not installed")
def test_the_guides_are_searched_from_disk(browser: Browser, site: Path) -> None:
    """A browser starts no worker there; a frame answers in its place."""
    browser.open(site / "docs" / "index.html")
    browser.evaluate(
        "(() => { const field = document.querySelector('.md-search__input'); field.focus(); field.value = 'mutant';"
        " field.dispatchEvent(new Event('keyup', { bubbles: true })); })()"
    )
    found = browser.evaluate(
        "new Promise(done => { const look = () => { const all = document.querySelectorAll('.md-search-result__item');"
        " all.length ? done(all.length) : setTimeout(look, 20); }; look(); })"
    )

    assert found > 3
    assert browser.complaints == []
