"""A badge: one small SVG with the numbers of MUST clauses that pass, that fail and that were not judged.

The badge of a reader has two numbers: the MUST clauses on conformance, and all clauses on robustness, most of which are
recommendations.
"""

from __future__ import annotations

from html import escape
from pathlib import Path
from typing import Final

from conformance.contract.clause import OTHER_PROTOCOLS
from conformance.contract.closed import Question
from conformance.disk.files import write_whole
from conformance.engine.events import CLIENT_PROFILE, READ_PROFILE, WRITE_PROFILE
from conformance.engine.result import Result
from conformance.protocol import DEFAULT_PROTOCOL, title_of
from conformance.records import Level
from conformance.report.document import Report, document
from conformance.report.summary import Cell

__all__ = ["badge_svg", "label_of", "render", "shown", "write_badge"]

_GREEN, _AMBER, _RED, GREY, _DARK = "#2e7d32", "#b26a00", "#b3261e", "#5f6368", "#3c4043"
_CHARACTER: Final = 6.6
"""The average width in pixels of a character of 11px Verdana: accurate enough for a box around a few words."""
_LABELS: Final = {
    READ_PROFILE: "arrow ipc reader",
    WRITE_PROFILE: "arrow ipc writer",
    CLIENT_PROFILE: "storage read client",
}
"""The label of the badge, by the profile of a run that judged no server."""


def label_of(report: Report) -> str:
    """What a run judged, in the words of its badge."""
    profile = report.run.profile
    if profile in _LABELS:
        return _LABELS[profile]
    title = title_of(profile if profile in OTHER_PROTOCOLS else DEFAULT_PROTOCOL)
    return title.removeprefix("the BigQuery ").removesuffix(" API").lower()


def badge_svg(report: Report) -> str:
    """The badge of ``report``; grey if nothing was judged or served, or if the run is incomplete."""
    label, cells = label_of(report), report.counted()
    if not any(question for question, _ in cells):
        return render(label, shown(cells.get((None, Level.MUST), Cell()), complete=report.conclusive))
    legal = cells.get((Question.CONFORMANCE, Level.MUST), Cell())
    malformed = sum((cell for (question, _), cell in cells.items() if question is Question.ROBUSTNESS), Cell())
    conformance, colour = shown(legal, complete=report.conclusive)
    robustness, other = shown(malformed, complete=report.conclusive)
    return render(label, (f"conformance {conformance}", colour), (f"robustness {robustness}", other))


def shown(cell: Cell, *, complete: bool) -> tuple[str, str]:
    """The text and the colour for some clauses; grey if the run is not complete."""
    judged = cell.total - cell.not_judged
    text = cell.in_words if judged else "not judged"
    if not judged or not complete:
        return text, GREY
    if cell.failed:
        return text, _RED
    return text, _GREEN if cell.passed == cell.total else _AMBER


def write_badge(result: Result, path: Path) -> None:
    """Write the badge to ``path``."""
    write_whole(path, badge_svg(document(result)))


def render(label: str, *parts: tuple[str, str]) -> str:
    """The SVG of a label and of texts, each on its colour."""
    title = escape(f"{label}: {', '.join(text for text, _ in parts)}")
    boxes, texts, width = "", "", 0
    for text, colour in ((label, _DARK), *parts):
        wide = round(len(text) * _CHARACTER) + 12
        place = f' x="{width}"' if width else ""
        boxes += f'<rect{place} width="{wide}" height="20" fill="{colour}"/>'
        texts += f'<text x="{width + wide / 2}" y="14">{escape(text)}</text>'
        width += wide
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="20" role="img" aria-label="{title}">'
        f'<title>{title}</title><clipPath id="r"><rect width="{width}" height="20" rx="3"/></clipPath>'
        f'<g clip-path="url(#r)">{boxes}</g>'
        f'<g fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11" text-anchor="middle">'
        f"{texts}</g></svg>\n"
    )
