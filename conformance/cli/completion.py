"""``conformance completion``: the script with which a shell completes the commands and options of ``conformance``."""

from __future__ import annotations

from typing import Final

import click
from click.shell_completion import get_completion_class

from conformance.cli._completing import ASKED
from conformance.cli._group import cli

SHELLS: Final = ("bash", "zsh", "fish")


@click.command()
@click.argument("shell", metavar="SHELL", type=click.Choice(SHELLS))
def command(*, shell: str) -> None:
    """Print the script with which a shell completes commands and options.

    SHELL is bash, zsh or fish. Write the script once to a file, and let the shell read it at its start.

    \b
    conformance completion bash > ~/.conformance-complete.bash
        and in ~/.bashrc: . ~/.conformance-complete.bash
    conformance completion fish > ~/.config/fish/completions/conformance.fish
    """  # noqa: D301  # click wants the character, not the escape
    made = get_completion_class(shell)
    assert made is not None, "click has these shells"
    click.echo(made(cli, {}, "conformance", ASKED).source())
