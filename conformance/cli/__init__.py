"""The command ``conformance``: words to functions, one module per command, each loaded only when it is called."""

from __future__ import annotations

import sys

__all__ = ["main"]


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and exit with its status (``docs/exit-codes.md``)."""
    try:
        from conformance.cli._group import cli  # noqa: PLC0415  # click is an extra; without it we say so
    except ModuleNotFoundError as error:
        if error.name is None or error.name.startswith("conformance"):
            raise
        sys.stderr.write(
            f"Error: the command line needs {error.name}, which is not installed;"
            " install it with: pip install 'arrow-conformance[run]'\n"
        )
        sys.exit(2)
    cli.main(args=arguments, prog_name="conformance")
