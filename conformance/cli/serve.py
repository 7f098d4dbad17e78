"""``conformance serve``: start the embedded reference server, or one of its mutants."""

from __future__ import annotations

import click

from conformance.cli._group import Unusable
from conformance.contain.text import unknown
from conformance.reference.__main__ import serve
from conformance.reference.mutants import FAULTY_SERVERS, MUTANTS


@click.command()
@click.option("--mutant", metavar="NAME", help="Serve with one named deviation from the contract.")
@click.option("--mutants", "list_mutants", is_flag=True, help="List the mutants and exit.")
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to bind.")
def command(*, mutant: str | None, list_mutants: bool, host: str) -> None:
    """Start the reference server on free ports, print them as JSON lines, and serve until interrupted."""
    names = (*MUTANTS, *FAULTY_SERVERS)
    if list_mutants:
        for name in names:
            click.echo(name)
        return
    if mutant is not None and mutant not in names:
        raise Unusable(unknown("mutant", mutant, names, "`conformance serve --mutants` lists them all"))
    serve(mutant=mutant, host=host, say=click.echo)
