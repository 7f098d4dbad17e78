"""Explain one cause of a run, from its log or its JSON report."""

from __future__ import annotations

import json
from pathlib import Path

import click

from conformance.cli._group import Unusable
from conformance.contain.text import safe, unknown
from conformance.engine.recorded import judged_events
from conformance.engine.result import fold
from conformance.engine.selection import all_clauses
from conformance.engine.session import STATE, last_log
from conformance.records import to_json
from conformance.report.document import CauseResult, Report, document
from conformance.report.reading import read_report
from conformance.report.terminal import print_cause, terminal

__all__ = ["explain_cause", "last_run", "report_at"]


def report_at(path: Path) -> Report:
    """The report of a run, from its log or its JSON report."""
    all_clauses()
    try:
        return read_report(path) if path.suffix == ".json" else document(fold(judged_events(path)))
    except OSError as error:
        raise Unusable(f"expected the path of a log or a JSON report, got {path}: {error.strerror}") from None


def last_run() -> Path:
    """The log of the last run in this directory.

    Raises:
        Unusable: there is none.
    """
    path = last_log()
    if path is None:
        raise Unusable(
            f"no run is logged in {STATE} below this directory: give the path of a log, or make one with"
            " `conformance run`"
        )
    return path


def explain_cause(path: Path, name: str, *, as_json: bool) -> None:
    """Print the cause ``name`` (its number, its key, or its clause) of the run whose log or JSON report is at ``path``.

    Raises:
        Unusable: the file cannot be read, or the run has no such cause.
    """
    report = report_at(path)
    cause = _find(report, name)
    if as_json:
        click.echo(json.dumps(to_json(cause), indent=1, ensure_ascii=False))
    else:
        print_cause(terminal(), report, cause)


def _find(report: Report, name: str) -> CauseResult:
    """The cause with this number or key, or the only one of a clause; raises Unusable if there is none."""
    if not report.causes:
        why = "its report has none; make it again from the log" if report.failed else "it has none"
        raise Unusable(f"expected a run with causes, got one where {why}")
    if name.isdecimal():
        by_number = {str(number): cause for number, cause in enumerate(report.causes, 1)}  # no integer has 5,000 digits
        if (cause := by_number.get(name.lstrip("0"))) is None:
            raise Unusable(f"expected a cause from 1 to {len(report.causes)}, got {safe(name, limit=40)}")
        return cause
    by_key = {cause.key: cause for cause in report.causes}
    of_clause = [cause for cause in report.causes if cause.key.partition("~")[0] == name]
    if len(of_clause) == 1:
        return of_clause[0]
    if of_clause:
        keys = " or ".join(cause.key for cause in of_clause)
        raise Unusable(f"expected one cause, got a clause with {len(of_clause)}: give {keys}")
    if name not in by_key:
        raise Unusable(unknown("cause", name, by_key, f"this run has 1 to {len(by_key)}"))
    return by_key[name]
