"""``conformance matrix``: reports of several implementations on one page."""

from __future__ import annotations

from pathlib import Path

import click

from conformance.cli._options import EXISTING, FILE
from conformance.disk.files import write_whole
from conformance.engine.selection import all_clauses
from conformance.report.matrix import load_matrix
from conformance.report.site import markdown, write_site


@click.command()
@click.argument("reports", nargs=-1, required=True, type=EXISTING)
@click.option(
    "--html",
    metavar="DIR|FILE",
    type=click.Path(path_type=Path),
    help="Write a folder of linked pages, or one .html file.",
)
@click.option("--markdown", "markdown_", metavar="FILE", type=FILE, help="Write Markdown.")
def command(*, reports: tuple[Path, ...], html: Path | None, markdown_: Path | None) -> None:
    """Lay JSON REPORTS side by side: implementations and clauses, each cell with its evidence.

    \b
    conformance matrix reports/*.json --html reports
    conformance matrix mine.json theirs.json --markdown matrix.md

    In a folder every report gets a page NAME.html and a badge, and the cells of index.html lead to the evidence in
    those pages; one .html file has all of it inside. Without an option the Markdown is printed.
    """  # noqa: D301  # click wants the character, not the escape
    all_clauses()
    matrix = load_matrix(reports)
    if html is not None:
        write_site(matrix, html)
    if markdown_ is not None:
        write_whole(markdown_, markdown(matrix))
    if html is None and markdown_ is None:
        click.echo(markdown(matrix), nl=False)
