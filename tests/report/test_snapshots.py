"""Reports are read by people and programs: a change of one is a change that is seen."""

from __future__ import annotations

from tests.report.snapshots import PRINTED, printed


def test_reports_say_the_same() -> None:
    """Terminal, JUnit, JSON, HTML, Markdown; `python -m tests.report` keeps a change that is meant."""
    assert printed() == PRINTED.read_text(encoding="utf-8")
