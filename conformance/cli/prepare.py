"""``conformance prepare``: make the environment that a target needs to run, once."""

from __future__ import annotations

import click

from conformance.cli._common import target_option
from conformance.cli._progress import progress, quiet_option
from conformance.targets import load_target, prepare


@click.command()
@target_option
@quiet_option
def command(*, target: str) -> None:
    """Make the environment that the target file describes: a virtual environment, a Go binary, copied files.

    It is made in a directory of its own; a second call does nothing. Exit status: 0, or 2 with the reason.
    """
    spec = load_target(target)
    with progress(f"preparing {spec.name}"):
        prepare(spec)
    click.echo(f"{spec.name} is ready to run")
