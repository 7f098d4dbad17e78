"""The frame of every page: one header with the same links and the search, and addresses relative to the page."""

from __future__ import annotations

import dataclasses
import functools
import posixpath
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import jinja2

from conformance.disk.files import write_whole
from conformance.report.pages import TEMPLATES, Fill, environment, page
from publish.generated import ROOT

__all__ = ["HEADER", "LIBRARIES", "Site", "clause_path", "repository"]

HEADER: Final = (
    ("Servers", "servers/index.html"),
    ("Flight", "flight/index.html"),
    ("Libraries", "libraries/index.html"),
    ("Clients", "clients/index.html"),
    ("Drift", "drift/index.html"),
    ("Docs", "docs/index.html"),
)
"""The links of the header."""

LIBRARIES: Final = ("readers", "writers", "serializers")
"""The folders of the boards about libraries, which one page of the header leads to."""


def clause_path(clause: str) -> str:
    """The page of a clause."""
    return f"clauses/{clause}.html"


@functools.cache
def repository() -> str:
    """The address of the repository; empty until it has one."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    addresses = project.get("urls", {})
    address = str(addresses.get("Source") or addresses.get("Homepage") or "").rstrip("/")
    return "" if "OWNER" in address else address


@functools.cache
def _templates() -> jinja2.Environment:
    """The site's own templates, and those of reports inside its frame."""
    own = jinja2.FileSystemLoader(Path(__file__).parent / "templates")
    loader = jinja2.ChoiceLoader([own, TEMPLATES, jinja2.PrefixLoader({"report": TEMPLATES})])
    return environment(loader, menu=HEADER, source=repository())


@dataclasses.dataclass(frozen=True, slots=True)
class Site:
    """The folder of the site, and the templates with its frame."""

    into: Path
    clauses: frozenset[str] = frozenset()
    """The clauses that have a page."""
    docs: bool = True
    """True if the site has the guides."""

    def fill(self, here: str, crumbs: Sequence[tuple[str, str]] = ()) -> Fill:
        """What fills the templates of the page ``here``; ``crumbs`` are links above its content."""

        def to(path: str) -> str:
            place, mark, anchor = path.partition("#")
            return f"{posixpath.relpath(place, posixpath.dirname(here) or '.')}{mark}{anchor}"

        def clause_page(clause: str) -> str:
            return to(clause_path(clause)) if clause in self.clauses else ""

        folder = here.partition("/")[0]
        surroundings = {
            "under": "libraries" if folder in LIBRARIES else folder,
            "to": to,
            "here": here,
            "crumbs": crumbs,
            "clause_page": clause_page,
            "guides": self.docs,
        }

        def fill(template: str, **values: Any) -> str:
            return page(template, among=_templates(), **surroundings, **values)

        return fill

    def write(self, here: str, text: str | bytes) -> None:
        """Write one file of the site."""
        write_whole(self.into / here, text)

    def show(self, here: str, template: str, *, crumbs: Sequence[tuple[str, str]] = (), **values: Any) -> None:
        """Write the page ``here``: a template of the site."""
        self.write(here, self.fill(here, crumbs)(template, **values))
