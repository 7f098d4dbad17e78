"""HTML pages from templates, with one environment that escapes every value and refuses undefined names.

A page is one file that fetches nothing. Its one script is the same in every page, and the page permits no other.
"""

from __future__ import annotations

import base64
import functools
import hashlib
import importlib.resources
import re
from collections.abc import Sequence
from typing import Any, Final

import jinja2
from markupsafe import Markup

from conformance.engine.events import Evidence, Line

__all__ = ["LARGEST", "page", "page_within", "script"]

LARGEST: Final = 500_000
"""The most bytes of a page, if leaving out evidence can bring it about: it opens at once on a phone."""
_LINES: Final = (40, 8, 0)
"""Lines of evidence for each finding, one after another until the page is small enough."""


@functools.cache
def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("conformance.report"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["joined"] = _joined
    environment.filters["around"] = _around
    return environment


def _around(evidence: Evidence, most: int) -> Sequence[Line]:
    """At most so many lines of evidence, around the first that is marked."""
    marked = next((place for place, line in enumerate(evidence.lines) if line.marked), 0)
    start = max(0, min(marked - most // 2, len(evidence.lines) - most))
    return evidence.lines[start : start + most]


@functools.cache
def script() -> str:
    """The script of every page."""
    return (importlib.resources.files("conformance.report") / "templates" / "page.js").read_text(encoding="utf-8")


def _joined(text: str) -> str:
    """The paragraphs of ``text``, each on one line: docstrings are wrapped, and a browser wraps by itself."""
    return re.sub(r"(?<!\n)\n(?!\n)", " ", text)


def page(template: str, **values: Any) -> str:
    """The template ``templates/TEMPLATE.html.j2`` filled with ``values``."""
    text = script()
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    # The text is ours and holds no end tag, so that it is the script, byte for byte, of which the digest is.
    own = {"script": Markup(text), "script_hash": f"sha256-{digest}"}  # noqa: S704
    return _environment().get_template(f"{template}.html.j2").render(**own, **values)


def page_within(template: str, **values: Any) -> str:
    """As :func:`page`, with ``most``, the lines of evidence for a finding: so many that the page is not too large."""
    made = ""
    for most in _LINES:
        made = page(template, most=most, **values)
        if len(made.encode("utf-8", "backslashreplace")) <= LARGEST:
            break
    return made
