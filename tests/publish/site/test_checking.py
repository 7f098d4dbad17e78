"""The check of a folder of pages finds what is wrong with it."""

from __future__ import annotations

from pathlib import Path

import pytest

from publish.site.checking import FRONT, faults


def found(tmp_path: Path, text: str, name: str = "a/page.html") -> list[str]:
    """The faults of a site with this page, another page and a file."""
    for file, content in ((name, text), ("other.html", "<p id=here>"), ("data.json", "{}")):
        (tmp_path / file).parent.mkdir(exist_ok=True)
        (tmp_path / file).write_text(content, encoding="utf-8")
    return list(faults(tmp_path))


@pytest.mark.parametrize(
    "text",
    [
        "<a href=../other.html>",
        '<a href="../other.html#here">',
        "<a href='../data.json'>",
        '<a href="https://example.org/">',
        '<p id="x"><a href="#x">',
        '<link rel="canonical" href="https://example.org/">',
        "<script>'<a href=\"nowhere.html\">'</script>",
    ],
)
def test_a_sound_link(tmp_path: Path, text: str) -> None:
    """To a page, an anchor, a file, another site; what a script holds is no link."""
    assert found(tmp_path, text) == []


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("<a href=gone.html>", "a/page.html: gone.html leads nowhere"),
        ("<a href='../../above.html'>", "a/page.html: ../../above.html leads nowhere"),
        ('<a href="../other.html#there">', "a/page.html: ../other.html#there leads to no anchor"),
        ('<a href="#there">', "a/page.html: #there leads to no anchor"),
        ('<img src="https://example.org/a.png">', "a/page.html: fetches https://example.org/a.png"),
        ('<script src="//example.org/a.js"></script>', "a/page.html: fetches //example.org/a.js"),
        ('<link rel="stylesheet" href="https://example.org/a.css">', "a/page.html: fetches https://example.org/a.css"),
        ('<form action="gone.html">', "a/page.html: gone.html leads nowhere"),
    ],
)
def test_a_fault_is_found(tmp_path: Path, text: str, fault: str) -> None:
    """Each in a sentence that names the page."""
    assert found(tmp_path, text) == [fault]


def test_a_front_page_that_is_too_large_is_found(tmp_path: Path) -> None:
    """It may hold less than the other pages."""
    large = "x" * (FRONT + 1)

    assert found(tmp_path, large, "index.html") == ["index.html: 300,001 bytes are more than 300,000"]
    assert found(tmp_path, "", "index.html") == []
    assert found(tmp_path, large) == []
