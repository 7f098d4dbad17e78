"""The pages for readers: no refused word in their prose, a picture of a report, descriptions that are up to date."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

import pytest

from conformance.report.html import html
from conformance.report.reading import read_report
from publish import picture
from tests.docs.words import prose, uses
from tests.fixtures import ROOT
from tests.hostile import table
from tests.hostile.attack import attacks

README: Final = (ROOT / "README.md").read_text(encoding="utf-8")
MATRICES: Final = ("", "flight/", "readers/", "writers/")
GENERATED: Final = {"docs/clauses.md", *(f"reports/{folder}README.md" for folder in MATRICES)}
"""Pages that quote clauses and reports, whose words are those of the suite and of the software under test."""

PAGES: Final = [
    path
    for pattern in (
        "*.md",
        "docs/*.md",
        "docs/dev/*.md",
        "docs/examples/*",
        "cases/*.md",
        "golden/**/*.md",
        "targets/*.toml",
        "tox.ini",
    )
    for path in sorted(ROOT.glob(pattern))
    if path.suffix in {".md", ".toml", ".ini", ".py"} and path.relative_to(ROOT).as_posix() not in GENERATED
]
"""Every page and every configuration file that a user reads."""


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_a_page_is_in_plain_english(page: Path) -> None:
    """A page has none of the words that ``tests/docs/words.py`` refuses."""
    found = [f"line {use.line}: {use.found!r}: write {use.instead}" for use in uses(prose(page))]

    assert found == []


def test_the_readme_shows_a_report() -> None:
    """The picture exists, is a PNG image, and is small enough for a page that many people load."""
    (shown,) = re.findall(r"!\[[^\]]+\]\(([^)]+)\)", README)
    image = (ROOT / shown).read_bytes()

    assert (ROOT / shown).samefile(picture.PICTURED[2])
    assert image.startswith(b"\x89PNG\r\n")
    assert len(image) < 150_000


def test_the_picture_can_be_made_again() -> None:
    """The published report has the finding of the picture, and the page opens it."""
    report, clause, _ = picture.PICTURED

    page = picture.opened(html(read_report(Path(report))), clause)

    assert page.count("<details open") == 1
    assert page.index("<details open") < page.index(f'id="clause--{clause}"')


def test_a_picture_of_a_missing_finding_is_refused() -> None:
    """A wrong clause is an error, not a picture without a finding."""
    with pytest.raises(ValueError, match="a finding on body"):
        picture.opened("<html></html>", "body.missing")


def test_every_attack_has_its_row() -> None:
    """The table was written with all of them."""
    page = table.FILE.read_text(encoding="utf-8")

    assert set(re.findall(r"^\| `([^`]+)` \|", page, re.MULTILINE)) == set(attacks())
