"""The matrix as one self-contained HTML file, as a directory of pages and badges, as a Markdown
table.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from conformance.contain.text import many
from conformance.contract.wholecase import EXPLAINED
from conformance.disk.files import write_inside, write_whole
from conformance.report.escaping import in_markdown
from conformance.report.html import clause_anchor
from conformance.report.html import html as report_html
from conformance.report.matrixtable import CLAUSE_TEXTS, INDEX, LEGEND, Entry, Implementation, Matrix
from conformance.report.pages import Fill, page
from conformance.report.summary import Cell, section_of

__all__ = ["html", "markdown", "write_site"]

_LINES: Final = 40
"""Lines of evidence for each finding in a page that holds all."""
QUESTIONS: Final = (
    "A reader has two verdicts. *Conformance* is about legal input: it is read, and the rows are right. *Robustness* is"
    " about malformed input: the reader survives it and refuses it. The text of the format decides the first; its page"
    " on security recommends the second."
)
"""The sentences that explain the two verdicts on readers."""
Links = Mapping[str, Sequence[tuple[str, str]]]
"""Files as (text, relative address), by the implementation's slug."""


def html(
    matrix: Matrix,
    links: Links | None = None,
    *,
    texts: Callable[[str], str] | None = None,
    fill: Fill = page,
    title: str = "Implementations and clauses",
) -> str:
    """The page of ``matrix``; ``links`` are the files next to it, among them the page of each report.

    With such pages, a cell links to the evidence in the report's own page, and a clause to its text at the address that
    ``texts`` gives; otherwise all of that is in this page. ``fill`` fills the template.
    """
    pages = links is not None

    def address(entry: Entry) -> str:
        return f"{_page_of(entry.implementation)}#{clause_anchor(entry.clause)}" if pages else f"#{entry.anchor}"

    return fill(
        "matrix",
        title=title,
        matrix=matrix,
        links={item.slug: [] for item in matrix.implementations} if links is None else links,
        pages=pages,
        address=address,
        texts=texts or (lambda clause: f"{f'{CLAUSE_TEXTS}.html' if pages else ''}#{clause_anchor(clause)}"),
        most=_LINES,
        anchor=clause_anchor,
        clauses=EXPLAINED,
        section=section_of,
        questions=QUESTIONS.replace("*", "") if any(question for _, (question, _) in matrix.columns) else "",
        legend=LEGEND,
    )


def write_site(matrix: Matrix, path: Path) -> None:
    """Write the page to ``path``: a file whose name ends in ``.html``, or a directory, which also gets the reports'
    pages.

    In a directory each report has a page and a badge. The page with all implementations links to them, to the JSON
    reports in the same directory, and to a page with the texts of the clauses.
    """
    if path.suffix == ".html":
        write_whole(path, html(matrix))
        return
    links = {}
    for item in matrix.implementations:
        write_inside(path, _page_of(item), report_html(item.report))
        write_inside(path, f"{item.slug}.svg", item.badge)
        data = [("JSON", f"{item.slug}.json")] if (path / f"{item.slug}.json").exists() else []
        links[item.slug] = [("report", _page_of(item)), *data, ("badge", f"{item.slug}.svg")]
    write_inside(path, f"{INDEX}.html", html(matrix, links))
    write_inside(path, f"{CLAUSE_TEXTS}.html", page("clauses", matrix=matrix, anchor=clause_anchor, clauses=EXPLAINED))


def _page_of(item: Implementation) -> str:
    return f"{item.slug}.html"


def markdown(matrix: Matrix) -> str:
    """The matrix as Markdown: a summary of implementations, then chapters with the clauses that do not pass
    everywhere.
    """
    return "\n".join(_markdown(matrix)) + "\n"


def _markdown(matrix: Matrix) -> Iterator[str]:
    names = [in_markdown(item.report.run.target) for item in matrix.implementations]
    yield "# Implementations and clauses\n"
    yield "Each cell gives the clauses that pass, of those that the implementation owes.\n"
    if any(question for _, (question, _) in matrix.columns):
        yield f"{QUESTIONS}\n"
    titles = " | ".join(title for title, _ in matrix.columns)
    others = "distinct deviations | pass where judged | not judged | run time"
    yield f"| implementation | {titles} | {others} |"
    yield f"|---|{'--:|' * len(matrix.columns)}--:|--:|--:|--:|"
    for name, item in zip(names, matrix.implementations, strict=True):
        counts = " | ".join(_count(item.counted.get(key, Cell())) for _, key in matrix.columns)
        partly, blank = (
            sum(getattr(cell, name) for cell in item.counted.values()) for name in ("held_where_judged", "not_judged")
        )
        yield f"| {name} | {counts} | {len(item.failed)} | {partly} | {blank} | {item.report.seconds:.0f} s |"
    signs = ", ".join(f"{state.sign} {state.words}" for state in LEGEND)
    yield f"\n{signs}. Clauses that pass everywhere are counted in their chapter and not listed."
    for chapter in matrix.chapters:
        yield f"\n## {in_markdown(chapter.name)}\n"
        yield f"| clause | level | {' | '.join(names)} |"
        yield f"|---|---|{':-:|' * len(names)}"
        totals = " | ".join(f"**{_count(cell)}**" for cell in chapter.totals())
        yield f"| **{many(len(chapter.rows), 'clause')}** | | {totals} |"
        for row in chapter.rows:
            if not row.holds_everywhere:
                signs = " | ".join(entry.state.sign for entry in row.entries)
                yield f"| {_code(row.clause)} | {row.level.upper()} | {signs} |"


def _count(cell: Cell) -> str:
    return cell.share or "–"  # noqa: RUF001  # a dash for an empty cell


def _code(clause: str) -> str:
    """The id of a clause as code; an id of a foreign report that could end the code as plain text."""
    return in_markdown(clause) if re.search(r"[`|<\\]", clause) else f"`{clause}`"
