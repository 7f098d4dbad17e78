"""``conformance golden``: write the golden message pairs anew, or say what differs from them."""

from __future__ import annotations

from pathlib import Path

import click

from conformance.engine.files import data_file
from conformance.reference.golden import check, pairs, regenerate


@click.command()
@click.option("--check", "only_check", is_flag=True, help="Write nothing; exit with status 1 where anything differs.")
@click.option(
    "--dir",
    "folder",
    type=click.Path(file_okay=False, path_type=Path),
    default=lambda: data_file("golden") / "bq-arrow",
    show_default="golden/bq-arrow",
    help="Where the pairs and their manifest stand.",
)
def command(*, only_check: bool, folder: Path) -> None:
    """Regenerate the golden message pairs, one for every BigQuery type and mode."""
    if not only_check:
        regenerate(folder)
        click.echo(f"{len(pairs())} pairs written to {folder}")
        return
    complaints = check(folder)
    for complaint in complaints:
        click.echo(complaint)
    if complaints:
        raise click.exceptions.Exit(1)
    click.echo(f"{len(pairs())} pairs are as they would be written now")
