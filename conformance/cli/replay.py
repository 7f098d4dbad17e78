"""``conformance replay``: one case again, with every byte of its exchange."""

from __future__ import annotations

import sys
from pathlib import Path

import click
from rich.console import Console

from conformance.cli._common import corpus_option, target_option
from conformance.cli._one import deadline_option, put
from conformance.engine.session import Settings
from conformance.engine.transcript import transcript
from conformance.report.terminal import print_report


@click.command()
@click.argument("name", metavar="CASE")
@target_option
@click.option("--readers/--no-readers", default=True, show_default=True, help="Let real clients and decoders read.")
@deadline_option
@corpus_option
def command(*, name: str, target: str, readers: bool, deadline_multiplier: float, corpus: Path) -> None:
    """Put CASE (an id, or the path of a case file) to a target; print the whole exchange, then the verdicts.

    Exit status: 0 nothing unexpected, 1 findings, 2 unusable input.
    """
    settings = Settings(readers=readers, deadline_multiplier=deadline_multiplier)
    one = put(name, target=target, corpus=corpus, settings=settings)
    for line in transcript(one.view):
        click.echo(line)
    click.echo()
    print_report(Console(soft_wrap=True), one.result)
    sys.exit(1 if one.result.fails else 0)
