"""What is wrong with a folder of pages: links and anchors that lead nowhere, files that are fetched from elsewhere,
pages that are too large.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from html import unescape
from pathlib import Path
from typing import Final
from urllib.parse import unquote, urlsplit

from conformance.report.pages import LARGEST

__all__ = ["FRONT", "faults"]

FRONT: Final = 300_000
"""The most bytes of the front page."""
NAMED: Final = ("canonical", "prev", "next", "edit", "alternate")
"""Relations of ``<link>`` that name a page without loading it."""
_ID: Final = re.compile(r"""<[a-zA-Z][^<>]*?\s(?:id|name)=("[^"]*"|'[^']*'|[^\s>"']+)""")
_TAG: Final = re.compile(r"<[a-zA-Z][^<>]*>")
_LEADING: Final = re.compile(r"""\s(href|src|action|srcset|poster)=("[^"]*"|'[^']*'|[^\s>"']+)""")
_SCRIPT: Final = re.compile(r"<(script|style)\b[^>]*>.*?</\1>", re.DOTALL)


def faults(folder: Path) -> Iterator[str]:
    """Each fault in a sentence that names the page."""

    @cache
    def anchors(path: Path) -> frozenset[str]:
        return frozenset(unescape(found.strip("\"'")) for found in _ID.findall(path.read_text(encoding="utf-8")))

    for page in sorted(folder.rglob("*.html")):
        name, text = page.relative_to(folder).as_posix(), page.read_text(encoding="utf-8")
        limit = FRONT if name == "index.html" else LARGEST
        if (size := page.stat().st_size) > limit:
            yield f"{name}: {size:,} bytes are more than {limit:,}"
        for link, fetched in sorted(_links(text)):
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                if fetched and parts.scheme != "data":
                    yield f"{name}: fetches {link}"
                continue
            place = (page.parent / unquote(parts.path)).resolve() if parts.path else page
            if not place.is_file() or not place.is_relative_to(folder.resolve()):
                yield f"{name}: {link} leads nowhere"
            elif parts.fragment and place.suffix == ".html" and unquote(parts.fragment) not in anchors(place):
                yield f"{name}: {link} leads to no anchor"


def _links(text: str) -> set[tuple[str, bool]]:
    """The addresses in a page, each with whether the browser fetches it by itself."""
    found = set()
    for tag in _TAG.findall(_SCRIPT.sub(lambda each: each[0].partition(">")[0] + ">", text)):
        element = tag[1:].split(None, 1)[0].rstrip("/>").lower()
        relation = re.search(r'\srel="?([a-z ]+)', tag)
        for _, value in _LEADING.findall(tag):
            only_named = element == "a" or (element == "link" and relation is not None and relation[1] in NAMED)
            found.add((unescape(value.strip("\"'")), not only_named))
    return found
