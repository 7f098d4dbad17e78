"""``conformance list``: ids of cases, clauses or readers, one per line, for use in a pipe."""

from __future__ import annotations

import fnmatch
from pathlib import Path

import click

from conformance.cli._common import corpus_option
from conformance.engine.corpus import load_corpus
from conformance.engine.selection import all_clauses
from conformance.readers import READERS


@click.command(name="list")
@click.argument("what", type=click.Choice(["cases", "clauses", "readers"]), default="cases")
@click.option("--select", metavar="GLOB", default="*", help="List only ids that match.")
@corpus_option
def command(*, what: str, select: str, corpus: Path) -> None:
    """List the ids of the cases, clauses or readers, one per line, with their titles or levels.

    Exit status: 0, or 2 if nothing matches.
    """
    if what == "cases":
        rows = [(case.id, case.title) for case in load_corpus(corpus).values()]
    elif what == "readers":
        rows = [(reader.name, reader.title) for reader in READERS.values()]
    else:
        rows = [(clause.id, clause.level.value) for clause in all_clauses().values()]
    matching = [(name, text) for name, text in rows if fnmatch.fnmatchcase(name, select)]
    if not matching:
        raise click.UsageError(f"no {what[:-1]} matches {select!r}")
    width = max(len(name) for name, _ in matching)
    for name, text in matching:
        click.echo(f"{name:<{width}}  {text}")
