"""One badge for each profile of a run on a server, and one for the whole run, in a directory."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from conformance.disk.files import write_inside
from conformance.engine.result import Result
from conformance.report.badge import GREY, badge_svg, label_of, render, shown
from conformance.report.document import Report, document
from conformance.report.profiles import ProfileResult

__all__ = ["profile_badge", "write_badges"]

WHOLE: Final = "all.svg"
"""The file of the badge of the whole run."""


def profile_badge(report: Report, result: ProfileResult) -> str:
    """The badge of one profile: the numbers of its clauses that pass, that fail and that were not judged."""
    label = f"{label_of(report)} {result.profile}"
    if not result.offered:
        return render(label, ("not offered", GREY))
    return render(label, shown(result.counts, complete=report.conclusive))


def write_badges(result: Result, folder: Path) -> None:
    """Write the badges to ``folder``: ``PROFILE.svg`` for each profile, and ``all.svg``."""
    report = document(result)
    write_inside(folder, WHOLE, badge_svg(report))
    for profile in report.profiles:
        write_inside(folder, f"{profile.profile}.svg", profile_badge(report, profile))
