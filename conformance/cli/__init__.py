"""The command ``conformance``: one module per command, each imported only when it is called."""

from __future__ import annotations

import os
import sys

from conformance.contain.early import interruptible

__all__ = ["main"]


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and exit with its status (``docs/exit-codes.md``)."""
    if os.environ.pop("PYTHONINSPECT", "") and not (sys.stdin and sys.stdin.isatty()):
        # Python would end with a traceback and its own status, whatever the command found, and nobody is there to ask.
        os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])  # noqa: S606  # itself, with its own arguments
    with interruptible():
        from conformance.cli._begin import begin  # noqa: PLC0415  # Ctrl-C may come while this is imported

        begin(arguments)
