"""What comes before every command: standard streams, the garbage collector, the environment of libraries."""

from __future__ import annotations

import io
import signal
import sys
from typing import TYPE_CHECKING, TextIO

from conformance.cli._completing import complete, is_asked
from conformance.cli._group import cli
from conformance.contain.libraries import settle_libraries
from conformance.contain.limits import collect_seldom, release_large
from conformance.contain.supervised import open_standard_streams

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

__all__ = ["begin"]


class _Forgiving(io.FileIO):
    """A file in which a write that fails is as good as one that does not."""

    def write(self, data: ReadableBuffer, /) -> int:
        """Write what can be written."""
        try:
            return super().write(data)
        except OSError:
            return memoryview(data).nbytes


def _forgiving(stream: TextIO) -> TextIO:
    """Standard error, on a full disk too: what a command found decides its status, not whether a note of it was read.

    Where standard output cannot be written, what a command found is lost, and its status says so.
    """
    raw = _Forgiving(stream.fileno(), "wb", closefd=False)
    return io.TextIOWrapper(io.BufferedWriter(raw), stream.encoding, stream.errors, line_buffering=True)


def begin(arguments: list[str] | None) -> None:
    """Run the command line; see :func:`conformance.cli.main`."""
    signal.pthread_sigmask(signal.SIG_SETMASK, ())  # whoever started this may have blocked those that end it
    open_standard_streams()
    if sys.stdin is None:  # it was closed when Python started, and is /dev/null now
        sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115  # a descriptor, for the whole life
    stream = sys.stderr
    if isinstance(stream, io.TextIOWrapper) and stream is sys.__stderr__:
        sys.stderr = _forgiving(stream)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a report has more than ASCII, and a locale may have no more
    collect_seldom()
    release_large()
    settle_libraries()
    if is_asked():
        complete()
    cli.main(args=arguments, prog_name="conformance")
