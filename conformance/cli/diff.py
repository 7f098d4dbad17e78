"""``conformance diff``: the improvements and regressions between two reports, or over a series of them."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import click

from conformance.cli._options import EXISTING, json_flag
from conformance.contain.text import many
from conformance.engine.log import is_log
from conformance.engine.recorded import judged_events
from conformance.engine.result import fold
from conformance.engine.selection import all_clauses
from conformance.engine.standing import Standing
from conformance.records import to_json
from conformance.report.differences import ChangeKind, ClauseChange, DeviationChange, ReportDifference, compare
from conformance.report.document import Report, document
from conformance.report.notrun import NotRun, no_longer_run
from conformance.report.reading import as_read, read_report
from conformance.report.series import Series, series_of

_TITLES: Final = {
    ChangeKind.REGRESSION: "Regressions: passed before, fail now",
    ChangeKind.NO_LONGER_MET: "MAY clauses no longer met, which is no regression: passed before, fail now",
    ChangeKind.REPAIR: "Repairs: failed before, pass now",
    ChangeKind.NEWLY_JUDGED: "Newly judged: not judged before, or failing on new cases only",
    ChangeKind.NO_LONGER_JUDGED: "No longer judged",
    ChangeKind.NEW_CLAUSE: "Clauses new in the suite",
    ChangeKind.GONE_CLAUSE: "Clauses removed from the suite",
}


@click.command()
@click.argument("paths", metavar="OLD NEW [NEWER]...", nargs=-1, required=True, type=EXISTING)
@json_flag("Print every change as one JSON object.")
def command(*, paths: tuple[Path, ...], as_json: bool) -> None:
    """Compare JSON reports or logs of one target or of several, in the order given.

    Of two reports, every change is shown, and every check of the old one that the new one did not make. Of more, a
    table says which version fails each clause first, and which repairs it.

    \b
    conformance diff before.json after.json
    conformance diff before.jsonl after.jsonl
    conformance diff 1.0.json 1.1.json 1.2.json

    \b
    Exit status: 0 nothing that passed before fails now (of a series: in the last version) but MAY clauses,
    1 regressions, 2 unusable input.
    """  # noqa: D301  # click wants the character, not the escape
    if len(paths) == 1:
        raise click.UsageError("expected at least two reports, got one")
    all_clauses()
    reports = [_report(path) for path in paths]
    if len(reports) > 2:
        series = series_of(reports)
        _print(to_json(series) if as_json else _table(series))
        sys.exit(1 if series.fails else 0)
    difference, not_run = compare(*reports), no_longer_run(*reports)
    if as_json:
        _print({**to_json(difference), "no_longer_run": to_json(not_run)})
    else:
        _print([*_lines(difference, not_run)])
    sys.exit(1 if difference.fails else 0)


def _report(path: Path) -> Report:
    """The report at ``path``, or the one of the log there."""
    return as_read(document(fold(judged_events(path)))) if is_log(path) else read_report(path)


def _print(shown: Any) -> None:
    """Print a JSON object, or lines."""
    click.echo("\n".join(shown) if isinstance(shown, list) else json.dumps(shown, indent=1, ensure_ascii=False))


def _table(series: Series) -> list[str]:
    """The failures of a series, a row each."""
    rows = [("clause", "level", "passed in", "fails first in", "repaired in")]
    rows += [
        (span.clause, span.level.upper(), span.passed or "-", span.first, span.repaired or "-") for span in series.spans
    ]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ["  ".join(f"{text:<{width}}" for text, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    repaired = sum(bool(span.repaired) for span in series.spans)
    open_ = f"{len(series.spans) - repaired} not repaired"
    regressions = sum(span.regression for span in series.spans)
    unmet = sum(span.optional and bool(span.passed) and not span.repaired for span in series.spans)
    besides = f", and {many(unmet, 'MAY clause')}, which {'is no regression' if unmet == 1 else 'are none'}"
    counts = f"{many(len(series.spans), 'failure')}: {repaired} repaired, {open_}, of which {regressions} passed before"
    counts += besides if unmet else ""
    return [f"versions  {', '.join(series.versions)}", "", *(lines if series.spans else []), "", counts]


def _not_run(not_run: NotRun) -> Iterator[str]:
    """The checks that the new report lacks."""
    for name in not_run.unknown:
        yield f"\nThe {name} report does not say which checks ran; make it again from the log of its run"
    if not_run.cases:
        yield f"\nCases on which nothing was judged any more ({len(not_run.cases)})"
        yield from (f"  {case}" for case in not_run.cases)
    if not_run.clauses:
        yield f"\nChecks no longer run: judged before on these cases, and not now ({len(not_run.clauses)})"
        for item in not_run.clauses:
            more = f" and {len(item.cases) - _CASES} more" if len(item.cases) > _CASES else ""
            yield f"  {item.clause}  on {', '.join(item.cases[:_CASES])}{more}"


def _lines(difference: ReportDifference, not_run: NotRun) -> Iterator[str]:
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
    yield from _not_run(not_run)
    counts = {str(change): len(difference.of(change)) for change in _TITLES}
    counts |= {"new deviations": len(difference.new_deviations), "gone deviations": len(difference.gone_deviations)}
    counts |= {"cases no longer run": len(not_run.cases), "clauses on fewer cases": len(not_run.clauses)}
    yield "\n" + (", ".join(f"{name}: {count}" for name, count in counts.items() if count) or "no difference")


def _clause(item: ClauseChange) -> Iterator[str]:
    asked = f", {item.question}" if item.question else ""
    yield f"  {item.clause}  [{item.level.upper()}{asked}]  {_words(item.before)} -> {_words(item.after)}"
    if item.text:
        yield f"      {_flat(item.text)}"
    if item.cases:
        yield f"      on {', '.join(item.cases)}"
    if item.change in (ChangeKind.REGRESSION, ChangeKind.NO_LONGER_MET):
        yield f"      {item.replay}"


def _words(standing: Standing | None) -> str:
    return "not judged" if standing is None else standing.words


def _deviation(item: DeviationChange) -> Iterator[str]:
    yield f"  {item.clause}  {_flat(item.text)}"
    yield f"      on {', '.join(item.cases)}"


_CASES: Final = 5
"""The most cases named for a clause; JSON has all of them."""
_WIDTH: Final = 160
"""The most characters shown of a text; its subject is at the beginning."""


def _flat(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= _WIDTH else flat[: _WIDTH - 1] + "…"
