"""The findings of docs/results.md on Arrow IPC are in the published reports, and have programs."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

import pytest

from conformance.engine.selection import all_clauses
from publish.tables.ipc import (
    DRIFT_FINDINGS,
    IPC_FINDINGS,
    PROGRAMS,
    DriftFinding,
    IpcFinding,
    failing_clauses,
    table,
)
from tests.fixtures import ROOT

FILES: Final = sorted(PROGRAMS.iterdir())
FINDINGS: Final[list[IpcFinding | DriftFinding]] = [*IPC_FINDINGS, *DRIFT_FINDINGS]
VERSIONS: Final = {each.program: each.version for each in FINDINGS}
SUITE: Final = re.compile(r"\bconformance\b|\b(?:import|from)\s+(?:adapters|publish|tests)\b")


@pytest.mark.parametrize("finding", IPC_FINDINGS, ids=lambda each: f"{each.report}-{each.clauses[0]}")
def test_a_finding_is_in_its_report(finding: IpcFinding) -> None:
    """Each clause that a line names exists and fails in the report that it names, on such a case as it describes."""
    found = failing_clauses(finding.report)

    for clause in finding.clauses:
        assert clause == "case" or clause in all_clauses()
        assert any(finding.shown in case for case in found[clause])


def test_every_implementation_has_a_row() -> None:
    """One row for each that reads or writes."""
    reports = (ROOT / "reports").glob("*ers/*.json")

    rows = [line for line in "".join(table()).splitlines() if line.startswith("| ")]

    assert len(rows) == 1 + len({path.stem for path in reports})


def test_every_finding_has_a_program_of_its_own() -> None:
    """No program is missing, no two findings share one, and none shows something that the page does not say."""
    assert sorted(each.program for each in FINDINGS) == [path.name for path in FILES]


def test_every_finding_of_the_page_is_a_row_with_a_program() -> None:
    """Each line of both lists comes from a row, so it ends with a link to its program."""
    page = (ROOT / "docs" / "results.md").read_text(encoding="utf-8")

    for made, rows in (("ipcfindings", IPC_FINDINGS), ("drift", DRIFT_FINDINGS)):
        lines = page.partition(f"<!-- made: {made} -->\n")[2].partition("<!-- end -->")[0].splitlines()
        assert [line.rpartition("/")[2] for line in lines] == [f"{row.program}))" for row in rows]


@pytest.mark.parametrize("program", FILES, ids=lambda path: path.name)
def test_a_program_is_short_and_states_its_version(program: Path) -> None:
    """Fewer than thirty lines, nothing of the suite, and the library's version in the first line."""
    text = program.read_text(encoding="utf-8")

    assert len(text.splitlines()) < 30
    assert SUITE.search(text) is None
    assert f" {VERSIONS[program.name]}: " in text.splitlines()[0]
