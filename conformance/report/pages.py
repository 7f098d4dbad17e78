"""HTML pages from templates, with one environment that escapes every value and refuses undefined names."""

from __future__ import annotations

import functools
import re
from typing import Any

import jinja2

__all__ = ["page"]


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
    return environment


def _joined(text: str) -> str:
    """The paragraphs of ``text``, each on one line: docstrings are wrapped, and a browser wraps by itself."""
    return re.sub(r"(?<!\n)\n(?!\n)", " ", text)


def page(template: str, **values: Any) -> str:
    """The template ``templates/TEMPLATE.html.j2`` filled with ``values``."""
    return _environment().get_template(f"{template}.html.j2").render(**values)
