"""Find and read the files that a statement rests on: a report, and the logs of its run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import click

from conformance.cli._group import Unusable
from conformance.cli._options import EXISTING
from conformance.engine.events import CLIENT_PROFILE, READ_PROFILE, WRITE_PROFILE, RunStarted
from conformance.engine.log import LogError, read_log
from conformance.engine.selection import NO_ROW
from conformance.engine.session import STATE
from conformance.report.disagreements import Material
from conformance.report.reading import read_report
from conformance.report.statementnumbers import file_digest

__all__ = ["logs_option", "material"]

logs_option = click.option(
    "--log",
    "logs",
    metavar="FILE",
    multiple=True,
    type=EXISTING,
    help="The event log of the run; once for each shard, if the report is on several.",
)


def material(report: Path, logs: Sequence[Path]) -> Material:
    """The contents of the files; without ``logs``, of the log in the current directory from which the report was made.

    Raises:
        Unusable: the run is not one on which there are statements, or there is no such log.
        ReportError, LogError, OSError: a file cannot be read.
    """
    read = read_report(report)
    if read.run.profile in (READ_PROFILE, WRITE_PROFILE, CLIENT_PROFILE):
        raise Unusable(f"{report}: expected the report of a run on a target, but it is on a reader or a writer")
    if not read.run.provenance.began:
        raise Unusable(
            f"{report}: expected a report with date and digests, but an older suite made it; run the target again"
        )
    if any(left.reason.startswith(NO_ROW) for left in read.run.left_out):
        raise Unusable(f"{report}: expected a run that judged its cases, but no row came, so it ended before them")
    paths = logs or [_log_of(read.run, report)]
    events = tuple(tuple(read_log(path)) for path in paths)
    return Material(read, file_digest(report), events, tuple(map(file_digest, paths)))


def _log_of(run: RunStarted, report: Path) -> Path:
    for path in sorted(STATE.glob("*.jsonl")):
        if _first(path) == run:
            return path
    raise Unusable(f"{report}: expected the log of its run in {STATE}, and found none; name it with --log")


def _first(path: Path) -> RunStarted | None:
    events: Iterator[object] = read_log(path)
    try:
        first = next(events, None)
    except (LogError, OSError):
        return None
    return first if isinstance(first, RunStarted) else None
