"""The README's statements on readers and writers of Arrow IPC are in the published reports."""

from __future__ import annotations

import pytest

from conformance.engine.selection import all_clauses
from publish.tables.ipc import IPC_FINDINGS, IpcFinding, failing_clauses, table
from tests.fixtures import ROOT


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

    assert len("".join(table()).splitlines()) == 2 + len({path.stem for path in reports})
