"""``cases/cases.index.json``: the cases of every case file as JSON, so that commands need not parse the files."""

from __future__ import annotations

from pathlib import Path

from conformance.generate.casefile import case_files, parse_file
from conformance.generate.caseindex import INDEX_FILE
from conformance.generate.caseindex import render as index_of
from publish.generated import ROOT

__all__ = ["render"]

CASES = ROOT / "cases"


def render() -> dict[Path, str]:
    """The index, from every file parsed and checked."""
    return {CASES / INDEX_FILE: index_of({path: parse_file(path) for path in case_files(CASES)})}
