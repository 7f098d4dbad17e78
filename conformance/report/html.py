"""The HTML report: one self-contained file, from the summary to the marked bytes and the replay in two clicks."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from conformance.contract.clause import CLAUSES
from conformance.disk.files import write_whole
from conformance.engine.result import Deviation, Result
from conformance.records import Level, Outcome
from conformance.report.badge import badge_svg
from conformance.report.pages import page
from conformance.report.summary import header, level_of, replay_command, summarise, verdict_line

__all__ = ["html", "write_html"]

_SECTIONS: Final = (
    ("failed", "Failed"),
    ("unexpected", "Unexpected passes"),
    ("expected", "Expected failures"),
    ("not-judged", "Not judged"),
)


def html(result: Result) -> str:
    """The report of ``result`` as one HTML document."""
    lists = {
        "failed": result.failed,
        "unexpected": result.listed(Outcome.UNEXPECTED_PASS),
        "expected": result.listed(Outcome.EXPECTED_FAIL),
        "not-judged": result.not_judged,
    }
    return page(
        "report",
        result=result,
        header=header(result),
        verdict=verdict_line(result),
        badge=badge_svg(result),
        rows=summarise(result),
        levels=list(Level),
        sections=[(key, title, lists[key]) for key, title in _SECTIONS],
        clauses=CLAUSES,
        level_of=level_of,
        replay=lambda deviation: replay_command(result, deviation),
        anchor=_anchor,
    )


def _anchor(deviation: Deviation) -> str:
    return f"{deviation.outcome}-{deviation.clause}"


def write_html(result: Result, path: Path) -> None:
    """Write the HTML report to ``path``."""
    write_whole(path, html(result))
