"""The guides: the Markdown files of ``docs/``, made into pages by mkdocs-material.

Links of Markdown lead to what a clone of the repository has. A hook rewrites them: a link to a report leads to its page
in the site, one to the clauses to theirs, one to a file of the code to the repository, or to a page with its text while
there is no address of the repository.
"""

from __future__ import annotations

import itertools
import posixpath
import re
import sys
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any, Final

from conformance.engine.selection import all_clauses
from publish.generated import ROOT
from publish.site.files import file_path, write_files
from publish.site.frame import HEADER, Site, clause_path, repository
from publish.site.front import Found
from publish.site.published import BOARDS, Published

__all__ = ["Links", "by_width", "left_out", "linked", "write_guides"]

CONFIGURED: Final = Path(__file__).with_name("mkdocs.yml")
LEFT_OUT: Final[Mapping[str, str]] = {
    "docs/clauses.md": "clauses/index.html",
    "docs/consequences.md": "clients/index.html",
    "docs/query-consequences.md": "clients/queries.html",
    "docs/flight-consequences.md": "clients/flight.html",
}
"""The guides that the site has as pages of its own."""
_MOVED: Final[Mapping[str, str]] = {
    **LEFT_OUT,
    "README.md": "index.html",
    "reports/README.md": "servers/index.html",
    "reports": "index.html",
    "reports/clients.json": "clients/index.html",
    "reports/query-clients.json": "clients/queries.html",
    "reports/flight-clients.json": "clients/flight.html",
    "reports/drift.json": "drift/index.html",
}
_LINK: Final = re.compile(r"(?<=\]\()(?P<path>[^)\s#]*)(?P<anchor>#[^)\s]*)?(?=\)|\s+\")")
_NAMED: Final = re.compile(r"\[(?P<text>[\w/-]+(\.md)?)\]\((?P<path>[\w/.-]+\.md)")
_CODE: Final = re.compile(r"<a\b.*?</a>|<code>([a-z][a-z0-9-]*\.[a-z0-9.-]+)</code>", re.DOTALL)
"""A link, or else code that may be the id of a clause."""
_INLINE: Final = re.compile(r"<code>[^<]*</code>")
_OPTION: Final = re.compile(r"(?<![\w-])(--[a-z][a-z-]*)")
_TABLE: Final = re.compile(r"<table>.*?</table>", re.DOTALL)
_ROW: Final = re.compile(r"<tr>.*?</tr>", re.DOTALL)
_CELL: Final = re.compile(r"<(?P<head>th|td)(?P<rest>(?=[ >])[^>]*)>(?P<text>.*?)</(?P=head)>", re.DOTALL)
_TAG: Final = re.compile(r"<[^>]*>")
MARK, PROSE = 3, 60
"""The most characters of a sign, and the fewest of a sentence, in the cells of a table."""
_FENCE: Final = re.compile(r"^(?: {0,8})(`{3,}|~{3,})")


class Links:
    """Where links of the guides lead in the site."""

    def __init__(self, published: Published, source: str | None = None) -> None:
        self.published = published
        self.source = repository() if source is None else source
        self.files: set[str] = set()
        """The files of the repository that were linked and need a page in the site."""

    @cached_property
    def moved(self) -> Mapping[str, str]:
        """The place in the site of each file of the repository that is there."""
        moved = dict(_MOVED)
        for board in BOARDS:
            moved.setdefault(posixpath.normpath(f"reports/{board.folder}/README.md"), f"{board.slug}/index.html")
        for result in self.published.results:
            file = posixpath.normpath(f"reports/{result.board.folder}/{result.item.slug}.json")
            moved[file] = result.page
        return moved

    @cached_property
    def headings(self) -> Mapping[str, str]:
        """The page of each clause, by the anchor of its heading in the list of all clauses: without the dots."""
        return {clause.replace(".", ""): clause_path(clause) for clause in all_clauses()}

    def rewritten(self, markdown: str, source: str) -> str:
        """The text of the guide ``source``, a path below ``docs``, with links for its place in the site."""
        lines, fence = [], ""
        for line in markdown.splitlines(keepends=True):
            if mark := _FENCE.match(line):
                fence = "" if fence and mark[1].startswith(fence) else fence or mark[1]
            if not fence and not mark:
                named = _NAMED.sub(lambda found: self._titled(found, source), line)
                line = _LINK.sub(lambda found: self._led(found, source), named)  # noqa: PLW2901  # with links rewritten
            lines.append(line)
        return "".join(lines)

    def _titled(self, found: re.Match[str], source: str) -> str:
        """A link whose text is the name of a guide's file, with the title of that guide."""
        path = ROOT / "docs" / posixpath.normpath(posixpath.join(posixpath.dirname(source), found["path"]))
        if path.name.removesuffix(".md") != posixpath.basename(found["text"]).removesuffix(".md") or not path.exists():
            return found[0]
        title = path.read_text(encoding="utf-8").partition("\n")[0].removeprefix("# ").strip()
        return f"[{title}]({found['path']}"

    def _led(self, found: re.Match[str], source: str) -> str:
        path, anchor = found["path"], found["anchor"] or ""
        if not path or re.match(r"[a-z][a-z0-9+.-]*:", path):
            return found[0]
        here = posixpath.dirname(f"docs/{source}")
        named = posixpath.normpath(posixpath.join(here, path))
        if named == "docs/clauses.md" and anchor[1:] in self.headings:
            return posixpath.relpath(self.headings[anchor[1:]], here)
        if named in self.moved:
            place = self.moved[named]
            kept = anchor if named in LEFT_OUT and anchor != "#paths" else ""
            return posixpath.relpath(place, here) + kept
        if named.startswith("docs/") and not left_out(named.removeprefix("docs/")):
            return found[0]
        return self._code(named, anchor, here)

    def _code(self, named: str, anchor: str, here: str) -> str:
        """The address of a file of the repository: there, or that of a page with its text."""
        if self.source:
            return f"{self.source}/blob/main/{named}{anchor}"
        if named.startswith("docs/disclosure/"):
            named = "SECURITY.md"  # which says why such a report is not published
        if not (page := file_path(named)):
            return posixpath.relpath("index.html", here)
        self.files.add(named)
        return posixpath.relpath(page, here)


