"""``conformance freeze``: write this version's requirements to a file, or check them against that file."""

from __future__ import annotations

from pathlib import Path

import click

from conformance.cli._common import corpus_option
from conformance.cli._options import EXISTING, FILE
from conformance.contain.text import many
from conformance.disk.files import data_file
from conformance.engine.corpus import load_corpus
from conformance.engine.requirements import complaints, corpus_of, file_name, freeze, read_frozen, write_frozen
from conformance.engine.selection import all_clauses


@click.command()
@click.option("--check", "only_check", is_flag=True, help="Write nothing; exit with status 1 if anything differs.")
@click.option(
    "--file",
    "path",
    type=FILE,
    default=lambda: data_file("golden") / file_name(),
    show_default=f"golden/{file_name()}",
    help="File of the requirements.",
)
@click.option(
    "--since",
    metavar="FILE",
    type=EXISTING,
    help="The requirements of the previous version, for the first freeze of a new version.",
)
@corpus_option
def command(*, only_check: bool, path: Path, since: Path | None, corpus: Path) -> None:
    """Freeze this version's clauses and corpus: ids, levels, profiles, and removed clauses."""
    clauses, cases = all_clauses(), corpus_of(load_corpus(corpus).values())
    if not only_check:
        before = since or (path if path.exists() else None)
        write_frozen(freeze(clauses, cases, None if before is None else read_frozen(before)), path)
        click.echo(f"{many(len(clauses), 'clause')} frozen in {path}")
        return
    found = list(complaints(read_frozen(path), clauses, cases))
    for complaint in found:
        click.echo(complaint)
    if found:
        raise click.exceptions.Exit(1)
    click.echo(f"as frozen: {many(len(clauses), 'clause')}")
