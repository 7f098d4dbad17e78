"""The reports to maintainers: short programs without the suite, versions, and a cause for each harm in the matrix."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

import pytest

from publish.tables.causes import CAUSES, FILE, causes_of, harm
from tests.fixtures import ROOT

REPORTS: Final = sorted(path for path in FILE.parent.glob("*.md") if path != FILE)
FAULTY: Final = ROOT / "docs" / "examples" / "faulty"
PROGRAMS: Final = {
    **{path.name: path.read_text(encoding="utf-8") for path in sorted(FAULTY.iterdir()) if path.is_file()},
    **{
        f"{report.name}: {language}": body
        for report in REPORTS
        for language, body in re.findall(r"```(\w+)\n(.*?)```", report.read_text(encoding="utf-8"), re.DOTALL)
        if language not in {"text", "console"}
    },
}
"""Every program: the files of the faulty server, and what the reports contain."""
SUITE: Final = re.compile(r"\bconformance\b|\b(?:import|from)\s+(?:adapters|publish|tests)\b")
VERSION: Final = re.compile(r"\*\*Version\.\*\* .*?\d+\.\d+\.\d+.*?2026-\d\d-\d\d", re.DOTALL)
FAULTS: Final = set(
    re.findall(
        r'"([a-z]+(?:-[a-z0-9]+)*)"', "".join(PROGRAMS[name] for name in ("faults.py", "buffers.py", "server.py"))
    )
)


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_is_short_and_knows_nothing_of_the_suite(name: str) -> None:
    """Fewer than sixty lines, and no import of a package of this repository."""
    assert len(PROGRAMS[name].splitlines()) < 60
    assert SUITE.search(PROGRAMS[name]) is None


@pytest.mark.parametrize("report", REPORTS, ids=lambda path: path.name)
def test_a_report_names_versions_and_is_listed(report: Path) -> None:
    """A version of three numbers and the date of the measurement; the page has a row with a link."""
    assert VERSION.search(report.read_text(encoding="utf-8"))
    assert f"| [{report.name}]({report.name}) |" in FILE.read_text(encoding="utf-8")


def test_each_harm_in_the_matrix_has_one_cause() -> None:
    """No loss, repetition, wrong value, crash, hang or end at the limit of memory is without a cause, or with two."""
    assert [(each, found) for each in harm() if len(found := causes_of(*each)) != 1] == []


@pytest.mark.parametrize("cause", CAUSES, ids=lambda cause: str(cause["id"]))
def test_a_cause_is_shown_and_one_that_is_a_fault_is_written_down(cause: dict[str, object]) -> None:
    """Each cause has a reproduction by a fault that the server knows; a client's has a report or is public."""
    shown = cause["shown"]

    assert isinstance(shown, list)
    assert shown
    assert {one["fault"] for one in shown} <= FAULTS
    assert cause["of"] in {"client", "arrow", "program", "server"}
    assert ("report" in cause or "public" in cause) == (cause["of"] in {"client", "arrow"})
    assert "report" not in cause or FILE.with_name(str(cause["report"])) in REPORTS
