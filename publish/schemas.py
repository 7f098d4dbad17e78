"""The JSON Schemas that are published as files, from the classes of the suite."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from conformance.engine.log import log_schema
from conformance.generate import caseschema
from conformance.replay.retrytable import table_schema
from conformance.report.document import report_schema
from publish.generated import ROOT

__all__ = ["render"]


def render() -> dict[Path, str]:
    """The schema of a case, of a log, of a report and of the table of interrupted reads."""
    return {
        ROOT / "cases" / "case.schema.json": caseschema.render(),
        ROOT / "conformance" / "engine" / "log.schema.json": _text(log_schema()),
        ROOT / "conformance" / "report" / "report.schema.json": _text(report_schema()),
        ROOT / "golden" / "read_retry.schema.json": _text(table_schema()),
    }


def _text(schema: dict[str, Any]) -> str:
    return json.dumps(schema, indent=1) + "\n"
