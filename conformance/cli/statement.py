"""``conformance statement``: the page that a vendor signs."""

from __future__ import annotations

from pathlib import Path

import click

from conformance.cli._group import Unusable
from conformance.cli._options import EXISTING, FILE
from conformance.cli._statements import logs_option, material
from conformance.contain.text import safe
from conformance.disk.files import write_whole
from conformance.engine.selection import all_clauses
from conformance.report.disagreements import disagreements, stated
from conformance.report.statementpage import html, markdown


@click.command()
@click.argument("report", type=EXISTING)
@logs_option
@click.option("--markdown", "markdown_", metavar="FILE", type=FILE, help="Write Markdown to a file.")
@click.option("--html", "html_", metavar="FILE", type=FILE, help="Write an HTML page for printing.")
def command(*, report: Path, logs: tuple[Path, ...], markdown_: Path | None, html_: Path | None) -> None:
    """Write a statement on the run of the JSON REPORT: what was judged, what was not and why, and every digest.

    \b
    conformance run --target mine.toml --json report.json
    conformance statement report.json --markdown statement.md --html statement.html
    conformance verify statement.md

    The log of the run is found in .conformance, unless --log names it. Without an option, Markdown is printed.
    A statement that `conformance verify` would refuse is not written.

    Exit status: 0 written, also if the run failed; 1 the report, the log and the suite disagree; 2 unusable input.
    """  # noqa: D301  # click wants the character, not the escape
    for path in (report, *logs):
        if safe(path.name) != path.name:
            raise Unusable(f"{path}: expected a name in UTF-8 without control characters; a page cannot show another")
    all_clauses()
    found = material(report, logs)
    statement = stated(found)
    if said := list(disagreements(statement, found)):
        for sentence in said:
            click.echo(sentence)
        raise click.exceptions.Exit(1)
    if markdown_ is not None:
        write_whole(markdown_, markdown(statement))
    if html_ is not None:
        write_whole(html_, html(statement))
    if markdown_ is None and html_ is None:
        click.echo(markdown(statement), nl=False)
