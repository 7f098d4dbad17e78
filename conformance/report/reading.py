"""JSON reports read back, by the programs that lay several of them side by side.

Anybody may have written a report, so its texts are made safe here, as those of a log are where it is read.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from conformance.contain.parse import ForeignJsonError, parse_json
from conformance.contain.text import safe, safe_values
from conformance.engine.events import RunStarted
from conformance.records import RecordError, from_json
from conformance.report.document import SCHEMA_VERSION, Report

__all__ = ["ReportError", "chosen_or_left_out", "read_report"]


class ReportError(ValueError):
    """A file is not a JSON report that this version reads; the message says why and what to do."""


LARGEST: Final = 256 << 20
"""Bytes of a report: those of real runs have less than 10 MiB."""
VALUES: Final = 20_000_000
"""Values in it."""


def read_report(path: Path) -> Report:
    """The JSON report at ``path``.

    Raises:
        ReportError: it is not a report, or one of another schema version.
        OSError: the file cannot be read.
    """
    with path.open("rb") as file:
        content = file.read(LARGEST + 1)
    if len(content) > LARGEST:
        raise ReportError(f"{path}: expected a JSON report of at most {LARGEST >> 20} MiB, but got more")
    try:
        data = safe_values(parse_json(content, values=VALUES), blocks=("broke",))
    except ForeignJsonError as error:
        raise ReportError(f"{path}: expected a JSON report, as `conformance run --json` writes it: {error}") from None
    version = data.get("schema_version") if isinstance(data, dict) else None
    if version != SCHEMA_VERSION:
        raise ReportError(
            f"{path}: expected a JSON report of schema version {SCHEMA_VERSION}, but got {safe(repr(version))}"
        )
    try:
        return from_json(Report, data, path=str(path))
    except RecordError as error:
        raise ReportError(f"{safe(str(error))}; make the report anew from the run's log") from None


def chosen_or_left_out(run: RunStarted) -> frozenset[str]:
    """Every clause that the suite of ``run`` had, judged or not."""
    return frozenset((*run.clauses, *(left.id for left in run.left_out if left.kind == "clause")))
