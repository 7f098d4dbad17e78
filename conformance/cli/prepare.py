"""``conformance prepare``: make the environment that a target needs to run, once."""

from __future__ import annotations

import click

from conformance.cli._common import target_option
from conformance.cli._progress import progress, quiet_option
from conformance.targets import load_target, prepare
from conformance.targets.environment import plan


@click.command()
@target_option
@click.option("--dry-run", is_flag=True, help="Only print what would be installed, and which clients are missing.")
@quiet_option
def command(*, target: str, dry_run: bool) -> None:
    """Make the environment that the target file describes: packages of Python, npm, Go, Maven and Rust, copied files.

    It is made in a directory of its own by the ordinary clients of the registries, with their own configuration; a
    second call does nothing. A run needs no network afterwards. Exit status: 0, or 2 with the reason.
    """
    spec = load_target(target)
    if dry_run:
        click.echo("\n".join(plan(spec)))
        return
    with progress(f"preparing {spec.name}"):
        prepare(spec)
    click.echo(f"{spec.name} is ready to run")
