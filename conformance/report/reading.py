"""Read JSON reports back, for programs that compare several of them.

A report may come from anybody, so its texts are made safe here, as the texts of a log are when it is read.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from conformance.contain.parse import ForeignJsonError, parse_json
from conformance.contain.text import safe, safe_values
from conformance.disk.files import reading
from conformance.engine.events import RunStarted
from conformance.records import RecordError, from_json, to_json
from conformance.report.document import SCHEMA_VERSION, Report

__all__ = ["ReportError", "as_read", "chosen_or_left_out", "read_report"]


class ReportError(ValueError):
    """A file is not a JSON report that this version can read; the message says why and what to do."""


LARGEST: Final = 256 << 20
"""The largest report in bytes; those of real runs are below 10 MiB."""
VALUES: Final = 1_000_000
"""The most JSON values in a report, which take 300 MiB; those of real runs have at most 40,000."""
_WHOLE: Final = ("cases",)
"""The key of the positions of cases, whose text is as long as there are cases; its form is checked."""


def read_report(path: Path) -> Report:
    """The JSON report at ``path``.

    Raises:
        ReportError: the file is not a report, or has another schema version.
        OSError: the file cannot be read.
    """
    with reading(path), path.open("rb") as file:
        content = file.read(LARGEST + 1)
    if len(content) > LARGEST:
        raise ReportError(f"{path}: expected a JSON report of at most {LARGEST >> 20} MiB, but got more")
    try:
        data = safe_values(parse_json(content, values=VALUES), blocks=("broke",), whole=_WHOLE)
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
        raise ReportError(f"{safe(str(error))}; make the report again from the run's log") from None


def as_read(report: Report) -> Report:
    """``report`` as it is after it was written and read."""
    return from_json(Report, safe_values(to_json(report), blocks=("broke",), whole=_WHOLE))


def chosen_or_left_out(run: RunStarted) -> frozenset[str]:
    """Every clause that the suite of ``run`` had, judged or not."""
    return frozenset((*run.clauses, *(left.id for left in run.left_out if left.kind == "clause")))
