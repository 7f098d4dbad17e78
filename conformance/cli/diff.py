"""``conformance diff``: the improvements and regressions between two reports."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import click

from conformance.cli._options import EXISTING, json_flag
from conformance.engine.selection import all_clauses
from conformance.engine.standing import Standing
from conformance.records import to_json
from conformance.report.diff import ChangeKind, ClauseChange, DeviationChange, ReportDifference, compare
from conformance.report.reading import read_report

_TITLES: Final = {
    ChangeKind.REGRESSION: "Regressions: passed before, fail now",
    ChangeKind.REPAIR: "Repairs: failed before, pass now",
    ChangeKind.NEWLY_JUDGED: "Newly judged: not judged before, or failing on new cases only",
    ChangeKind.NO_LONGER_JUDGED: "No longer judged",
    ChangeKind.NEW_CLAUSE: "Clauses new in the suite",
    ChangeKind.GONE_CLAUSE: "Clauses removed from the suite",
}


@click.command()
@click.argument("old", type=EXISTING)
@click.argument("new", type=EXISTING)
@json_flag("Print every change as one JSON object.")
def command(*, old: Path, new: Path, as_json: bool) -> None:
    """Compare two JSON reports, OLD and NEW, of one target or of two.

    \b
    conformance diff before.json after.json

    \b
    Exit status: 0 nothing that passed before fails now, 1 regressions, 2 unusable input.
    """  # noqa: D301  # click wants the character, not the escape
    all_clauses()
    difference = compare(read_report(old), read_report(new))
    if as_json:
        click.echo(json.dumps(to_json(difference), indent=1, ensure_ascii=False))
    else:
        click.echo("\n".join(_lines(difference)))
    sys.exit(1 if difference.fails else 0)


def _lines(difference: ReportDifference) -> Iterator[str]:
    yield f"old  {difference.old}"
    yield f"new  {difference.new}"
    for change, title in _TITLES.items():
        if items := difference.of(change):
            yield f"\n{title} ({len(items)})"
            for item in items:
                yield from _clause(item)
    for title, deviations in (("New", difference.new_deviations), ("Gone", difference.gone_deviations)):
        if deviations:
            yield f"\n{title} deviations ({len(deviations)})"
            for deviation in deviations:
                yield from _deviation(deviation)
    counts = {str(change): len(difference.of(change)) for change in _TITLES}
    counts |= {"new deviations": len(difference.new_deviations), "gone deviations": len(difference.gone_deviations)}
    yield "\n" + (", ".join(f"{name}: {count}" for name, count in counts.items() if count) or "no difference")


def _clause(item: ClauseChange) -> Iterator[str]:
    yield f"  {item.clause}  [{item.level.upper()}]  {_words(item.before)} -> {_words(item.after)}"
    if item.text:
        yield f"      {_flat(item.text)}"
    if item.cases:
        yield f"      on {', '.join(item.cases)}"
    if item.change is ChangeKind.REGRESSION:
        yield f"      {item.replay}"


def _words(standing: Standing | None) -> str:
    return "not judged" if standing is None else standing.words


def _deviation(item: DeviationChange) -> Iterator[str]:
    yield f"  {item.clause}  {_flat(item.text)}"
    yield f"      on {', '.join(item.cases)}"


_WIDTH: Final = 160
"""The most characters shown of a text; its subject is at the beginning."""


def _flat(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= _WIDTH else flat[: _WIDTH - 1] + "…"
