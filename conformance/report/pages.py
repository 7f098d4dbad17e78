"""HTML pages from templates, with one environment that escapes every value and refuses undefined names.

A page is one file that fetches nothing. Its one script is the same in every page, and the page permits no other.
"""

from __future__ import annotations

import base64
import functools
import hashlib
import importlib.resources
import re
from collections.abc import Callable, Sequence
from typing import Any, Final
from urllib.parse import quote

import jinja2
from markupsafe import Markup, escape

from conformance.engine.events import Evidence, Line
from conformance.report.readings import readings
from conformance.report.summary import Cell

__all__ = ["LARGEST", "TEMPLATES", "Fill", "environment", "page", "page_within", "script"]

LARGEST: Final = 500_000
"""The most bytes of a page, if leaving out evidence can bring it about: it opens at once on a phone."""
_LINES: Final = (40, 8, 0)
"""Lines of evidence for each finding, one after another until the page is small enough."""
_CODE: Final = re.compile(r"``?([^`\n]+?)``?")

Fill = Callable[..., str]
"""What fills a template: :func:`page`, or a function of the same arguments that puts the page into a site."""
TEMPLATES: Final = jinja2.PackageLoader("conformance.report")


def environment(loader: jinja2.BaseLoader, **names: Any) -> jinja2.Environment:
    """An environment that escapes every value and refuses undefined names, with ``names`` known in every template.

    Its ``clause_page`` gives the address of a clause's own page; it is empty unless a site has such pages.
    """
    made = jinja2.Environment(
        loader=loader, autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    made.filters["joined"] = _joined
    made.filters["around"] = _around
    made.filters["prose"] = _prose
    made.filters["shade"] = _shade
    made.filters["quoted"] = _quoted
    made.filters["readings"] = readings
    made.globals.update({"clause_page": _no_page, **names})
    return made


def _no_page(_clause: str) -> str:
    return ""


@functools.cache
def _own() -> jinja2.Environment:
    return environment(TEMPLATES)


def _around(evidence: Evidence, most: int) -> Sequence[Line]:
    """At most so many lines of evidence, around the first that is marked."""
    marked = next((place for place, line in enumerate(evidence.lines) if line.marked), 0)
    start = max(0, min(marked - most // 2, len(evidence.lines) - most))
    return evidence.lines[start : start + most]


@functools.cache
def script() -> str:
    """The script of every page."""
    return (importlib.resources.files("conformance.report") / "templates" / "page.js").read_text(encoding="utf-8")


def _shade(cell: Cell) -> str:
    """The class of a cell of a heat map: the more of its judged clauses fail, the higher the number."""
    failed, judged = cell.failed + cell.expected, cell.total - cell.not_judged
    if failed:
        return f"heat{min(3, 1 + 4 * failed // judged)}"
    return "heat0" if judged else "unjudged" if cell.total else "none"


def _quoted(text: str) -> str:
    """``text`` as a part of an address, whatever a foreign report holds."""
    return quote(text, errors="replace")


def _prose(text: str) -> Markup:
    """The paragraphs of a docstring, with what stands between backticks as code."""
    code = _CODE.sub(r"<code>\1</code>", str(escape(_joined(text))))
    return Markup(code)  # noqa: S704  # escaped before


def _joined(text: str) -> str:
    """The paragraphs of ``text``, each on one line: docstrings are wrapped, and a browser wraps by itself."""
    return re.sub(r"(?<!\n)\n(?!\n)", " ", text)


def page(template: str, *, among: jinja2.Environment | None = None, **values: Any) -> str:
    """The template ``TEMPLATE.html.j2`` filled with ``values``, of this package or of ``among``."""
    text = script()
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    # The text is ours and holds no end tag, so that it is the script, byte for byte, of which the digest is.
    own = {"script": Markup(text), "script_hash": f"sha256-{digest}"}  # noqa: S704
    return (among or _own()).get_template(f"{template}.html.j2").render(**own, **values)


def page_within(template: str, *, fill: Fill = page, **values: Any) -> str:
    """As ``fill``, with ``most``, the lines of evidence for a finding: so many that the page is not too large."""
    made = ""
    for most in _LINES:
        made = fill(template, most=most, **values)
        if len(made.encode("utf-8", "backslashreplace")) <= LARGEST:
            break
    return made
