"""What comes before every command: standard streams, the garbage collector, the environment of libraries."""

from __future__ import annotations

import io
import sys

from conformance.cli._group import cli
from conformance.contain.libraries import settle_grpc
from conformance.contain.limits import collect_seldom
from conformance.contain.supervised import open_standard_streams

__all__ = ["begin"]


def begin(arguments: list[str] | None) -> None:
    """Run the command line; see :func:`conformance.cli.main`."""
    open_standard_streams()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a report has more than ASCII, and a locale may have no more
    collect_seldom()
    settle_grpc()
    cli.main(args=arguments, prog_name="conformance")