def left_out(path: str) -> bool:
    """True for a file below ``docs`` that is no guide of the site: it has a page of its own, or must not be published.

    SECURITY.md keeps the reports to maintainers, in ``docs/disclosure``, inside the repository until they are sent.
    """
    return f"docs/{path}" in LEFT_OUT or path.startswith(("disclosure/", "examples/"))


def write_guides(site: Site, published: Published) -> Iterable[Found]:
    """Write the pages of the guides, and give what the search finds of them.

    Exits where mkdocs-material is not installed.
    """
    try:
        from mkdocs.commands.build import build  # noqa: PLC0415  # it is installed in one environment alone
        from mkdocs.config import load_config  # noqa: PLC0415
    except ImportError:
        sys.exit("expected mkdocs-material, which `tox -e site` installs; or give --no-docs")
    links, found = Links(published), list[Found]()
    config = load_config(str(CONFIGURED), docs_dir=str(published.root / "docs"), site_dir=str(site.into / "docs"))
    config.extra["header"] = HEADER
    config.plugins.events["files"].append(_without)
    config.plugins.events["page_markdown"].append(_rewriting(links))
    config.plugins.events["page_content"].append(_finding(found))
    build(config)
    write_files(site, links.files)
    (site.into / "docs" / "404.html").unlink(missing_ok=True)  # its links count from the root of a host
    return found


def _without(files: Any, **_: Any) -> Any:
    for file in [*files]:
        if left_out(file.src_uri):
            files.remove(file)
    return files


def _rewriting(links: Links) -> Callable[..., str]:
    def rewrite(markdown: str, *, page: Any, **_: Any) -> str:
        return links.rewritten(markdown, page.file.src_uri)

    return rewrite


def _finding(found: list[Found]) -> Callable[..., str]:
    def note(html: str, *, page: Any, **_: Any) -> str:
        place = f"docs/{page.url}"
        found.append(Found("guide", page.title, "", place))
        below = [item for item in _headings(page.toc) if item.level > 1]
        found.extend(Found("guide", f"{page.title}: {item.title}", "", f"{place}#{item.id}") for item in below)
        up = "../" * (place.count("/"))
        return by_width(linked(html, up).replace("<th></th>", "<td></td>"))  # a corner of a table is no head

    return note


def linked(html: str, up: str) -> str:
    """The text with a link behind the id of each clause; ``up`` leads to the root of the site."""

    def link(found: re.Match[str]) -> str:
        return f'<a href="{up}{clause_path(found[1])}">{found[0]}</a>' if found[1] in all_clauses() else found[0]

    return _CODE.sub(link, _whole_options(html))


def by_width(html: str) -> str:
    """The text with the class ``mark`` on cells of columns of single signs, and ``prose`` on those of sentences: on a
    phone the latter have the room.
    """
    return _TABLE.sub(lambda table: _classed(table[0]), html)


def _classed(table: str) -> str:
    rows = [[*_CELL.finditer(row[0])] for row in _ROW.finditer(table)]
    if len({len(row) for row in rows}) != 1 or len(rows) == 1:
        return table
    widths = [max(len(_TAG.sub("", cell["text"]).strip()) for cell in column) for column in zip(*rows[1:], strict=True)]
    named = ["mark" if width <= MARK else "prose" if width >= PROSE else "" for width in widths]
    columns = itertools.cycle(named)

    def marked(cell: re.Match[str]) -> str:
        name = next(columns)
        return f"<{cell['head']}{f' class={name}' if name else ''}{cell['rest']}>{cell['text']}</{cell['head']}>"

    return _CELL.sub(marked, table)


def _whole_options(html: str) -> str:
    """The text with each option in code kept on one line: a browser would break it behind its hyphens."""
    return _INLINE.sub(lambda code: _OPTION.sub(r'<span class="option">\1</span>', code[0]), html)


def _headings(items: Iterable[Any]) -> Iterable[Any]:
    for item in items:
        yield item
        yield from _headings(item.children)
