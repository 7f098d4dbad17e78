"""The matrix as pages: one self-contained HTML file without a script, badges, and a Markdown table."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from conformance.contract.clause import CLAUSES
from conformance.disk.files import write_whole
from conformance.records import Level
from conformance.report.matrix import LEGEND, Matrix
from conformance.report.pages import page
from conformance.report.summary import Cell

__all__ = ["html", "markdown", "write_site"]

INDEX: Final = "index.html"


def html(matrix: Matrix, links: dict[str, list[tuple[str, str]]] | None = None) -> str:
    """The page of ``matrix``; ``links`` are further pages (words, relative address) by the implementation's slug."""
    return page("matrix", matrix=matrix, links=links or {}, clauses=CLAUSES, levels=list(Level), legend=LEGEND)


def write_site(matrix: Matrix, path: Path) -> None:
    """Write the page to ``path``: a file whose name ends in ``.html``, or a folder, which gets the badges too.

    In a folder the page links the reports that stand beside it.
    """
    if path.suffix == ".html":
        write_whole(path, html(matrix))
        return
    links: dict[str, list[tuple[str, str]]] = {}
    for item in matrix.implementations:
        write_whole(path / f"{item.slug}.svg", item.badge)
        files = {"report": f"{item.slug}.html", "JSON": f"{item.slug}.json", "badge": f"{item.slug}.svg"}
        links[item.slug] = [(words, name) for words, name in files.items() if (path / name).exists()]
    write_whole(path / INDEX, html(matrix, links))


def markdown(matrix: Matrix) -> str:
    """The matrix as Markdown: a summary of implementations, then chapters with the clauses that hold not everywhere."""
    return "\n".join(_markdown(matrix)) + "\n"


def _markdown(matrix: Matrix) -> Iterator[str]:
    names = [item.report.run.target for item in matrix.implementations]
    yield "# Implementations and clauses\n"
    yield "Passed of judged clauses; a clause counts once, under its worst outcome.\n"
    yield "| implementation | MUST | SHOULD | MAY | distinct deviations | not judged | run time |"
    yield "|---|--:|--:|--:|--:|--:|--:|"
    for name, item in zip(names, matrix.implementations, strict=True):
        counts = " | ".join(_count(item.levels[level]) for level in Level)
        blank = sum(cell.not_judged for cell in item.levels.values())
        yield f"| {_text(name)} | {counts} | {len(item.failed)} | {blank} | {item.report.seconds:.0f} s |"
    signs = ", ".join(f"{state.sign} {state.words}" for state in LEGEND)
    yield f"\n{signs}. Clauses that hold everywhere are counted with their chapter and not listed."
    for chapter in matrix.chapters:
        yield f"\n## {chapter.name}\n"
        yield f"| clause | level | {' | '.join(map(_text, names))} |"
        yield f"|---|---|{':-:|' * len(names)}"
        totals = " | ".join(f"**{_count(cell)}**" for cell in chapter.totals())
        yield f"| **{len(chapter.rows)} clauses** | | {totals} |"
        for row in chapter.rows:
            if not row.holds_everywhere:
                signs = " | ".join(entry.state.sign for entry in row.entries)
                yield f"| `{row.clause}` | {row.level.upper()} | {signs} |"


def _count(cell: Cell) -> str:
    return f"{cell.passed}/{cell.judged}" if cell.judged else "–"  # noqa: RUF001  # a dash for nothing


def _text(text: str) -> str:
    return text.replace("|", "\\|")
