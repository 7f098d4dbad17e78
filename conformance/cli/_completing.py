"""A shell that asks for words (docs/ci.md): whatever is wrong with its line, no traceback gets between the keys."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Final

import click
from click.shell_completion import get_completion_class

from conformance.cli._group import Unusable, cli
from conformance.contain.text import safe

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["ASKED", "complete", "is_asked"]

ASKED: Final = "_CONFORMANCE_COMPLETE"
"""The variable in which click's scripts say what they want: ``bash_source``, ``zsh_complete``."""


def is_asked() -> bool:
    """True if a shell asks for its script or for words, and no command runs."""
    return bool(os.environ.get(ASKED))


def complete() -> None:
    """Print what the shell asks for, and end.

    A line that is no command line, such as one that begins with an unknown command, is completed by nothing: its user
    still types. A question that no shell asks, or an answer that cannot be printed, ends in one sentence and status 2.
    """
    if wrong := _no_question(os.environ):
        _refuse(wrong)
    try:
        cli.main(args=[], prog_name="conformance")
    except click.ClickException:
        sys.exit(0)
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # Python flushes it once more at its exit
        if isinstance(error, BrokenPipeError):
            sys.exit(2)
        _refuse(f"standard output: cannot be written: {error.strerror or error}")


def _no_question(environment: Mapping[str, str]) -> str:
    """A sentence if click cannot read what is asked, else empty."""
    asked = environment[ASKED]
    shell, _, what = asked.partition("_")
    known = get_completion_class(shell)
    if known is None or what not in ("source", "complete"):
        return f"{ASKED}: expected such as bash_source, zsh_source or fish_source, got {safe(asked, limit=60)!r}"
    if what == "source":
        return ""
    try:
        known(cli, {}, "conformance", ASKED).get_completion_args()
    except (KeyError, ValueError, IndexError):
        return (
            f"{ASKED}={asked}: expected COMP_WORDS and COMP_CWORD as the script of the shell sets them;"
            f" {ASKED}={shell}_source prints it"
        )
    return ""


def _refuse(sentence: str) -> None:
    Unusable(sentence).show()
    sys.exit(2)
