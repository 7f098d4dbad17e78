"""A page as its source says it, without a browser: what is open, linked, labelled and loaded, and its colours."""

from __future__ import annotations

import base64
import hashlib
import itertools
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from typing import Final

from conformance.report.pages import script

__all__ = ["ParsedPage", "contrasts", "faults", "visible"]

VOID: Final = frozenset({"meta", "br", "rect", "input"})
"""Elements of our pages that have no end tag, or that the badge closes at once."""
LOADING: Final = frozenset(
    {"src", "srcset", "data", "action", "poster", "background", "formaction", "ping", "manifest"}
)
"""Attributes with which an element fetches something."""


class ParsedPage(HTMLParser):
    """The elements of a page, with what they are inside."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.source = text
        self.open: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None], tuple[str, ...]]] = []
        """Each element with its attributes and the names of those that it is inside of."""
        self.texts: list[tuple[str, str]] = []
        """Each text with the element that it is in."""
        self.wrong: list[str] = []
        """End tags in the wrong place."""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note the element."""
        self.elements.append((tag, dict(attrs), tuple(self.open)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        """Close what is open."""
        if tag not in VOID and (not self.open or self.open.pop() != tag):
            self.wrong.append(tag)

    def handle_data(self, data: str) -> None:
        """Note the text."""
        self.texts.append((self.open[-1] if self.open else "", data))

    def values(self, attribute: str) -> list[str]:
        """The values of one attribute, in the order of the page."""
        return [value for _, attributes, _ in self.elements if (value := attributes.get(attribute))]

    @property
    def ids(self) -> list[str]:
        """The ids, without that of the shape inside every badge."""
        return [value for value in self.values("id") if value != "r"]

    @property
    def links(self) -> list[str]:
        """Where its links lead."""
        return self.values("href")

    @property
    def scripts(self) -> list[str]:
        """The scripts of the page."""
        return [text for tag, text in self.texts if tag == "script"]


def visible(text: str) -> str:
    """The words of a page that has no fault."""
    page = ParsedPage(text)
    assert list(faults(page)) == []
    return re.sub(r"\s+", " ", " ".join(part for tag, part in page.texts if tag not in ("script", "style")))


def faults(page: ParsedPage) -> Iterator[str]:
    """What is wrong with a page by its source alone: its form, what it loads and runs, what it does not name."""
    yield from (f"</{tag}> closes nothing" for tag in page.wrong)
    yield from (f"<{tag}> stays open" for tag in page.open)
    yield from (f"id {one} is there twice" for one in {one for one in page.ids if page.ids.count(one) > 1})
    for tag, attributes, inside in page.elements:
        yield from (f"<{tag} {name}> loads something" for name in LOADING & set(attributes))
        yield from (f"<{tag} {name}> is a script" for name in attributes if name.startswith("on"))
        if tag in ("link", "iframe", "img", "object", "embed", "base"):
            yield f"<{tag}> loads something"
        if tag in ("input", "select") and "label" not in inside:
            yield f"<{tag}> has no label"
        if tag == "th" and "scope" not in attributes:
            yield "<th> without a scope"
        if tag == "a" and not (attributes.get("href") or "").startswith(("#", "https://")) and "://" in str(attributes):
            yield f"a link to {attributes['href']}"
        if attributes.get("class") == "wide" and attributes.get("tabindex") != "0":
            yield "a part that scrolls and that no key reaches"
    if page.scripts != [script()]:
        yield "another script than ours"
    digest = base64.b64encode(hashlib.sha256(script().encode()).digest()).decode()
    if f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'" not in page.source:
        yield "a policy that permits more than our script"
    if re.search(r"url\(|@import", "".join(text for tag, text in page.texts if tag == "style")):
        yield "a style that loads something"
    names = [tag for tag, _, inside in page.elements if "svg" not in inside]
    yield from (f"{names.count(tag)} of <{tag}>" for tag in ("html", "main", "h1", "title") if names.count(tag) != 1)
    levels = [int(tag[1]) for tag in names if re.fullmatch(r"h\d", tag)]
    yield from (f"h{one} before h{other}" for one, other in itertools.pairwise(levels) if other > one + 1)


# --- colours ----------------------------------------------------------------------------------------

PAIRS: Final = (
    *((ink, paper) for ink in ("ink", "soft", "info", "bad", "good") for paper in ("paper", "card", "code")),
    *(("bad", "bad-bg"), ("good", "good-bg"), ("warn", "warn-bg"), ("none", "none-bg"), ("none", "card")),
    *(("ink", "mark"), ("ink", "bad-bg"), ("ink", "warn-bg"), ("paper", "bad")),
)
"""Colours of texts, each with one of the colours behind them."""


def contrasts(text: str) -> Iterator[tuple[str, str, str, float]]:
    """The contrast of each pair of colours in light and dark, as WCAG 2.2 defines it: (scheme, text, behind, ratio)."""
    light, _, dark = text.partition("@media (prefers-color-scheme: dark)")
    first = _colours(light)
    for scheme, colours in (("light", first), ("dark", first | _colours(dark.partition("\n}")[0]))):
        for ink, behind in PAIRS:
            bright, dim = sorted((_luminance(colours[ink]), _luminance(colours[behind])), reverse=True)
            yield scheme, ink, behind, (bright + 0.05) / (dim + 0.05)


def _colours(text: str) -> dict[str, str]:
    return dict(re.findall(r"--([a-z-]+): #([0-9a-f]{3,6})\b", text))


def _luminance(colour: str) -> float:
    colour = "".join(2 * one for one in colour) if len(colour) == 3 else colour
    parts = [int(colour[at : at + 2], 16) / 255 for at in (0, 2, 4)]
    red, green, blue = (one / 12.92 if one <= 0.04045 else ((one + 0.055) / 1.055) ** 2.4 for one in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
