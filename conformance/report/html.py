"""The HTML report: one self-contained file, with two clicks from the summary to the marked bytes and the replay
command.

It is made only from the JSON report, so the page of a run can be made wherever its JSON report is.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Final

from conformance.contract.wholecase import EXPLAINED
from conformance.disk.files import write_whole
from conformance.engine.result import NOT_JUDGED, Result
from conformance.engine.standing import Standing
from conformance.records import Level, Outcome
from conformance.report.badge import badge_svg
from conformance.report.document import CauseResult, DeviationResult, Report, document
from conformance.report.pages import Fill, page, page_within
from conformance.report.summary import header, headline, level_of, question_of, section_of, summarise

__all__ = ["clause_anchor", "html", "write_html"]

_SECTIONS: Final = (
    ("failed", "Failed", {outcome for outcome in Outcome if outcome.fails_run} - {Outcome.UNEXPECTED_PASS}),
    ("unexpected", "Unexpected passes", {Outcome.UNEXPECTED_PASS}),
    ("expected", "Expected failures", {Outcome.EXPECTED_FAIL}),
    ("not-judged", "Not judged", NOT_JUDGED),
)


def html(report: Report, *, fill: Fill = page) -> str:
    """The page of ``report``; ``fill`` fills its template."""
    # A run that passes has failures of MAY clauses alone.
    titles = {} if report.failed else {"failed": "Optional"}
    sections = [(key, titles.get(key, title), _grouped(report, outcomes)) for key, title, outcomes in _SECTIONS]
    return page_within(
        "report",
        fill=fill,
        report=report,
        header=header(report.run, report.remarks),
        headline="" if report.shows_nothing else headline(report.run, report.standings, _hidden(report)),
        badge=badge_svg(report),
        rows=summarise(report.standings),
        groups=sorted({item.group for reader in report.readers for item in reader.answers}),
        levels=list(Level),
        sections=sections,
        held_clauses=_held(report),
        first=_first([item for _, _, groups in sections for _, items, _ in groups for item in items]),
        clauses=EXPLAINED,
        anchor=clause_anchor,
        question=question_of,
        says=_says,
    )


def _says(cause: CauseResult, clause: str) -> str:
    """The heading of a cause: what the clause of its first finding requires; what was found is on the card below."""
    about = EXPLAINED.get(clause)
    return " ".join(about.explanation.split("\n\n")[0].split()) if about else cause.title


def _grouped(
    report: Report, outcomes: Collection[Outcome]
) -> list[tuple[CauseResult | None, list[DeviationResult], int]]:
    """The deviations by cause, and how many of them are the cause's own; those behind them follow from it."""
    return [
        (cause, items, sum(one.outcome in outcomes for one in report.parts(cause.own)) if cause else len(items))
        for cause, items in report.grouped(outcomes)
    ]


def _hidden(report: Report) -> int:
    """The number of clauses that the first cause keeps from being judged."""
    return len(report.causes[0].blocks) if report.causes else 0


def _held(report: Report) -> dict[str, list[tuple[str, Level, str]]]:
    """The clauses that are held, at least where they were judged, by chapter: id, level, and the standing in words."""
    held: dict[str, list[tuple[str, Level, str]]] = {}
    for clause, item in report.standings.items():
        if item.standing in (Standing.HELD, Standing.HELD_WHERE_JUDGED):
            held.setdefault(section_of(clause), []).append((clause, level_of(clause), item.words))
    return held


def _first(shown: Sequence[DeviationResult]) -> dict[str, DeviationResult]:
    """For each clause the deviation that shows its text, to which links lead.

    It is the first deviation that has the clause as its first one, or else the first that names it.
    """
    among = {clause: item for item in reversed(shown) for clause in item.clauses}
    return among | {item.clauses[0]: item for item in reversed(shown)}


def clause_anchor(clause: str) -> str:
    """The fragment of the page that leads to the first deviation of a clause."""
    return f"clause--{clause}"


def write_html(result: Result, path: Path) -> None:
    """Write the HTML report to ``path``."""
    write_whole(path, html(document(result)))
