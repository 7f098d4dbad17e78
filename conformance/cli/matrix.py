"""``conformance matrix``: reports of several implementations in one table."""

from __future__ import annotations

from pathlib import Path

import click

from conformance.cli._options import EXISTING, FILE, WrittenFile
from conformance.disk.files import write_whole
from conformance.engine.selection import all_clauses
from conformance.report.matrixtable import load_matrix
from conformance.report.site import markdown, write_site


@click.command()
@click.argument("reports", nargs=-1, required=True, type=EXISTING)
@click.option(
    "--html",
    metavar="DIR|FILE",
    type=WrittenFile(path_type=Path),
    help="Write a directory of linked pages, or one .html file.",
)
@click.option("--markdown", "markdown_", metavar="FILE", type=FILE, help="Write Markdown.")
def command(*, reports: tuple[Path, ...], html: Path | None, markdown_: Path | None) -> None:
    """Combine JSON REPORTS into one table of implementations and clauses, in which each cell leads to its evidence.

    \b
    conformance matrix reports/*.json --html reports
    conformance matrix mine.json theirs.json --markdown matrix.md

    In a directory every report gets a page NAME.html and a badge, and the cells of index.html link to the evidence
    in those pages. A single .html file contains everything. Without an option, Markdown is printed.
    """  # noqa: D301  # click wants the character, not the escape
    all_clauses()
    matrix = load_matrix(reports)
    if html is not None:
        write_site(matrix, html)
    if markdown_ is not None:
        write_whole(markdown_, markdown(matrix))
    if html is None and markdown_ is None:
        click.echo(markdown(matrix), nl=False)
