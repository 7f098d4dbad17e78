"""The reports to maintainers: short programs without the suite, versions, and a cause for each harm in each matrix."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import pytest

from publish.tables.causes import FILE, MATRICES, Matrix
from tests.fixtures import ROOT

if not FILE.exists():
    pytest.skip("a source distribution has no reports that are not sent yet", allow_module_level=True)

REPORTS: Final = sorted(path for path in FILE.parent.glob("*.md") if path != FILE)
EXAMPLES: Final = ROOT / "docs" / "examples"
PROGRAMS: Final = {
    **{
        path.relative_to(EXAMPLES).as_posix(): path.read_text(encoding="utf-8")
        for path in sorted((EXAMPLES / "faulty").rglob("*"))
        if path.is_file() and "__pycache__" not in path.parts
    },
    **{
        f"{report.name}: {language}": body
        for report in REPORTS
        for language, body in re.findall(r"```(\w+)\n(.*?)```", report.read_text(encoding="utf-8"), re.DOTALL)
        if language not in {"text", "console"}
    },
}
"""Every program: the files of the faulty servers, and what the reports contain."""
SUITE: Final = re.compile(r"\bconformance\b|\b(?:import|from)\s+(?:adapters|publish|tests)\b")
VERSION: Final = re.compile(r"\*\*Version\.\*\* .*?\d+\.\d+\.\d+.*?2026-\d\d-\d\d", re.DOTALL)
FAULTS: Final = {
    name: set(
        re.findall(
            r'"([a-z]+(?:-[a-z0-9]+)*)"', "".join(PROGRAMS[f"{MATRICES[name].programs}/{file}"] for file in files)
        )
    )
    for name, files in {
        "causes": ("faults.py", "buffers.py", "server.py"),
        "flight_causes": ("streams.py",),
    }.items()
}
"""The faults that each faulty server knows."""
CAUSES: Final = [(name, cause) for name, matrix in MATRICES.items() for cause in matrix.causes]


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


@pytest.mark.parametrize("matrix", MATRICES.values(), ids=MATRICES)
def test_each_harm_in_a_matrix_has_one_cause(matrix: Matrix) -> None:
    """No loss, repetition, wrong value, crash, hang or end at the limit of memory is without a cause, or with two."""
    found = [(each, matrix.causes_of(*each)) for each in matrix.harm()]

    assert found
    assert [(each, ids) for each, ids in found if len(ids) != 1] == []


@pytest.mark.parametrize(("name", "cause"), CAUSES, ids=[f"{name}-{cause['id']}" for name, cause in CAUSES])
def test_a_cause_is_shown_and_one_that_is_a_fault_is_written_down(name: str, cause: Mapping[str, object]) -> None:
    """Each cause has a reproduction by a fault that the server knows; a client's has a report or is public."""
    shown = cause["shown"]

    assert isinstance(shown, list)
    assert shown
    assert {one["fault"] for one in shown} <= FAULTS[name]
    assert cause["of"] in {"client", "arrow", "program", "server"}
    assert ("report" in cause or "public" in cause) == (cause["of"] in {"client", "arrow"})
    assert "report" not in cause or FILE.with_name(str(cause["report"])) in REPORTS
