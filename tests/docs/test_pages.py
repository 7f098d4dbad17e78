"""The pages for readers: no refused word in their prose, descriptions that are up to date."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

import pytest

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


def test_every_attack_has_its_row() -> None:
    """The table was written with all of them."""
    page = table.FILE.read_text(encoding="utf-8")

    assert set(re.findall(r"^\| `([^`]+)` \|", page, re.MULTILINE)) == set(attacks())
