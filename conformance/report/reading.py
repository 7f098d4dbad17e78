"""JSON reports read back, by the programs that lay several of them side by side."""

from __future__ import annotations

import json
from pathlib import Path

from conformance.engine.events import RunStarted
from conformance.records import RecordError, from_json
from conformance.report.document import SCHEMA_VERSION, Report

__all__ = ["ReportError", "chosen_or_left_out", "read_report"]


class ReportError(ValueError):
    """A file is not a JSON report that this version reads; the message says why and what to do."""


def read_report(path: Path) -> Report:
    """The JSON report at ``path``.

    Raises:
        ReportError: it is not a report, or one of another schema version.
        OSError: the file cannot be read.
    """
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ReportError(f"{path}: expected a JSON report, as `conformance run --json` writes it: {error}") from None
    version = data.get("schema_version") if isinstance(data, dict) else None
    if version != SCHEMA_VERSION:
        raise ReportError(f"{path}: expected a JSON report of schema version {SCHEMA_VERSION}, but got {version!r}")
    try:
        return from_json(Report, data, path=str(path))
    except RecordError as error:
        raise ReportError(f"{error}; make the report anew from the run's log") from None


def chosen_or_left_out(run: RunStarted) -> frozenset[str]:
    """Every clause that the suite of ``run`` had, judged or not."""
    return frozenset((*run.clauses, *(left.id for left in run.left_out if left.kind == "clause")))
