"""The command ``conformance``: one module per command, each imported only when it is called."""

from __future__ import annotations

import io
import os
import sys

from conformance.cli._group import cli
from conformance.contain.limits import collect_seldom
from conformance.contain.supervised import open_standard_streams

__all__ = ["main"]


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and exit with its status (``docs/exit-codes.md``)."""
    open_standard_streams()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a report has more than ASCII, and a locale may have no more
    collect_seldom()
    # gRPC prints the text of a peer that hangs up, including escape sequences. It reads this variable when it is
    # imported.
    os.environ.setdefault("GRPC_VERBOSITY", "NONE")
    cli.main(args=arguments, prog_name="conformance")
