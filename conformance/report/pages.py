"""HTML pages from templates, with one environment that escapes every value and refuses undefined names."""

from __future__ import annotations

import functools
from typing import Any

import jinja2

__all__ = ["page"]


@functools.cache
def _environment() -> jinja2.Environment:
    return jinja2.Environment(
        loader=jinja2.PackageLoader("conformance.report"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def page(template: str, **values: Any) -> str:
    """The template ``templates/TEMPLATE.html.j2`` filled with ``values``."""
    return _environment().get_template(f"{template}.html.j2").render(**values)
