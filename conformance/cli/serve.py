"""``conformance serve``: start the embedded reference server, or one of its mutants."""

from __future__ import annotations

import click

from conformance.cli._group import Unusable
from conformance.contain.text import unknown
from conformance.reference.__main__ import serve
from conformance.reference.mutants import FAULTY_SERVERS, MUTANTS, STACKED_WITH


@click.command()
@click.option("--mutant", metavar="NAME", help="Serve with a named deviation from the contract; + joins several.")
@click.option("--mutants", "list_mutants", is_flag=True, help="List the mutants and exit.")
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to bind.")
def command(*, mutant: str | None, list_mutants: bool, host: str) -> None:
    """Start the reference server on free ports, print them as JSON lines, and serve until interrupted."""
    names = (*MUTANTS, *FAULTY_SERVERS)
    if list_mutants:
        for name in names:
            click.echo(name)
        return
    for name in () if mutant is None else mutant.split(STACKED_WITH):
        if name not in names:
            raise Unusable(unknown("mutant", name, names, "`conformance serve --mutants` lists them all"))
    serve(mutant=mutant, host=host, say=click.echo)
