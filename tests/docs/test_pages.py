"""The pages for readers: no refused word in their prose, a picture of a report, descriptions that are up to date."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import pytest

from conformance.engine.corpus import load_corpus
from conformance.engine.selection import all_clauses
from conformance.reference.proven import proven_mutants
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
    """The pictures exist, are PNG images, and are small enough for a page that many people load."""
    shown = re.findall(r'src(?:set)?="([^"]+)"', README)

    assert {ROOT / one for one in shown} == set(picture.PICTURES)
    for image in (path.read_bytes() for path in picture.PICTURES):
        assert image.startswith(b"\x89PNG\r\n")
        assert len(image) < 150_000


def test_every_attack_has_its_row() -> None:
    """The table was written with all of them."""
    page = table.FILE.read_text(encoding="utf-8")

    assert set(re.findall(r"^\| `([^`]+)` \|", page, re.MULTILINE)) == set(attacks())


_MADE: Final = re.compile(r"<!-- made: \w+ -->.*?<!-- end -->|```.*?```", re.DOTALL)
_SHARE: Final = re.compile(r"\b\d[\d,]* of (?:the )?\d[\d,]* (?:(?:written|named) cases|clauses|mutants)\b")
_TOTAL: Final = re.compile(r"\b(\d{3,}) (?:written |named )?(cases|clauses|mutants)\b")


def counts_by_hand(text: str, totals: Mapping[str, int]) -> list[str]:
    """Shares and totals of the suite that a page has outside its generated parts, in a section without a date."""
    sections = re.split(r"(?m)^#+ .*$", _MADE.sub("", text))
    undated = [section for section in sections if not re.search(r"\d{4}-\d\d-\d\d", section)]
    shares = [share[0] for section in undated for share in _SHARE.finditer(section)]
    return shares + [one[0] for section in undated for one in _TOTAL.finditer(section) if int(one[1]) == totals[one[2]]]


TOTALS: Final = {
    "cases": len(load_corpus(protocol=None)),
    "clauses": len(all_clauses()),
    "mutants": len(proven_mutants()),
}


@pytest.mark.parametrize(
    "page", [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))], ids=lambda page: page.name
)
def test_a_count_is_generated_or_has_a_date(page: Path) -> None:
    """A number that grows with the suite comes from the suite, or the section says of which day it is."""
    if "made by `python -m publish.refresh`" in (text := page.read_text(encoding="utf-8")):
        return
    assert counts_by_hand(text, TOTALS) == []


def test_a_count_by_hand_is_found() -> None:
    """Outside the generated parts, in a section without a date."""
    totals = {"cases": 400, "clauses": 700, "mutants": 900}

    assert counts_by_hand("## A\n300 of 328 written cases.\n", totals) == ["300 of 328 written cases"]
    assert counts_by_hand("## A\nIt has 700 clauses, and 699 clauses.\n", totals) == ["700 clauses"]
    assert counts_by_hand("## A\nOn 2026-11-30: 300 of 328 written cases.\n", totals) == []
    assert counts_by_hand("## A\n<!-- made: b -->\n700 clauses\n<!-- end -->\n", totals) == []
