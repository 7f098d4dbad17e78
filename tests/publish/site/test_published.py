"""What the site shows of the published reports."""

from __future__ import annotations

import posixpath

from publish.site.published import BOARDS, Published
from tests.fixtures import ROOT

PUBLISHED = Published()


def test_every_report_is_on_one_board() -> None:
    """Those in the folder of reports, and in its folders by role."""
    shown = [posixpath.normpath(f"./{one.board.folder}/{one.item.slug}.json") for one in PUBLISHED.results]
    folders = {board.folder for board in BOARDS}
    others = {"clients", "drift", "faults", "flight-clients", "mutation", "proof", "query-clients", "untrusted"}
    there = [
        path for folder in folders for path in (ROOT / "reports" / folder).glob("*.json") if path.stem not in others
    ]

    assert sorted(shown) == sorted(path.relative_to(ROOT / "reports").as_posix() for path in there)


def test_a_product_has_all_its_versions_and_roles() -> None:
    """By its name without the version and the role."""
    pages = {name: [one.page for one in product.results] for name, product in PUBLISHED.products.items()}

    assert pages["bqemulator"] == [
        *(f"servers/bqemulator-{version}.html" for version in ("1.0.0", "1.0.1", "1.4.0")),
        "storage-write/write-bqemulator-1.4.0.html",
    ]
    assert pages["pyarrow"] == [
        "flight/flight-pyarrow.html",
        "readers/pyarrow-validated.html",
        "readers/pyarrow.html",
        "writers/pyarrow.html",
        "serializers/pyarrow.html",
    ]
    assert PUBLISHED.products["sail"].page == "implementations/sail.html"


def test_a_server_says_how_it_is_started() -> None:
    """By its target file; a reader has none."""
    by_page = {one.page: one for one in PUBLISHED.results}

    text, content = PUBLISHED.target(by_page["servers/bqemulator-1.4.0.html"])
    assert content["start"]["command"][1] == "start"
    assert "bqemulator==1.4.0" in text
    assert PUBLISHED.target(by_page["readers/polars.html"]) == ("", {})
