"""Links of the guides lead to the same things in the site."""

from __future__ import annotations

import re

import pytest

from publish.generated import ROOT
from publish.site.guides import CONFIGURED, Links, by_width, left_out, linked
from publish.site.published import Published

SOURCE = "https://github.com/someone/somewhere"
PUBLISHED = Published()
LINKS = Links(PUBLISHED, SOURCE)
CODE = f"{SOURCE}/blob/main"


@pytest.mark.parametrize(
    ("source", "link", "led"),
    [
        ("results.md", "../reports/bqemulator-1.4.0.json", "../servers/bqemulator-1.4.0.html"),
        ("results.md", "../reports/polars.json", "../serializers/polars.html"),
        ("results.md", "../reports/README.md", "../servers/index.html"),
        ("results.md", "../reports/flight/README.md", "../flight/index.html"),
        ("dev/testing.md", "../../reports/readers/README.md", "../../readers/index.html"),
        ("flight.md", "clauses.md#flight-info", "../clauses/index.html#flight-info"),
        ("faq.md", "clauses.md#errorsbad-parent-is-refused", "../clauses/errors.bad-parent-is-refused.html"),
        ("clients.md", "consequences.md#paths", "../clients/index.html"),
        ("query-results.md", "query-consequences.md", "../clients/queries.html"),
        ("clients.md", "flight-consequences.md", "../clients/flight.html"),
        ("faq.md", "../CONTRIBUTING.md#releases", f"{CODE}/CONTRIBUTING.md#releases"),
        ("dev/testing.md", "../../tox.ini", f"{CODE}/tox.ini"),
        ("faq.md", "terms.md#evidence", "terms.md#evidence"),
        ("faq.md", "https://example.org/clauses.md", "https://example.org/clauses.md"),
        ("faq.md", "#below", "#below"),
    ],
)
def test_a_link_is_rewritten(source: str, link: str, led: str) -> None:
    """To a page of the site, to the repository, or not at all."""
    assert LINKS.rewritten(f"see [this]({link}).\n", source) == f"see [this]({led}).\n"


@pytest.mark.parametrize(
    ("source", "link", "led", "file"),
    [
        ("faq.md", "../CONTRIBUTING.md#releases", "../files/CONTRIBUTING.md.html", "CONTRIBUTING.md"),
        ("dev/testing.md", "../../tox.ini", "../../files/tox.ini.html", "tox.ini"),
        ("clients.md", "examples/client", "../files/docs/examples/client/index.html", "docs/examples/client"),
        ("results.md", "disclosure/any.md", "../files/SECURITY.md.html", "SECURITY.md"),
        ("results.md", "../nowhere.md", "../index.html", ""),
    ],
)
def test_without_a_repository_a_file_has_a_page(source: str, link: str, led: str, file: str) -> None:
    """A link to an address that does not exist yet would be dead; what is not published leads to the reason."""
    links = Links(PUBLISHED, "")

    assert links.rewritten(f"see [this]({link}).\n", source) == f"see [this]({led}).\n"
    assert links.files == ({file} if file else set())


def test_columns_of_signs_are_narrow_and_those_of_sentences_wide() -> None:
    """By the cells below the head; a table without rows, or with other cells in a row, is left as it is."""
    head = "<table><thead><tr><th>found</th><th>1.0.0</th></tr></thead>"
    row = f"<tr><td>{'word ' * 20}</td><td>●</td></tr></table>"

    assert by_width(head + row) == (
        "<table><thead><tr><th class=prose>found</th><th class=mark>1.0.0</th></tr></thead>"
        f"<tr><td class=prose>{'word ' * 20}</td><td class=mark>●</td></tr></table>"
    )
    assert by_width(f"{head}</table>") == f"{head}</table>"
    assert by_width(f"{head}<tr><td>x</td></tr></table>") == f"{head}<tr><td>x</td></tr></table>"


def test_code_is_left_as_it_is() -> None:
    """Inside a fence nothing is a link."""
    text = "````\n```\n[a](../tox.ini)\n```\n````\n[a](../tox.ini)\n"

    assert LINKS.rewritten(text, "faq.md") == f"````\n```\n[a](../tox.ini)\n```\n````\n[a]({CODE}/tox.ini)\n"


def test_a_link_that_says_a_file_says_its_title() -> None:
    """A visitor of the site sees no files."""
    assert LINKS.rewritten("[faq.md](faq.md), [terms](terms.md#x)\n", "index.md").startswith(
        "[Questions](faq.md), [Terms]("
    )
    assert LINKS.rewritten("[dev/faults](dev/faults.md)\n", "index.md").startswith("[Faults")
    assert LINKS.rewritten("[the answers](faq.md)\n", "index.md") == "[the answers](faq.md)\n"


def test_reports_to_maintainers_are_not_published() -> None:
    """SECURITY.md keeps them inside the repository until they are sent."""
    assert left_out("disclosure/README.md")
    assert left_out("clauses.md")
    assert not left_out("index.md")


def test_the_id_of_a_clause_leads_to_its_page() -> None:
    """Unless it is a link already; other code is left as it is."""
    known, other = "<code>body.buffer-count</code>", "<code>pyarrow.ipc</code>"

    assert linked(f"<td>{known}, {other}</td>", "../") == (
        f"<td>{known}, {other}</td>".replace(known, f'<a href="../clauses/body.buffer-count.html">{known}</a>')
    )
    assert linked(f'<a href="x">the {known} of</a>', "../") == f'<a href="x">the {known} of</a>'


def test_an_option_stays_on_one_line() -> None:
    """A browser breaks a line behind each hyphen, and an option begins with two."""
    assert linked("<p><code>run --html x.html</code> --html</p>", "") == (
        '<p><code>run <span class="option">--html</span> x.html</code> --html</p>'
    )


def test_every_guide_is_in_the_navigation() -> None:
    """A guide that is left out is found by a search alone; one that is gone leaves a dead entry."""
    named = re.findall(r"(?m)^ +- (?:[^:\n]+: )?([\w/-]+\.md)$", CONFIGURED.read_text(encoding="utf-8"))
    guides = [
        path.relative_to(ROOT / "docs").as_posix()
        for folder in ("docs", "docs/dev")
        for path in (ROOT / folder).glob("*.md")
    ]

    assert sorted(named) == sorted(guide for guide in guides if not left_out(guide))
