"""The command ``conformance``: one module per command, each imported only when it is called."""

from __future__ import annotations

from conformance.contain.early import interruptible

__all__ = ["main"]


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and exit with its status (``docs/exit-codes.md``)."""
    with interruptible():
        from conformance.cli._begin import begin  # noqa: PLC0415  # Ctrl-C may come while this is imported

        begin(arguments)
